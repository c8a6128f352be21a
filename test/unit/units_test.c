// SPDX-License-Identifier: Apache-2.0
/* Tests of base/units.c and base/units_time.c. */
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/util.h"
#include "test/test.h"

#define US 1000ull
#define MS (1000 * US)
#define S (1000 * MS)
#define MIN (60 * S)
#define HOUR (60 * MIN)
#define DAY (24 * HOUR)

struct good {
	const char *text;
	uint64_t want;
};

TEST(parse_duration_understands_every_unit)
{
	static const struct good cases[] = {
		{ "20", 20 * S },
		{ "20s", 20 * S },
		{ "250ms", 250 * MS },
		{ "7us", 7 * US },
		{ "850ns", 850 },
		{ "5m", 5 * MIN },
		{ "5min", 5 * MIN },
		{ "1h", HOUR },
		{ "2d", 2 * DAY },
		{ "1.5s", 1500 * MS },
		{ "0.25", 250 * MS },
		{ "0", 0 },
		{ "48.3 ms", 48300 * US },
		{ "1.0000000019s", S + 1 },
		{ "0.5ns", 0 },
		{ "213503d", 213503 * DAY },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		CHECK(!parse_duration(cases[i].text, &got));
		CHECK_U64(got, cases[i].want);
	}
	return 0;
}

TEST(parse_duration_refuses_everything_else_and_writes_nothing)
{
	static const char *const cases[] = {
		"",   " ",   "s",   "-5s", "+5s", "5x",  "5 s s", "1.",  ".5s", "1.5.5s", "1e3",
		"5M", "0x5", "5s ", " 5",  "5m5", "nan", "inf",   "5,5", "５s", "1h30m",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		if (parse_duration(cases[i], &got) != -EINVAL)
			CHECK_STR(cases[i], "refused");
		CHECK_U64(got, 77);
	}
	return 0;
}

TEST(parse_duration_refuses_what_does_not_fit)
{
	static const char *const cases[] = { "213504d", "18446744074", "18446744073709551616ns",
					     "99999999999999999999999999d" };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		CHECK(parse_duration(cases[i], &got) == -ERANGE);
		CHECK_U64(got, 77);
	}
	return 0;
}

TEST(parse_duration_names_the_value_and_shows_examples)
{
	uint64_t got;

	CHECK(parse_duration("5 parsecs", &got) == -EINVAL);
	CHECK_STR(why(-EINVAL), "'5 parsecs' is not a duration (try 20s, 250ms, 5m or 1h)");
	return 0;
}

