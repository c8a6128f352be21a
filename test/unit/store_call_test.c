// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_call.c and store/read_call.c: single calls, steps, columns by state. */
#include <errno.h>
#include <inttypes.h>

#include "test/unit/store_trace.h"

/* The columns of a table from the nth on, ';' between them. */
static const char *columns(const char *table, int n)
{
	char sql[128];

	snprintf(sql, sizeof(sql),
		 "SELECT name FROM pragma_table_info('%s') WHERE cid >= %d ORDER BY cid", table, n);
	return trace_ask(store, sql);
}

/* The schema is written by hand, the statements are made from these lists. */
STORE_TEST(store_schema_has_a_column_for_every_state_and_counter_in_order)
{
	char want[2048] = "";
	size_t at = 0;

#define X(id, name, text)                                                                          \
	at += (size_t)snprintf(want + at, sizeof(want) - at, "%s" #name "_ns", at ? ";" : "");
	STATES(X)
#undef X
	snprintf(want + at, sizeof(want) - at, ";minor_faults;major_faults;kernel_ns");
	CHECK(COUNTER_COUNT == 3);
	CHECK_STR(columns("call", 16), want);
	at = strlen(want);
	snprintf(want + at, sizeof(want) - at, ";hist");
	CHECK_STR(columns("op_second", 9), want);
	return 0;
}

static struct record gap(void)
{
	struct record rec = {
		.op = &op_table[OP_GAP],
		.next = &op_table[OP_cudaFree],
		.ret = -2,
		.because = BECAUSE_SLOW | BECAUSE_COLD,
		.start_ns = 30,
		.dur_ns = 31,
		.bytes = 32,
		.stream = UINT64_MAX,
		.aux = 34,
		.out = 35,
		.usual_ns = 36,
		.site = 1ull << 63,
		.stack = UINT64_MAX - 1,
		.who_count = 2,
		.who = { { 1, 2, 3, "x" }, { 4, 5, 6, "y" }, { 7, 8, 9, "not counted" } },
	};

	for (uint32_t i = 0; i < STATE_COUNT; i++)
		rec.state_ns[i] = 1000 + i;
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		rec.counter[i] = 2000 + i;
	return rec;
}

STORE_TEST(store_keeps_a_call_and_its_culprits_exactly)
{
	struct record rec = gap();
	int64_t thread = 0, id = 0, id_was;

	if (make_thread(&thread))
		return 1;
	rec.depth = 1;
	CHECK(!store_call(store, thread, &rec, &id));
	CHECK_STR(
		trace_ask(
			store,
			"SELECT call.id, thread, o.symbol, n.symbol, start_ns, dur_ns, because,"
			" depth, ret, bytes, stream, aux, out, usual_ns, site, stack, run_ns, gc_ns,"
			" throttled_ns, fsync_ns, unknown_ns, minor_faults, major_faults,"
			" kernel_ns FROM call JOIN op o ON o.id=op JOIN op n ON n.id=next_op"),
		"1|1|(between calls)|cudaFree|1700000000000000030|31|33|1|-2|32|-1|34|35|36|"
		"-9223372036854775808|-2|1000|1001|1007|1014|1026|2000|2001|2002");
	CHECK_STR(trace_ask(store, "SELECT call, pid, cpu, text, ns FROM call_culprit"
				   " JOIN string ON string.id=comm ORDER BY pid"),
		  "1|1|2|x|3;1|4|5|y|6");
	CHECK(id == 1);
	id_was = id;
	rec.op = &op_table[OP_cudaFree];
	rec.next = NULL;
	rec.who_count = 0;
	CHECK(!store_call(store, thread, &rec, NULL));
	CHECK_STR(trace_ask(store, "SELECT next_op, (SELECT count(*) FROM call_culprit) FROM call"
				   " WHERE id=2"),
		  "-|2");
	CHECK(!store_call(store, thread, &rec, &id));
	CHECK(id == id_was + 2);
	return 0;
}

/* The names of culprits are interned on the way: their ids must not be taken for the call's. */
STORE_TEST(store_call_gives_the_id_of_the_call_and_of_nothing_else)
{
	struct record rec = gap();
	int64_t thread = 0, id = 0;

	if (make_thread(&thread))
		return 1;
	for (int i = 1; i <= 20; i++) {
		char want[16];

		snprintf(rec.who[0].comm, COMM_LEN, "hog-%d", i);
		rec.dur_ns = (uint64_t)i;
		CHECK(!store_call(store, thread, &rec, &id));
		snprintf(want, sizeof(want), "%d", i);
		CHECK(id == i);
		CHECK_STR(trace_ask(store, "SELECT dur_ns FROM call ORDER BY id DESC LIMIT 1"),
			  want);
	}
	return 0;
}

static int copy_call(const struct call_row *row, void *arg)
{
	CHECK_STR(row->symbol, "(between calls)");
	CHECK_STR(row->next, "cudaFree");
	*(struct call_row *)arg = *row;
	return 0;
}

STORE_TEST(store_gives_a_slow_call_back_with_what_is_usual_and_every_state)
{
	struct record rec = gap();
	struct call_row got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_call(store, thread, &rec, NULL));
	if (store_each_slow(store, (struct window){ 0, 0 }, 1, copy_call, &got))
		return 1;
	CHECK(got.id == 1 && got.thread == thread);
	CHECK_U64(got.start_ns, BOOT_NS + 30);
	CHECK_U64(got.dur_ns, 31);
	CHECK_U64(got.because, BECAUSE_SLOW | BECAUSE_COLD);
	CHECK_U64(got.usual_ns, 36);
	for (uint32_t i = 0; i < STATE_COUNT; i++)
		CHECK_U64(got.state_ns[i], 1000 + i);
	for (uint32_t i = 0; i < COUNTER_COUNT; i++)
		CHECK_U64(got.counter[i], 2000 + i);
	return 0;
}

