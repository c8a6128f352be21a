// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write*.c and store/read*.c: what goes in comes out. Waits and hosts have their own. */
#include <errno.h>
#include <inttypes.h>

#include "base/fail.h"
#include "test/unit/store_trace.h"

/* ---- rows ---- */

STORE_TEST(store_keeps_a_run_exactly)
{
	struct run_info got;

	CHECK(!trace_run(store));
	CHECK_STR(trace_ask(store,
			    "SELECT run.id, name, start_ns, end_ns, wall_minus_boot_ns, boot_id,"
			    " version, kernel, gpu, attach_mode, cpus, slow_ns, record_all,"
			    " count_cost_ns, timed_cost_ns FROM run JOIN node ON node.id=node"),
		  "1|gpu-node-01|1700000000000000000|-|1700000000000000000|b007|0.1.0|6.1.0|H200|"
		  "multi|16|1000|0|50|150");
	CHECK(!store_run_end(store, 3 * SEC));
	CHECK(!store_clock(store, 2 * SEC, BOOT_NS + 2 * SEC + 17));
	CHECK(!store_commit(store));
	CHECK_STR(trace_ask(store, "SELECT end_ns FROM run"), "1700000003000000000");
	CHECK_STR(trace_ask(store, "SELECT * FROM clock"), "1|2000000000|1700000002000000017");
	CHECK(!store_last_run(store, &got));
	CHECK_STR(got.node, "gpu-node-01");
	CHECK_STR(got.kernel, "6.1.0");
	CHECK_STR(got.gpu, "H200");
	CHECK_STR(got.attach_mode, "multi");
	CHECK_STR(got.version, "0.1.0");
	CHECK_U64(got.start_ns, BOOT_NS);
	CHECK_U64(got.end_ns, BOOT_NS + 3 * SEC);
	CHECK(got.cpus == 16);
	return 0;
}

STORE_TEST(store_last_run_is_the_latest_and_an_empty_trace_has_none)
{
	struct run_info got;
	struct run_row run = { .node = "later",
			       .start_ns = 9,
			       .boot_id = "",
			       .version = "",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "" };
	struct window span = { 77, 77 };

	CHECK(store_last_run(store, &got) == -ENODATA);
	CHECK(store_span(store, &span) == -ENODATA);
	CHECK_U64(span.from_ns, 77);
	CHECK(!trace_run(store));
	CHECK(!store_run(store, &run));
	CHECK(!store_last_run(store, &got));
	CHECK_STR(got.node, "later");
	CHECK_U64(got.end_ns, 0);
	return 0;
}

STORE_TEST(store_keeps_a_node_once_over_many_runs)
{
	CHECK(!trace_run(store));
	CHECK(!trace_run(store));
	CHECK_STR(trace_ask(store, "SELECT count(*), (SELECT count(*) FROM run) FROM node"), "1|2");
	return 0;
}

STORE_TEST(store_keeps_processes_and_threads_exactly)
{
	struct process_row row = { .pid = UINT32_MAX,
				   .ppid = 4,
				   .start_boot_ns = 5,
				   .comm = "a",
				   .cmdline = "b",
				   .exe = "c",
				   .cgroup = "d",
				   .python = "3.12" };
	int64_t process, thread;

	CHECK(!trace_run(store));
	CHECK(!store_process(store, &row, &process));
	CHECK(!store_thread(store, process, 11, "t", 6, &thread));
	CHECK(!store_process_name(store, process, "a2", "b2"));
	CHECK_STR(trace_ask(store,
			    "SELECT pid, start_ns, ppid, c.text, l.text, e.text, g.text, python,"
			    " exit_ns FROM process JOIN string c ON c.id=comm"
			    " JOIN string l ON l.id=cmdline JOIN string e ON e.id=exe"
			    " JOIN string g ON g.id=cgroup"),
		  "4294967295|1700000000000000005|4|a2|b2|c|d|3.12|-");
	CHECK_STR(trace_ask(store, "SELECT process, tid, text, first_ns, exit_ns FROM thread"
				   " JOIN string ON string.id=comm"),
		  "1|11|t|1700000000000000006|-");
	CHECK(!store_thread_exit(store, thread, "t2", 8));
	CHECK(!store_process_exit(store, process, 9));
	CHECK_STR(
		trace_ask(store, "SELECT text, exit_ns FROM thread JOIN string ON string.id=comm"),
		"t2|1700000000000000008");
	CHECK_STR(trace_ask(store, "SELECT exit_ns FROM process"), "1700000000000000009");
	return 0;
}