TEST(parse_errors_keep_their_advice_when_the_value_is_long)
{
	char longer[2000];
	uint64_t got;

	memset(longer, '\x1b', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(parse_duration(longer, &got) == -EINVAL);
	CHECK(strstr(why(-EINVAL), "try 20s"));
	CHECK(parse_time(longer, 0, &got) == -EINVAL);
	CHECK(strstr(why(-EINVAL), "or -5m)"));
	return 0;
}

TEST(parse_size_counts_in_powers_of_1024)
{
	static const struct good cases[] = {
		{ "4096", 4096 },
		{ "0", 0 },
		{ "64k", 64 << 10 },
		{ "64K", 64 << 10 },
		{ "64kb", 64 << 10 },
		{ "64 KiB", 64 << 10 },
		{ "1.5m", 3 << 19 },
		{ "10g", 10ull << 30 },
		{ "2T", 2ull << 40 },
		{ "512b", 512 },
		{ "16777215t", 16777215ull << 40 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		CHECK(!parse_size(cases[i].text, &got));
		CHECK_U64(got, cases[i].want);
	}
	return 0;
}

TEST(parse_size_refuses_everything_else)
{
	static const char *const cases[] = { "",    "k",   "-1",  "1.5",    "1.5b", "1ib",
					     "10x", "1kk", "1 0", "64 k k", "1e9" };
	uint64_t got = 77;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (parse_size(cases[i], &got) != -EINVAL)
			CHECK_STR(cases[i], "refused");
	}
	CHECK(parse_size("16777216t", &got) == -ERANGE);
	CHECK_U64(got, 77);
	return 0;
}

TEST(parse_u64_takes_digits_up_to_the_maximum)
{
	uint64_t got = 77;

	CHECK(!parse_u64("18446744073709551615", UINT64_MAX, &got));
	CHECK_U64(got, UINT64_MAX);
	CHECK(!parse_u64("0007", 7, &got));
	CHECK_U64(got, 7);
	CHECK(parse_u64("8", 7, &got) == -ERANGE);
	CHECK_STR(why(-ERANGE), "8 is too large (the most is 7)");
	CHECK(parse_u64("18446744073709551616", UINT64_MAX, &got) == -ERANGE);
	CHECK(parse_u64("", 7, &got) == -EINVAL);
	CHECK(parse_u64("-1", 7, &got) == -EINVAL);
	CHECK(parse_u64(" 1", 7, &got) == -EINVAL);
	CHECK(parse_u64("1 ", 7, &got) == -EINVAL);
	CHECK(parse_u64("0x1", 7, &got) == -EINVAL);
	CHECK_U64(got, 7);
	return 0;
}

/* Local time depends on the machine, so tests that need a zone set it. */
static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define NOV_15 (1794711600ull * S) /* 2026-11-15 03:00:00 UTC */

TEST(parse_time_understands_every_form)
{
	static const struct good cases[] = {
		{ "2026-11-15T03:00:00Z", NOV_15 },
		{ "2026-11-15 03:00:00Z", NOV_15 },
		{ "2026-11-15T03:00Z", NOV_15 },
		{ "2026-11-15T03:00:00.25Z", NOV_15 + 250 * MS },
		{ "2026-11-15 04:00:00", NOV_15 },
		{ "2026-11-15T04:00:00", NOV_15 },
		{ "2026-07-01 02:00:00", 1782864000 * S }, /* summer time */
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2024-02-29T00:00:00Z", 1709164800 * S },
		{ "@1700000000", 1700000000 * S },
		{ "@1700000000.5", 1700000000 * S + 500 * MS },
		{ "-5m", NOV_15 - 5 * MIN },
		{ "-0", NOV_15 },
		{ "04:00", NOV_15 },
		{ "03:59:30.5", NOV_15 - 30 * S + 500 * MS },
		{ "04:00:01", NOV_15 + S - DAY },
		{ "23:00", NOV_15 - 5 * HOUR },
	};

	set_zone(BERLIN);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		if (parse_time(cases[i].text, NOV_15, &got))
			CHECK_STR(cases[i].text, "accepted");
		CHECK_U64(got, cases[i].want);
	}
	return 0;
}

TEST(parse_time_refuses_everything_else)
{
	static const char *const cases[] = {
		"",
		"now",
		"3:12",
		"24:00",
		"03:60",
		"03:12:60",
		"03:12:",
		"03:12Z",
		"03",
		"2026-11-15",
		"2026-13-01 00:00:00",
		"2026-02-29 00:00:00",
		"2026-11-31 00:00",
		"2026-11-15T03:00:00z",
		"2026-11-15T03:00:00Zx",
		"2026-1-15 03:00",
		"1969-12-31 23:59:59",
		"@",
		"@1x",
		"@-1",
		"-",
		"-5x",
		"--5m",
		"2026-11-15T03:00:00+01:00",
	};

	set_zone(BERLIN);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t got = 77;

		if (parse_time(cases[i], NOV_15, &got) != -EINVAL)
			CHECK_STR(cases[i], "refused");
		CHECK_U64(got, 77);
	}
	return 0;
}

TEST(parse_time_refuses_what_ns_since_1970_cannot_say)
{
	uint64_t got = 77;

	set_zone(BERLIN);
	CHECK(parse_time("2600-01-01T00:00:00Z", NOV_15, &got) == -ERANGE);
	CHECK(parse_time("@18446744074", NOV_15, &got) == -ERANGE);
	CHECK(parse_time("-1h", HOUR - 1, &got) == -ERANGE);
	CHECK(parse_time("1970-01-01 00:00:00", NOV_15, &got) == -ERANGE);
	CHECK_U64(got, 77);
	return 0;
}

/* 2026-03-29: 02:00 CET is 03:00 CEST. 2026-10-25: 03:00 CEST is 02:00 CET. */
TEST(parse_time_skips_an_hour_that_the_clock_skipped)
{
	uint64_t now = 1774756800ull * S; /* 2026-03-29 04:00 UTC, 06:00 CEST */
	uint64_t got = 0;

	set_zone(BERLIN);
	CHECK(!parse_time("02:30", now, &got));
	CHECK_U64(got, 1774661400ull * S); /* the day before, 02:30 CET */
	return 0;
}

TEST(parse_time_takes_the_later_of_an_hour_that_came_twice)
{
	uint64_t first = 1792888200ull * S; /* 2026-10-25 00:30 UTC, 02:30 CEST */
	uint64_t got = 0;

	set_zone(BERLIN);
	CHECK(!parse_time("02:30", first + 5 * HOUR, &got));
	CHECK_U64(got, first + HOUR); /* 02:30 CET */
	CHECK(!parse_time("02:30", first + 30 * MIN, &got));
	CHECK_U64(got, first); /* the second one is still to come */
	return 0;
}