static int slow_ids(const struct call_row *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 16, " %" PRId64 "%s", row->id, row->next ? row->next : "");
	return 0;
}

STORE_TEST(store_gives_slow_outermost_calls_longest_first)
{
	static const struct record rec[] = {
		{ .because = BECAUSE_SLOW, .start_ns = 10, .dur_ns = 5 },
		{ .because = BECAUSE_FIRST, .start_ns = 11, .dur_ns = 50 },
		{ .because = BECAUSE_SLOW, .start_ns = 12, .dur_ns = 9 },
		{ .because = BECAUSE_SLOW, .start_ns = 13, .dur_ns = 40, .depth = 1 },
		{ .because = BECAUSE_SLOW | BECAUSE_FAILED, .start_ns = 14, .dur_ns = 7 },
		{ .because = BECAUSE_COLD, .start_ns = 15, .dur_ns = 60 },
		{ .because = BECAUSE_SLOW, .start_ns = 16, .dur_ns = 7 },
	};
	struct window all = { 0, 0 }, some = { BOOT_NS + 11, BOOT_NS + 12 };
	char got[128] = "";
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(rec); i++) {
		struct record r = rec[i];

		r.op = &op_table[i ? OP_cudaMemcpy : OP_GAP];
		r.next = i ? NULL : &op_table[OP_cudaFree];
		CHECK(!store_call(store, thread, &r, NULL));
	}
	CHECK(!store_each_slow(store, all, 100, slow_ids, got));
	CHECK_STR(got, " 3 5 7 1cudaFree");
	got[0] = '\0';
	CHECK(!store_each_slow(store, all, 2, slow_ids, got));
	CHECK_STR(got, " 3 5");
	got[0] = '\0';
	CHECK(!store_each_slow(store, some, 100, slow_ids, got));
	CHECK_STR(got, " 3");
	return 0;
}

/* ---- steps ---- */

static struct step step_of(uint64_t n)
{
	return (struct step){ .index = 5 * n,
			      .start_ns = 6 * n,
			      .dur_ns = 7 * n,
			      .host_ns = 8 * n,
			      .data_ns = 9 * n,
			      .copy_ns = 10 * n,
			      .sync_ns = 11 * n,
			      .coll_ns = 12 * n,
			      .other_ns = 13 * n,
			      .idle_ns = 14 * n };
}

STORE_TEST(store_keeps_a_step_exactly)
{
	struct step step = step_of(10), next = step_of(20);
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_step(store, thread, &step));
	CHECK(!store_step(store, thread, &next));
	CHECK_STR(trace_ask(store, "SELECT thread, n, start_ns, dur_ns, host_ns, data_ns, copy_ns,"
				   " sync_ns, coll_ns, other_ns, idle_ns FROM step WHERE n=50"),
		  "1|50|1700000000000000060|70|80|90|100|110|120|130|140");
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM step"), "2");
	return 0;
}

static int copy_steps(const struct step_info *row, void *arg)
{
	((struct step_info *)arg)[row->at_ns == BOOT_NS + 40] = *row;
	return 0;
}

STORE_TEST(store_keeps_the_steps_of_a_second_exactly)
{
	struct step_sum sum = { .steps = 3, .max_ns = 4, .sum = step_of(1) }, none = { 0 };
	struct step_info got[2] = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	sum.hist[0] = 7;
	sum.hist[HIST_BUCKETS - 1] = UINT32_MAX;
	CHECK(!store_step_second(store, thread, 30, &sum));
	CHECK(!store_step_second(store, thread, 40, &none));
	CHECK(!store_each_step_second(store, (struct window){ 0, 0 }, copy_steps, got));
	CHECK(got[0].thread == thread);
	CHECK_U64(got[0].at_ns, BOOT_NS + 30);
	sum.sum.index = sum.sum.start_ns = 0; /* of a sum they mean nothing */
	CHECK(memcmp(&got[0].sum, &sum, sizeof(sum)) == 0);
	CHECK(memcmp(&got[1].sum, &none, sizeof(none)) == 0);
	CHECK_STR(trace_ask(store, "SELECT * FROM step_second WHERE steps=0"),
		  "1|1700000000000000040|0|0|0|0|0|0|0|0|0|0|");
	return 0;
}

static int count_steps(const struct step_info *row, void *arg)
{
	(void)row;
	++*(int *)arg;
	return 0;
}

STORE_TEST(store_steps_of_a_window_exclude_its_start_and_include_its_end)
{
	struct step_sum sum = { .steps = 1 };
	int64_t thread = 0;
	int rows = 0;

	if (make_thread(&thread))
		return 1;
	for (uint64_t at = 10; at <= 30; at += 10)
		CHECK(!store_step_second(store, thread, at, &sum));
	CHECK(!store_each_step_second(store, (struct window){ BOOT_NS + 10, BOOT_NS + 30 },
				      count_steps, &rows));
	CHECK(rows == 2);
	CHECK(!store_exec(store, "UPDATE step_second SET hist=x'05'"));
	CHECK(store_each_step_second(store, (struct window){ 0, 0 }, count_steps, &rows) ==
	      -EBADMSG);
	return 0;
}
