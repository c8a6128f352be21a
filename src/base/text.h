/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign bytes made harmless: what we did not write ourselves must not drive a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does a well-formed UTF-8 character start at s, of which len bytes may be read? Its length goes
 * to *ret_len. Bytes are read one by one, never past one that is wrong, so for a NUL-terminated
 * string len may be 4. False: nothing written, the byte at s is not text.
 */
bool text_utf8(const unsigned char *s, size_t len, size_t *ret_len);

/* The code point of a character of len bytes that text_utf8() has accepted. */
unsigned int text_code(const unsigned char *s, size_t len);

/*
 * Copy src so that it can be printed on one line of any terminal: control characters (newline and
 * tab too), invalid UTF-8, line separators and the characters that reorder text become \xNN, one
 * per byte. A backslash stays as it is: the result is for eyes, not for undoing.
 *
 * dst ends in NUL unless cap is 0, and is cut before the first character that does not fit whole;
 * cap = 4 * strlen(src) + 1 always suffices. src and dst must not overlap. Returns dst.
 */
char *text_safe(char *dst, size_t cap, const char *src);

#endif
