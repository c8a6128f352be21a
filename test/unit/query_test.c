// SPDX-License-Identifier: Apache-2.0
/* Tests of query/: what a query can do, what it cannot, and that counts are those of the workload. */
#include "query/query.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "query/query_int.h"
#include "test/unit/json_check.h"
#include "test/unit/trace.h"

static const struct query_opts plain = { .timeout_ns = 10 * SEC, .rows_max = 100 };

/* A process in a container that made known calls; some of them are stored one by one. */
static int make_trace(const char *path)
{
	struct process_row row = {
		.pid = 7,
		.start_boot_ns = 5,
		.comm = "train",
		.cmdline = "",
		.exe = "",
		.cgroup = "/kubepods.slice/cri-containerd-"
			  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
			  ".scope",
		.python = ""
	};
	struct op_delta copy = { .op = &op_table[OP_cudaMemcpyAsync],
				 .calls = 1009,
				 .done = 1007,
				 .total_ns = 5000000,
				 .max_ns = 900000 };
	struct op_delta launch = { .op = &op_table[OP_cuLaunchKernel], .calls = 4001 };
	struct op_delta reduce = { .op = &op_table[OP_ncclAllReduce],
				   .calls = 31,
				   .done = 31,
				   .total_ns = 62000,
				   .max_ns = 2000 };
	struct kernel_row gemm = { .handle = 1, .name = "gemm", .source = "symbol", .library = "" };
	struct record rec = { .op = &op_table[OP_cudaMemcpyAsync], .dur_ns = 900000, .because = 1 };
	struct store *s = NULL;
	int64_t process, thread;

	CHECK(!store_open(path, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!store_process(s, &row, &process));
	CHECK(!store_thread(s, process, 7, "train", 1, &thread));
	CHECK(!store_op_second(s, thread, SEC, &copy));
	CHECK(!store_op_second(s, thread, SEC, &launch));
	CHECK(!store_op_second(s, thread, SEC, &reduce));
	copy.calls = copy.done = 100; /* its longest is of before */
	copy.total_ns = 1000;
	CHECK(!store_op_second(s, thread, 2 * SEC, &copy));
	gemm.process = process;
	CHECK(!store_kernel(s, &gemm));
	CHECK(!store_kernel_second(s, gemm.id, SEC, 4000));
	CHECK(!store_call(s, thread, &rec, NULL));
	CHECK(!store_commit(s));
	store_close(s);
	return 0;
}

/* ---- asking: columns joined by '|', rows by ';' ---- */

struct asked {
	char text[2048];
	size_t at;
	int rows;
};

static int on_columns(const char *const *name, int n, void *arg)
{
	(void)name;
	(void)n;
	(void)arg;
	return 0;
}

static int on_row(const struct query_value *v, int n, void *arg)
{
	struct asked *a = arg;

	for (int i = 0; i < n && a->at < sizeof(a->text); i++) {
		char *to = a->text + a->at;
		size_t room = sizeof(a->text) - a->at;
		const char *before = i ? "|" : a->rows ? ";" : "";

		if (v[i].type == QUERY_INT)
			a->at += (size_t)snprintf(to, room, "%s%lld", before, (long long)v[i].i);
		else if (v[i].type == QUERY_REAL)
			a->at += (size_t)snprintf(to, room, "%s%.9g", before, v[i].real);
		else
			a->at += (size_t)snprintf(to, room, "%s%s", before,
						  v[i].type == QUERY_TEXT ? v[i].text : "-");
	}
	a->rows++;
	return 0;
}

static struct asked asked;
static struct query_result result;

static int ask(struct query *q, const char *sql)
{
	const struct query_sink sink = { on_columns, on_row, &asked };

	asked = (struct asked){ 0 };
	return query_run(q, sql, &sink, &result);
}

static const char *answer(struct query *q, const char *sql)
{
	int err = ask(q, sql);

	return err ? why(err) : asked.text;
}

/* ---- counts ---- */

DIR_TEST(query_events_are_counted_in_full_and_their_sums_are_exact)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK_STR(answer(q, "SELECT node, source, count(*) AS cnt, sum(duration), max(duration)"
			    " FROM events GROUP BY node, source"),
		  "gpu-node-01|1|1109|5001000|900000;gpu-node-01|4|4001|-|-;"
		  "gpu-node-01|9|31|62000|2000");
	CHECK_STR(answer(q, "SELECT source, events, total_ns, max_ns FROM event_totals ORDER BY 1"),
		  "1|1109|5001000|900000;4|4001|-|-;9|31|62000|2000");
	/* Two were not over: they have no duration, and do not count in the average. */
	CHECK_STR(answer(q, "SELECT count(*), count(duration), avg(duration) = 5001000 / 1107.0"
			    " FROM events WHERE op = 'cudaMemcpyAsync'"),
		  "1109|1107|1");
	CHECK_STR(answer(q, "SELECT count(*) FROM calls"), "1");
	query_close(q);
	return 0;
}

