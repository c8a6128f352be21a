// SPDX-License-Identifier: Apache-2.0
/* Tests of step/idle.c: beats as one-liners, intervals as text. */
#include <stdio.h>

#include "base/util.h"
#include "step/idle.h"
#include "test/test.h"

enum { A = 1, B };

static char told[256];

static void tell(uint32_t thread, uint64_t from, uint64_t to, void *arg)
{
	size_t len = strlen(told);

	(void)arg;
	snprintf(told + len, sizeof(told) - len, "%s%c %llu-%llu", len ? " " : "",
		 (char)('A' + thread - 1), (unsigned long long)from, (unsigned long long)to);
}

static struct beat call(enum op_id op, uint64_t start, uint64_t end, uint32_t stream)
{
	return (struct beat){
		.op = op, .start_ns = start, .end_ns = end, .count = 1, .stream = stream
	};
}

#define LAUNCH(at, stream) call(OP_cudaLaunchKernel, at, at, stream)
#define SYNC(start, end, stream) call(OP_cudaStreamSynchronize, start, end, stream)
#define SYNC_ALL(start, end) call(OP_cudaDeviceSynchronize, start, end, 0)

struct given {
	uint32_t thread;
	struct beat beat;
};

/* What is told of these, all at once. */
static const char *run(const struct given *given, size_t n)
{
	struct idle *i = idle_new();

	told[0] = '\0';
	for (size_t k = 0; k < n; k++)
		idle_add(i, given[k].thread, &given[k].beat);
	idle_run(i, UINT64_MAX, tell, NULL);
	idle_free(i);
	return told;
}

#define RUN(...)                                                                                   \
	run((const struct given[]){ __VA_ARGS__ },                                                 \
	    sizeof((const struct given[]){ __VA_ARGS__ }) / sizeof(struct given))

TEST(idle_lasts_from_the_end_of_a_wait_to_the_next_launch)
{
	CHECK_STR(RUN({ A, LAUNCH(10, 0) }, { A, SYNC(20, 50, 0) }, { A, LAUNCH(90, 0) },
		      { A, SYNC_ALL(100, 120) }, { A, call(OP_cudaMemcpyAsync, 150, 160, 0) }),
		  "A 50-90 A 120-150");
	return 0;
}

TEST(idle_is_not_while_another_stream_has_work)
{
	CHECK_STR(RUN({ A, LAUNCH(10, 7) }, { A, SYNC(20, 50, 0) }, { A, LAUNCH(90, 0) }), "");
	CHECK_STR(RUN({ A, LAUNCH(10, 7) }, { A, LAUNCH(11, 0) }, { A, SYNC(20, 30, 0) },
		      { A, SYNC(40, 50, 7) }, { A, LAUNCH(90, 0) }),
		  "A 50-90");
	CHECK_STR(RUN({ A, LAUNCH(10, 7) }, { A, SYNC_ALL(20, 50) }, { A, LAUNCH(90, 0) }),
		  "A 50-90");
	return 0;
}

TEST(idle_needs_a_wait_for_everything_where_streams_are_not_known)
{
	struct beat mixed = LAUNCH(10, 0);

	mixed.flags = BEAT_MIXED;
	CHECK_STR(RUN({ A, mixed }, { A, SYNC(20, 50, 0) }, { A, LAUNCH(90, 0) }), "");
	CHECK_STR(RUN({ A, mixed }, { A, SYNC_ALL(20, 50) }, { A, LAUNCH(90, 0) }), "A 50-90");
	mixed = SYNC(20, 50, 0);
	mixed.flags = BEAT_MIXED;
	CHECK_STR(RUN({ A, LAUNCH(10, 0) }, { A, mixed }, { A, LAUNCH(90, 0) }), "");
	return 0;
}

/* An event may be an old one; allocations and the like give the GPU nothing to do. */
TEST(idle_is_neither_begun_by_events_nor_ended_by_allocations)
{
	CHECK_STR(RUN({ A, LAUNCH(10, 0) }, { A, call(OP_cudaEventSynchronize, 20, 50, 0) },
		      { A, LAUNCH(90, 0) }),
		  "");
	CHECK_STR(RUN({ A, LAUNCH(10, 0) }, { A, SYNC(20, 50, 0) },
		      { A, call(OP_cudaMalloc, 60, 70, 0) },
		      { A, call(OP_cudaGraphInstantiate, 70, 80, 0) },
		      { A, call(OP_cudaGraphLaunch, 90, 91, 0) }),
		  "A 50-90");
	return 0;
}

