/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of lines of code: ten seconds of a loop of 20 ms steps, in Python. From the fifth on it
 * waits for its worker, in two places, and the worker works, in two places of its own.
 */
#ifndef TEST_UNIT_LINES_TRACE_H
#define TEST_UNIT_LINES_TRACE_H

#include "test/unit/explain_trace.h"
#include "test/unit/made_stack.h"

enum {
	SECONDS = 10,
	BAD_FIRST = 5,
	/* Stacks: */
	NEXT_BATCH = 300, /* of the loop */
	NEXT_EPOCH = 301,
	DECODE = 400, /* of the worker */
	RESIZE = 401,
	LIBRARY = 500, /* nothing of the user's in it */
	BACKWARD = 600,
};

#define LINES_TEST EXPLAIN_TEST

static inline int put_stack(uint64_t id, const char *func, const char *file, int line)
{
	struct made_stack made = { 0 };

	make_frame(&made, FRAME_native, "poll", "/usr/lib/libc.so.6", 0);
	make_frame(&made, FRAME_python, "Connection.recv",
		   "/usr/lib/python3.11/multiprocessing/connection.py", 250);
	if (file)
		make_frame(&made, FRAME_python, func, file, line);
	if (file)
		make_frame(&made, FRAME_python, "<module>", file, 1);
	return store_put_stack(store, made_stack(&made, id));
}

static inline int begin_trace(void)
{
	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4821, "python3", 0, &thread));
	CHECK(!put_stack(NEXT_BATCH, "train", "/data/job/train.py", 31));
	CHECK(!put_stack(NEXT_EPOCH, "train", "/data/job/train.py", 57));
	CHECK(!put_stack(DECODE, "Images.decode", "/data/job/images.py", 142));
	CHECK(!put_stack(RESIZE, "Images.resize", "/data/job/images.py", 160));
	CHECK(!put_stack(LIBRARY, NULL, NULL, 0));
	CHECK(!put_stack(BACKWARD, "train", "/data/job/train.py", 40));
	return 0;
}

/* A second of the loop in which `ns` went elsewhere: to `state`, between calls. */
static inline int loop_second(uint64_t at, enum state state, uint64_t ns)
{
	uint64_t rest = SEC - ns;
	uint32_t steps = (uint32_t)(rest / (20 * MSEC)), gaps = steps * 50;
	struct op_delta gap = { .op = &op_table[OP_GAP], .calls = gaps, .done = gaps };
	struct op_delta launch = { .op = &op_table[OP_cuLaunchKernel], .calls = 48ull * steps };
	struct op_delta sync = { .op = &op_table[OP_cudaStreamSynchronize],
				 .calls = steps,
				 .done = steps,
				 .total_ns = rest * 4 / 10 };
	struct step_sum sum = { .steps = steps, .max_ns = 30 * MSEC };

	launch.done = launch.calls;
	gap.state_ns[STATE_RUN] = rest * 6 / 10;
	gap.state_ns[state] += ns;
	gap.total_ns = rest * 6 / 10 + ns;
	gap.hist[hist_bucket(gap.total_ns / gap.calls)] = gaps;
	sync.state_ns[STATE_GPU] = sync.total_ns;
	sync.hist[hist_bucket(sync.total_ns / steps)] = steps;
	CHECK(!store_op_second(store, thread, at, &gap));
	CHECK(!store_op_second(store, thread, at, &launch));
	CHECK(!store_op_second(store, thread, at, &sync));
	sum.sum.dur_ns = SEC;
	sum.sum.idle_ns = ns;
	sum.hist[hist_bucket(SEC / steps)] = steps;
	CHECK(!store_step_second(store, thread, at, &sum));
	return 0;
}

/* The loop waits on a pipe until its worker, which runs, has sent something. */
static inline struct chain waits_for_worker(uint64_t stack, uint64_t worker_stack)
{
	struct chain c = { .hops = 2, .complete = true };

	c.hop[0] = (struct hop){ .pid = 4821,
				 .tid = 4821,
				 .comm = "python3",
				 .state = STATE_PIPE,
				 .by = WAKER_task,
				 .object = OBJECT_pipe,
				 .relation = RELATION_self,
				 .stack = stack };
	c.hop[1] = (struct hop){ .pid = 4900,
				 .tid = 4900,
				 .comm = "loader",
				 .state = STATE_RUN,
				 .relation = RELATION_child,
				 .nr = -1,
				 .stack = worker_stack };
	return c;
}

static inline int put_wait(uint64_t at, const struct chain *c, uint64_t ns, uint64_t count)
{
	struct wait_row wait = {
		.op = &op_table[OP_GAP], .ns = ns, .count = count, .max_ns = 40 * MSEC
	};

	CHECK(!store_chain(store, c, &wait.chain));
	CHECK(!store_wait_second(store, thread, at, &wait));
	return 0;
}

/* 600 ms of each bad second: 400 at one line, 100 at another, 100 at one that could not be read. */
static inline int fill_worker(void)
{
	struct chain batch = waits_for_worker(NEXT_BATCH, DECODE);
	struct chain batch_too = waits_for_worker(NEXT_BATCH, RESIZE);
	struct chain epoch = waits_for_worker(NEXT_EPOCH, RESIZE);
	struct chain unread = waits_for_worker(NO_STACK_unreadable, 0);

	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++) {
		uint64_t at = i * SEC;

		if (loop_second(at, STATE_PIPE, i >= BAD_FIRST ? 600 * MSEC : 0))
			return 1;
		if (i < BAD_FIRST)
			continue;
		CHECK(!put_wait(at, &batch, 300 * MSEC, 15));
		CHECK(!put_wait(at, &batch_too, 100 * MSEC, 5));
		CHECK(!put_wait(at, &epoch, 100 * MSEC, 0));
		CHECK(!put_wait(at, &unread, 100 * MSEC, 0));
	}
	CHECK(!store_commit(store));
	return 0;
}

#endif
