// SPDX-License-Identifier: Apache-2.0
/* Tests of merge/: nothing is lost, nothing is there twice, whatever is merged with whatever. */
#include "merge/merge.h"

#include <errno.h>

#include "base/fail.h"
#include "store/scope.h"
#include "store/tables.h"
#include "test/unit/trace.h"

/* ---- the table of tables ---- */

static struct store *fresh(const char *path)
{
	struct store *s = NULL;

	return store_open(path, STORE_WRITE, &s) ? NULL : s;
}

DIR_TEST(merge_knows_every_table_of_the_schema)
{
	struct store *s = fresh(trace_db);
	sqlite3_stmt *stmt;
	char name[64];

	CHECK(s);
	CHECK(!sqlite3_prepare_v2(s->db, "SELECT name FROM sqlite_master WHERE type='table'", -1,
				  &stmt, NULL));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		str_copy(name, sizeof(name), (const char *)sqlite3_column_text(stmt, 0));
		if (!table_find(name))
			return test_fail(__FILE__, __LINE__, "store/tables.c does not know %s",
					 name);
	}
	sqlite3_finalize(stmt);
	store_close(s);
	return 0;
}

/* A reference to a table with local ids that merge does not map would point anywhere. */
DIR_TEST(merge_maps_every_reference_and_knows_keys_and_times)
{
	static const char *const times[] = { "at_ns",         "start_ns",   "end_ns",  "first_ns",
					     "last_ns",       "exit_ns",    "made_ns", "gone_ns",
					     "since_ns",      "from_ns",    "to_ns",   "wall_ns",
					     "sync_start_ns", "sync_end_ns" };
	struct store *s = fresh(trace_db);

	CHECK(s);
	for (const struct table *t = store_tables; t->name; t++) {
		sqlite3_stmt *stmt;
		bool keyed = false;
		char sql[160];

		snprintf(sql, sizeof(sql),
			 "SELECT c.name, c.pk, f.\"table\" FROM pragma_table_info('%s') c LEFT JOIN"
			 " pragma_foreign_key_list('%s') f ON f.\"from\"=c.name",
			 t->name, t->name);
		CHECK(!sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL));
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *column = (const char *)sqlite3_column_text(stmt, 0);
			const char *to = (const char *)sqlite3_column_text(stmt, 2);
			const struct table *target = to ? table_find(to) : NULL;
			bool local = target && target->ids == IDS_LOCAL;
			const char *mapped = table_ref(t, column);

			keyed = keyed || sqlite3_column_int(stmt, 1);
			if (local != (mapped != NULL) || (local && !streq(mapped, to)))
				return test_fail(__FILE__, __LINE__, "%s.%s", t->name, column);
			for (size_t i = 0; i < ARRAY_LEN(times); i++)
				if (streq(column, times[i]) && !table_is_time(t, column))
					return test_fail(__FILE__, __LINE__, "%s.%s is a time",
							 t->name, column);
		}
		sqlite3_finalize(stmt);
		if (keyed != t->keyed)
			return test_fail(__FILE__, __LINE__, "%s: primary key", t->name);
	}
	store_close(s);
	return 0;
}

/* ---- traces ---- */

struct made {
	const char *node;
	uint64_t start_ns;
	uint32_t pid;
	int seconds;
};

