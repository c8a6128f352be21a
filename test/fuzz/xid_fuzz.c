// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a record of the kernel's log, or as parts of the tracepoint's. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct xid *x)
{
	size_t id = strnlen(x->bus_id, sizeof(x->bus_id));

	if (id == sizeof(x->bus_id) || id < 7)
		abort();
	for (size_t i = 0; i < id; i++)
		if (!isxdigit((unsigned char)x->bus_id[i]) && x->bus_id[i] != ':')
			abort();
	if (strnlen(x->text, sizeof(x->text)) == sizeof(x->text) || x->pid > INT32_MAX)
		abort();
	for (const char *s = x->text; *s; s++)
		if ((unsigned char)*s < 0x20)
			abort();
	if (!xid_words(x->code)->what[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char head[] = "3,1,2,-;NVRM: Xid (PCI:";
	size_t n = sizeof(head) - 1;
	char *text = malloc(n + len + 1); /* exact sizes, so that a byte too far is seen */
	char *exact = malloc(len ? len : 1);
	struct xid x;

	memcpy(text, head, n);
	if (len)
		memcpy(text + n, data, len);
	text[n + len] = '\0';
	if (len)
		memcpy(exact, data, len);
	if (xid_parse_kmsg(exact, len, &x))
		check(&x);
	if (xid_parse_kmsg(text, n + len, &x)) {
		check(&x);
		text[0] = len & 1 ? '8' : '9'; /* another facility */
		if (xid_parse_kmsg(text, n + len, &x))
			abort();
	}
	if (xid_parse("0000:1b:00.0", 31, text + n, &x))
		check(&x);
	if (xid_parse(text + n, 31, "", &x))
		check(&x);
	(void)gpu_bus_same(text + n, "0000:1b:00");
	free(exact);
	free(text);
	return 0;
}
