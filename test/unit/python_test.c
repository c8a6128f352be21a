// SPDX-License-Identifier: Apache-2.0
/* Lines and texts of Python from bytes; what its own interpreters say is compared in test/e2e. */
#include "python/python.h"

#include <limits.h>

#include "base/util.h"
#include "test/test.h"

#define COMPACT (1u << 5)
#define KIND(n) ((uint32_t)(n) << 2)
#define ASCII (1u << 6)

static int line(unsigned version, const char *table, size_t size, int lasti)
{
	return py_line(version, (const uint8_t *)table, size, 100, lasti);
}

#define LINE(version, table, lasti) line(version, table, sizeof(table) - 1, lasti)

TEST(python_lines_of_3_9_grow_and_shrink)
{
	CHECK(LINE(0x309, "\2\1\4\376", 0) == 100);
	CHECK(LINE(0x309, "\2\1\4\376", 2) == 101);
	CHECK(LINE(0x309, "\2\1\4\376", 5) == 101);
	CHECK(LINE(0x309, "\2\1\4\376", 6) == 99);
	CHECK(LINE(0x309, "\2\1\4\376", INT_MAX) == 99);
	CHECK(LINE(0x309, "\2\1\4", 6) == 101); /* half an entry is none */
	CHECK(LINE(0x309, "", 6) == 100);
	return 0;
}

TEST(python_lines_of_3_10_may_be_missing)
{
	CHECK(LINE(0x30a, "\2\1\4\200\2\2", 0) == 101);
	CHECK(LINE(0x30a, "\2\1\4\200\2\2", 2) == 0);
	CHECK(LINE(0x30a, "\2\1\4\200\2\2", 6) == 103);
	CHECK(LINE(0x30a, "\2\1\4\200\2\2", 8) == -1);
	CHECK(LINE(0x30a, "\2\1", -1) == 100);
	return 0;
}

TEST(python_lines_of_3_11_come_in_five_forms)
{
	/* short, one line, no column, long, none: 2 code units each, then short again */
	static const char table[] = "\x81\x00"
				    "\xd9\x01\x02"
				    "\xe9\x04"
				    "\xf1\x07\x01\x02\x03"
				    "\xf9"
				    "\x81\x00";

	CHECK(LINE(0x30b, table, 0) == 100);
	CHECK(LINE(0x30c, table, 4) == 101);
	CHECK(LINE(0x30d, table, 8) == 103);
	CHECK(LINE(0x30e, table, 12) == 100);
	CHECK(LINE(0x30b, table, 16) == 0);
	CHECK(LINE(0x30b, table, 20) == 100); /* none does not disturb what follows */
	CHECK(LINE(0x30b, table, 24) == -1);
	return 0;
}

TEST(python_lines_survive_nonsense)
{
	static const uint8_t first[] = { 2, 0x80 };

	CHECK(LINE(0x30b, "\x01", 0) == -1); /* no entry begins like that */
	CHECK(LINE(0x30b, "\xd9\x01", 0) == -1); /* ends too early */
	CHECK(LINE(0x30b, "\xe9\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 0) == -1);
	CHECK(LINE(0x30b, "\xe9\x7f\x7f\x7f\x7f\x7f\x03", 0) == -1); /* minus 2^31 */
	CHECK(py_line(0x309, first, 2, INT_MIN, 2) == -1);
	CHECK(py_line(0x309, first, 2, INT_MAX, 2) == INT_MAX - 128);
	CHECK(py_line(0x30a, (const uint8_t *)"\2\1", 2, INT_MAX, 0) == -1);
	CHECK(py_line(0x30b, NULL, 0, 7, 0) == -1);
	CHECK(py_line(0x309, NULL, 0, 7, 0) == 7);
	CHECK(py_line(0x30b, NULL, 0, -7, -1) == -1);
	return 0;
}

static const char *text(const void *src, size_t size, int64_t len, uint32_t state, size_t cap)
{
	static char dst[64];

	memset(dst, 'X', sizeof(dst));
	return py_text(src, size, len, state, dst, cap);
}

TEST(python_texts_become_utf8)
{
	static const uint16_t two[] = { 0x15d, 't', 0xdc80, 0x202e };
	static const uint32_t four[] = { 0x1f600, 0x110000, 'x' };

	CHECK_STR(text("forward!", 8, 7, KIND(1) | COMPACT | ASCII, 64), "forward");
	CHECK_STR(text("tr\344in", 5, 5, KIND(1) | COMPACT, 64), "träin");
	CHECK_STR(text(two, sizeof(two), 4, KIND(2) | COMPACT, 64),
		  "ŝt\\xed\\xb2\\x80\\xe2\\x80\\xae");
	CHECK_STR(text(four, sizeof(four), 3, KIND(4) | COMPACT, 64),
		  "\360\237\230\200\357\277\275x");
	CHECK_STR(text("a\n\033\0b", 5, 5, KIND(1) | COMPACT | ASCII, 64), "a\\x0a\\x1b\\x00b");
	return 0;
}

TEST(python_texts_are_cut_at_a_character)
{
	CHECK_STR(text("forward", 7, 7, KIND(1) | COMPACT | ASCII, 5), "forw");
	CHECK_STR(text("tr\344in", 5, 5, KIND(1) | COMPACT, 4), "tr");
	CHECK_STR(text("ab\ncd", 5, 5, KIND(1) | COMPACT | ASCII, 6), "ab");
	CHECK_STR(text("abcde", 5, 900, KIND(1) | COMPACT | ASCII, 64),
		  "abcde"); /* the rest is elsewhere */
	CHECK_STR(text("a\0b", 3, 2, KIND(2) | COMPACT, 64), "a");
	CHECK_STR(text("a", 1, 1, KIND(1) | COMPACT, 1), "");
	CHECK_STR(text("a", 1, -1, KIND(1) | COMPACT, 64), "");
	CHECK_STR(text("a", 1, INT64_MIN, KIND(1) | COMPACT, 64), "");
	CHECK_STR(text("a", 1, 1, KIND(1), 64), ""); /* not compact: the characters are not there */
	CHECK_STR(text("abc", 3, 1, KIND(3) | COMPACT, 64), "");
	CHECK(text("a", 1, 1, KIND(1) | COMPACT, 0)[0] == 'X');
	return 0;
}
