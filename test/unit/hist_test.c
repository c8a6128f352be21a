// SPDX-License-Identifier: Apache-2.0
/* Tests of wire/hist.h. */
#include "wire/hist.h"

#include "test/test.h"

TEST(hist_log2_is_the_position_of_the_highest_bit)
{
	CHECK_U64(hist_log2(0), 0);
	CHECK_U64(hist_log2(1), 0);
	for (unsigned int bit = 1; bit < 64; bit++) {
		CHECK_U64(hist_log2(1ull << bit), bit);
		CHECK_U64(hist_log2((1ull << bit) - 1), bit - 1);
		CHECK_U64(hist_log2((1ull << bit) | 1), bit);
	}
	CHECK_U64(hist_log2(UINT64_MAX), 63);
	return 0;
}

TEST(hist_floor_is_the_smallest_value_of_its_bucket)
{
	for (unsigned int b = 0; b < HIST_BUCKETS; b++)
		CHECK_U64(hist_bucket(hist_floor(b)), b);
	for (unsigned int b = 1; b < HIST_BUCKETS; b++)
		CHECK_U64(hist_bucket(hist_floor(b) - 1), b - 1);
	return 0;
}

TEST(hist_floors_grow)
{
	for (unsigned int b = 0; b < HIST_BUCKETS; b++)
		CHECK(hist_floor(b) < hist_floor(b + 1));
	return 0;
}

TEST(hist_covers_64_ns_to_four_and_a_half_minutes)
{
	CHECK_U64(hist_floor(0), 64);
	CHECK(hist_floor(HIST_BUCKETS) > 270ull * 1000000000);
	CHECK(hist_floor(HIST_BUCKETS) < 280ull * 1000000000);
	return 0;
}

TEST(hist_puts_what_it_does_not_cover_into_the_outer_buckets)
{
	CHECK_U64(hist_bucket(0), 0);
	CHECK_U64(hist_bucket(63), 0);
	CHECK_U64(hist_bucket(hist_floor(HIST_BUCKETS)), HIST_BUCKETS - 1);
	CHECK_U64(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
	return 0;
}

TEST(hist_bucket_never_falls_as_durations_grow)
{
	unsigned int last = 0;

	for (uint64_t ns = 0; ns < 1ull << 62; ns += 1 + ns / 97) {
		unsigned int b = hist_bucket(ns);

		CHECK(b >= last && b < HIST_BUCKETS);
		last = b;
	}
	CHECK_U64(last, HIST_BUCKETS - 1);
	return 0;
}

/* Buckets are 1/4 to 1/7 of their floor wide, so the middle is at most half of 1/4 off. */
TEST(hist_middle_of_a_bucket_is_within_an_eighth_of_any_value_in_it)
{
	for (uint64_t ns = 64; ns < hist_floor(HIST_BUCKETS); ns += 1 + ns / 1009) {
		unsigned int b = hist_bucket(ns);
		double middle = ((double)hist_floor(b) + (double)hist_floor(b + 1)) / 2;

		CHECK_NEAR(middle, ns, (double)ns / 8);
	}
	return 0;
}

TEST(hist_quantile_is_within_an_eighth_of_the_true_one)
{
	enum { N = 10007 }; /* durations i * 1000 ns, so the true quantile is known */
	unsigned int counts[HIST_BUCKETS] = { 0 };

	for (uint64_t i = 1; i <= N; i++)
		counts[hist_bucket(i * 1000)]++;
	for (uint64_t percent = 1; percent <= 99; percent++) {
		uint64_t rank = N * percent / 100 + 1, seen = 0;
		unsigned int b = 0;

		while (seen + counts[b] < rank)
			seen += counts[b++];
		CHECK_NEAR((double)(hist_floor(b) + hist_floor(b + 1)) / 2, rank * 1000,
			   (double)rank * 1000 / 8);
	}
	return 0;
}