/* A row in every kind of table: with an id, without a key, by content, below a call. */
static int fill(struct store *s, const struct made *m)
{
	struct record rec = { .op = &op_table[OP_cudaMemcpy],
			      .dur_ns = 5,
			      .because = BECAUSE_SLOW,
			      .who_count = 1,
			      .who = { { .pid = 3, .ns = 4, .comm = "hog" } } };
	struct chain chain = { .hops = 1, .hop = { { .pid = m->pid, .nr = -1, .comm = "x" } } };
	struct account_row account = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct communicator_row comm = { .handle = 9, .hash = 77, .rank = 0, .nranks = 2 };
	struct incident_row incident = { .cause = "oom",
					 .comm = "x",
					 .culprit = "",
					 .title = "t",
					 .severity = "HIGH",
					 .first_ns = 1,
					 .last_ns = 2 };
	struct kernel_row kernel = { .handle = 1, .name = "k", .source = "", .library = "" };
	int64_t process, thread, call, id;

	CHECK(!trace_process(s, m->pid, "train", &process));
	CHECK(!store_thread(s, process, m->pid, "train", 1, &thread));
	comm.process = kernel.process = process;
	CHECK(!store_communicator(s, &comm, &id));
	CHECK(!store_kernel(s, &kernel));
	CHECK(!store_incident(s, &incident));
	for (int i = 1; i <= m->seconds; i++) {
		struct op_delta delta = { .op = &op_table[OP_cudaMemcpy], .calls = 10, .done = 10 };
		struct wait_row wait = { .op = &op_table[OP_cudaMemcpy], .ns = 5, .count = 1 };
		struct communicator_counts counts = { 1, 0, 0, 0 };

		rec.start_ns = (uint64_t)i * SEC;
		CHECK(!store_op_second(s, thread, (uint64_t)i * SEC, &delta));
		CHECK(!store_call(s, thread, &rec, &call));
		CHECK(!store_chain(s, &chain, &wait.chain));
		CHECK(!store_wait_second(s, thread, (uint64_t)i * SEC, &wait));
		CHECK(!store_call_wait(s, call, wait.chain, 5));
		CHECK(!store_communicator_second(s, id, (uint64_t)i * SEC, &counts));
		CHECK(!store_kernel_second(s, kernel.id, (uint64_t)i * SEC, 3));
		CHECK(!store_loss(s, (uint64_t)i * SEC, "ring", 1));
		CHECK(!store_account(s, (uint64_t)i * SEC, &account));
	}
	return 0;
}

static int make(const char *name, const struct made *m)
{
	struct run_row run = { .node = m->node,
			       .start_ns = BOOT_NS + m->start_ns,
			       .wall_minus_boot_ns = BOOT_NS,
			       .boot_id = m->node,
			       .version = "1",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "",
			       .cpus = 2 };
	char path[160];
	struct store *s;

	snprintf(path, sizeof(path), "%s/%s", trace_dir, name);
	s = fresh(path);
	CHECK(s);
	CHECK(!store_run(s, &run));
	CHECK(!fill(s, m));
	CHECK(!store_commit(s));
	store_close(s);
	return 0;
}

static struct merge_result result;
static char warned[256];

static void on_warning(const char *text, void *arg)
{
	(void)arg;
	str_copy(warned, sizeof(warned), text);
}

/* Names in the folder of the test, separated by blanks; the first is the output. */
static int merge_named(const char *names, const char *force_node)
{
	char text[256], path[8][160], *input[8];
	struct merge_opts opts = {
		.input = input + 1, .output = path[0], .force_node = force_node, .warn = on_warning
	};
	int n = 0;

	str_copy(text, sizeof(text), names);
	for (char *at = NULL, *name = strtok_r(text, " ", &at); name && n < 8;
	     name = strtok_r(NULL, " ", &at)) {
		snprintf(path[n], sizeof(path[n]), "%s/%s", trace_dir, name);
		input[n] = path[n];
		n++;
	}
	opts.inputs = n - 1;
	warned[0] = '\0';
	return merge_traces(&opts, &result);
}