/* One thread launches, the other waits for it; who launches next is who the GPU waited for. */
TEST(idle_is_the_process_s_whoever_launched_and_whoever_waited)
{
	CHECK_STR(RUN({ B, LAUNCH(10, 0) }, { A, SYNC(20, 50, 0) }, { B, LAUNCH(90, 0) }),
		  "B 50-90");
	/* B launches while A waits: that is not covered. */
	CHECK_STR(RUN({ A, SYNC(20, 50, 0) }, { B, LAUNCH(30, 0) }, { A, LAUNCH(90, 0) }), "");
	/* A run of launches that goes on: when the last of them came is not known. */
	CHECK_STR(RUN({ B, call(OP_cudaLaunchKernel, 10, 60, 0) }, { A, SYNC(20, 50, 0) },
		      { A, LAUNCH(90, 0) }),
		  "");
	return 0;
}

TEST(idle_counts_what_may_still_grow_as_work)
{
	struct idle *i = idle_new();
	struct beat b = LAUNCH(10, 7), sync = SYNC(20, 50, 0), next = LAUNCH(90, 0);
	struct beat wait_7 = SYNC(100, 120, 7);

	told[0] = '\0';
	idle_open(i, B, &b);
	idle_add(i, A, &sync);
	idle_add(i, A, &next);
	idle_run(i, 95, tell, NULL);
	CHECK_STR(told, "");
	/* It is over, and has been waited for: told again, it is old. */
	idle_add(i, A, &wait_7);
	sync = SYNC(130, 140, 0);
	idle_add(i, A, &sync);
	idle_run(i, 150, tell, NULL);
	idle_add(i, B, &b);
	next = LAUNCH(200, 0);
	idle_add(i, A, &next);
	idle_run(i, 300, tell, NULL);
	CHECK_STR(told, "A 140-200");
	idle_free(i);
	return 0;
}

TEST(idle_waits_until_all_calls_are_known)
{
	struct idle *i = idle_new();
	struct beat sync = SYNC(20, 50, 0), next = LAUNCH(90, 0);
	struct beat copy = call(OP_cudaMemcpyAsync, 70, 300, 0); /* heard of when it returned */

	told[0] = '\0';
	idle_add(i, A, &sync);
	idle_add(i, A, &next);
	idle_run(i, 60, tell, NULL);
	idle_add(i, B, &copy);
	idle_run(i, 400, tell, NULL);
	CHECK_STR(told, "B 50-70");
	idle_free(i);
	return 0;
}

TEST(idle_is_not_known_after_a_loss_until_everything_was_waited_for)
{
	struct idle *i = idle_new();
	struct beat sync = SYNC(20, 50, 0), all = SYNC_ALL(60, 70), next = LAUNCH(90, 0);

	told[0] = '\0';
	idle_break(i, 15);
	idle_add(i, A, &sync);
	idle_add(i, A, &(struct beat){ .op = OP_cudaLaunchKernel, .start_ns = 55, .end_ns = 55 });
	idle_add(i, A, &all);
	idle_add(i, A, &next);
	idle_run(i, 400, tell, NULL);
	CHECK_STR(told, "A 70-90");
	idle_free(i);
	return 0;
}

TEST(idle_at_the_end_is_of_who_waited_last)
{
	struct idle *i = idle_new();
	struct beat launch = LAUNCH(10, 0), sync = SYNC(20, 50, 0);

	told[0] = '\0';
	idle_add(i, A, &launch);
	idle_open(i, B, &sync);
	idle_end(i, 500, tell, NULL);
	CHECK_STR(told, "B 50-500");
	idle_end(i, 500, tell, NULL);
	CHECK_STR(told, "B 50-500"); /* once */
	idle_free(i);
	return 0;
}

TEST(idle_is_not_known_with_too_many_streams)
{
	struct idle *i = idle_new();
	struct beat b, next = LAUNCH(5000, 0);

	told[0] = '\0';
	for (uint32_t k = 0; k < 200; k++) {
		b = LAUNCH(k + 1, k + 100);
		idle_add(i, A, &b);
	}
	for (uint32_t k = 0; k < 200; k++) {
		b = SYNC(1000 + k, 1000 + k, k + 100);
		idle_add(i, A, &b);
	}
	idle_add(i, A, &next);
	idle_run(i, 9000, tell, NULL);
	CHECK_STR(told, "");
	idle_free(i);
	return 0;
}