static struct op_delta delta_of(uint32_t op, uint64_t n)
{
	struct op_delta d = {
		.op = &op_table[op],
		.calls = 13 * n,
		.done = 11 * n,
		.errors = n,
		.bytes = 4096 * n,
		.total_ns = 1000 * n,
		.max_ns = 100 * n,
	};

	for (uint32_t i = 0; i < STATE_COUNT; i++)
		d.state_ns[i] = n * (i + 1);
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		d.counter[i] = n * (i + 101);
	d.hist[0] = (uint32_t)n;
	d.hist[HIST_BUCKETS - 1] = UINT32_MAX;
	return d;
}

static int copy_op_second(const struct op_second_row *row, void *arg)
{
	*(struct op_second_row *)arg = *row;
	CHECK_STR(row->symbol, "cudaMemcpy"); /* borrowed: only valid here */
	CHECK_STR(row->class, "copy");
	return 0;
}

STORE_TEST(store_keeps_complete_counts_exactly)
{
	struct op_delta d = delta_of(OP_cudaMemcpy, 7);
	struct op_second_row got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_op_second(store, thread, 20, &d));
	if (store_each_op_second(store, (struct window){ 0, 0 }, copy_op_second, &got))
		return 1;
	CHECK_U64(got.thread, thread);
	CHECK_U64(got.at_ns, BOOT_NS + 20);
	CHECK_U64(got.calls, 91);
	CHECK_U64(got.done, 77);
	CHECK_U64(got.errors, 7);
	CHECK_U64(got.bytes, 28672);
	CHECK_U64(got.total_ns, 7000);
	CHECK_U64(got.max_ns, 700);
	for (uint32_t i = 0; i < STATE_COUNT; i++)
		CHECK_U64(got.state_ns[i], 7ull * (i + 1));
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		CHECK_U64(got.counter[i], 7ull * (i + 101));
	CHECK(memcmp(got.hist, d.hist, sizeof(got.hist)) == 0);
	CHECK_STR(trace_ask(store, "SELECT symbol, lib, class FROM op"),
		  "cudaMemcpy|libcudart.so|copy");
	return 0;
}

static int copy_blame(const struct blame_row *row, void *arg)
{
	CHECK_STR(row->comm, row->pid ? "stress-ng" : "swapper/3");
	((struct blame_row *)arg)[row->pid ? 1 : 0] = *row;
	return 0;
}

STORE_TEST(store_keeps_blame_exactly)
{
	struct who idle = { 0, 3, 30, "swapper/3" },
		   hog = { 4242, 63, UINT64_C(1) << 62, "stress-ng" };
	struct blame_row got[2] = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_blame_second(store, thread, 20, &idle));
	CHECK(!store_blame_second(store, thread, 20, &hog));
	if (store_each_blame(store, (struct window){ 0, 0 }, copy_blame, got))
		return 1;
	CHECK_U64(got[0].ns, 30);
	CHECK_U64(got[0].cpu, 3);
	CHECK_U64(got[1].ns, UINT64_C(1) << 62);
	CHECK_U64(got[1].pid, 4242);
	CHECK_U64(got[1].cpu, 63);
	CHECK_U64(got[1].thread, thread);
	CHECK_U64(got[1].at_ns, BOOT_NS + 20);
	return 0;
}

