// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/stall.c: one slow call or gap, one sentence. */
#include "explain/stall.h"

#include "test/unit/scene.h"

static struct record gap(uint64_t dur_ns)
{
	return (struct record){ .op = &op_table[OP_GAP],
				.next = &op_table[OP_cudaMemcpyAsync],
				.pid = TRAINER,
				.tid = TRAINER,
				.dur_ns = dur_ns,
				.usual_ns = 200000 };
}

TEST(stall_names_the_worker_and_its_file)
{
	struct chain c[] = {
		CHAIN(self(STATE_PIPE, WAKER_task),
		      named(worker(STATE_READ, WAKER_block), OBJECT_file, "/data/shard-17.bin")),
		CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
	};
	uint64_t ns[] = { 120 * MS, 30 * MS };
	struct record rec = gap(153 * MS);
	struct stall stall;

	rec.state_ns[STATE_PIPE] = 150 * MS;
	rec.state_ns[STATE_RUN] = 3 * MS;
	stall_judge(&rec, c, ns, 2, &stall);
	CHECK(stall.cause == CAUSE_disk_read);
	CHECK_U64(stall.ns, 120 * MS);
	CHECK_U64(stall.culprit.pid, WORKER);
	CHECK_STR(stall.object.name, "/data/shard-17.bin");
	CHECK_STR(stall.text, "stalled 153 ms before cudaMemcpyAsync (usually 200 us): disk-read: "
			      "loader (pid 4900) read /data/shard-17.bin");
	return 0;
}

TEST(stall_by_others_on_the_cpu_names_who_had_it)
{
	struct record rec = gap(40 * MS);
	struct chain c = CHAIN(robbed(self(STATE_PREEMPTED, WAKER_nobody), 4242, "stress"));
	uint64_t ns = 30 * MS;
	struct stall stall;

	rec.state_ns[STATE_PREEMPTED] = 30 * MS;
	rec.state_ns[STATE_RUN] = 10 * MS;
	rec.who_count = 1;
	rec.who[0] = (struct who){ 4242, 3, 30 * MS, "stress" };
	stall_judge(&rec, &c, &ns, 1, &stall);
	CHECK(stall.cause == CAUSE_cpu_contention);
	CHECK_U64(stall.ns, 30 * MS); /* the chain says the same once more */
	CHECK_STR(stall.text, "stalled 40 ms before cudaMemcpyAsync (usually 200 us): "
			      "cpu-contention: stress (pid 4242) had the CPU");
	rec.who[0].pid = 0; /* an idle CPU: nobody */
	stall_judge(&rec, &c, &ns, 1, &stall);
	CHECK(stall.cause == CAUSE_none);
	return 0;
}

TEST(stall_in_a_synchronising_call_is_the_gpu_at_work)
{
	struct record rec = { .op = &op_table[OP_cudaStreamSynchronize], .dur_ns = 80 * MS };
	struct chain c = CHAIN(self(STATE_SLEEP, WAKER_timer));
	uint64_t ns = 80 * MS;
	struct stall stall;

	rec.state_ns[STATE_SLEEP] = 80 * MS;
	stall_judge(&rec, &c, &ns, 1, &stall);
	CHECK(stall.cause == CAUSE_none);
	CHECK_STR(stall.text, "stalled 80 ms in cudaStreamSynchronize: it waited for the GPU, or "
			      "had nothing to do");
	rec.state_ns[STATE_SLEEP] = 0;
	rec.state_ns[STATE_RUN] = 80 * MS; /* spinning is waiting as well */
	stall_judge(&rec, NULL, NULL, 0, &stall);
	CHECK(stall.cause == CAUSE_none);
	return 0;
}

TEST(stall_of_running_depends_on_where_it_ran)
{
	static const struct {
		uint32_t op;
		enum cause_id cause;
	} row[] = {
		{ OP_GAP, CAUSE_host_bound },
		{ OP_cuInit, CAUSE_cold_start },
		{ OP_cuModuleLoadData, CAUSE_cold_start },
		{ OP_cudaMalloc, CAUSE_alloc_churn },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct record rec = { .op = &op_table[row[i].op], .dur_ns = 50 * MS };
		struct stall stall;

		rec.state_ns[STATE_RUN] = 50 * MS;
		stall_judge(&rec, NULL, NULL, 0, &stall);
		CHECK(stall.cause == row[i].cause);
	}
	return 0;
}

