// SPDX-License-Identifier: Apache-2.0
/* Loops as programs make them, their steps known beforehand. */
#include "step/step.h"

#include <time.h>

#include "base/util.h"
#include "test/test.h"
#include "test/unit/step_loop.h"

TEST(step_finds_the_passes_of_a_plain_loop)
{
	struct loop *l = loop_new(20);

	for (int i = 0; i < 500; i++)
		train(l);
	return check_and_free(l, 4);
}

TEST(step_finds_a_loop_of_two_ops)
{
	struct loop *l = loop_new(10);

	for (int i = 0; i < 500; i++) {
		pass_begins(l);
		call(l, GRAPH, 20 * US);
		call(l, SYNC, 3 * MS);
	}
	return check_and_free(l, 2);
}

TEST(step_does_not_take_layers_for_steps)
{
	for (int depth = 2; depth <= 256; depth *= 2) {
		struct loop *l = loop_new(20);

		for (int i = 0; i < 300; i++) {
			pass_begins(l);
			call(l, TO_DEVICE, 300 * US);
			layers(l, depth);
			call(l, SYNC, MS);
		}
		if (check_and_free(l, 2 + 2 * (uint32_t)depth))
			return 1;
	}
	return 0;
}

/* Tensor parallelism: a collective in each layer. */
TEST(step_does_not_take_collectives_for_steps)
{
	struct loop *l = loop_new(20);

	for (int i = 0; i < 100; i++) {
		pass_begins(l);
		for (int k = 0; k < 48; k++) {
			call(l, LAUNCH, 200 * US);
			call(l, REDUCE, 50 * US);
		}
		call(l, TO_HOST, 30 * US);
		call(l, SYNC, MS);
	}
	return check_and_free(l, 98);
}

TEST(step_finds_a_step_with_two_synchronisations)
{
	struct loop *l = loop_new(20);

	for (int i = 0; i < 400; i++) {
		pass_begins(l);
		call(l, TO_DEVICE, 300 * US);
		call(l, LAUNCH, 2 * MS);
		call(l, SYNC, MS);
		call(l, LAUNCH, 2 * MS);
		call(l, TO_HOST, 30 * US);
		call(l, SYNC, 2 * MS);
	}
	return check_and_free(l, 6);
}

/* Nothing comes only once: A B A C B C. */
TEST(step_finds_a_step_in_which_nothing_comes_once)
{
	static const uint32_t ops[] = { TO_DEVICE, LAUNCH, TO_DEVICE, SYNC, LAUNCH, SYNC };
	struct loop *l = loop_new(20);

	for (int i = 0; i < 400; i++) {
		pass_begins(l);
		for (size_t k = 0; k < ARRAY_LEN(ops); k++)
			call(l, ops[k], MS);
	}
	return check_and_free(l, 6);
}

static struct loop *accumulate(int rounds, bool reduce)
{
	struct loop *l = loop_new(10);

	for (int i = 0; i < 300; i++) {
		pass_begins(l);
		for (int k = 0; k < rounds; k++) {
			call(l, TO_DEVICE, 300 * US);
			layers(l, 4);
			call(l, TO_HOST, 30 * US);
			call(l, SYNC, MS);
		}
		if (reduce)
			call(l, REDUCE, MS);
		layers(l, 3);
	}
	return l;
}

TEST(step_of_gradient_accumulation_ends_with_the_optimizer)
{
	if (check_and_free(accumulate(4, true), 51))
		return 1;
	if (check_and_free(accumulate(4, false), 50))
		return 1;
	return check_and_free(accumulate(8, true), 95);
}

/* No trace of an optimizer: then the small pass is all that repeats. */
TEST(step_is_the_small_pass_when_nothing_else_repeats)
{
	struct loop *l = loop_new(10);

	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < 4; k++) {
			train(l);
			if (k == 3)
				l->now_ns += 20 * US;
		}
	}
	return check_and_free(l, 4);
}