/* Interrupts had the CPU: neither a process nor idle, in one second with both. */
STORE_TEST(store_tells_interrupts_from_an_idle_cpu)
{
	struct who who[] = { { 0, 3, 30, "" }, { PID_IRQ, 3, 40, "interrupts" } };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(who); i++)
		CHECK(!store_blame_second(store, thread, 20, &who[i]));
	CHECK_STR(trace_ask(store, "SELECT pid, ns FROM blame_second ORDER BY pid"), "-1|40;0|30");
	return 0;
}

static int list_blamed(const struct blamed_row *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 80, " %u@%llu=%s:%s", row->pid, (unsigned long long)row->at_ns - BOOT_NS,
		 row->comm, row->cgroup);
	return 0;
}

STORE_TEST(store_keeps_where_the_blamed_belong)
{
	struct who who[] = { { 7, 3, 30, "etl" }, { 9, 3, 40, "gone" } };
	char got[256] = "";
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(who); i++)
		CHECK(!store_blame_second(store, thread, 40, &who[i]));
	CHECK(!store_blamed(store, 30, 7, "etl", "/batch"));
	CHECK(!store_blamed(store, 30, 8, "not met", "/elsewhere"));
	CHECK(!store_blamed(store, 10, 9, "gone", ""));
	CHECK(!store_blamed(store, 20, 7, "sh", "/user"));
	CHECK(!store_blamed(store, 90, 7, "later", "/"));
	CHECK(!store_each_blamed(store, (struct window){ BOOT_NS + 25, BOOT_NS + 50 }, list_blamed,
				 got));
	CHECK_STR(got, " 7@20=sh:/user 7@30=etl:/batch 9@10=gone:");
	return 0;
}

static int loss_list(const struct loss_row *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 40, " %s=%" PRIu64, row->reason, row->count);
	return 0;
}

STORE_TEST(store_sums_losses_by_reason_largest_first)
{
	struct window late = { BOOT_NS + 20, BOOT_NS + 30 };
	char got[128] = "";

	CHECK(!trace_run(store));
	CHECK(!store_loss(store, 10, "ring_full", 5));
	CHECK(!store_loss(store, 20, "no_entry", 7));
	CHECK(!store_loss(store, 30, "ring_full", 6));
	CHECK(!store_loss(store, 31, "too_deep", 1));
	CHECK(!store_each_loss(store, (struct window){ 0, 0 }, loss_list, got));
	CHECK_STR(got, " ring_full=11 no_entry=7 too_deep=1");
	got[0] = '\0';
	CHECK(!store_each_loss(store, late, loss_list, got)); /* after 20, up to 30 */
	CHECK_STR(got, " ring_full=6");
	return 0;
}

STORE_TEST(store_sums_the_account_of_a_window)
{
	struct account_row a = { 1, 2, 3, 4, 5, 6, 7, 8 }, b = { 10, 20, 30, 40, 50, 60, 70, 80 },
			   got;

	CHECK(!trace_run(store));
	CHECK(!store_account_total(store, (struct window){ 0, 0 }, &got));
	CHECK_U64(got.seen, 0);
	CHECK(!store_account(store, 10, &a));
	CHECK(!store_account(store, 20, &b));
	CHECK(!store_account_total(store, (struct window){ 0, 0 }, &got));
	CHECK_U64(got.seen, 11);
	CHECK_U64(got.submitted, 22);
	CHECK_U64(got.filtered, 33);
	CHECK_U64(got.dropped, 44);
	CHECK_U64(got.received, 55);
	CHECK_U64(got.probe_ns, 66);
	CHECK_U64(got.agent_ns, 77);
	CHECK_U64(got.traced_ns, 88);
	CHECK(!store_account_total(store, (struct window){ BOOT_NS + 10, BOOT_NS + 20 }, &got));
	CHECK_U64(got.seen, 10);
	return 0;
}

static int copy_coverage(const struct coverage_info *row, void *arg)
{
	CHECK_STR(row->comm, "python3");
	CHECK_STR(row->library, "/usr/lib/libcudart.so.12");
	CHECK_STR(row->note, "stripped");
	*(struct coverage_info *)arg = *row;
	return 0;
}

