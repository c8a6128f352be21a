// SPDX-License-Identifier: Apache-2.0
/* Tests of store/hist.c. */
#include <errno.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"
#include "test/test.h"

static int comes_back(const uint32_t hist[HIST_BUCKETS], size_t want_len)
{
	uint8_t blob[HIST_BLOB_MAX];
	uint32_t again[HIST_BUCKETS];
	size_t len = hist_pack(hist, blob);

	CHECK_U64(len, want_len);
	memset(again, 0xa5, sizeof(again));
	CHECK(!hist_unpack(blob, len, again));
	CHECK(memcmp(hist, again, sizeof(again)) == 0);
	return 0;
}

TEST(hist_pack_and_unpack_give_the_same_histogram)
{
	uint32_t hist[HIST_BUCKETS] = { 0 };
	uint64_t seed = 3;

	for (int round = 0; round < 200; round++) {
		uint8_t blob[HIST_BLOB_MAX];
		uint32_t again[HIST_BUCKETS];
		size_t len;

		for (int i = 0; i < HIST_BUCKETS; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			/* Often nothing, and counts of every length. */
			hist[i] = seed >> 62 ? (uint32_t)(seed >> 29) >> (seed >> 57) % 32 : 0;
		}
		len = hist_pack(hist, blob);
		CHECK(len <= sizeof(blob));
		CHECK(!hist_unpack(blob, len, again));
		CHECK(memcmp(hist, again, sizeof(again)) == 0);
	}
	return 0;
}

TEST(hist_pack_of_nothing_is_no_bytes)
{
	uint32_t hist[HIST_BUCKETS] = { 0 };

	return comes_back(hist, 0);
}

TEST(hist_pack_of_everything_fits_the_room_promised)
{
	uint32_t hist[HIST_BUCKETS];

	memset(hist, 0xff, sizeof(hist));
	return comes_back(hist, sizeof(uint8_t[HIST_BLOB_MAX]));
}

TEST(hist_pack_takes_as_few_bytes_as_a_count_needs)
{
	static const struct {
		uint32_t count;
		size_t bytes;
	} row[] = { { 1, 2 },         { 127, 2 },       { 128, 3 },     { 16383, 3 },
		    { 16384, 4 },     { 2097151, 4 },   { 2097152, 5 }, { 268435455, 5 },
		    { 268435456, 6 }, { UINT32_MAX, 6 } };

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		uint32_t first[HIST_BUCKETS] = { row[i].count }, last[HIST_BUCKETS] = { 0 };

		last[HIST_BUCKETS - 1] = row[i].count;
		if (comes_back(first, row[i].bytes) || comes_back(last, row[i].bytes))
			return 1;
	}
	return 0;
}

TEST(hist_unpack_refuses_damaged_blobs)
{
	static const struct {
		size_t len;
		uint8_t bytes[16];
	} bad[] = {
		{ 1, { 5 } }, /* a bucket without a count */
		{ 2, { 5, 0x80 } }, /* a count that stops in the middle */
		{ 1, { 0x80 } },
		{ 3, { 0x80, 0x01, 1 } }, /* bucket 128 */
		{ 6, { 0xff, 0xff, 0xff, 0xff, 0x0f, 1 } }, /* bucket 2^32 - 1 */
		{ 6, { 5, 0x80, 0x80, 0x80, 0x80, 0x10 } }, /* a count of 2^32 */
		{ 7, { 5, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 } }, /* a count that never ends */
		{ 3, { 5, 1, 6 } }, /* a good pair, then half of one */
	};
	uint32_t hist[HIST_BUCKETS];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int err = hist_unpack(bad[i].bytes, bad[i].len, hist);

		if (err != -EBADMSG)
			return test_fail(__FILE__, __LINE__, "blob %zu was accepted", i);
		CHECK(strstr(why(err), "damaged"));
	}
	return 0;
}

/* We never write a bucket twice; a file that does must not make a count wrap to something small. */
TEST(hist_unpack_refuses_counts_that_do_not_fit)
{
	static const uint8_t twice[] = { 5, 1, 5, 2 };
	static const uint8_t wraps[] = { 5, 0xff, 0xff, 0xff, 0xff, 0x0f, 5, 2 };
	uint32_t hist[HIST_BUCKETS];

	CHECK(!hist_unpack(twice, sizeof(twice), hist));
	CHECK_U64(hist[5], 3);
	CHECK(hist_unpack(wraps, sizeof(wraps), hist) == -EBADMSG);
	return 0;
}