TEST(step_survives_extra_calls)
{
	static const uint32_t extra[] = { SYNC,        TO_HOST,       LAUNCH,
					  OP_cudaFree, OP_cudaMalloc, OP_cudaDeviceSynchronize };

	for (size_t kind = 0; kind < ARRAY_LEN(extra); kind++) {
		struct loop *l = loop_new(20);

		for (int i = 0; i < 1000; i++) {
			uint64_t at = random_below(l, 20) ? 99 : random_below(l, 12);

			pass_begins(l);
			call(l, TO_DEVICE, 300 * US);
			for (uint64_t k = 0; k < 6; k++) {
				layers(l, 1);
				if (at == k)
					call(l, extra[kind], 100 * US);
			}
			call(l, TO_HOST, 30 * US);
			call(l, SYNC, MS);
		}
		if (check_and_free(l, 15))
			return 1;
	}
	return 0;
}

static void checkpoint(struct loop *l, int tensors)
{
	for (int k = 0; k < tensors; k++) {
		call(l, TO_HOST, 100 * US);
		call(l, SYNC, 100 * US);
	}
}

TEST(step_survives_checkpoints)
{
	static const int tensors[] = { 1, 10, 300, 3000 };

	for (size_t t = 0; t < ARRAY_LEN(tensors); t++) {
		struct loop *l = loop_new(10);
		uint64_t mean_ns, saved_ns = 0;

		for (int i = 0; i < 2000; i++) {
			train(l);
			if (i % 50 == 49) {
				saved_ns -= l->now_ns;
				checkpoint(l, tensors[t]);
				saved_ns += l->now_ns;
			}
		}
		mean_ns = (l->now_ns - l->first_ns - saved_ns) / l->passes;
		CHECK(!l->wrong);
		CHECK_NEAR(l->steps, l->passes, (double)l->passes * 0.02 + 2);
		CHECK_NEAR(median(l), mean_ns, (double)mean_ns * 0.02);
		loop_free(l);
	}
	return 0;
}

/* The pass that saves is one step, and a long one. */
TEST(step_with_a_checkpoint_is_told_as_a_long_one)
{
	struct loop *l = loop_new(0);
	uint64_t longest = 0;

	for (int i = 0; i < 400; i++) {
		train(l);
		if (i == 300)
			checkpoint(l, 20);
	}
	for (uint64_t i = 0; i < l->steps; i++)
		longest = max_u64(longest, l->dur_ns[i]);
	CHECK(!l->wrong);
	CHECK_NEAR(l->steps, 400, 2);
	CHECK_NEAR(longest, (7370 + 20 * 220ull) * US, 20 * US);
	loop_free(l);
	return 0;
}

static void evaluate(struct loop *l)
{
	pass_begins(l);
	call(l, TO_DEVICE, 200 * US);
	call(l, LAUNCH, 700 * US);
	call(l, MEMSET, 10 * US);
	call(l, LAUNCH, 700 * US);
	call(l, OP_cudaEventSynchronize, 500 * US);
}

TEST(step_follows_a_change_of_the_loop)
{
	struct loop *l = loop_new(20);
	uint64_t after_train, median_ns = 0;
	uint32_t beats = 0;

	for (int i = 0; i < 1000; i++)
		train(l);
	CHECK(stepper_period(l->s, &beats, &median_ns) && beats == 4);
	after_train = l->steps;
	for (int i = 0; i < 300; i++)
		evaluate(l);
	CHECK(stepper_period(l->s, &beats, &median_ns) && beats == 5);
	CHECK_NEAR(l->steps - after_train, 300, 6);
	for (int i = 0; i < 1000; i++)
		train(l);
	return check_and_free(l, 4);
}

TEST(step_survives_a_short_evaluation)
{
	struct loop *l = loop_new(20);
	uint64_t other = 0;

	for (int i = 0; i < 1000; i++) {
		train(l);
		for (int k = 0; i % 100 == 99 && k < 10; k++, other++)
			evaluate(l);
	}
	CHECK(!l->wrong);
	CHECK(l->steps >= 980 && l->steps <= 1000 + other);
	loop_free(l);
	return 0;
}

