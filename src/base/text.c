// SPDX-License-Identifier: Apache-2.0
/* UTF-8 checked byte by byte, and everything that could fool a terminal or a reader escaped. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* What the byte after the first must be; it also rules out overlong forms and surrogates. */
static bool second_ok(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf;
	case 0xed:
		return second >= 0x80 && second <= 0x9f;
	case 0xf0:
		return second >= 0x90 && second <= 0xbf;
	case 0xf4:
		return second >= 0x80 && second <= 0x8f;
	default:
		return second >= 0x80 && second <= 0xbf;
	}
}

bool text_utf8(const unsigned char *s, size_t len, size_t *ret_len)
{
	size_t want;

	if (!len)
		return false;
	if (s[0] < 0x80)
		want = 1;
	else if (s[0] >= 0xc2 && s[0] <= 0xdf)
		want = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		want = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		want = 4;
	else
		return false;
	if (want > len || (want > 1 && !second_ok(s[0], s[1])))
		return false;
	for (size_t i = 2; i < want; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return false;
	}
	*ret_len = want;
	return true;
}

unsigned int text_code(const unsigned char *s, size_t len)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned int code = s[0] & first_bits[len];

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

static bool harmless(unsigned int code)
{
	if (code < 0x20 || (code >= 0x7f && code <= 0x9f))
		return false; /* C0, DEL, C1: a terminal obeys them */
	if (code == 0x061c || code == 0x200e || code == 0x200f)
		return false; /* direction marks */
	if (code >= 0x2028 && code <= 0x202e)
		return false; /* line and paragraph separator, bidi embeddings and overrides */
	return !(code >= 0x2066 && code <= 0x2069); /* bidi isolates */
}

char *text_safe(char *dst, size_t cap, const char *src)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t used = 0;

	if (!cap)
		return dst;
	while (*s) {
		size_t len = 1;
		bool plain = text_utf8(s, 4, &len) && harmless(text_code(s, len));
		size_t need = plain ? len : 4 * len;

		if (need >= cap - used)
			break;
		if (plain)
			memcpy(dst + used, s, len);
		else
			for (size_t i = 0; i < len; i++)
				snprintf(dst + used + 4 * i, 5, "\\x%02x", s[i]);
		used += need;
		s += len;
	}
	dst[used] = '\0';
	return dst;
}