TEST(stall_of_running_in_faults_is_page_faults)
{
	struct record rec = gap(50 * MS);
	struct stall stall;

	rec.state_ns[STATE_RUN] = 50 * MS;
	rec.counter[COUNTER_minor] = 8000;
	rec.counter[COUNTER_kernel_ns] = 40 * MS;
	stall_judge(&rec, NULL, NULL, 0, &stall);
	CHECK(stall.cause == CAUSE_page_fault);
	rec.counter[COUNTER_kernel_ns] = 10 * MS;
	stall_judge(&rec, NULL, NULL, 0, &stall);
	CHECK(stall.cause == CAUSE_host_bound);
	return 0;
}

TEST(stall_counts_what_its_own_split_says)
{
	static const struct {
		enum state state;
		enum cause_id cause;
	} row[] = {
		{ STATE_GC, CAUSE_python_gc },
		{ STATE_RECLAIM, CAUSE_memory_reclaim },
		{ STATE_RECLAIM_WAIT, CAUSE_memory_reclaim },
		{ STATE_THROTTLED, CAUSE_cpu_quota },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct chain c = CHAIN(self(row[i].state, WAKER_nobody));
		uint64_t ns = 30 * MS;
		struct record rec = gap(50 * MS);
		struct stall stall;

		rec.state_ns[row[i].state] = 30 * MS;
		rec.state_ns[STATE_RUN] = 20 * MS;
		stall_judge(&rec, &c, &ns, 1, &stall);
		CHECK(stall.cause == row[i].cause);
		CHECK_U64(stall.ns, 30 * MS);
	}
	return 0;
}

TEST(stall_adds_up_the_chains_of_one_cause)
{
	struct chain c[] = {
		CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		CHAIN(named(self(STATE_READ, WAKER_block), OBJECT_file, "/a")),
		CHAIN(named(self(STATE_READ, WAKER_block), OBJECT_file, "/b")),
	};
	uint64_t ns[] = { 40 * MS, 30 * MS, 20 * MS };
	struct record rec = gap(100 * MS);
	struct stall stall;

	stall_judge(&rec, c, ns, 3, &stall);
	CHECK(stall.cause == CAUSE_disk_read);
	CHECK_U64(stall.ns, 50 * MS);
	CHECK_STR(stall.object.name, "/a"); /* the longer of them */
	return 0;
}

TEST(stall_text_is_harmless_and_never_overflows)
{
	struct record rec = gap(UINT64_MAX / 2);
	struct chain c = CHAIN(self(STATE_READ, WAKER_block));
	uint64_t ns = 50 * MS;
	struct stall stall;

	memset(c.hop[0].name, 0x1b, sizeof(c.hop[0].name) - 1);
	memset(c.hop[0].comm, 0xff, sizeof(c.hop[0].comm) - 1);
	stall_judge(&rec, &c, &ns, 1, &stall);
	CHECK(stall.cause == CAUSE_disk_read);
	CHECK(!strchr(stall.text, 0x1b) && !strchr(stall.text, '\xff'));
	CHECK(strlen(stall.text) < sizeof(stall.text));
	return 0;
}

TEST(stall_names_the_lines_of_both_sides)
{
	struct chain c[] = {
		CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
	};
	uint64_t ns[] = { 20 * MS, 100 * MS };
	struct record rec = gap(153 * MS);
	struct stall stall;

	c[0].hop[0].stack = 300;
	c[1].hop[0].stack = 301;
	c[1].hop[1].stack = 302;
	rec.stack = 303;
	stall_judge(&rec, c, ns, 2, &stall);
	CHECK(stall.cause == CAUSE_data_loader);
	CHECK_U64(stall.stack, 301); /* of the longest */
	CHECK_U64(stall.culprit_stack, 302);
	stall_tell(&stall, "next() at train.py:31", "decode() at images.py:7");
	CHECK_STR(stall.text, "stalled 153 ms before cudaMemcpyAsync, next() at train.py:31 "
			      "(usually 200 us): data-loader: loader (pid 4900) had nothing ready, "
			      "decode() at images.py:7");
	CHECK_STR(stall.where, "next() at train.py:31");
	c[1].hop[0].stack = NO_STACK_unreadable;
	stall_judge(&rec, c, ns, 2, &stall);
	CHECK_U64(stall.stack, 303); /* where the gap ended, at least */
	return 0;
}
