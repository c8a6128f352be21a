// SPDX-License-Identifier: Apache-2.0
/* Strings of CPython: one, two or four bytes for each character. */
#include "python/python.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define REPLACEMENT 0xfffdu

static uint32_t code_at(const uint8_t *src, unsigned kind)
{
	uint32_t code = src[0];

	if (kind >= 2)
		code |= (uint32_t)src[1] << 8;
	if (kind == 4)
		code |= (uint32_t)src[2] << 16 | (uint32_t)src[3] << 24;
	return code > 0x10ffff ? REPLACEMENT : code;
}

/* A lone surrogate too, which Python allows in names of files: text_safe() sees that it is none. */
static void to_utf8(uint32_t code, char dst[5])
{
	size_t n = 0;

	if (code < 0x80) {
		dst[n++] = (char)code;
	} else if (code < 0x800) {
		dst[n++] = (char)(0xc0 | code >> 6);
		dst[n++] = (char)(0x80 | (code & 63));
	} else if (code < 0x10000) {
		dst[n++] = (char)(0xe0 | code >> 12);
		dst[n++] = (char)(0x80 | (code >> 6 & 63));
		dst[n++] = (char)(0x80 | (code & 63));
	} else {
		dst[n++] = (char)(0xf0 | code >> 18);
		dst[n++] = (char)(0x80 | (code >> 12 & 63));
		dst[n++] = (char)(0x80 | (code >> 6 & 63));
		dst[n++] = (char)(0x80 | (code & 63));
	}
	dst[n] = '\0';
}

char *py_text(const uint8_t *src, size_t size, int64_t length, uint32_t state, char *dst,
	      size_t cap)
{
	unsigned kind = state >> 2 & 7;
	bool compact = state >> 5 & 1;
	size_t used = 0, n;

	if (!cap)
		return dst;
	dst[0] = '\0';
	/* Names in code objects always are compact: what is not is no string. */
	if ((kind != 1 && kind != 2 && kind != 4) || !compact || length < 0)
		return dst;
	n = (size_t)min_u64((uint64_t)length, size / kind);
	for (size_t i = 0; i < n; i++) {
		char utf8[5], safe[20];
		size_t len;

		to_utf8(code_at(src + i * kind, kind), utf8);
		if (utf8[0])
			text_safe(safe, sizeof(safe), utf8);
		else
			str_copy(safe, sizeof(safe), "\\x00");
		len = strlen(safe);
		if (len >= cap - used)
			break;
		memcpy(dst + used, safe, len + 1);
		used += len;
	}
	return dst;
}
