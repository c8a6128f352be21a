// SPDX-License-Identifier: Apache-2.0
/* Any arguments: a planted secret never comes out, and nothing is written past the end. */
#include "capture/redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void redact(const char *args, size_t len, size_t cap)
{
	char *dst = malloc(cap);

	redact_args(args, len, dst, cap);
	if (strnlen(dst, cap) == cap || strstr(dst, "Hunter2"))
		abort();
	free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const planted[] = { "", "--token=Hunter2", "--password\0Hunter2",
					       "x://u:Hunter2@h", "hf_Hunter2Hunter2" };
	static const size_t lens[] = { 0, 15, 18, 15, 17 };
	size_t which, total;
	char *args;

	if (len < 2 || memmem(data, len, "Hunter2", 7))
		return 0;
	which = data[0] % 5;
	total = len - 2 + 1 + lens[which];
	args = malloc(total + 1);
	memcpy(args, data + 2, len - 2);
	args[len - 2] = '\0';
	memcpy(args + len - 1, planted[which], lens[which]);
	redact(args, total, 8u + data[1]);
	redact(args, total, 4 * total + 8);
	free(args);
	return 0;
}