STORE_TEST(store_keeps_coverage_exactly)
{
	struct coverage_row row = { .library = "/usr/lib/libcudart.so.12",
				    .build_id = "c0ffee",
				    .note = "stripped",
				    .inode = 12,
				    .since_boot_ns = 40,
				    .ops = 1,
				    .stepped = 2,
				    .refused = 3,
				    .missing = 4 };
	struct coverage_info got = { 0 };
	int64_t process;

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_coverage(store, process, &row));
	if (store_each_coverage(store, (struct window){ 0, 0 }, copy_coverage, &got))
		return 1;
	CHECK_U64(got.pid, 4821);
	CHECK(got.ops == 1 && got.stepped == 2 && got.refused == 3 && got.missing == 4);
	CHECK_U64(got.since_ns, BOOT_NS + 40);
	CHECK_STR(trace_ask(store, "SELECT build_id, inode FROM coverage"), "c0ffee|12");
	return 0;
}

/* ---- what is made of them ---- */

STORE_TEST(store_op_totals_adds_up_complete_counts)
{
	struct op_delta copy = delta_of(OP_cudaMemcpy, 7), more = delta_of(OP_cudaMemcpy, 5);
	struct op_delta launch = delta_of(OP_cuLaunchKernel, 1), gap = delta_of(OP_GAP, 1);
	int64_t thread = 0, second, process = 1;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_thread(store, process, 4823, "other", 7, &second));
	CHECK(!store_op_second(store, thread, 20, &copy));
	CHECK(!store_op_second(store, thread, 30, &more));
	CHECK(!store_op_second(store, second, 30, &more));
	launch.total_ns = launch.max_ns = 0; /* not asked for */
	CHECK(!store_op_second(store, thread, 30, &launch));
	CHECK(!store_op_second(store, thread, 30, &gap));
	/* Two threads and two seconds: 7 + 5 + 5. The time of a launch is not known, so NULL. */
	CHECK_STR(trace_ask(store,
			    "SELECT node, pid, comm, op, calls, total_ns, max_ns, errors, bytes,"
			    " process FROM op_totals ORDER BY op"),
		  "gpu-node-01|4821|python3|cuLaunchKernel|13|-|-|1|4096|1;"
		  "gpu-node-01|4821|python3|cudaMemcpy|221|17000|700|17|69632|1");
	return 0;
}

STORE_TEST(store_interns_each_string_and_op_once)
{
	struct op_delta d = delta_of(OP_cudaMemcpy, 1);
	int64_t process, thread;

	CHECK(!trace_run(store));
	for (uint32_t i = 0; i < 50; i++) {
		CHECK(!trace_process(store, 100 + i, "python3", &process));
		CHECK(!store_thread(store, process, 100 + i, "python3", 7, &thread));
		CHECK(!store_op_second(store, thread, 20, &d));
	}
	CHECK_STR(trace_ask(store, "SELECT text FROM string ORDER BY text"),
		  "/;/usr/bin/python3;python3;python3 train.py");
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM op"), "1");
	CHECK_STR(trace_ask(store, "SELECT count(DISTINCT comm), count(*) FROM thread"), "1|50");
	return 0;
}

/* More names than the cache of those written lately has slots: each still there, each once. */
STORE_TEST(store_interns_more_strings_than_it_remembers)
{
	int64_t id, again;
	char name[32];

	CHECK(!trace_run(store));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2 * INTERN_SLOTS; i++) {
			snprintf(name, sizeof(name), "name-%d", i);
			CHECK(!store_intern(store, name, &id));
		}
	}
	CHECK_STR(trace_ask(store, "SELECT count(*), count(DISTINCT text) FROM string"),
		  "8192|8192");
	CHECK(!store_intern(store, name, &again));
	CHECK(id == again && id > 0);
	return 0;
}

static int count_rows(const struct op_second_row *row, void *arg)
{
	(void)row;
	++*(int *)arg;
	return 0;
}

