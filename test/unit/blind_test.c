// SPDX-License-Identifier: Apache-2.0
/* Tests of step/blind.c: the same loop with and without its launches. */
#include "step/blind.h"

#include "test/unit/step_loop.h"

/* A pass: a copy, launches of two kinds with an allocation in between, a wait. */
static size_t pass(struct beat *b, uint64_t *now, bool seen, bool copies)
{
	uint32_t ops[] = { TO_DEVICE, LAUNCH, OP_cuMemAlloc_v2, LAUNCH, OP_cuLaunchKernelEx, SYNC };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		bool launch = op_table[BEAT_OP(ops[i])].class == CLASS_LAUNCH;

		*now += MS;
		if ((launch && !seen) || (!copies && i % 5))
			continue;
		if (!copies && !i)
			ops[i] = LAUNCH;
		if (!copies && !i && !seen)
			continue;
		b[n++] = (struct beat){ .op = ops[i],
					.start_ns = *now,
					.end_ns = launch ? *now : *now + MS / 2,
					.in_ns = launch ? 0 : MS / 2,
					.wait_ns = seen ? MS / 10 : MS / 5,
					.count = 1 };
	}
	return n;
}

static int steps_of(bool copies, uint64_t *ret_steps, uint64_t *ret_median)
{
	struct loop *l = loop_new(0);
	struct blind blind = { 0 };
	uint64_t now = 1000 * MS;
	struct beat in[8], out[17];

	stepper_blind(l->s, true);
	for (int i = 0; i < 2000; i++) { /* seen for 20 passes of 200 */
		size_t n = pass(in, &now, i % 200 < 20, copies);

		n = blind_beats(&blind, in, n, out);
		CHECK(n <= 16);
		stepper_add(l->s, out, n, on_step, l);
	}
	*ret_steps = l->steps;
	*ret_median = median(l);
	CHECK(!l->wrong);
	CHECK_U64(l->last.idle_ns, 0); /* not known */
	loop_free(l);
	return 0;
}

TEST(blind_rhythm_is_the_same_with_and_without_launches)
{
	uint64_t steps = 0, ns = 0;

	if (steps_of(true, &steps, &ns))
		return 1;
	CHECK_NEAR(steps, 2000, 30);
	CHECK_U64(ns, 6 * MS);
	return 0;
}

TEST(blind_rhythm_of_a_loop_that_only_launches_and_waits)
{
	uint64_t steps = 0, ns = 0;

	if (steps_of(false, &steps, &ns))
		return 1;
	CHECK_NEAR(steps, 2000, 30);
	CHECK_U64(ns, 6 * MS);
	return 0;
}

TEST(blind_beats_keep_the_waiting_of_what_is_left_out)
{
	struct beat in[] = {
		{ .op = TO_DEVICE, .start_ns = 10, .end_ns = 20, .wait_ns = 1, .count = 1 },
		{ .op = LAUNCH, .start_ns = 30, .end_ns = 40, .wait_ns = 5, .count = 9 },
		{ .op = TO_DEVICE, .start_ns = 50, .end_ns = 60, .wait_ns = 7, .count = 1 },
		{ .op = SYNC, .start_ns = 70, .end_ns = 80, .count = 1 },
		{ .op = SYNC, .start_ns = 90, .end_ns = 95, .count = 1 }
	};
	struct beat out[11];
	struct blind blind = { 0 };

	CHECK_U64(blind_beats(&blind, in, ARRAY_LEN(in), out), 4);
	CHECK(out[0].op == TO_DEVICE && out[0].count == 2 && out[0].wait_ns == 13);
	CHECK(out[0].start_ns == 10 && out[0].end_ns == 60);
	CHECK(out[1].op == LAUNCH && out[1].start_ns == 60);
	CHECK(out[2].op == SYNC && out[2].end_ns == 80);
	CHECK(out[3].op == LAUNCH && out[3].start_ns == 80);
	CHECK(blind.has_last && blind.last.op == SYNC && blind.last.end_ns == 95);
	return 0;
}
