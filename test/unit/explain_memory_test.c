// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/memory.c: does memory only ever grow? */
#include "explain/explain_int.h"
#include "test/test.h"

#define SEC 1000000000ull
#define MIB (1ull << 20)

static const struct window minutes = { 0, 120 * SEC };

/* One point a second: warm, then by `per_second` more each; `dip` is given back every tenth second. */
static double grows(uint64_t warm, uint64_t per_second, uint64_t dip, struct window w)
{
	struct memory_point p[120];

	for (uint64_t i = 0; i < 120; i++)
		p[i] = (struct memory_point){ i * SEC, warm + per_second * i - (i % 10 ? 0 : dip) };
	return memory_growth(p, 120, w);
}

TEST(memory_that_grows_all_the_time_is_told)
{
	double rate = grows(100 * MIB, MIB, 0, minutes);

	CHECK(rate > 59 * MIB && rate < 61 * MIB);
	return 0;
}

TEST(memory_that_comes_and_goes_does_not_grow)
{
	struct memory_point p[120];

	for (uint64_t i = 0; i < 120; i++)
		p[i] = (struct memory_point){ i * SEC, (100 + i % 7 * 50) * MIB };
	CHECK(!(memory_growth(p, 120, minutes) > 0));
	CHECK(!(grows(100 * MIB, 0, 0, minutes) > 0));
	return 0;
}

/* What a loop gives back in between does not hide what it keeps. */
TEST(memory_that_grows_in_waves_is_told)
{
	CHECK(grows(100 * MIB, MIB, 5 * MIB, minutes) > 0);
	return 0;
}

TEST(memory_of_the_warm_up_does_not_count)
{
	struct memory_point p[] = { { 1 * SEC, 10 * MIB },
				    { 5 * SEC, 4000 * MIB },
				    { 20 * SEC, 8000 * MIB } };

	CHECK(!(memory_growth(p, 3, minutes) > 0));
	return 0;
}

TEST(memory_is_not_judged_in_a_short_time_or_by_little)
{
	CHECK(!(grows(100 * MIB, MIB, 0, (struct window){ 0, 20 * SEC }) > 0));
	CHECK(!(grows(100 * MIB, MIB / 16, 0, minutes) > 0));
	CHECK(!(memory_growth(NULL, 0, minutes) > 0));
	return 0;
}

/* It began in the middle of the window: what was before is no growth. */
TEST(memory_of_a_late_process_is_judged_from_its_start)
{
	struct memory_point p[40];

	for (uint64_t i = 0; i < 40; i++)
		p[i] = (struct memory_point){ (100 + i / 2) * SEC, (1 + i) * 100 * MIB };
	CHECK(!(memory_growth(p, 40, minutes) > 0)); /* 20 seconds of it */
	return 0;
}
