// SPDX-License-Identifier: Apache-2.0
/* Tests of store/migrate.c: traces of every older version, read as they are and brought up to date. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fail.h"
#include "explain/explain.h"
#include "test/unit/trace.h"

/* Recorded by programs of these versions; two had two layouts while they were made. */
static const char *const kept[] = { "1", "1b", "2", "3", "3b", "4", "5", "6" };

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!in || getdelim(&text, &cap, '\0', in) < 0) {
		free(text);
		text = NULL;
	}
	if (in)
		fclose(in);
	return text;
}

/* The trace of that version in trace_db. The tests run in the folder of the sources. */
static int make_old(const char *version)
{
	char path[64], *sql;
	sqlite3 *db;

	(void)unlink(trace_db);
	snprintf(path, sizeof(path), "test/data/trace-v%s.sql", version);
	sql = read_text(path);
	CHECK(sql);
	CHECK(sqlite3_open(trace_db, &db) == SQLITE_OK);
	CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
	CHECK(sqlite3_close(db) == SQLITE_OK);
	free(sql);
	return 0;
}

/* Asked of the file itself, as any program would see it; freed by the next call. */
static const char *ask_file(const char *sql)
{
	static char answer[1024];
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db;

	str_copy(answer, sizeof(answer), "?");
	if (sqlite3_open_v2(trace_db, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		str_copy(answer, sizeof(answer), column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

struct sums {
	uint64_t rows, calls, ns, threads;
};

static int add_second(const struct op_second_row *row, void *arg)
{
	struct sums *sums = arg;

	sums->rows++;
	sums->calls += row->calls;
	for (int i = 0; i < STATE_COUNT; i++)
		sums->ns += row->state_ns[i];
	return 0;
}

static int add_thread(const struct thread_info *info, void *arg)
{
	(void)info;
	((struct sums *)arg)->threads++;
	return 0;
}

/* What the reading functions make of it. */
static int sum_up(struct store *s, struct sums *ret)
{
	struct window all = { 0, 0 };
	struct stack_counts counts;

	*ret = (struct sums){ 0 };
	CHECK(!store_each_op_second(s, all, add_second, ret));
	CHECK(!store_each_thread(s, all, add_thread, ret));
	CHECK(!store_stack_counts(s, all, &counts));
	return 0;
}

/* Rules and all: whatever the columns were, explain has an answer. */
static int explains(struct store *s)
{
	struct explanation e;
	struct window w;

	CHECK(!store_span(s, &w));
	CHECK(!explain(s, w, &e));
	explain_free(&e);
	return 0;
}

/* The same sums as the old file itself has them. */
static int old_sums(struct sums *ret)
{
	char sql[1200], states[1024];

	str_copy(states, sizeof(states),
		 ask_file("SELECT group_concat(name, '+') FROM pragma_table_info('op_second')"
			  " WHERE name LIKE '%\\_ns' ESCAPE '\\' AND name NOT IN"
			  " ('at_ns', 'total_ns', 'max_ns', 'kernel_ns')"));
	CHECK(strstr(states, "run_ns+"));
	snprintf(sql, sizeof(sql), "SELECT sum(%s) FROM op_second", states);
	ret->ns = strtoull(ask_file(sql), NULL, 10);
	ret->rows = strtoull(ask_file("SELECT count(*) FROM op_second"), NULL, 10);
	ret->calls = strtoull(ask_file("SELECT sum(calls) FROM op_second"), NULL, 10);
	ret->threads = strtoull(ask_file("SELECT count(*) FROM thread"), NULL, 10);
	CHECK(ret->ns && ret->rows && ret->calls && ret->threads);
	return 0;
}

static int same_sums(struct store *s, const struct sums *want)
{
	struct sums got;

	if (sum_up(s, &got))
		return 1;
	CHECK_U64(got.rows, want->rows);
	CHECK_U64(got.calls, want->calls);
	CHECK_U64(got.ns, want->ns);
	CHECK_U64(got.threads, want->threads);
	return 0;
}

DIR_TEST(migrate_old_traces_are_read_and_stay_as_they_are)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct stat before, after;
		struct sums sums = { 0 };
		struct store *s;
		char *bytes, *again;

		if (make_old(kept[i]) || old_sums(&sums))
			return 1;
		CHECK(!stat(trace_db, &before));
		bytes = read_text(trace_db);
		CHECK(!store_open(trace_db, STORE_READ, &s));
		if (same_sums(s, &sums) || explains(s))
			return 1;
		CHECK_STR(trace_ask(s, "SELECT count(*) > 0 FROM every_call"), "1");
		CHECK_STR(trace_ask(s, "SELECT count(*) > 0 FROM op_totals"), "1");
		store_close(s);
		CHECK(!stat(trace_db, &after));
		again = read_text(trace_db);
		CHECK(before.st_size == after.st_size && streq(bytes, again));
		CHECK(ask_file("PRAGMA user_version")[0] == kept[i][0]);
		free(bytes);
		free(again);
	}
	return 0;
}

/* Tables, indexes and views of a file, and their columns. */
static char *schema_of(struct store *s)
{
	char *names = xstrdup(trace_ask(s, "SELECT group_concat(type || ' ' || name) FROM (SELECT"
					   " type, name FROM sqlite_master WHERE sql IS NOT NULL"
					   " ORDER BY type, name)"));
	const char *columns = trace_ask(s, "SELECT group_concat(m.name || '.' || p.name, ' ') FROM"
					   " (SELECT name FROM sqlite_master WHERE type IN"
					   " ('table', 'view') ORDER BY name) m,"
					   " pragma_table_info(m.name) p");
	char *all = xcalloc(1, strlen(names) + strlen(columns) + 2);

	snprintf(all, strlen(names) + strlen(columns) + 2, "%s\n%s", names, columns);
	free(names);
	return all;
}

DIR_TEST(migrate_old_traces_become_new_ones_with_everything_in_them)
{
	struct store *fresh, *s;
	char *want, *got;

	CHECK(!store_open(":memory:", STORE_WRITE, &fresh));
	want = schema_of(fresh);
	store_close(fresh);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct sums sums = { 0 };
		int64_t process;

		if (make_old(kept[i]) || old_sums(&sums))
			return 1;
		CHECK(!store_open(trace_db, STORE_WRITE, &s));
		got = schema_of(s);
		CHECK_STR(got, want);
		free(got);
		CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
		CHECK_STR(trace_ask(s, "PRAGMA user_version"), "7");
		if (same_sums(s, &sums) || explains(s))
			return 1;
		CHECK(!trace_run(s)); /* and it goes on */
		CHECK(!trace_process(s, 4821, "python3", &process));
		store_close(s);
		CHECK(!store_open(trace_db, STORE_WRITE, &s)); /* nothing is left to be done */
		CHECK_STR(trace_ask(s, "SELECT count(*) FROM run"), "2");
		store_close(s);
	}
	free(want);
	return 0;
}

DIR_TEST(migrate_keeps_what_had_another_name)
{
	struct store *s;
	char want[64];

	if (make_old("1"))
		return 1;
	str_copy(want, sizeof(want),
		 ask_file("SELECT (SELECT sum(thread_ns) FROM account) || '|' ||"
			  " (SELECT sum(blocked_ns + unknown_ns) FROM call)"));
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK_STR(trace_ask(s, "SELECT (SELECT sum(traced_ns) FROM account),"
			       " (SELECT sum(unknown_ns) FROM call)"),
		  want);
	store_close(s);
	if (make_old("2"))
		return 1;
	CHECK(!store_open(trace_db, STORE_READ, &s));
	CHECK_STR(trace_ask(s, "SELECT DISTINCT irq FROM hop"), "-1");
	store_close(s);
	return 0;
}

/* There is no room for it: the old file is as it was, and can be read. */
DIR_TEST(migrate_that_fails_leaves_the_old_trace)
{
	struct sums sums = { 0 };
	struct store *s;
	int status;
	pid_t pid;

	if (make_old("1") || old_sums(&sums))
		return 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct stat st;
		struct rlimit limit;

		signal(SIGXFSZ, SIG_IGN);
		stat(trace_db, &st);
		limit.rlim_cur = limit.rlim_max = (rlim_t)st.st_size;
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(store_open(trace_db, STORE_WRITE, &s) == 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK_STR(ask_file("PRAGMA user_version"), "1");
	CHECK(!store_open(trace_db, STORE_READ, &s));
	if (same_sums(s, &sums))
		return 1;
	store_close(s);
	CHECK(!store_open(trace_db, STORE_WRITE, &s)); /* with room it works */
	if (same_sums(s, &sums))
		return 1;
	store_close(s);
	return 0;
}
