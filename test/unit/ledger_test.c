// SPDX-License-Identifier: Apache-2.0
/* Tests of decode/ledger.c. */
#include <stdlib.h>

#include "base/util.h"
#include "decode/decode.h"
#include "test/test.h"

/* A tally where every counter is n times a number of its own. */
static struct tally tally_of(uint64_t n)
{
	struct tally t = {
		.serial = 7,
		.op = OP_cudaMalloc,
		.calls = 13 * n,
		.done = 11 * n,
		.sent = 2 * n,
		.summed = 6 * n,
		.dropped = 3 * n,
		.errors = 5 * n,
		.bytes = 4096 * n,
		.nested = 9 * n,
		.nested_bytes = 2048 * n,
		.total_ns = 1000 * n,
		.max_ns = 100 + n,
	};

	for (uint32_t i = 0; i < STATE_COUNT; i++)
		t.state_ns[i] = (17 + i) * n;
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		t.counter[i] = (101 + i) * n;
	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		t.hist[i] = (uint32_t)((1 + i) * n);
	return t;
}

/* Is d what n times the numbers of tally_of() would be? */
static int is_times(const struct op_delta *d, uint64_t n)
{
	CHECK_U64(d->serial, 7);
	CHECK(d->op == &op_table[OP_cudaMalloc]);
	CHECK_U64(d->calls, 13 * n);
	CHECK_U64(d->done, 11 * n);
	CHECK_U64(d->sent, 2 * n);
	CHECK_U64(d->summed, 6 * n);
	CHECK_U64(d->dropped, 3 * n);
	CHECK_U64(d->errors, 5 * n);
	CHECK_U64(d->bytes, 4096 * n);
	CHECK_U64(d->nested, 9 * n);
	CHECK_U64(d->nested_bytes, 2048 * n);
	CHECK_U64(d->total_ns, 1000 * n);
	for (uint32_t i = 0; i < STATE_COUNT; i++)
		CHECK_U64(d->state_ns[i], (17 + i) * n);
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		CHECK_U64(d->counter[i], (101 + i) * n);
	for (uint32_t i = 0; i < HIST_BUCKETS; i++)
		CHECK_U64(d->hist[i], (1 + i) * n);
	return 0;
}

static struct ledger *ledger; /* of the test that runs */

static int fresh(int (*test)(void))
{
	int failed;

	ledger = ledger_new();
	failed = test();
	ledger_free(ledger);
	ledger = NULL;
	return failed;
}

/* A test with a ledger of its own, freed however it ends. */
#define LEDGER_TEST(name)                                                                          \
	static int name##_body(void);                                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		return fresh(name##_body);                                                         \
	}                                                                                          \
	static int name##_body(void)

LEDGER_TEST(ledger_gives_all_at_first_and_then_only_the_difference)
{
	struct tally t = tally_of(2);
	struct op_delta d;

	CHECK(ledger_take(ledger, 5, &t, &d));
	if (is_times(&d, 2))
		return 1;
	CHECK_U64(d.max_ns, 102);
	t = tally_of(9);
	CHECK(ledger_take(ledger, 5, &t, &d));
	if (is_times(&d, 7))
		return 1;
	CHECK_U64(d.max_ns, 109); /* the longest so far, not a difference */
	return 0;
}

LEDGER_TEST(ledger_gives_nothing_when_nothing_is_new)
{
	struct tally t = tally_of(2), none = { .serial = 7, .op = OP_cudaMalloc };
	struct op_delta d = { .calls = 77 };

	CHECK(!ledger_take(ledger, 5, &none, &d));
	CHECK(ledger_take(ledger, 5, &t, &d));
	d.calls = 77;
	CHECK(!ledger_take(ledger, 5, &t, &d));
	CHECK_U64(d.calls, 77);
	return 0;
}

LEDGER_TEST(ledger_tells_a_call_that_only_began_and_one_that_only_ended)
{
	struct tally t = { .serial = 7, .op = OP_cudaMalloc, .calls = 1 };
	struct op_delta d;

	CHECK(ledger_take(ledger, 0, &t, &d));
	CHECK_U64(d.calls, 1);
	CHECK_U64(d.done, 0);
	t.done = 1;
	t.total_ns = 5;
	CHECK(ledger_take(ledger, 0, &t, &d));
	CHECK_U64(d.calls, 0);
	CHECK_U64(d.done, 1);
	CHECK_U64(d.total_ns, 5);
	return 0;
}

LEDGER_TEST(ledger_is_right_when_a_histogram_counter_wraps)
{
	struct tally t = tally_of(1);
	struct op_delta d;

	t.hist[3] = UINT32_MAX - 4;
	CHECK(ledger_take(ledger, 5, &t, &d));
	CHECK_U64(d.hist[3], UINT32_MAX - 4);
	t.calls++;
	t.hist[3] += 12; /* 4 up to the end, one to zero, 7 more */
	CHECK_U64(t.hist[3], 7);
	CHECK(ledger_take(ledger, 5, &t, &d));
	CHECK_U64(d.hist[3], 12);
	CHECK_U64(d.hist[4], 0);
	return 0;
}

LEDGER_TEST(ledger_keeps_its_indices_apart)
{
	struct tally t = tally_of(2), other = tally_of(5);
	struct op_delta d;

	CHECK(ledger_take(ledger, 0, &t, &d));
	CHECK(ledger_take(ledger, TALLIES - 1, &other, &d));
	if (is_times(&d, 5))
		return 1;
	CHECK(!ledger_take(ledger, 0, &t, &d));
	CHECK(!ledger_take(ledger, TALLIES - 1, &other, &d));
	return 0;
}

LEDGER_TEST(ledger_starts_over_after_it_was_told_to_forget)
{
	struct tally t = tally_of(9), next = tally_of(2);
	struct op_delta d;

	CHECK(ledger_take(ledger, 5, &t, &d));
	ledger_forget(ledger, 5);
	ledger_forget(ledger, 5); /* twice is fine, and so is one that was never seen */
	ledger_forget(ledger, 6);
	CHECK(ledger_take(ledger, 5, &next, &d));
	return is_times(&d, 2);
}

LEDGER_TEST(ledger_ignores_an_index_or_op_that_does_not_exist)
{
	struct tally t = tally_of(1);
	struct op_delta d = { .calls = 77 };

	CHECK(!ledger_take(ledger, TALLIES, &t, &d));
	CHECK(!ledger_take(ledger, UINT32_MAX, &t, &d));
	t.op = OP_SLOTS;
	CHECK(!ledger_take(ledger, 5, &t, &d));
	t.op = UINT32_MAX;
	CHECK(!ledger_take(ledger, 5, &t, &d));
	CHECK_U64(d.calls, 77);
	t.op = OP_SLOTS - 1;
	CHECK(ledger_take(ledger, 5, &t, &d));
	CHECK(d.op == &op_table[OP_CALIBRATE]);
	return 0;
}

TEST(ledger_free_of_nothing_does_nothing)
{
	ledger_free(NULL);
	CHECK(!ledger);
	return 0;
}