STORE_TEST(store_windows_exclude_their_start_and_include_their_end)
{
	static const struct {
		struct window w;
		int rows;
	} row[] = {
		{ { 0, 0 }, 3 },
		{ { BOOT_NS + 10, 0 }, 2 },
		{ { BOOT_NS + 9, BOOT_NS + 10 }, 1 },
		{ { BOOT_NS + 10, BOOT_NS + 30 }, 2 },
		{ { BOOT_NS + 30, BOOT_NS + 40 }, 0 },
		{ { 0, 1 }, 0 },
	};
	struct op_delta d = delta_of(OP_cudaMemcpy, 1);
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (uint64_t at = 10; at <= 30; at += 10)
		CHECK(!store_op_second(store, thread, at, &d));
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		int got = 0;

		CHECK(!store_each_op_second(store, row[i].w, count_rows, &got));
		if (got != row[i].rows)
			return test_fail(__FILE__, __LINE__, "window %zu has %d rows, not %d", i,
					 got, row[i].rows);
	}
	return 0;
}

static int tids(const struct thread_info *info, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 16, " %u", info->tid);
	return 0;
}

STORE_TEST(store_windows_hold_the_threads_that_lived_in_them)
{
	int64_t process, thread;
	char got[64] = "";

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 1, "p", &process));
	CHECK(!store_thread(store, process, 11, "early", 10, &thread));
	CHECK(!store_thread_exit(store, thread, "early", 20));
	CHECK(!store_thread(store, process, 12, "alive", 15, &thread));
	CHECK(!store_each_thread(store, (struct window){ 0, 0 }, tids, got));
	CHECK_STR(got, " 11 12");
	got[0] = '\0';
	CHECK(!store_each_thread(store, (struct window){ BOOT_NS + 5, BOOT_NS + 12 }, tids, got));
	CHECK_STR(got, " 11");
	got[0] = '\0';
	CHECK(!store_each_thread(store, (struct window){ BOOT_NS + 21, 0 }, tids, got));
	CHECK_STR(got, " 12");
	return 0;
}

STORE_TEST(store_span_reaches_from_the_first_run_to_the_last_row)
{
	struct op_delta d = delta_of(OP_cudaMemcpy, 1);
	struct account_row account = { 0 };
	struct window span;
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_span(store, &span));
	CHECK_U64(span.from_ns, BOOT_NS);
	CHECK_U64(span.to_ns, BOOT_NS);
	CHECK(!store_op_second(store, thread, 20, &d));
	CHECK(!store_span(store, &span));
	CHECK_U64(span.to_ns, BOOT_NS + 20);
	CHECK(!store_account(store, 25, &account));
	CHECK(!store_span(store, &span));
	CHECK_U64(span.from_ns, BOOT_NS);
	CHECK_U64(span.to_ns, BOOT_NS + 25);
	return 0;
}

static int stop_at_once(const struct op_second_row *row, void *arg)
{
	(void)row;
	++*(int *)arg;
	return -EINTR;
}

STORE_TEST(store_walks_end_when_a_callback_says_so)
{
	struct op_delta d = delta_of(OP_cudaMemcpy, 1);
	int64_t thread = 0;
	int calls = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_op_second(store, thread, 10, &d));
	CHECK(!store_op_second(store, thread, 20, &d));
	CHECK(store_each_op_second(store, (struct window){ 0, 0 }, stop_at_once, &calls) == -EINTR);
	CHECK(calls == 1);
	return 0;
}

STORE_TEST(store_tells_a_damaged_histogram_from_none)
{
	struct op_delta d = delta_of(OP_cudaMemcpy, 1);
	int64_t thread = 0;
	int rows = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_op_second(store, thread, 10, &d));
	CHECK(!store_exec(store, "UPDATE op_second SET hist=x''"));
	CHECK(!store_each_op_second(store, (struct window){ 0, 0 }, count_rows, &rows));
	CHECK(rows == 1);
	CHECK(!store_exec(store, "UPDATE op_second SET hist=x'05'"));
	CHECK(store_each_op_second(store, (struct window){ 0, 0 }, count_rows, &rows) == -EBADMSG);
	return 0;
}
