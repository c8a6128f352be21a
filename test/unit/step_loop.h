/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that know how often they went round, for the tests of src/step. */
#ifndef TEST_UNIT_STEP_LOOP_H
#define TEST_UNIT_STEP_LOOP_H

#include <stdlib.h>

#include "base/util.h"
#include "step/step.h"
#include "test/test.h"

#define US 1000ull
#define MS 1000000ull
#define TO_DEVICE (OP_cudaMemcpyAsync | 1 << 16)
#define TO_HOST (OP_cudaMemcpyAsync | 2 << 16)
#define LAUNCH OP_cuLaunchKernel
#define MEMSET OP_cudaMemsetAsync
#define SYNC OP_cudaStreamSynchronize
#define GRAPH OP_cudaGraphLaunch
#define REDUCE OP_ncclAllReduce

struct loop {
	struct stepper *s;
	uint64_t now_ns, seed;
	int jitter_pct;
	/* the truth: */
	uint64_t passes, first_ns;
	/* what was told: */
	uint64_t steps, total_ns, last_index, last_end_ns;
	uint64_t dur_ns[65536];
	struct step last;
	bool wrong; /* parts that do not add up, or steps that overlap */
};

static inline struct loop *loop_new(int jitter_pct)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	l->s = stepper_new();
	l->now_ns = 1000 * MS;
	l->seed = 42;
	l->jitter_pct = jitter_pct;
	return l;
}

static inline void loop_free(struct loop *l)
{
	stepper_free(l->s);
	free(l);
}

static inline uint64_t random_below(struct loop *l, uint64_t n)
{
	l->seed = l->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (l->seed >> 33) % n;
}

static inline uint64_t jitter(struct loop *l, uint64_t ns)
{
	uint64_t range = ns * (uint64_t)l->jitter_pct / 100;

	return range ? ns - range + random_below(l, 2 * range + 1) : ns;
}

static inline void on_step(const struct step *step, void *arg)
{
	struct loop *l = arg;
	uint64_t sum = step->host_ns + step->data_ns + step->copy_ns + step->sync_ns +
		       step->coll_ns + step->other_ns;

	l->wrong |= sum != step->dur_ns || step->idle_ns > step->dur_ns ||
		    step->start_ns < l->last_end_ns || step->index != l->steps;
	l->last_end_ns = step->start_ns + step->dur_ns;
	l->dur_ns[l->steps++ % ARRAY_LEN(l->dur_ns)] = step->dur_ns;
	l->total_ns += step->dur_ns;
	l->last = *step;
}

/* A beat after 10 us on the host; all of ns is inside the call, if it is timed. */
static inline void call(struct loop *l, uint32_t op, uint64_t ns)
{
	struct beat b = { .op = op, .count = 1 };
	bool timed = op_timed(op_table[BEAT_OP(op)].class);

	l->now_ns += jitter(l, 10 * US);
	b.start_ns = l->now_ns;
	l->now_ns += jitter(l, ns);
	b.end_ns = l->now_ns;
	b.in_ns = timed ? b.end_ns - b.start_ns : 0;
	stepper_add(l->s, &b, 1, on_step, l);
}

static inline void layers(struct loop *l, int n)
{
	for (int i = 0; i < n; i++) {
		call(l, MEMSET, 5 * US);
		call(l, LAUNCH, 200 * US);
	}
}

static inline void pass_begins(struct loop *l)
{
	if (!l->passes++)
		l->first_ns = l->now_ns;
}

static inline void train(struct loop *l)
{
	pass_begins(l);
	call(l, TO_DEVICE, 300 * US);
	call(l, LAUNCH, 2 * MS);
	call(l, TO_HOST, 30 * US);
	call(l, SYNC, 5 * MS);
}

static inline int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline uint64_t median(struct loop *l)
{
	size_t n = (size_t)min_u64(l->steps, ARRAY_LEN(l->dur_ns));

	qsort(l->dur_ns, n, sizeof(l->dur_ns[0]), by_value);
	return n ? l->dur_ns[n / 2] : 0;
}

/* Count and time within 2 % of the truth. */
static inline int check_steps(struct loop *l)
{
	uint64_t mean_ns = (l->now_ns - l->first_ns) / l->passes;

	CHECK(!l->wrong);
	CHECK_NEAR(l->steps, l->passes, 2 + (double)l->passes * 0.02);
	CHECK_NEAR((double)l->total_ns / (double)l->steps, mean_ns, (double)mean_ns * 0.02);
	return 0;
}

static inline int check_and_free(struct loop *l, uint32_t want_beats)
{
	uint64_t median_ns = 0;
	uint32_t beats = 0;
	int failed = check_steps(l);

	if (!failed && (!stepper_period(l->s, &beats, &median_ns) || beats != want_beats))
		failed = test_fail(__FILE__, __LINE__, "a period of %u beats", beats);
	loop_free(l);
	return failed;
}

#endif
