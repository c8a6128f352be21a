// SPDX-License-Identifier: Apache-2.0
/* A connection that reads, with a deadline, and one statement on it. */
#include "query/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "query/query_int.h"
#include "store/raw.h"
#include "store/scope.h"

#define LOOK_OPS 2000 /* of SQLite's machine, between two looks at the clock: some 20 us */

/*
 * The rows that stand for n events with what aggregates over these need: timed, how many have a duration, and
 * the longest and the shortest of the durations that expand.c gives them.
 */
#define SUMS(name)                                                                                 \
	"CREATE TEMP VIEW " name "_sum AS SELECT *,"                                               \
	" CASE WHEN total_ns >= 0 THEN n END AS timed,"                                            \
	" CASE WHEN total_ns < 0 THEN NULL WHEN n > 1 AND max_ns BETWEEN 0 AND total_ns"           \
	"  THEN max(max_ns, (total_ns - max_ns + n - 2) / (n - 1))"                                \
	"  ELSE (total_ns + n - 1) / n END AS top_ns,"                                             \
	" CASE WHEN total_ns < 0 THEN NULL WHEN n > 1 AND max_ns BETWEEN 0 AND total_ns"           \
	"  THEN min(max_ns, (total_ns - max_ns) / (n - 1)) ELSE total_ns / n END AS low_ns"        \
	" FROM " name "_part WHERE n > 0;"

struct query {
	struct store *store;
	sqlite3 *db;
	struct query_opts opts;
	struct guard guard;
	uint64_t deadline_ns; /* 0: none */
	bool late, stopped;
	bool complete; /* every run of the trace had --record-all */
	int64_t heap_before;
};

static int on_progress(void *arg)
{
	struct query *q = arg;

	q->stopped = q->opts.stop && *q->opts.stop;
	q->late = q->deadline_ns && clock_boot_ns() > q->deadline_ns;
	return q->stopped || q->late;
}

/* ---- opening ---- */

static int make_tables(struct query *q)
{
	static const char sql[] =
		"DROP VIEW temp.events; DROP VIEW temp.cuda_events; DROP VIEW temp.nccl_events;"
		"CREATE VIRTUAL TABLE temp.events USING expand(event_part, duration);"
		"CREATE VIRTUAL TABLE temp.cuda_events USING expand(cuda_event_part, duration_ns);"
		"CREATE VIRTUAL TABLE temp.nccl_events USING expand(nccl_event_part, duration_ns);" SUMS(
			"event") SUMS("cuda_event") SUMS("nccl_event");
	int err = store_scope(q->store, 0); /* of a merged file: one clock */

	if (!err)
		err = store_own_views(q->store);
	if (err)
		return err;
	if (expand_register(q->db) != SQLITE_OK ||
	    sqlite3_exec(q->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return fail(-EIO, "the views cannot be made: %s", sqlite3_errmsg(q->db));
	return 0;
}

/* Tables of SQLite's own that describe or unfold: connected to before the guard would refuse that. */
static void connect_own(struct query *q)
{
	static const char *const sql[] = {
		"SELECT 1 FROM json_each('[]')",           "SELECT 1 FROM json_tree('[]')",
		"SELECT 1 FROM pragma_table_info('run')",  "SELECT 1 FROM pragma_table_list",
		"SELECT 1 FROM pragma_index_list('call')",
	};

	for (size_t i = 0; i < ARRAY_LEN(sql); i++)
		(void)sqlite3_exec(q->db, sql[i], NULL, NULL, NULL); /* not there: not asked for */
}

static int look_whether_complete(struct query *q)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(q->db, "SELECT count(*) > 0 AND min(record_all) FROM run", -1, &stmt,
			       NULL) != SQLITE_OK)
		return fail(-EIO, "cannot be read: %s", sqlite3_errmsg(q->db));
	q->complete = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return 0;
}

int query_open(const char *path, const struct query_opts *opts, struct query **ret)
{
	struct query *q = xcalloc(1, sizeof(*q));
	int err;

	q->opts = *opts;
	q->heap_before = -1;
	err = store_open(path, STORE_READ, &q->store);
	if (err) {
		free(q);
		return err;
	}
	q->db = store_db(q->store);
	err = make_tables(q);
	connect_own(q);
	if (!err)
		err = look_whether_complete(q);
	if (!err && guard_set(q->db, &q->guard) != SQLITE_OK)
		err = fail(-EIO, "the guard cannot be set");
	if (err) {
		fail_in(err, "%s", path);
		query_close(q);
		return err;
	}
	sqlite3_progress_handler(q->db, LOOK_OPS, on_progress, q);
	if (opts->memory_max)
		q->heap_before = sqlite3_hard_heap_limit64((int64_t)opts->memory_max);
	*ret = q;
	return 0;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	if (q->heap_before >= 0)
		sqlite3_hard_heap_limit64(q->heap_before);
	store_close(q->store);
	free(q);
}

/* ---- running ---- */

static int explain_error(struct query *q, int rc)
{
	const char *said = sqlite3_errmsg(q->db);

	if (q->guard.refused[0])
		return fail(-EPERM, "%s is refused: a query can only read", q->guard.refused);
	if (q->stopped)
		return fail(-EINTR, "interrupted");
	if (q->late)
		return fail(
			-ETIMEDOUT,
			"not done after %llu s: ask for less (WHERE time_ns > ..., event_totals in"
			" place of events), or give it more time with --timeout",
			(unsigned long long)(q->opts.timeout_ns / 1000000000));
	if (rc == SQLITE_NOMEM)
		return fail(-ENOMEM, "needs more than %llu MiB of memory",
			    (unsigned long long)(q->opts.memory_max >> 20));
	if (rc == SQLITE_ERROR)
		return fail(-EINVAL, "%s%s", said,
			    strstr(said, "no such ") ? " (`culprit query --schema` lists them)"
						     : "");
	return fail(rc == SQLITE_TOOBIG ? -E2BIG : -EIO, "%s", said);
}

