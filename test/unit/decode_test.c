// SPDX-License-Identifier: Apache-2.0
/* Tests of decode/decode.c. */
#include "decode/decode.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"
#include "test/test.h"

/* Every field has a value of its own, so that a swap is seen. */
static struct call_event good(void)
{
	struct call_event e = {
		.size = sizeof(e),
		.op = OP_cudaMemcpyAsync,
		.serial = 101,
		.pid = 102,
		.tid = 103,
		.ret = -104,
		.because = BECAUSE_SLOW | BECAUSE_FAILED,
		.depth = 2,
		.who_count = 2,
		.start_ns = 105,
		.dur_ns = 106,
		.bytes = 107,
		.stream = 108,
		.aux = 109,
		.out = 110,
		.usual_ns = 111,
		.site = 112,
		.stack = 113,
		.who = { { 117, 118, 119, "hog" }, { 120, 121, 122, "kswapd0" } },
	};

	for (uint32_t i = 0; i < STATE_COUNT; i++)
		e.state_ns[i] = 200 + i;
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		e.counter[i] = 300 + i;
	return e;
}

TEST(decode_carries_every_field_over)
{
	struct call_event e = good();
	struct record rec;

	CHECK(!decode(&e, sizeof(e), &rec));
	CHECK_STR(rec.op->symbol, "cudaMemcpyAsync");
	CHECK(!rec.next);
	CHECK_U64(rec.serial, 101);
	CHECK_U64(rec.pid, 102);
	CHECK_U64(rec.tid, 103);
	CHECK(rec.ret == -104);
	CHECK_U64(rec.because, BECAUSE_SLOW | BECAUSE_FAILED);
	CHECK_U64(rec.depth, 2);
	CHECK_U64(rec.start_ns, 105);
	CHECK_U64(rec.dur_ns, 106);
	CHECK_U64(rec.bytes, 107);
	CHECK_U64(rec.stream, 108);
	CHECK_U64(rec.aux, 109);
	CHECK_U64(rec.out, 110);
	CHECK_U64(rec.usual_ns, 111);
	CHECK_U64(rec.site, 112);
	CHECK_U64(rec.stack, 113);
	for (uint32_t i = 0; i < STATE_COUNT; i++)
		CHECK_U64(rec.state_ns[i], 200 + i);
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		CHECK_U64(rec.counter[i], 300 + i);
	CHECK_U64(rec.who_count, 2);
	CHECK_U64(rec.who[0].pid, 117);
	CHECK_U64(rec.who[0].cpu, 118);
	CHECK_U64(rec.who[0].ns, 119);
	CHECK_STR(rec.who[0].comm, "hog");
	CHECK_U64(rec.who[1].pid, 120);
	CHECK_STR(rec.who[1].comm, "kswapd0");
	return 0;
}

TEST(decode_takes_bytes_at_any_alignment)
{
	struct call_event e = good();
	char bytes[sizeof(e) + 8];
	struct record rec;

	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(bytes + shift, &e, sizeof(e));
		CHECK(!decode(bytes + shift, sizeof(e), &rec));
		CHECK_U64(rec.out, 110);
	}
	return 0;
}

/* Exactly len bytes are allocated, so that a sanitizer sees a read too far. */
TEST(decode_refuses_every_other_length)
{
	struct call_event e = good();

	for (size_t len = 0; len <= 2 * sizeof(e); len++) {
		char *bytes = xcalloc(1, len ? len : 1);
		struct record rec = { .pid = 77 };
		int err;

		memcpy(bytes, &e, len < sizeof(e) ? len : sizeof(e));
		err = decode(bytes, len, &rec);
		free(bytes);
		if (len == sizeof(e))
			continue;
		CHECK(err == -EBADMSG);
		CHECK(strstr(why(err), "bytes, expected"));
		CHECK_U64(rec.pid, 77);
	}
	return 0;
}

/* Written only on success: what is refused leaves the caller's record alone. */
static int refused(const struct call_event *e, const char *because)
{
	struct record rec = { .pid = 77 };
	int err = decode(e, sizeof(*e), &rec);

	CHECK(err == -EBADMSG);
	if (!strstr(why(err), because))
		return test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", why(err),
				 because);
	CHECK_U64(rec.pid, 77);
	return 0;
}