/* The question of the table, and the same of the view that a file has for other programs. */
static int same_of_view(struct query *q, const char *select, const char *table, const char *rest)
{
	char sql[500], first[2048];

	snprintf(sql, sizeof(sql), "%s FROM temp.%s %s", select, table, rest);
	CHECK(!ask(q, sql));
	CHECK(asked.rows);
	str_copy(first, sizeof(first), asked.text);
	snprintf(sql, sizeof(sql), "%s FROM main.%s %s", select, table, rest);
	CHECK(!ask(q, sql));
	CHECK_STR(first, asked.text);
	return 0;
}

DIR_TEST(query_tables_agree_with_the_views_of_the_file)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK(!same_of_view(q,
			    "SELECT node, source, op, class, time_ns, pid, tid, comm, cgroup_id,"
			    " duration, count(*)",
			    "events", "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 3, 5, 10"));
	CHECK(!same_of_view(q, "SELECT op, kernel_name, pid, duration_ns, count(*)", "cuda_events",
			    "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4"));
	CHECK(!same_of_view(q, "SELECT op, seq, pid, duration_ns, count(*)", "nccl_events",
			    "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4"));
	query_close(q);
	return 0;
}

/* By sums and one by one: `events` may be answered from sums, temp.events never is. */
static int same_by_sums(struct query *q, const char *select, const char *table, const char *rest)
{
	char sql[500], first[2048], *other;

	snprintf(sql, sizeof(sql), "%s FROM temp.%s %s", select, table, rest);
	CHECK(!sums_of(sql));
	CHECK(!ask(q, sql));
	str_copy(first, sizeof(first), asked.text);
	snprintf(sql, sizeof(sql), "%s FROM %s %s", select, table, rest);
	other = sums_of(sql);
	if (!other)
		return test_fail(__FILE__, __LINE__, "not by sums: %s", sql);
	sqlite3_free(other);
	CHECK(!ask(q, sql));
	CHECK_STR(asked.text, first);
	return 0;
}

DIR_TEST(query_answers_from_sums_what_it_would_count)
{
	static const char *const select[] = {
		"SELECT node, source, count(*) as cnt, avg(duration)/1000 as avg_us",
		"select op, COUNT ( * ), Sum(e.duration)/1e6, max(duration), MIN(duration)",
		"SELECT count(duration), total(duration), max(time_ns), round(avg(e . duration), 3)",
		"SELECT count(*)<=7 OR count(*)!=3, 'count(*)' || op, \"op\", max(comm)",
	};
	static const char *const rest[] = {
		"e GROUP BY node, source",
		"AS e WHERE source >= 1 AND op LIKE 'cuda%' GROUP BY op HAVING count(*) > 3",
		"e",
		"e JOIN containers c USING(cgroup_id) GROUP BY container_id, op ORDER BY count(*) LIMIT 2",
		"e WHERE op = 'nothing''s (duration)' -- count(*)\n",
	};
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	for (size_t i = 0; i < ARRAY_LEN(rest); i++)
		for (size_t k = 0; k < ARRAY_LEN(select); k++)
			if (!(i == 3 && k == 0) && same_by_sums(q, select[k], "events", rest[i]))
				return 1;
	CHECK(!same_by_sums(q, "SELECT kernel_name, count(*), sum(duration_ns)", "cuda_events",
			    "GROUP BY kernel_name"));
	CHECK(!same_by_sums(q, "SELECT op, count(*), avg(duration_ns), max(duration_ns)",
			    "nccl_events", "GROUP BY op"));
	query_close(q);
	return 0;
}

TEST(query_counts_where_sums_do_not_say_it)
{
	static const char *const sql[] = {
		"SELECT op FROM events",
		"SELECT duration FROM events GROUP BY op",
		"SELECT count(*) FROM events WHERE duration > 5",
		"SELECT sum(duration * 2) FROM events",
		"SELECT count(pid) FROM events",
		"SELECT count(DISTINCT op) FROM events",
		"SELECT avg(pid), count(*) FROM events",
		"SELECT group_concat(op), count(*) FROM events",
		"SELECT count(*) FROM events a, events b",
		"SELECT count(*) FROM node LEFT JOIN events e ON e.node = node.name",
		"SELECT count(*) FROM (SELECT op FROM events)",
		"SELECT count(*) OVER () FROM events",
		"SELECT count(*) FROM events UNION SELECT 1",
		"WITH x AS (SELECT 1) SELECT count(*) FROM events",
		"EXPLAIN SELECT count(*) FROM events",
		"SELECT count(*) FROM node",
		"SELECT count(*), 'events' FROM \"events\"",
		"",
		"SELECT 'unfinished",
		"/* ",
	};

	for (size_t i = 0; i < ARRAY_LEN(sql); i++) {
		char *other = sums_of(sql[i]);

		if (other)
			return test_fail(__FILE__, __LINE__, "%s:%s", sql[i], other);
	}
	return 0;
}