/* Only blanks and comments? SQLite itself says so: they prepare to nothing. */
static bool is_over(struct query *q, const char *tail)
{
	sqlite3_stmt *stmt = NULL;
	const char *rest = tail;
	bool over = true;

	while (over && *rest) {
		const char *before = rest;

		over = sqlite3_prepare_v2(q->db, rest, -1, &stmt, &rest) == SQLITE_OK && !stmt;
		sqlite3_finalize(stmt);
		stmt = NULL;
		if (rest == before)
			break;
	}
	return over;
}

static int prepare(struct query *q, const char *sql, sqlite3_stmt **ret)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail = NULL;
	int rc = sqlite3_prepare_v2(q->db, sql, -1, &stmt, &tail), err = 0;

	if (rc != SQLITE_OK)
		return explain_error(q, rc);
	if (!stmt)
		return fail(-EINVAL, "there is no statement in it");
	if (!is_over(q, tail))
		err = fail(-EINVAL, "more than one statement: '%.40s'", tail);
	else if (!sqlite3_stmt_readonly(stmt) || !sqlite3_column_count(stmt))
		err = fail(-EPERM, "this is refused: a query can only read");
	else if (sqlite3_bind_parameter_count(stmt))
		err = fail(-EINVAL, "'%.40s' has no value here: write it into the query",
			   sqlite3_bind_parameter_name(stmt, 1)
				   ? sqlite3_bind_parameter_name(stmt, 1)
				   : "?");
	if (err)
		sqlite3_finalize(stmt);
	else
		*ret = stmt;
	return err;
}

static void read_row(sqlite3_stmt *stmt, struct query_value *value, int n)
{
	for (int i = 0; i < n; i++) {
		struct query_value *v = &value[i];

		*v = (struct query_value){ .type = QUERY_NULL };
		switch (sqlite3_column_type(stmt, i)) {
		case SQLITE_INTEGER:
			v->type = QUERY_INT;
			v->i = sqlite3_column_int64(stmt, i);
			break;
		case SQLITE_FLOAT:
			v->type = QUERY_REAL;
			v->real = sqlite3_column_double(stmt, i);
			break;
		case SQLITE_TEXT:
			v->type = QUERY_TEXT;
			v->text = (const char *)sqlite3_column_text(stmt, i);
			v->len = (size_t)sqlite3_column_bytes(stmt, i);
			break;
		case SQLITE_BLOB:
			v->type = QUERY_BLOB;
			v->blob = sqlite3_column_blob(stmt, i);
			v->len = (size_t)sqlite3_column_bytes(stmt, i);
			break;
		default:
			break;
		}
		if (v->type == QUERY_TEXT && !v->text)
			*v = (struct query_value){
				.type = QUERY_NULL
			}; /* no memory: step says it */
	}
}

static int each_row(struct query *q, sqlite3_stmt *stmt, const struct query_sink *sink,
		    struct query_result *ret)
{
	int n = sqlite3_column_count(stmt), rc, err = 0;
	struct query_value *value = xcalloc((size_t)n, sizeof(*value));

	while (!err && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			err = explain_error(q, rc);
		} else if (q->opts.rows_max && ret->rows == q->opts.rows_max) {
			ret->cut = true;
			break;
		} else {
			read_row(stmt, value, n);
			err = sink->row(value, n, sink->arg);
			ret->rows++;
		}
	}
	free(value);
	return err;
}

/* The answer from sums, if that is to be had: see sums.c. *stmt is kept for the names of its columns. */
static sqlite3_stmt *prepare_sums(struct query *q, const char *sql, sqlite3_stmt *stmt)
{
	char *other = sums_of(sql);
	sqlite3_stmt *ret = NULL;

	if (!other)
		return NULL;
	if (sqlite3_prepare_v2(q->db, other, -1, &ret, NULL) != SQLITE_OK ||
	    sqlite3_column_count(ret) != sqlite3_column_count(stmt) ||
	    !sqlite3_stmt_readonly(ret)) {
		sqlite3_finalize(ret);
		ret = NULL;
	}
	sqlite3_free(other);
	return ret;
}

static int tell_columns(sqlite3_stmt *stmt, const struct query_sink *sink)
{
	int n = sqlite3_column_count(stmt), err;
	const char **name = xcalloc((size_t)n, sizeof(*name));

	for (int i = 0; i < n; i++) {
		name[i] = sqlite3_column_name(stmt, i);
		name[i] = name[i] ? name[i] : "";
	}
	err = sink->columns(name, n, sink->arg);
	free(name);
	return err;
}

int query_run(struct query *q, const char *sql, const struct query_sink *sink,
	      struct query_result *ret)
{
	sqlite3_stmt *stmt = NULL, *sums;
	int err;

	*ret = (struct query_result){ 0 };
	q->guard = (struct guard){ 0 };
	q->late = q->stopped = false;
	q->deadline_ns = q->opts.timeout_ns ? clock_boot_ns() + q->opts.timeout_ns : 0;
	err = prepare(q, sql, &stmt);
	if (err)
		return err;
	ret->sampled = q->guard.sampled && !q->complete;
	sums = prepare_sums(q, sql, stmt);
	err = tell_columns(stmt, sink);
	if (!err)
		err = each_row(q, sums ? sums : stmt, sink, ret);
	sqlite3_finalize(sums);
	sqlite3_finalize(stmt);
	return err;
}

void query_schema(FILE *out)
{
	fputs(store_schema, out);
	putc('\n', out);
	fputs(store_merged, out);
	putc('\n', out);
	fputs(store_views, out);
}