/* All rows as text, in an order that does not depend on when they came. */
static uint64_t sum_of(const char *name)
{
	char path[160], *text = NULL, *line, *at = NULL;
	struct store *s = NULL;
	uint64_t sum = 0;
	size_t len = 0;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", trace_dir, name);
	if (store_open(path, STORE_READ, &s))
		return 0;
	out = open_memstream(&text, &len);
	if (!out || store_dump(s, out))
		return 0;
	fclose(out);
	for (line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		sum += (uint64_t)store_text_id(line) * 0x9e3779b97f4a7c15ull;
	free(text);
	store_close(s);
	return sum;
}

static const char *ask(const char *name, const char *sql)
{
	static char answer[4096];
	char path[160];
	struct store *s = NULL;

	snprintf(path, sizeof(path), "%s/%s", trace_dir, name);
	if (store_open(path, STORE_READ, &s))
		return why(-EIO);
	str_copy(answer, sizeof(answer), trace_ask(s, sql));
	store_close(s);
	return answer;
}

static int make_two(void)
{
	CHECK(!make("a.db", &(struct made){ "node-a", 1, 100, 3 }));
	CHECK(!make("b.db", &(struct made){ "node-b", 2, 100, 5 }));
	return 0;
}

/* ---- merging ---- */

DIR_TEST(merge_keeps_every_row_and_no_two_share_an_id)
{
	CHECK(!make_two());
	CHECK(!merge_named("out.db a.db b.db", NULL));
	CHECK(result.nodes == 2 && result.runs == 2 && result.added == 2);
	CHECK_STR(
		ask("out.db",
		    "SELECT count(*), (SELECT count(*) FROM call), (SELECT count(*) FROM call_wait),"
		    " (SELECT count(*) FROM call_culprit), (SELECT count(*) FROM loss),"
		    " (SELECT count(*) FROM chain), (SELECT count(*) FROM incident) FROM op_second"),
		"8|8|8|8|8|1|2");
	CHECK_STR(ask("out.db", "SELECT node, calls, bytes FROM op_totals ORDER BY 1"),
		  "node-a|30|0;node-b|50|0");
	/* What belongs together still does. */
	CHECK_STR(
		ask("out.db",
		    "SELECT n.name, count(*), count(DISTINCT w.call) FROM call_wait w"
		    " JOIN call c ON c.id=w.call JOIN thread t ON t.id=c.thread JOIN process p ON p.id=t.process"
		    " JOIN run r ON r.id=p.run JOIN node n ON n.id=r.node GROUP BY 1"),
		"node-a|3|3;node-b|5|5");
	CHECK_STR(
		ask("out.db",
		    "SELECT n.name, sum(launches) FROM kernel_second s JOIN kernel k ON k.id=s.kernel"
		    " JOIN process p ON p.id=k.process JOIN run r ON r.id=p.run JOIN node n ON n.id=r.node"
		    " GROUP BY 1"),
		"node-a|9;node-b|15");
	CHECK_STR(ask("out.db", "PRAGMA foreign_key_check"), "");
	return 0;
}

DIR_TEST(merge_again_changes_nothing)
{
	uint64_t once;

	CHECK(!make_two());
	CHECK(!merge_named("out.db a.db b.db", NULL));
	once = sum_of("out.db");
	CHECK(once);
	CHECK(!merge_named("out.db a.db b.db", NULL)); /* into what is there */
	CHECK(result.added == 0 && result.known == 2);
	CHECK_U64(sum_of("out.db"), once);
	CHECK(!merge_named("other.db b.db a.db b.db", NULL)); /* in another order, one twice */
	CHECK_U64(sum_of("other.db"), once);
	CHECK(!merge_named("third.db out.db a.db other.db", NULL)); /* with what they became */
	CHECK_U64(sum_of("third.db"), once);
	return 0;
}

DIR_TEST(merge_brings_a_run_up_to_date_and_never_back)
{
	uint64_t late;

	CHECK(!make("old.db", &(struct made){ "node-a", 1, 100, 2 }));
	CHECK(!make("new.db", &(struct made){ "node-a", 1, 100, 6 }));
	CHECK(!merge_named("new-alone.db new.db", NULL));
	late = sum_of("new-alone.db");
	CHECK(!merge_named("out.db old.db new.db", NULL));
	CHECK_U64(sum_of("out.db"), late);
	CHECK(!merge_named("out.db old.db", NULL));
	CHECK_U64(sum_of("out.db"), late);
	return 0;
}

DIR_TEST(merge_tells_files_apart_that_count_anew)
{
	/* The same run in a second file, as after a change of files: ids begin again. */
	CHECK(!make("one.db", &(struct made){ "node-a", 1, 100, 2 }));
	CHECK(!make("two.db", &(struct made){ "node-a", 1, 200, 2 }));
	CHECK(!merge_named("out.db one.db two.db", NULL));
	CHECK_STR(ask("out.db", "SELECT pid FROM process ORDER BY pid"), "100;200");
	CHECK_STR(ask("out.db", "SELECT count(*), count(DISTINCT thread) FROM call"), "4|2");
	CHECK(!merge_named("out.db two.db one.db", NULL));
	CHECK_STR(ask("out.db", "SELECT count(*), count(DISTINCT thread) FROM call"), "4|2");
	return 0;
}

DIR_TEST(merge_gives_a_node_to_files_that_have_none)
{
	struct store *s;
	uint64_t once;

	CHECK(!make("a.db", &(struct made){ "node-a", 1, 100, 2 }));
	s = fresh(trace_db);
	CHECK(s && !trace_run(s) && !fill(s, &(struct made){ "", 1, 5, 1 }));
	CHECK(!store_exec(s, "COMMIT; UPDATE node SET name=''"));
	store_close(s);
	CHECK(merge_named("out.db a.db trace.db", NULL) == -ENODATA);
	CHECK(strstr(why(-ENODATA), "--force-node"));
	CHECK(!merge_named("named.db trace.db", "node-x"));
	CHECK_STR(ask("named.db", "SELECT name FROM node"), "node-x");
	CHECK(!merge_named("out.db a.db named.db", NULL));
	CHECK_STR(ask("out.db", "SELECT node, calls FROM op_totals ORDER BY 1"),
		  "node-a|20;node-x|10");
	once = sum_of("out.db");
	CHECK(merge_named("out2.db out.db", "node-y") == -EINVAL); /* two nodes would be one */
	CHECK_U64(sum_of("out.db"), once);
	return 0;
}

DIR_TEST(merge_reads_older_files_without_what_they_lack)
{
	struct store *s;

	CHECK(!make_two());
	snprintf(trace_db, sizeof(trace_db), "%s/a.db", trace_dir);
	s = fresh(trace_db);
	CHECK(s);
	CHECK(!store_exec(s,
			  "DROP TABLE kernel_second; DROP TABLE kernel; DROP TABLE shed;"
			  "DROP VIEW kernel_totals; DROP VIEW cuda_events; DROP VIEW cuda_totals;"
			  "DROP VIEW cuda_event_part; DROP VIEW calls;"
			  "ALTER TABLE process DROP COLUMN python_note; PRAGMA user_version=1"));
	store_close(s);
	CHECK(!merge_named("out.db a.db b.db", NULL));
	CHECK_STR(ask("out.db", "SELECT node, calls FROM op_totals ORDER BY 1"),
		  "node-a|30;node-b|50");
	CHECK_STR(ask("out.db", "SELECT count(*), count(python_note) FROM process"), "2|2");
	return 0;
}

static int write_file(const char *name, const char *text)
{
	char path[160];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", trace_dir, name);
	out = fopen(path, "w");
	CHECK(out);
	fputs(text, out);
	fclose(out);
	return 0;
}

DIR_TEST(merge_refuses_what_is_no_trace_and_leaves_nothing_behind)
{
	struct store *s;
	uint64_t before;
	DIR *dir;
	struct dirent *entry;

	CHECK(!make_two());
	CHECK(!write_file("text.db",
			  "this is no database, but it is long enough to be mistaken for one"));
	CHECK(!write_file("empty.db", ""));
	CHECK(merge_named("out.db a.db none.db", NULL) == -ENOENT);
	CHECK(merge_named("out.db a.db text.db", NULL) == -EBADMSG);
	CHECK(merge_named("out.db a.db empty.db", NULL) == -EMEDIUMTYPE);
	CHECK(merge_named("out.db a.db .", NULL) == -EMEDIUMTYPE);
	CHECK(merge_named("a.db a.db b.db", NULL) == -EINVAL); /* an input is the output */
	before = sum_of("a.db");
	CHECK(merge_named("a.db b.db", NULL) == -EEXIST); /* the output is a trace */
	CHECK_U64(sum_of("a.db"), before);
	s = fresh(trace_db);
	CHECK(s && !store_exec(s, "PRAGMA user_version=99"));
	store_close(s);
	CHECK(merge_named("out.db a.db trace.db", NULL) == -ENOTSUP);
	CHECK(strstr(why(-ENOTSUP), "newer"));
	dir = opendir(trace_dir);
	CHECK(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, "merging") || starts_with(entry->d_name, "out.db"))
			return test_fail(__FILE__, __LINE__, "%s is left", entry->d_name);
	closedir(dir);
	return 0;
}