DIR_TEST(query_names_kernels_and_containers)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK_STR(
		answer(q,
		       "SELECT substr(container_id, 1, 8), length(container_id), kernel_name, COUNT(*) AS launches,"
		       " SUM(duration_ns)/1e6 AS total_ms FROM cuda_events e"
		       " JOIN containers c ON c.cgroup_id = e.cgroup_id GROUP BY container_id, kernel_name"
		       " ORDER BY total_ms DESC LIMIT 20"),
		"01234567|64|-|1110|5.001;01234567|64|gemm|4000|-");
	CHECK_STR(
		answer(q,
		       "SELECT op, COUNT(*), AVG(duration_ns)/1e3, MAX(duration_ns) FROM nccl_events e"
		       " JOIN containers c ON c.cgroup_id = e.cgroup_id GROUP BY container_id, op"),
		"ncclAllReduce|31|2|2000");
	query_close(q);
	return 0;
}

DIR_TEST(query_conditions_and_orders_reach_the_rows_that_are_stored)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK_STR(answer(q,
			 "SELECT count(*) FROM events WHERE op = 'CUDAMEMCPYASYNC' COLLATE NOCASE"),
		  "1109");
	CHECK_STR(
		answer(q,
		       "SELECT count(*) FROM events WHERE pid = 7 AND source > 3 AND source <= 4"),
		"4001");
	CHECK_STR(answer(q, "SELECT count(*) FROM events WHERE pid = '7x' OR op LIKE 'nccl%'"),
		  "31");
	CHECK_STR(answer(q, "SELECT op FROM events GROUP BY op ORDER BY op DESC"),
		  "ncclAllReduce;cudaMemcpyAsync;cuLaunchKernel");
	CHECK_STR(answer(q, "SELECT DISTINCT source FROM events ORDER BY 1"), "1;4;9");
	CHECK_STR(answer(q, "SELECT a.op, count(*) FROM events a JOIN events b ON a.op = b.op"
			    " WHERE a.source = 9 AND b.source = 9 GROUP BY 1"),
		  "ncclAllReduce|961");
	CHECK_STR(
		answer(q,
		       "SELECT duration FROM events WHERE source = 1 ORDER BY duration DESC LIMIT 2"),
		"900000;4076");
	query_close(q);
	return 0;
}

/* ---- what is refused ---- */

static const char *const refused[] = {
	"INSERT INTO node VALUES(1, 'x')",
	"WITH x AS (SELECT 1) DELETE\tFROM node",
	"UPDATE node SET name = 'x'",
	"REPLACE INTO node VALUES(1, 'x')",
	"DROP TABLE node",
	"DROP TABLE temp.events",
	"CREATE TABLE x(y)",
	"CREATE TEMP TABLE x AS SELECT 1",
	"CREATE VIRTUAL TABLE temp.x USING expand(node, y)",
	"CREATE TEMP TRIGGER x AFTER INSERT ON node BEGIN SELECT 1; END",
	"ALTER TABLE node RENAME TO x",
	"ATTACH ':memory:' AS x",
	"DETACH main",
	"VACUUM",
	"PRAGMA query_only = 0",
	"PRAGMA writable_schema = 1",
	"PRAGMA journal_mode = DELETE",
	"PRAGMA database_list",
	"BEGIN",
	"SAVEPOINT x",
	"ANALYZE",
	"REINDEX",
	"SELECT load_extension('x')",
};

DIR_TEST(query_refuses_everything_but_reading)
{
	struct query *q = NULL;
	char sql[200], copy[120];
	struct stat before, after;

	CHECK(!make_trace(trace_db));
	CHECK(!stat(trace_db, &before));
	CHECK(!query_open(trace_db, &plain, &q));
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		int err = ask(q, refused[i]);

		if (err != -EPERM)
			return test_fail(__FILE__, __LINE__, "%s: %d", refused[i], err);
		CHECK(strstr(why(err), "can only read"));
	}
	snprintf(copy, sizeof(copy), "%s/copy.db", trace_dir);
	snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", copy);
	CHECK(ask(q, sql) == -EPERM);
	snprintf(sql, sizeof(sql), "ATTACH '%s' AS x", copy);
	CHECK(ask(q, sql) == -EPERM);
	CHECK(access(copy, F_OK));
	/* And it goes on. */
	CHECK_STR(answer(q, "SELECT count(*) FROM node"), "1");
	query_close(q);
	CHECK(!stat(trace_db, &after));
	CHECK(before.st_size == after.st_size && before.st_mtime == after.st_mtime);
	return 0;
}

