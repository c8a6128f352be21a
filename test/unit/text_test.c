// SPDX-License-Identifier: Apache-2.0
/* Tests of base/text.c. */
#include "base/text.h"

#include "base/util.h"
#include "test/test.h"

static const char *safe(const char *src)
{
	static char dst[256];

	return text_safe(dst, sizeof(dst), src);
}

TEST(text_safe_leaves_ordinary_text_alone)
{
	CHECK_STR(safe("python3 train.py --lr=1e-4"), "python3 train.py --lr=1e-4");
	CHECK_STR(safe("Grüße, 世界 🚀"), "Grüße, 世界 🚀");
	CHECK_STR(safe("C:\\x41"), "C:\\x41");
	CHECK_STR(safe(""), "");
	return 0;
}

TEST(text_safe_escapes_every_ascii_control)
{
	char src[2] = { 0 }, want[8];

	for (int c = 1; c < 0x80; c++) {
		src[0] = (char)c;
		if (c >= 0x20 && c != 0x7f)
			continue;
		snprintf(want, sizeof(want), "\\x%02x", c);
		CHECK_STR(safe(src), want);
	}
	return 0;
}

TEST(text_safe_escapes_c1_controls_but_not_what_follows_them)
{
	CHECK_STR(safe("\xc2\x80"), "\\xc2\\x80");
	CHECK_STR(safe("\xc2\x9b[1m"), "\\xc2\\x9b[1m");
	CHECK_STR(safe("\xc2\x9f"), "\\xc2\\x9f");
	CHECK_STR(safe("\xc2\xa0"), "\xc2\xa0");
	return 0;
}

TEST(text_safe_escapes_characters_that_reorder_or_break_lines)
{
	CHECK_STR(safe("\xd8\x9c"), "\\xd8\\x9c"); /* U+061C */
	CHECK_STR(safe("\xe2\x80\x8e"), "\\xe2\\x80\\x8e"); /* U+200E */
	CHECK_STR(safe("\xe2\x80\x8f"), "\\xe2\\x80\\x8f");
	CHECK_STR(safe("\xe2\x80\xa8"), "\\xe2\\x80\\xa8"); /* U+2028 */
	CHECK_STR(safe("\xe2\x80\xa9"), "\\xe2\\x80\\xa9");
	CHECK_STR(safe("\xe2\x80\xaa"), "\\xe2\\x80\\xaa"); /* U+202A */
	CHECK_STR(safe("\xe2\x80\xae"), "\\xe2\\x80\\xae");
	CHECK_STR(safe("\xe2\x81\xa6"), "\\xe2\\x81\\xa6"); /* U+2066 */
	CHECK_STR(safe("\xe2\x81\xa9"), "\\xe2\\x81\\xa9");
	return 0;
}

TEST(text_safe_keeps_the_neighbours_of_those_characters)
{
	static const char *const kept[] = { "\xd8\x9b",     "\xd8\x9d",     "\xe2\x80\x8d",
					    "\xe2\x80\x90", "\xe2\x80\xa7", "\xe2\x80\xaf",
					    "\xe2\x81\xa5", "\xe2\x81\xaa" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		CHECK_STR(safe(kept[i]), kept[i]);
	return 0;
}

TEST(text_safe_escapes_invalid_utf8_byte_by_byte)
{
	CHECK_STR(safe("a\xff"
		       "b"),
		  "a\\xffb");
	CHECK_STR(safe("\x80"), "\\x80");
	CHECK_STR(safe("\xc0\xaf"), "\\xc0\\xaf"); /* overlong '/' */
	CHECK_STR(safe("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
	CHECK_STR(safe("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf");
	CHECK_STR(safe("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* surrogate */
	CHECK_STR(safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	CHECK_STR(safe("\xe2\x82"), "\\xe2\\x82"); /* cut off */
	CHECK_STR(safe("\xe2\x82\xc3\xa9"), "\\xe2\\x82\xc3\xa9"); /* resynchronises */
	return 0;
}

TEST(text_safe_never_splits_a_character_when_it_truncates)
{
	char dst[16];

	CHECK_STR(text_safe(dst, 3, "abcd"), "ab");
	CHECK_STR(text_safe(dst, 3, "a\xc3\xa9"), "a");
	CHECK_STR(text_safe(dst, 4, "a\xc3\xa9"), "a\xc3\xa9");
	CHECK_STR(text_safe(dst, 4, "\x1b"), "");
	CHECK_STR(text_safe(dst, 5, "\x1b"), "\\x1b");
	CHECK_STR(text_safe(dst, 12, "\xe2\x80\xae"), "");
	CHECK_STR(text_safe(dst, 13, "\xe2\x80\xae"), "\\xe2\\x80\\xae");
	CHECK_STR(text_safe(dst, 4, "\xf0\x9f\x9a\x80 and shorter"), "");
	CHECK_STR(text_safe(dst, 1, "x"), "");
	return 0;
}

TEST(text_safe_writes_nothing_into_no_room)
{
	char dst = 'k';

	CHECK(text_safe(&dst, 0, "x") == &dst);
	CHECK(dst == 'k');
	return 0;
}

TEST(text_safe_is_harmless_when_applied_twice)
{
	char once[64], twice[64];

	text_safe(once, sizeof(once), "a\x1b\xff\xe2\x80\xae\xc3\xa9");
	CHECK_STR(text_safe(twice, sizeof(twice), once), once);
	return 0;
}

TEST(text_utf8_accepts_exactly_the_characters_that_exist)
{
	size_t accepted[5] = { 0 }, len = 0;
	unsigned char s[4];

	for (uint32_t lead = 0; lead < 0x10000; lead++) {
		s[0] = (unsigned char)(lead >> 8);
		s[1] = (unsigned char)lead;
		s[2] = s[3] = 0x80;
		if (text_utf8(s, sizeof(s), &len))
			accepted[len]++;
	}
	CHECK_U64(accepted[1], 0x8000);
	CHECK_U64(accepted[2], 0x800 - 0x80);
	CHECK_U64(accepted[3], (0x10000 - 0x800 - 0x800) / 64);
	CHECK_U64(accepted[4], 0x100000 / 64 / 64);
	return 0;
}

TEST(text_utf8_reads_no_further_than_told)
{
	const unsigned char euro[] = "\xe2\x82\xac";
	size_t len = 77;

	CHECK(!text_utf8(euro, 0, &len));
	CHECK(!text_utf8(euro, 2, &len));
	CHECK_U64(len, 77);
	CHECK(text_utf8(euro, 3, &len));
	CHECK_U64(len, 3);
	CHECK_U64(text_code(euro, len), 0x20ac);
	return 0;
}
