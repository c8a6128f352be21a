// SPDX-License-Identifier: Apache-2.0
/* Numbers that do not fit: SQLite's integers are signed, and a file can hold anything. */
#include <errno.h>

#include "test/unit/store_trace.h"

#define MOST "9223372036854775807"
#define ALL ((struct window){ 0, 0 })

static int copy_op_second(const struct op_second_row *row, void *arg)
{
	*(struct op_second_row *)arg = *row;
	return 0;
}

static int copy_call(const struct call_row *row, void *arg)
{
	*(struct call_row *)arg = *row;
	return 0;
}

STORE_TEST(store_keeps_a_count_that_does_not_fit_as_the_largest_that_does)
{
	struct op_delta d = { .op = &op_table[OP_cudaMemcpy] };
	struct op_second_row got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	d.calls = d.done = d.errors = d.bytes = d.total_ns = d.max_ns = UINT64_MAX;
	memset(d.state_ns, 0xff, sizeof(d.state_ns));
	d.counter[COUNTER_minor] = (uint64_t)INT64_MAX + 1;
	d.counter[COUNTER_major] = INT64_MAX;
	d.counter[COUNTER_kernel_ns] = (uint64_t)INT64_MAX - 1;
	CHECK(!store_op_second(store, thread, 20, &d));
	CHECK(!store_each_op_second(store, ALL, copy_op_second, &got));
	CHECK_U64(got.calls, INT64_MAX);
	CHECK_U64(got.max_ns, INT64_MAX);
	CHECK_U64(got.state_ns[STATE_RUN], INT64_MAX);
	CHECK_U64(got.state_ns[STATE_UNKNOWN], INT64_MAX);
	CHECK_U64(got.counter[COUNTER_minor], INT64_MAX);
	CHECK_U64(got.counter[COUNTER_major], INT64_MAX);
	CHECK_U64(got.counter[COUNTER_kernel_ns], (uint64_t)INT64_MAX - 1);
	CHECK_STR(trace_ask(store, "SELECT done, errors, bytes, total_ns FROM op_second"),
		  MOST "|" MOST "|" MOST "|" MOST);
	return 0;
}

/* Handles and addresses are no counts: every bit is kept. */
STORE_TEST(store_keeps_a_call_with_numbers_that_do_not_fit)
{
	struct record rec = { .op = &op_table[OP_cudaMemcpy], .because = BECAUSE_SLOW };
	struct call_row got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	rec.start_ns = rec.dur_ns = rec.bytes = rec.usual_ns = UINT64_MAX;
	rec.stream = rec.aux = rec.out = rec.site = UINT64_MAX - 1;
	rec.ret = INT32_MIN;
	rec.who_count = 1;
	rec.who[0].ns = UINT64_MAX;
	memset(rec.who[0].comm, 'x', COMM_LEN);
	memset(rec.state_ns, 0xff, sizeof(rec.state_ns));
	memset(rec.counter, 0xff, sizeof(rec.counter));
	CHECK(!store_call(store, thread, &rec, NULL));
	CHECK_STR(trace_ask(store, "SELECT start_ns, bytes, stream, aux, out, site, ret FROM call"),
		  MOST "|" MOST "|-2|-2|-2|-2|-2147483648");
	CHECK_STR(trace_ask(store, "SELECT ns, length(text) FROM call_culprit"
				   " JOIN string ON string.id=comm"),
		  MOST "|16");
	CHECK(!store_each_slow(store, ALL, 10, copy_call, &got));
	CHECK_U64(got.dur_ns, INT64_MAX);
	CHECK_U64(got.usual_ns, INT64_MAX);
	CHECK_U64(got.start_ns, INT64_MAX);
	CHECK_U64(got.state_ns[STATE_GPU], INT64_MAX);
	CHECK_U64(got.counter[COUNTER_major], INT64_MAX);
	return 0;
}

static int copy_wait(const struct wait_info *row, void *arg)
{
	*(struct wait_info *)arg = *row;
	return 0;
}

/* Twice the largest is still the largest. */
STORE_TEST(store_keeps_waits_with_numbers_that_do_not_fit)
{
	struct wait_row row = { &op_table[OP_cudaMemcpy], INT64_MIN, UINT64_MAX, UINT64_MAX,
				UINT64_MAX };
	struct wait_info got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (int i = 0; i < 3; i++)
		CHECK(!store_wait_second(store, thread, 20, &row));
	CHECK(!store_each_wait(store, ALL, copy_wait, &got));
	CHECK(got.chain == INT64_MIN);
	CHECK_U64(got.ns, INT64_MAX);
	CHECK_U64(got.count, INT64_MAX);
	CHECK_U64(got.max_ns, INT64_MAX);
	CHECK(!store_call_wait(store, 1, INT64_MIN, UINT64_MAX));
	CHECK_STR(trace_ask(store, "SELECT * FROM call_wait"), "1|-9223372036854775808|" MOST);
	return 0;
}