DIR_TEST(query_says_what_is_wrong_with_a_statement)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK(ask(q, "") == -EINVAL);
	CHECK(ask(q, "-- nothing") == -EINVAL);
	CHECK(ask(q, "SELECT 1; SELECT 2") == -EINVAL);
	CHECK(strstr(why(-EINVAL), "more than one"));
	CHECK(ask(q, "SELECT 1; DROP TABLE node") == -EINVAL);
	CHECK(!ask(q, "SELECT 1; /* that is all */ -- it is"));
	CHECK(ask(q, "SELECT ?1") == -EINVAL);
	CHECK(ask(q, "SELEC 1") == -EINVAL);
	CHECK(ask(q, "SELECT * FROM nowhere") == -EINVAL);
	CHECK_STR(why(-EINVAL), "no such table: nowhere (`culprit query --schema` lists them)");
	query_close(q);
	return 0;
}

/* ---- limits ---- */

DIR_TEST(query_ends_at_its_limits)
{
	const struct query_opts tight = { .timeout_ns = 200 * MSEC,
					  .rows_max = 3,
					  .memory_max = 32 << 20 };
	struct query *q = NULL;
	static volatile int stop;
	const struct query_opts stopped = { .stop = &stop };

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &tight, &q));
	CHECK(ask(q,
		  "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c") ==
	      -ETIMEDOUT);
	CHECK(strstr(why(-ETIMEDOUT), "--timeout"));
	CHECK(ask(q, "SELECT count(*) FROM events a, events b, events c") == -ETIMEDOUT);
	CHECK(!ask(q, "SELECT 1 FROM events"));
	CHECK(result.rows == 3 && result.cut);
	CHECK(!ask(q, "SELECT 1 FROM events LIMIT 3"));
	CHECK(result.rows == 3 && !result.cut);
	CHECK(ask(q, "SELECT zeroblob(900000000)") == -E2BIG);
	CHECK(ask(q, "WITH RECURSIVE c(x, t) AS (SELECT 1, zeroblob(1000000) UNION ALL"
		     " SELECT x + 1, zeroblob(1000000 + x) FROM c LIMIT 500)"
		     " SELECT group_concat(hex(t)) FROM c") < 0);
	query_close(q);
	stop = 1;
	CHECK(!query_open(trace_db, &stopped, &q));
	CHECK(ask(q, "SELECT count(*) FROM events a, events b") == -EINTR);
	query_close(q);
	return 0;
}

DIR_TEST(query_tells_that_single_calls_are_a_sample)
{
	struct query *q = NULL;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK(!ask(q, "SELECT count(*) FROM calls") && result.sampled);
	CHECK(!ask(q, "SELECT count(*) FROM events") && !result.sampled);
	CHECK(!ask(q, "SELECT count(*) FROM node") && !result.sampled);
	query_close(q);
	return 0;
}

/* ---- printing ---- */

static const char *printed(struct query *q, const char *sql, enum query_format format)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return "";
	text[0] = '\0';
	(void)query_print(q, sql, format, out, NULL);
	fclose(out);
	return text;
}

#define HOSTILE                                                                                    \
	"SELECT 'a\"b,' || char(10) || 'c' AS \"x,y\", NULL, 1.5, x'00ff', char(27) || '[2J'"

DIR_TEST(query_prints_tables_csv_and_json_of_any_text)
{
	struct query *q = NULL;
	const char *json;

	CHECK(!make_trace(trace_db));
	CHECK(!query_open(trace_db, &plain, &q));
	CHECK_STR(
		printed(q, "SELECT 1 AS a, 'long text' AS b UNION ALL SELECT 22, 'x'", QUERY_TABLE),
		"a   b\n--  ---------\n1   long text\n22  x\n");
	CHECK_STR(
		printed(q, HOSTILE, QUERY_CSV),
		"\"x,y\",NULL,1.5,x'00ff',char(27) || '[2J'\r\n\"a\"\"b,\nc\",,1.5,00ff,\x1b[2J\r\n");
	CHECK(!strchr(printed(q, HOSTILE, QUERY_TABLE), '\x1b'));
	json = printed(q, HOSTILE, QUERY_JSON);
	CHECK(json_valid(json));
	CHECK(strstr(json, "\"truncated\":false"));
	CHECK(strstr(printed(q, "SELECT 9223372036854775807, 0.1", QUERY_JSON),
		     "[9223372036854775807,0.1]"));
	query_close(q);
	return 0;
}