TEST(format_clock_is_local_time_with_milliseconds)
{
	char buf[UNITS_CAP];

	set_zone(BERLIN);
	CHECK_STR(format_clock(buf, sizeof(buf), NOV_15 + 123999999), "04:00:00.123");
	set_zone("UTC0");
	CHECK_STR(format_clock(buf, sizeof(buf), NOV_15), "03:00:00.000");
	CHECK(strlen(format_clock(buf, sizeof(buf), UINT64_MAX)) == 12);
	return 0;
}

TEST(format_clock_is_what_parse_time_reads)
{
	uint64_t when = NOV_15 + 123 * MS, got = 0;
	char buf[UNITS_CAP];

	set_zone(BERLIN);
	CHECK(!parse_time(format_clock(buf, sizeof(buf), when), when + HOUR, &got));
	CHECK_U64(got, when);
	return 0;
}

struct shown {
	uint64_t value;
	const char *want;
};

TEST(format_ns_shows_three_digits_at_most)
{
	static const struct shown cases[] = {
		{ 0, "0 ns" },
		{ 7, "7 ns" },
		{ 850, "850 ns" },
		{ 999, "999 ns" },
		{ 1000, "1 us" },
		{ 7200, "7.2 us" },
		{ 7204, "7.2 us" },
		{ 7205, "7.21 us" },
		{ 9995, "10 us" },
		{ 48300 * US, "48.3 ms" },
		{ 999499, "999 us" },
		{ 999500, "1 ms" },
		{ 1240 * MS, "1.24 s" },
		{ 59949 * MS, "59.9 s" },
		{ 59950 * MS, "1m 00s" },
		{ MIN, "1m 00s" },
		{ 125 * S, "2m 05s" },
		{ HOUR - S, "59m 59s" },
		{ HOUR - 1, "1h 00m" },
		{ 3 * HOUR + 7 * MIN, "3h 07m" },
		{ DAY - 1, "1d 00h" },
		{ 2 * DAY + 4 * HOUR, "2d 04h" },
		{ 1ull << 62, "53376d 00h" },
		{ UINT64_MAX, "213504d 00h" },
	};
	char buf[UNITS_CAP];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(format_ns(buf, sizeof(buf), cases[i].value), cases[i].want);
	return 0;
}

TEST(format_ns_is_within_half_a_percent)
{
	char buf[UNITS_CAP];

	for (uint64_t ns = 1; ns < 59 * S; ns += 1 + ns / 53) {
		uint64_t back = 0;

		CHECK(!parse_duration(format_ns(buf, sizeof(buf), ns), &back));
		CHECK_NEAR(back, ns, (double)ns / 200);
	}
	return 0;
}

TEST(format_bytes_shows_three_digits_at_most)
{
	static const struct shown cases[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1 KiB" },
		{ 1536, "1.5 KiB" },
		{ 64 << 20, "64 MiB" },
		{ (1 << 20) - 1, "1 MiB" },
		{ 1000 << 10, "1000 KiB" },
		{ 3ull << 29, "1.5 GiB" },
		{ 1ull << 62, "4 EiB" },
		{ UINT64_MAX, "16 EiB" },
	};
	char buf[UNITS_CAP];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(format_bytes(buf, sizeof(buf), cases[i].value), cases[i].want);
	return 0;
}

TEST(format_count_separates_thousands)
{
	static const struct shown cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 14504, "14,504" },
		{ 123456, "123,456" },
		{ 1000000, "1,000,000" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	char buf[UNITS_CAP];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(format_count(buf, sizeof(buf), cases[i].value), cases[i].want);
	return 0;
}

TEST(formatters_never_write_past_the_buffer)
{
	static char *(*const formats[])(char *, size_t, uint64_t) = { format_ns, format_bytes,
								      format_count, format_clock };
	char buf[UNITS_CAP + 1];

	for (size_t i = 0; i < ARRAY_LEN(formats) * UNITS_CAP; i++) {
		size_t cap = i % UNITS_CAP;

		memset(buf, 'z', sizeof(buf));
		CHECK(formats[i / UNITS_CAP](buf, cap, 123456789012345) == buf);
		CHECK(!cap || memchr(buf, '\0', cap));
		CHECK(buf[cap] == 'z');
	}
	return 0;
}