/* Passes of different length: experts, inputs of different size. */
TEST(step_finds_loops_of_uneven_passes)
{
	struct loop *l = loop_new(30);

	for (int i = 0; i < 600; i++) {
		pass_begins(l);
		call(l, TO_DEVICE, 300 * US);
		layers(l, 10 + (int)random_below(l, 4));
		call(l, TO_HOST, 30 * US);
		call(l, SYNC, MS);
	}
	CHECK(!check_steps(l));
	loop_free(l);
	return 0;
}

TEST(step_is_not_found_in_random_calls)
{
	static const uint32_t ops[] = { LAUNCH, TO_DEVICE, SYNC,  TO_HOST,
					MEMSET, REDUCE,    GRAPH, OP_cudaMalloc };

	for (uint64_t kinds = 3; kinds <= ARRAY_LEN(ops); kinds++) {
		struct loop *l = loop_new(20);
		uint64_t median_ns, last = 99;
		uint32_t beats;

		for (int i = 0; i < 20000; i++) {
			uint64_t op = random_below(l, kinds);

			if (op != last)
				call(l, ops[op], MS);
			last = op;
		}
		CHECK_U64(l->steps, 0);
		CHECK(!stepper_period(l->s, &beats, &median_ns));
		loop_free(l);
	}
	return 0;
}

TEST(step_is_not_found_where_nothing_is_computed)
{
	struct loop *l = loop_new(20);

	for (int i = 0; i < 1000; i++) { /* a model is loaded */
		call(l, TO_DEVICE, MS);
		call(l, SYNC, MS);
	}
	CHECK_U64(l->steps, 0);
	for (int i = 0; i < 1000; i++) { /* one endless row of launches, told in parts */
		call(l, LAUNCH, MS);
	}
	CHECK_U64(l->steps, 0);
	for (int i = 0; i < 1000; i++) /* the inside of a step */
		layers(l, 1);
	CHECK_U64(l->steps, 0);
	loop_free(l);
	return 0;
}

TEST(step_does_not_span_a_break)
{
	struct loop *l = loop_new(0);

	for (int i = 0; i < 300; i++)
		train(l);
	for (int i = 0; i < 300; i++) {
		uint64_t cut_ns, before;

		train(l);
		train(l);
		call(l, TO_DEVICE, 300 * US);
		call(l, LAUNCH, 2 * MS);
		stepper_break(l->s);
		cut_ns = l->now_ns;
		before = l->steps;
		l->now_ns += 100 * MS;
		call(l, TO_HOST, 30 * US);
		call(l, SYNC, 5 * MS);
		train(l);
		train(l);
		CHECK(l->steps > before);
		CHECK(!(l->last.start_ns < cut_ns && l->last_end_ns > cut_ns));
		CHECK(l->last.dur_ns < 10 * MS);
	}
	CHECK(!l->wrong);
	loop_free(l);
	return 0;
}

TEST(step_is_believed_early_when_steps_are_slow)
{
	struct loop *l = loop_new(0);
	uint64_t median_ns = 0;
	uint32_t beats;

	for (int i = 0; i < 20; i++) {
		call(l, GRAPH, MS);
		call(l, SYNC, 999 * MS);
	}
	CHECK(stepper_period(l->s, &beats, &median_ns));
	CHECK(l->steps >= 18 && beats == 2);
	CHECK_NEAR(median_ns, 1000 * MS, MS);
	loop_free(l);
	return 0;
}