TEST(decode_refuses_a_record_that_lies_about_its_size)
{
	static const uint32_t lies[] = { 0, 1, sizeof(struct call_event) - 1,
					 sizeof(struct call_event) + 8, UINT32_MAX };
	struct call_event e = good();

	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		e.size = lies[i];
		if (refused(&e, "claims"))
			return 1;
	}
	return 0;
}

TEST(decode_refuses_an_op_that_does_not_exist)
{
	struct call_event e = good();
	struct record rec;

	e.op = OP_GAP;
	CHECK(!decode(&e, sizeof(e), &rec));
	e.op = OP_GAP + 1; /* calibration is counted, never sent */
	if (refused(&e, "names op"))
		return 1;
	e.op = UINT32_MAX;
	return refused(&e, "names op");
}

TEST(decode_refuses_more_culprits_than_there_is_room_for)
{
	struct call_event e = good();
	struct record rec;

	e.who_count = WHO_MAX;
	CHECK(!decode(&e, sizeof(e), &rec));
	CHECK_U64(rec.who_count, WHO_MAX);
	e.who_count = WHO_MAX + 1;
	if (refused(&e, "culprits"))
		return 1;
	e.who_count = UINT32_MAX;
	return refused(&e, "culprits");
}

TEST(decode_refuses_a_record_that_ends_before_it_starts)
{
	struct call_event e = good();
	struct record rec;

	e.start_ns = UINT64_MAX - 5;
	e.dur_ns = 5;
	CHECK(!decode(&e, sizeof(e), &rec));
	e.dur_ns = 6;
	return refused(&e, "ends before it starts");
}

/* Clocks are read one after the other, and counters come from elsewhere: sums need not agree. */
TEST(decode_takes_any_times_and_counts)
{
	struct call_event e = good();
	struct record rec;

	memset(e.state_ns, 0xff, sizeof(e.state_ns));
	memset(e.counter, 0xff, sizeof(e.counter));
	e.usual_ns = e.site = UINT64_MAX;
	CHECK(!decode(&e, sizeof(e), &rec));
	CHECK_U64(rec.state_ns[STATE_UNKNOWN], UINT64_MAX);
	CHECK_U64(rec.counter[COUNTER_kernel_ns], UINT64_MAX);
	CHECK_U64(rec.usual_ns, UINT64_MAX);
	CHECK_U64(rec.site, UINT64_MAX);
	return 0;
}

TEST(decode_of_a_gap_names_the_call_that_ended_it)
{
	struct call_event e = good();
	struct record rec;

	e.op = OP_GAP;
	e.aux = OP_cudaFree;
	CHECK(!decode(&e, sizeof(e), &rec));
	CHECK(rec.op == &op_table[OP_GAP]);
	CHECK(rec.next);
	CHECK_STR(rec.next->symbol, "cudaFree");
	CHECK_U64(rec.aux, 0);
	return 0;
}

TEST(decode_of_a_gap_that_nothing_known_ended_names_nobody)
{
	static const uint64_t unknown[] = { OP_COUNT, OP_GAP, OP_SLOTS, 1ull << 32, UINT64_MAX };
	struct call_event e = good();
	struct record rec;

	e.op = OP_GAP;
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		e.aux = unknown[i];
		CHECK(!decode(&e, sizeof(e), &rec));
		CHECK(!rec.next);
	}
	return 0;
}

TEST(decode_of_a_call_never_takes_aux_for_an_op)
{
	struct call_event e = good();
	struct record rec;

	e.aux = OP_cudaFree;
	CHECK(!decode(&e, sizeof(e), &rec));
	CHECK(!rec.next);
	CHECK_U64(rec.aux, OP_cudaFree);
	return 0;
}

/* All four, whatever who_count says: the array is copied whole. */
TEST(decode_terminates_every_name)
{
	struct call_event e = good();
	struct record rec;

	for (int i = 0; i < WHO_MAX; i++)
		memset(e.who[i].comm, 'x', COMM_LEN);
	CHECK(!decode(&e, sizeof(e), &rec));
	for (int i = 0; i < WHO_MAX; i++)
		CHECK_STR(rec.who[i].comm, "xxxxxxxxxxxxxxx");
	return 0;
}

/* ---- quantiles ---- */

TEST(hist_quantile_of_nothing_is_nothing)
{
	uint32_t hist[HIST_BUCKETS] = { 0 };

	CHECK_U64(hist_quantile(hist, 0), 0);
	CHECK_U64(hist_quantile(hist, 0.5), 0);
	CHECK_U64(hist_quantile(hist, 1), 0);
	return 0;
}

