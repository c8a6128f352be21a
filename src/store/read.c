// SPDX-License-Identifier: Apache-2.0
/* Rows out: one function per question, each a query and a callback. Who ran, and the agent itself. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "store/store_int.h"

void column_account(sqlite3_stmt *stmt, int i, uint64_t state_ns[STATE_COUNT],
		    uint64_t counter[COUNTER_COUNT])
{
	for (int k = 0; k < STATE_COUNT; k++)
		state_ns[k] = column_u64(stmt, i + k);
	for (int k = 0; k < COUNTER_COUNT; k++)
		counter[k] = column_u64(stmt, i + STATE_COUNT + k);
}

int column_hist(sqlite3_stmt *stmt, int i, uint32_t ret[HIST_BUCKETS])
{
	const void *blob = sqlite3_column_blob(stmt, i);

	return hist_unpack(blob, (size_t)sqlite3_column_bytes(stmt, i), ret);
}

int column_kinds(sqlite3_stmt *stmt, int i, int (*fn)(const struct packed_kind *, void *),
		 void *arg)
{
	const void *blob = sqlite3_column_blob(stmt, i);
	int err = packed_kinds(blob, (size_t)sqlite3_column_bytes(stmt, i), fn, arg);

	return err == -EBADMSG ? fail(err, "a row of call_block is damaged") : err;
}

int store_query(struct store *s, const char *sql, struct window w, sqlite3_stmt **ret)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) != SQLITE_OK)
		return store_fail(s, "query");
	sqlite3_bind_int64(*ret, 1, store_number(w.from_ns));
	sqlite3_bind_int64(*ret, 2, w.to_ns ? store_number(w.to_ns) : INT64_MAX);
	return 0;
}

int store_rows(struct store *s, sqlite3_stmt *stmt, int (*row)(sqlite3_stmt *, void *), void *arg)
{
	int rc, err = 0;

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		err = row(stmt, arg);
	if (!err && rc != SQLITE_DONE)
		err = store_fail(s, "query");
	sqlite3_finalize(stmt);
	return err;
}

static int span_row(sqlite3_stmt *stmt, void *arg)
{
	struct window *w = arg;

	w->from_ns = column_u64(stmt, 0);
	w->to_ns = column_u64(stmt, 1);
	return 0;
}

int store_span(struct store *s, struct window *ret)
{
	struct window all = { 0, 0 }, span = { 0, 0 };
	sqlite3_stmt *stmt;
	int err;

	err = store_query(s,
			  "SELECT (SELECT min(start_ns) FROM run), max("
			  " coalesce((SELECT max(at_ns) FROM op_second), 0),"
			  " coalesce((SELECT max(at_ns) FROM account), 0),"
			  " coalesce((SELECT max(start_ns) FROM run), 0))",
			  all, &stmt);
	if (!err)
		err = store_rows(s, stmt, span_row, &span);
	if (err)
		return err;
	if (!span.to_ns)
		return fail(-ENODATA, "the trace is empty");
	*ret = span;
	return 0;
}

static int thread_row(sqlite3_stmt *stmt, void *arg)
{
	struct thread_info info = {
		.thread = sqlite3_column_int64(stmt, 0),
		.process = sqlite3_column_int64(stmt, 1),
		.node = column_text(stmt, 2),
		.process_comm = column_text(stmt, 3),
		.comm = column_text(stmt, 4),
		.cmdline = column_text(stmt, 5),
		.python = column_text(stmt, 6),
		.pid = column_u32(stmt, 7),
		.tid = column_u32(stmt, 8),
		.python_note = column_text(stmt, 9),
		.cgroup = column_text(stmt, 10),
	};
	struct to *to = arg;

	return ((int (*)(const struct thread_info *, void *))to->fn)(&info, to->arg);
}

int store_each_thread(struct store *s, struct window w,
		      int (*fn)(const struct thread_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT t.id, p.id, n.name, pc.text, tc.text, cl.text, p.python, p.pid, t.tid,"
		" p.python_note, cg.text"
		" FROM thread t JOIN process p ON p.id=t.process JOIN run r ON r.id=p.run"
		" JOIN node n ON n.id=r.node JOIN string pc ON pc.id=p.comm"
		" JOIN string tc ON tc.id=t.comm JOIN string cl ON cl.id=p.cmdline"
		" LEFT JOIN string cg ON cg.id=p.cgroup"
		" WHERE t.first_ns <= ?2 AND coalesce(t.exit_ns, ?2) >= ?1 ORDER BY t.id",
		w, &stmt);

	return err ? err : store_rows(s, stmt, thread_row, &to);
}

int store_each_stranger(struct store *s, int (*fn)(const struct thread_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err;

	if (!s->node)
		return 0;
	err = store_query(
		s,
		"SELECT t.id, p.id, n.name, pc.text, tc.text, '', p.python, p.pid, t.tid, '', ''"
		" FROM main.thread t JOIN main.process p ON p.id=t.process JOIN main.run r ON r.id=p.run"
		" JOIN node n ON n.id=r.node JOIN string pc ON pc.id=p.comm JOIN string tc ON tc.id=t.comm"
		" WHERE r.node<>?3 AND p.id IN (SELECT process FROM main.communicator) ORDER BY t.id",
		(struct window){ 0, 0 }, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, s->node);
	return store_rows(s, stmt, thread_row, &to);
}

static int loss_row(sqlite3_stmt *stmt, void *arg)
{
	struct loss_row row = { column_text(stmt, 0), column_u64(stmt, 1) };
	struct to *to = arg;

	return ((int (*)(const struct loss_row *, void *))to->fn)(&row, to->arg);
}

int store_each_loss(struct store *s, struct window w, int (*fn)(const struct loss_row *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	/* total(): sum() fails where the sum is no integer. Exact up to 2^53. */
	int err = store_query(s,
			      "SELECT reason, total(count) FROM loss"
			      " WHERE at_ns > ?1 AND at_ns <= ?2 GROUP BY reason ORDER BY 2 DESC",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, loss_row, &to);
}