DIR_TEST(merge_warns_of_two_hosts_with_one_name)
{
	struct store *s;

	CHECK(!make_two());
	CHECK(!merge_named("out.db a.db b.db", NULL));
	CHECK_STR(warned, "");
	snprintf(trace_db, sizeof(trace_db), "%s/b.db", trace_dir);
	s = fresh(trace_db);
	CHECK(s && !store_exec(s, "UPDATE node SET name='node-a'"));
	store_close(s);
	CHECK(!merge_named("out2.db a.db b.db", NULL));
	CHECK(strstr(warned, "two hosts call themselves node-a"));
	CHECK_STR(ask("out2.db", "SELECT count(*) FROM call"), "8");
	return 0;
}

/* ---- clocks ---- */

/* Ten collectives; every rank comes 1 ms after the one before it, and all end together. */
static int make_rank(const char *name, const char *node, int rank, int64_t ahead_ns)
{
	struct communicator_row comm = { .handle = 9, .hash = 77, .rank = rank, .nranks = 2 };
	struct run_row run = { .node = node,
			       .start_ns = BOOT_NS,
			       .wall_minus_boot_ns = BOOT_NS + ahead_ns,
			       .boot_id = node,
			       .version = "",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "" };
	int64_t process, thread, id;
	char path[160];
	struct store *s;

	snprintf(path, sizeof(path), "%s/%s", trace_dir, name);
	s = fresh(path);
	CHECK(s && !store_run(s, &run));
	CHECK(!trace_process(s, 10 + (uint32_t)rank, "train", &process));
	CHECK(!store_thread(s, process, 10, "train", 1, &thread));
	comm.process = process;
	CHECK(!store_communicator(s, &comm, &id));
	for (uint64_t i = 1; i <= 10; i++) {
		uint64_t last_came = i * SEC + MSEC;
		/* Each of them is late now and then: that bounds the difference from both sides. */
		struct collective c = { .thread = thread,
					.call = { .op = &op_table[OP_ncclAllReduce],
						  .seq = i,
						  .start_ns = (int)(i % 2) == rank ? last_came
										   : i * SEC,
						  .type = "",
						  .redop = "" },
					.join = JOIN_stream,
					.sync = &op_table[OP_cudaStreamSynchronize],
					.sync_start_ns = last_came,
					.sync_end_ns = last_came + MSEC / 10,
					.last = true };

		CHECK(!store_collective(s, id, &c));
	}
	CHECK(!store_commit(s));
	store_close(s);
	return 0;
}

