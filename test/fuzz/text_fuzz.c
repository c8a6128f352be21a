// SPDX-License-Identifier: Apache-2.0
/* text_safe() on any bytes and any room: terminated, valid UTF-8, nothing a terminal obeys. */
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Written apart from text.c on purpose: a shared mistake would not be found. */
static void check_char(const unsigned char *s, size_t len)
{
	if (len == 1 && (s[0] < 0x20 || s[0] == 0x7f))
		abort();
	if (s[0] == 0xc2 && s[1] < 0xa0)
		abort(); /* C1 */
	if (s[0] == 0xd8 && s[1] == 0x9c)
		abort();
	if (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f))
		abort();
	if (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae)
		abort();
	if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		abort();
}

/* The first byte chooses the room, the rest is the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t cap, used, step = 0;
	char *src, *dst;

	if (!len)
		return 0;
	cap = data[0] == 255 ? 4 * len + 1 : data[0];
	src = calloc(1, len); /* exact sizes, so that a byte too far is seen */
	dst = malloc(cap ? cap : 1);
	memcpy(src, data + 1, len - 1);
	if (text_safe(dst, cap, src) != dst)
		abort();
	if (cap) {
		used = strnlen(dst, cap);
		if (used == cap)
			abort();
		for (size_t at = 0; at < used; at += step) {
			const unsigned char *s = (const unsigned char *)dst + at;

			if (!text_utf8(s, used - at, &step))
				abort();
			check_char(s, step);
		}
	}
	free(dst);
	free(src);
	return 0;
}
