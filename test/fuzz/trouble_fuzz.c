// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a record of the kernel's log. */
#include <stdlib.h>
#include <string.h>

#include "capture/kmsg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(const char *record, size_t len)
{
	struct trouble t;

	if (!trouble_parse(record, len, &t))
		return;
	if (t.event >= HOST_COUNT || strnlen(t.device, sizeof(t.device)) == sizeof(t.device) ||
	    strlen(t.device) < 5)
		abort();
	for (const char *s = t.device; *s; s++)
		if (*s <= ' ' || *s == '/')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const head[] = { "", "3,1,2,-;nvme nvme",
					    "3,1,2,-;DMAR: ", "3,1,2,-;x " };

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++) {
		size_t n = strlen(head[i]);
		char *exact = malloc(n + len ? n + len : 1); /* so that a byte too far is seen */

		memcpy(exact, head[i], n);
		if (len)
			memcpy(exact + n, data, len);
		look(exact, n + len);
		free(exact);
	}
	return 0;
}
