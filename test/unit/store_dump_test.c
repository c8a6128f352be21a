// SPDX-License-Identifier: Apache-2.0
/* Tests of store/dump.c, and of names that only an attacker would choose. */
#include <errno.h>

#include "base/fail.h"
#include "test/unit/trace.h"

/* Anything but NUL, as comm and argv may be. */
static const char *const hostile[] = {
	"'); DROP TABLE call; --",
	"\"quoted\" `too`",
	"line\nbreak\r\ttab",
	"\x1b[2J\x07",
	"\xff\xfe\x80",
	"\xe2\x80\xae",
	"%s%n%1000d",
	"?1 :name @x $y",
	"/* */ ;",
	"",
	"'",
	"\\",
};

static int fill(struct store *s)
{
	struct account_row account = { 1, 2, 3, 4, 5, 6, 7, 8 };
	int64_t process, thread;

	CHECK(!trace_run(s));
	for (uint32_t i = 0; i < ARRAY_LEN(hostile); i++) {
		struct process_row row = { .pid = i,
					   .start_boot_ns = i,
					   .comm = hostile[i],
					   .cmdline = hostile[i],
					   .exe = hostile[i],
					   .cgroup = hostile[i],
					   .python = hostile[i] };
		struct coverage_row coverage = { .library = hostile[i],
						 .build_id = hostile[i],
						 .note = hostile[i],
						 .inode = i,
						 .ops = 1 };
		struct op_delta delta = { .op = &op_table[i],
					  .calls = i,
					  .done = i,
					  .total_ns = UINT64_MAX,
					  .hist = { i, 0, UINT32_MAX } };
		struct record rec = { .op = &op_table[OP_GAP],
				      .next = &op_table[i],
				      .ret = -1,
				      .start_ns = i,
				      .because = BECAUSE_SLOW,
				      .who_count = 1 };

		str_copy(rec.who[0].comm, COMM_LEN, hostile[i]);
		rec.who[0].pid = i;
		CHECK(!store_process(s, &row, &process));
		CHECK(!store_thread(s, process, i, hostile[i], i, &thread));
		CHECK(!store_op_second(s, thread, i, &delta));
		CHECK(!store_blame_second(s, thread, i, &rec.who[0]));
		CHECK(!store_call(s, thread, &rec));
		CHECK(!store_coverage(s, process, &coverage));
		CHECK(!store_loss(s, i, hostile[i], i));
	}
	CHECK(!store_account(s, 20, &account));
	CHECK(!store_clock(s, 1, 2));
	return 0;
}

struct names {
	size_t at;
	int wrong;
};

static int same_name(const struct thread_info *info, void *arg)
{
	struct names *n = arg;
	const char *want = hostile[n->at++ % ARRAY_LEN(hostile)];

	n->wrong += !streq(info->comm, want) || !streq(info->process_comm, want) ||
		    !streq(info->cmdline, want) || !streq(info->python, want);
	return 0;
}

TEST(store_keeps_hostile_names_byte_by_byte)
{
	struct names n = { 0 };
	struct store *s;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	CHECK(!store_commit(s));
	CHECK(!store_each_thread(s, (struct window){ 0, 0 }, same_name, &n));
	CHECK_U64(n.at, ARRAY_LEN(hostile));
	CHECK(!n.wrong);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM call"), "12");
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	store_close(s);
	return 0;
}

static char *dump(struct store *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = store_dump(s, out);

	fclose(out);
	if (!err)
		return text;
	free(text);
	return NULL;
}

/* Every table has rows here, so one that the dump forgets is seen. */
TEST(store_dump_and_load_give_the_same_trace)
{
	static const char *const tables[] = { "node",    "string",       "run",
					      "clock",   "process",      "thread",
					      "op",      "op_second",    "blame_second",
					      "call",    "call_culprit", "loss",
					      "account", "coverage" };
	struct store *s, *copy;
	char *text, *again;
	int same;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	CHECK_U64(ARRAY_LEN(tables),
		  strtoull(trace_ask(s, "SELECT count(*) FROM sqlite_master WHERE type='table'"),
			   NULL, 10));
	text = dump(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char sql[64], want[64];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		str_copy(want, sizeof(want), trace_ask(s, sql));
		CHECK(!streq(want, "0"));
		CHECK_STR(trace_ask(copy, sql), want);
	}
	again = dump(copy);
	CHECK(again);
	same = streq(text, again);
	free(text);
	free(again);
	CHECK(same);
	store_close(copy);
	store_close(s);
	return 0;
}

TEST(store_loaded_trace_answers_like_the_recorded_one)
{
	struct names n = { 0 };
	struct account_row account;
	struct store *s, *copy;
	struct window span;
	char *text;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	text = dump(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	free(text);
	CHECK(!store_each_thread(copy, (struct window){ 0, 0 }, same_name, &n));
	CHECK(n.at == ARRAY_LEN(hostile) && !n.wrong);
	CHECK(!store_span(copy, &span));
	CHECK_U64(span.to_ns, BOOT_NS + 20);
	CHECK(!store_account_total(copy, span, &account));
	CHECK_U64(account.received, 5);
	CHECK_STR(trace_ask(copy, "SELECT hex(hist), total_ns FROM op_second WHERE calls=7"),
		  "000702FFFFFFFF0F|-1");
	store_close(copy);
	store_close(s);
	return 0;
}

/* All or nothing: half a recording would be a trace that looks right and is not. */
DIR_TEST(store_load_of_a_broken_recording_leaves_nothing_behind)
{
	struct store *s;
	int err;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	err = store_load(s, "INSERT INTO node VALUES(1,'a');\nINSERT INTO node VALUES(2,");
	CHECK(err < 0);
	CHECK(why(err)[0]);
	store_close(s);
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM node"), "0");
	CHECK(!store_load(s, "INSERT INTO node VALUES(1,'a');"));
	CHECK_STR(trace_ask(s, "SELECT name FROM node"), "a");
	store_close(s);
	return 0;
}

TEST(store_dump_reports_what_it_could_not_write)
{
	FILE *full = fopen("/dev/full", "w");
	struct store *s;
	int err;

	CHECK(full);
	setvbuf(full, NULL, _IONBF, 0);
	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	CHECK(!trace_run(s));
	err = store_dump(s, full);
	fclose(full);
	store_close(s);
	CHECK(err == -EIO);
	return 0;
}