static int account_row(sqlite3_stmt *stmt, void *arg)
{
	struct account_row *row = arg;

	*row = (struct account_row){
		.seen = column_u64(stmt, 0),
		.submitted = column_u64(stmt, 1),
		.filtered = column_u64(stmt, 2),
		.dropped = column_u64(stmt, 3),
		.received = column_u64(stmt, 4),
		.probe_ns = column_u64(stmt, 5),
		.agent_ns = column_u64(stmt, 6),
		.traced_ns = column_u64(stmt, 7),
	};
	return 0;
}

int store_account_total(struct store *s, struct window w, struct account_row *ret)
{
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT total(seen), total(submitted), total(filtered),"
			      " total(dropped), total(received), total(probe_ns), total(agent_ns),"
			      " total(traced_ns) FROM account WHERE at_ns > ?1 AND at_ns <= ?2",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, account_row, ret);
}

static int coverage_row(sqlite3_stmt *stmt, void *arg)
{
	struct coverage_info row = {
		.pid = column_u32(stmt, 0),
		.comm = column_text(stmt, 1),
		.library = column_text(stmt, 2),
		.note = column_text(stmt, 3),
		.ops = sqlite3_column_int(stmt, 4),
		.stepped = sqlite3_column_int(stmt, 5),
		.refused = sqlite3_column_int(stmt, 6),
		.missing = sqlite3_column_int(stmt, 7),
		.since_ns = column_u64(stmt, 8),
	};
	struct to *to = arg;

	return ((int (*)(const struct coverage_info *, void *))to->fn)(&row, to->arg);
}

int store_each_coverage(struct store *s, struct window w,
			int (*fn)(const struct coverage_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT p.pid, pc.text, l.text, c.note, c.ops, c.stepped, c.refused,"
		" c.missing, c.since_ns FROM coverage c JOIN process p ON p.id=c.process"
		" JOIN string pc ON pc.id=p.comm JOIN string l ON l.id=c.library"
		" WHERE c.since_ns <= ?2 AND coalesce(p.exit_ns, ?2) >= ?1"
		" ORDER BY p.pid, l.text",
		w, &stmt);

	return err ? err : store_rows(s, stmt, coverage_row, &to);
}

static int run_row(sqlite3_stmt *stmt, void *arg)
{
	struct run_info *run = arg;

	/* Printed by everybody, and a file comes from anywhere. */
	text_safe(run->node, sizeof(run->node), column_text(stmt, 0));
	text_safe(run->kernel, sizeof(run->kernel), column_text(stmt, 1));
	text_safe(run->gpu, sizeof(run->gpu), column_text(stmt, 2));
	text_safe(run->attach_mode, sizeof(run->attach_mode), column_text(stmt, 3));
	text_safe(run->version, sizeof(run->version), column_text(stmt, 4));
	run->start_ns = column_u64(stmt, 5);
	run->end_ns = column_u64(stmt, 6);
	run->cpus = sqlite3_column_int(stmt, 7);
	run->count_cost_ns = column_u64(stmt, 8);
	return 0;
}

int store_last_run(struct store *s, struct run_info *ret)
{
	struct window all = { 0, 0 };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT name, kernel, gpu, attach_mode, version, start_ns, end_ns, cpus, count_cost_ns FROM run"
		" JOIN node ON node.id=run.node ORDER BY"
		/* Ids of a merged file do not count up. */
		" CASE WHEN run.id > 4294967295 THEN start_ns ELSE run.id END DESC LIMIT 1",
		all, &stmt);

	*ret = (struct run_info){ 0 };
	if (!err)
		err = store_rows(s, stmt, run_row, ret);
	if (!err && !ret->start_ns)
		err = fail(-ENODATA, "the trace is empty");
	return err;
}