DIR_TEST(merge_finds_how_far_clocks_are_apart_and_readers_add_it)
{
	char path[160];
	struct store *s = NULL;

	CHECK(!make_rank("a.db", "node-a", 0, 0));
	CHECK(!make_rank("b.db", "node-b", 1, (int64_t)(7 * SEC)));
	CHECK(!merge_named("out.db a.db b.db", NULL));
	CHECK_STR(
		ask("out.db",
		    "SELECT name, offset_ns, low_ns <= offset_ns AND offset_ns <= high_ns, meetings"
		    " FROM node_clock JOIN node ON node.id=node ORDER BY 1"),
		"node-a|0|-|0;node-b|-7000000000|1|10");
	/* Both bounds are near: each was the last to come. */
	CHECK_STR(ask("out.db", "SELECT high_ns - low_ns < 1000000 FROM node_clock WHERE meetings"),
		  "1");
	/* The rows have the time of their node, and get the other when they are read. */
	snprintf(path, sizeof(path), "%s/out.db", trace_dir);
	CHECK(!store_open(path, STORE_READ, &s));
	CHECK_STR(
		trace_ask(s,
			  "SELECT max(sync_end_ns) - min(sync_end_ns) FROM collective WHERE seq=1"),
		"7000000000");
	CHECK(!store_scope(s, 0));
	CHECK_STR(
		trace_ask(s,
			  "SELECT max(sync_end_ns) - min(sync_end_ns) FROM collective WHERE seq=1"),
		"0");
	store_close(s);
	return 0;
}

DIR_TEST(merged_files_are_seen_node_by_node)
{
	char path[160];
	struct store *s = NULL;

	CHECK(!make_two());
	CHECK(!merge_named("out.db a.db b.db", NULL));
	snprintf(path, sizeof(path), "%s/out.db", trace_dir);
	CHECK(!store_open(path, STORE_READ, &s));
	CHECK(!store_scope(s, store_text_id("node-a")));
	CHECK_STR(trace_ask(s,
			    "SELECT (SELECT count(*) FROM op_second), (SELECT count(*) FROM call),"
			    " (SELECT count(*) FROM loss), (SELECT count(*) FROM run),"
			    " (SELECT count(*) FROM communicator)"),
		  "3|3|3|1|2");
	CHECK(!store_scope(s, 0));
	CHECK_STR(
		trace_ask(s, "SELECT (SELECT count(*) FROM op_second), (SELECT count(*) FROM run)"),
		"8|2");
	store_close(s);
	return 0;
}