/* One step in numbers: 1 ms in each kind of call, 3 ms without the CPU before the input. */
static void numbered_step(struct loop *l)
{
	static const uint32_t ops[] = { TO_DEVICE, GRAPH,
					LAUNCH,    OP_cudaMallocAsync,
					REDUCE,    OP_cudaEventSynchronize,
					TO_HOST,   SYNC };

	for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
		struct beat b = { .op = ops[k], .count = 1, .in_ns = MS };

		if (k == 0) {
			b.wait_ns = 3 * MS;
			l->now_ns += 4 * MS;
		}
		b.start_ns = l->now_ns;
		b.end_ns = l->now_ns += MS;
		if (op_table[BEAT_OP(ops[k])].class == CLASS_LAUNCH)
			b.in_ns = 0;
		stepper_add(l->s, &b, 1, on_step, l);
	}
}

TEST(step_says_where_its_time_went)
{
	struct loop *l = loop_new(0);

	for (int i = 0; i < 100; i++)
		numbered_step(l);
	CHECK(!l->wrong && l->steps > 90);
	CHECK_U64(l->last.dur_ns, 12 * MS);
	CHECK_U64(l->last.data_ns, 3 * MS);
	CHECK_U64(l->last.host_ns, 3 * MS); /* before the input, in the graph's launch, launching */
	CHECK_U64(l->last.copy_ns, 2 * MS);
	CHECK_U64(l->last.sync_ns, 2 * MS);
	CHECK_U64(l->last.coll_ns, 1 * MS);
	CHECK_U64(l->last.other_ns, 1 * MS);
	CHECK_U64(l->last.idle_ns, 4 * MS);
	loop_free(l);
	return 0;
}

/* Times that cannot be, from a kernel that lies: the parts still add up. */
TEST(step_adds_up_whatever_the_beats_say)
{
	static const uint32_t ops[] = { TO_DEVICE, LAUNCH, 0xffffffff, SYNC };
	struct loop *l = loop_new(0);

	for (uint64_t i = 0; i < 4000; i++) {
		struct beat b = { .op = ops[i % 4], .count = (uint32_t)i };

		b.start_ns = random_below(l, 5) ? i * MS : random_below(l, 5000) * MS;
		b.end_ns = random_below(l, 5) ? b.start_ns + MS : random_below(l, 5000) * MS;
		b.in_ns = random_below(l, 2) ? UINT64_MAX - i : MS;
		b.wait_ns = random_below(l, 2) ? UINT64_MAX / 2 + i : MS;
		stepper_add(l->s, &b, 1, on_step, l);
	}
	CHECK(l->steps > 500 && !l->wrong);
	loop_free(l);
	return 0;
}

#ifdef __SANITIZE_ADDRESS__
#define SLOW_BUILD 1
#elif defined(__has_feature)
#define SLOW_BUILD __has_feature(address_sanitizer)
#else
#define SLOW_BUILD 0
#endif

static double seconds_for(int kind)
{
	struct loop *l = loop_new(0);
	struct timespec from, to;
	uint64_t last = 0;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < 1000000; i++) {
		uint64_t op = kind ? random_below(l, (uint64_t)kind) : (uint64_t)i % 300 + i % 3;

		op = (op == last ? op + 1 : op) % OP_COUNT;
		last = op;
		call(l, (uint32_t)op, US);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	loop_free(l);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* The neighbour on the core takes up to a half of it for a while. */
static double best_seconds_for(int kind)
{
	double best = seconds_for(kind);

	for (int i = 0; i < 2; i++) {
		double took = seconds_for(kind);

		best = took < best ? took : best;
	}
	return best;
}

/* ... of a loop, and what has no rhythm takes no more than some times as long. */
TEST(step_takes_a_million_beats_in_a_second)
{
	static const int kinds[] = { 3, 5, 60 };
	const double regular = best_seconds_for(0), most = SLOW_BUILD ? 40 : 16;

	if (regular > (SLOW_BUILD ? 20 : 1))
		return test_fail(__FILE__, __LINE__, "a loop: %.2f s", regular);
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		double times = best_seconds_for(kinds[k]) / regular;

		if (times > most)
			return test_fail(__FILE__, __LINE__, "%d kinds: %.1f times a loop",
					 kinds[k], times);
	}
	return 0;
}