TEST(hist_quantile_of_one_bucket_stays_within_it)
{
	for (uint32_t b = 0; b < HIST_BUCKETS; b++) {
		uint64_t low = b ? hist_floor(b) : 0, high = hist_floor(b + 1);
		uint32_t hist[HIST_BUCKETS] = { 0 };

		hist[b] = 1000;
		CHECK_U64(hist_quantile(hist, 0), low);
		CHECK_U64(hist_quantile(hist, 0.5), low + (high - low) / 2);
		CHECK_U64(hist_quantile(hist, 1), high);
	}
	return 0;
}

TEST(hist_quantile_steps_over_empty_buckets)
{
	uint32_t hist[HIST_BUCKETS] = { 0 };

	hist[10] = 99;
	hist[100] = 1;
	CHECK_U64(hist_quantile(hist, 0.99), hist_floor(11));
	CHECK(hist_quantile(hist, 0.991) >= hist_floor(100));
	CHECK_U64(hist_quantile(hist, 1), hist_floor(101));
	return 0;
}

TEST(hist_quantile_counts_beyond_32_bits)
{
	uint32_t hist[HIST_BUCKETS];

	for (uint32_t b = 0; b < HIST_BUCKETS; b++)
		hist[b] = UINT32_MAX;
	CHECK_U64(hist_quantile(hist, 0.5), hist_floor(HIST_BUCKETS / 2));
	CHECK_U64(hist_quantile(hist, 1), hist_floor(HIST_BUCKETS));
	return 0;
}

/* Durations spread over many octaves, as real ones are, up to 2.3 minutes. */
static uint64_t random_ns(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 11) % (1ull << (8 + (*seed >> 59) % 30));
}

static int by_size(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

TEST(hist_quantile_never_falls_as_the_share_grows)
{
	uint32_t hist[HIST_BUCKETS] = { 0 };
	uint64_t seed = 1, last = 0;

	for (int i = 0; i < 5000; i++)
		hist[hist_bucket(random_ns(&seed))]++;
	for (int i = 0; i <= 10000; i++) {
		uint64_t now = hist_quantile(hist, i / 10000.0);

		CHECK(now >= last);
		last = now;
	}
	return 0;
}

/*
 * What is true: the answer lies in the bucket of the exact quantile, whose width is at most a
 * quarter of its floor, so for 80 ns and more it is off by at most 25 %. (The middle of the bucket
 * would be off by at most 12.5 %; spreading the counts is better on average and worse at the edges.)
 */
TEST(hist_quantile_is_in_the_bucket_of_the_exact_one)
{
	enum { N = 4999 };
	static uint64_t value[N];

	for (uint64_t round = 1; round <= 20; round++) {
		uint32_t hist[HIST_BUCKETS] = { 0 };
		uint64_t seed = round;

		for (int i = 0; i < N; i++) {
			value[i] = random_ns(&seed);
			hist[hist_bucket(value[i])]++;
		}
		qsort(value, N, sizeof(value[0]), by_size);
		for (int i = 1; i <= 1000; i++) {
			uint64_t got = hist_quantile(hist, i / 1000.0);
			uint64_t want =
				value[(i * N + 999) / 1000 - 1]; /* the smallest with that rank */
			uint32_t b = hist_bucket(want);

			CHECK(got >= (b ? hist_floor(b) : 0) && got <= hist_floor(b + 1));
			if (b)
				CHECK_NEAR(got, want, (double)want / 4);
		}
	}
	return 0;
}

/* Where the durations are many and smooth, as in a busy loop, it is far better than that. */
TEST(hist_quantile_is_within_two_percent_on_smooth_data)
{
	enum { N = 100003 };
	uint32_t hist[HIST_BUCKETS] = { 0 };

	for (uint64_t i = 1; i <= N; i++)
		hist[hist_bucket(i * 1000)]++;
	for (int i = 1; i <= 99; i++)
		CHECK_NEAR(hist_quantile(hist, i / 100.0), i * (N * 10.0), i * (N * 10.0) * 0.02);
	return 0;
}

TEST(a_reason_for_a_loss_has_words)
{
	for (int i = 0; i < LOSS_COUNT; i++)
		CHECK_STR(loss_text(loss_names[i]), loss_texts[i]);
	CHECK_STR(loss_text("io_cut"), "requests made of more pieces than are looked at");
	CHECK(loss_text("tag_files"));
	CHECK(!loss_text("made up"));
	return 0;
}