STORE_TEST(store_keeps_steps_events_and_incidents_with_numbers_that_do_not_fit)
{
	struct host_key key = { HOST_reclaim, UINT32_MAX, UINT64_MAX };
	struct incident_row incident = {
		.cause = "", .comm = "", .culprit = "", .title = "", .severity = ""
	};
	struct host_count count;
	struct step_sum sum;
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	memset(&count, 0xff, sizeof(count));
	memset(&sum, 0xff, sizeof(sum));
	incident.first_ns = incident.last_ns = incident.lost_ns = UINT64_MAX;
	incident.pid = incident.culprit_pid = UINT32_MAX;
	CHECK(!store_host_event(store, &key, &count, "10.0.0.2:9000", "/a"));
	CHECK(!store_step(store, thread, &sum.sum));
	CHECK(!store_step_second(store, thread, UINT64_MAX, &sum));
	CHECK(!store_incident(store, &incident));
	CHECK(!store_incident(store, &incident));
	CHECK_STR(trace_ask(store, "SELECT at_ns, first_ns, pid, obj, count, ns FROM host_event"),
		  MOST "|" MOST "|4294967295|-1|" MOST "|" MOST);
	CHECK_STR(trace_ask(store, "SELECT n, start_ns, dur_ns, idle_ns FROM step"),
		  MOST "|" MOST "|" MOST "|" MOST);
	CHECK_STR(trace_ask(store, "SELECT at_ns, steps, max_ns, other_ns FROM step_second"),
		  MOST "|" MOST "|" MOST "|" MOST);
	CHECK_STR(trace_ask(store, "SELECT pid, first_ns, last_ns, lost_ns FROM incident"),
		  "4294967295|" MOST "|" MOST "|" MOST);
	return 0;
}

static int copy_loss(const struct loss_row *row, void *arg)
{
	*(uint64_t *)arg = row->count;
	return 0;
}

/* One impossible count must not make the whole answer an error. */
STORE_TEST(store_sums_of_numbers_that_do_not_fit_are_the_largest_that_does)
{
	struct account_row row, got;
	uint64_t lost = 0;

	CHECK(!trace_run(store));
	memset(&row, 0xff, sizeof(row));
	for (uint64_t i = 0; i < 3; i++) {
		CHECK(!store_loss(store, i, "ring_full", UINT64_MAX));
		CHECK(!store_account(store, i, &row));
	}
	CHECK(!store_each_loss(store, ALL, copy_loss, &lost));
	CHECK_U64(lost, INT64_MAX);
	CHECK(!store_account_total(store, ALL, &got));
	CHECK_U64(got.seen, INT64_MAX);
	CHECK_U64(got.traced_ns, INT64_MAX);
	return 0;
}

STORE_TEST(store_takes_windows_that_do_not_fit)
{
	struct op_delta d = { .op = &op_table[OP_cudaMemcpy], .calls = 5 };
	struct op_second_row got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_op_second(store, thread, 20, &d));
	CHECK(!store_each_op_second(store, (struct window){ 0, UINT64_MAX }, copy_op_second, &got));
	CHECK_U64(got.calls, 5);
	got.calls = 77;
	CHECK(!store_each_op_second(store, (struct window){ UINT64_MAX, UINT64_MAX },
				    copy_op_second, &got));
	CHECK_U64(got.calls, 77);
	return 0;
}

/* A wall clock that was never set may be behind the time since boot. */
STORE_TEST(store_times_before_1970_are_its_beginning)
{
	struct run_row run = { .node = "n",
			       .start_ns = 1,
			       .wall_minus_boot_ns = -1000,
			       .boot_id = "",
			       .version = "",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "" };

	CHECK(!store_run(store, &run));
	CHECK(!store_loss(store, 999, "early", 1));
	CHECK(!store_loss(store, 1005, "late", 1));
	CHECK_STR(trace_ask(store, "SELECT at_ns, reason FROM loss ORDER BY at_ns"),
		  "0|early;5|late");
	return 0;
}

/* Edited in by SQL: what is below zero, text or a fraction comes out as some number, never huge. */
STORE_TEST(store_reads_columns_of_the_wrong_kind_as_numbers_in_range)
{
	static const char *const bad[] = { "-1", "'many'", "-9223372036854775808", "-1e300",
					   "x'ff'" };
	struct op_delta d = { .op = &op_table[OP_cudaMemcpy], .calls = 5 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_op_second(store, thread, 20, &d));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct op_second_row got = { 0 };
		char sql[128];

		snprintf(sql, sizeof(sql),
			 "UPDATE op_second SET calls=%s, gc_ns=%s, major_faults=%s", bad[i], bad[i],
			 bad[i]);
		CHECK(!store_exec(store, sql));
		CHECK(!store_each_op_second(store, ALL, copy_op_second, &got));
		CHECK_U64(got.calls, 0);
		CHECK_U64(got.state_ns[STATE_GC], 0);
		CHECK_U64(got.counter[COUNTER_major], 0);
	}
	return 0;
}
