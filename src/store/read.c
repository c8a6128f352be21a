// SPDX-License-Identifier: Apache-2.0
/* Rows out: one function per question, each a query and a callback. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "store/store_int.h"

static uint64_t column_u64(sqlite3_stmt *stmt, int i)
{
	return (uint64_t)sqlite3_column_int64(stmt, i);
}

/* Never NULL; a database can hold anything anywhere. */
static const char *column_text(sqlite3_stmt *stmt, int i)
{
	const unsigned char *text = sqlite3_column_text(stmt, i);

	return text ? (const char *)text : "";
}

static void column_states(sqlite3_stmt *stmt, int i, uint64_t ret[STATE_COUNT])
{
	for (int k = 0; k < STATE_COUNT; k++)
		ret[k] = column_u64(stmt, i + k);
}

/* Prepare sql and bind the window to ?1 and ?2. */
static int prepare(struct store *s, const char *sql, struct window w, sqlite3_stmt **ret)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) != SQLITE_OK)
		return store_fail(s, "query");
	sqlite3_bind_int64(*ret, 1, (sqlite3_int64)w.from_ns);
	sqlite3_bind_int64(*ret, 2, w.to_ns ? (sqlite3_int64)w.to_ns : INT64_MAX);
	return 0;
}

/* Call row for each row; it returns non-zero to stop. */
static int each(struct store *s, sqlite3_stmt *stmt, int (*row)(sqlite3_stmt *, void *), void *arg)
{
	int rc, err = 0;

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		err = row(stmt, arg);
	if (!err && rc != SQLITE_DONE)
		err = store_fail(s, "query");
	sqlite3_finalize(stmt);
	return err;
}

/* A callback and its argument, as one. The function type differs by question. */
struct to {
	void *fn;
	void *arg;
};

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

	err = prepare(s,
		      "SELECT (SELECT min(start_ns) FROM run), max("
		      " coalesce((SELECT max(at_ns) FROM op_second), 0),"
		      " coalesce((SELECT max(at_ns) FROM account), 0),"
		      " coalesce((SELECT max(start_ns) FROM run), 0))",
		      all, &stmt);
	if (!err)
		err = each(s, stmt, span_row, &span);
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
		.pid = (uint32_t)sqlite3_column_int64(stmt, 7),
		.tid = (uint32_t)sqlite3_column_int64(stmt, 8),
	};
	struct to *to = arg;

	return ((int (*)(const struct thread_info *, void *))to->fn)(&info, to->arg);
}

int store_each_thread(struct store *s, struct window w,
		      int (*fn)(const struct thread_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = prepare(
		s,
		"SELECT t.id, p.id, n.name, pc.text, tc.text, cl.text, p.python, p.pid, t.tid"
		" FROM thread t JOIN process p ON p.id=t.process JOIN run r ON r.id=p.run"
		" JOIN node n ON n.id=r.node JOIN string pc ON pc.id=p.comm"
		" JOIN string tc ON tc.id=t.comm JOIN string cl ON cl.id=p.cmdline"
		" WHERE t.first_ns <= ?2 AND coalesce(t.exit_ns, ?2) >= ?1 ORDER BY t.id",
		w, &stmt);

	return err ? err : each(s, stmt, thread_row, &to);
}

static int op_second_row(sqlite3_stmt *stmt, void *arg)
{
	struct op_second_row row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.symbol = column_text(stmt, 1),
		.class = column_text(stmt, 2),
		.at_ns = column_u64(stmt, 3),
		.calls = column_u64(stmt, 4),
		.done = column_u64(stmt, 5),
		.errors = column_u64(stmt, 6),
		.bytes = column_u64(stmt, 7),
		.total_ns = column_u64(stmt, 8),
		.max_ns = column_u64(stmt, 9),
	};
	struct to *to = arg;
	int err = hist_unpack(sqlite3_column_blob(stmt, 16), (size_t)sqlite3_column_bytes(stmt, 16),
			      row.hist);

	if (err)
		return err;
	column_states(stmt, 10, row.state_ns);
	return ((int (*)(const struct op_second_row *, void *))to->fn)(&row, to->arg);
}

int store_each_op_second(struct store *s, struct window w,
			 int (*fn)(const struct op_second_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err =
		prepare(s,
			"SELECT thread, symbol, class, at_ns, calls, done, errors, bytes, total_ns,"
			" max_ns, run_ns, preempted_ns, wake_ns, throttled_ns, blocked_ns,"
			" unknown_ns, hist FROM op_second JOIN op ON op.id=op_second.op"
			" WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY thread, at_ns",
			w, &stmt);

	return err ? err : each(s, stmt, op_second_row, &to);
}

static int blame_row(sqlite3_stmt *stmt, void *arg)
{
	struct blame_row row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.at_ns = column_u64(stmt, 1),
		.pid = (uint32_t)sqlite3_column_int64(stmt, 2),
		.cpu = (uint32_t)sqlite3_column_int64(stmt, 3),
		.comm = column_text(stmt, 4),
		.ns = column_u64(stmt, 5),
	};
	struct to *to = arg;

	return ((int (*)(const struct blame_row *, void *))to->fn)(&row, to->arg);
}

int store_each_blame(struct store *s, struct window w, int (*fn)(const struct blame_row *, void *),
		     void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = prepare(s,
			  "SELECT thread, at_ns, pid, cpu, text, ns FROM blame_second"
			  " JOIN string ON string.id=comm WHERE at_ns > ?1 AND at_ns <= ?2"
			  " ORDER BY thread, at_ns",
			  w, &stmt);

	return err ? err : each(s, stmt, blame_row, &to);
}

static int call_row(sqlite3_stmt *stmt, void *arg)
{
	struct call_row row = {
		.id = sqlite3_column_int64(stmt, 0),
		.thread = sqlite3_column_int64(stmt, 1),
		.symbol = column_text(stmt, 2),
		.next = sqlite3_column_type(stmt, 3) == SQLITE_NULL ? NULL : column_text(stmt, 3),
		.start_ns = column_u64(stmt, 4),
		.dur_ns = column_u64(stmt, 5),
		.because = column_u64(stmt, 6),
	};
	struct to *to = arg;

	column_states(stmt, 7, row.state_ns);
	return ((int (*)(const struct call_row *, void *))to->fn)(&row, to->arg);
}

int store_each_slow(struct store *s, struct window w, int limit,
		    int (*fn)(const struct call_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = prepare(
		s,
		"SELECT c.id, thread, o.symbol, n.symbol, start_ns, dur_ns, because, run_ns,"
		" preempted_ns, wake_ns, throttled_ns, blocked_ns, unknown_ns FROM call c"
		" JOIN op o ON o.id=c.op LEFT JOIN op n ON n.id=c.next_op"
		" WHERE start_ns >= ?1 AND start_ns <= ?2 AND because & 1 AND depth=0"
		" ORDER BY preempted_ns + wake_ns + throttled_ns DESC LIMIT ?3",
		w, &stmt);

	if (err)
		return err;
	sqlite3_bind_int(stmt, 3, limit);
	return each(s, stmt, call_row, &to);
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
	int err = prepare(s,
			  "SELECT reason, sum(count) FROM loss WHERE at_ns > ?1 AND at_ns <= ?2"
			  " GROUP BY reason ORDER BY 2 DESC",
			  w, &stmt);

	return err ? err : each(s, stmt, loss_row, &to);
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
	int err = prepare(s,
			  "SELECT sum(seen), sum(submitted), sum(filtered), sum(dropped),"
			  " sum(received), sum(probe_ns), sum(agent_ns), sum(traced_ns)"
			  " FROM account WHERE at_ns > ?1 AND at_ns <= ?2",
			  w, &stmt);

	return err ? err : each(s, stmt, account_row, ret);
}

static int coverage_row(sqlite3_stmt *stmt, void *arg)
{
	struct coverage_info row = {
		.pid = (uint32_t)sqlite3_column_int64(stmt, 0),
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
	int err = prepare(s,
			  "SELECT p.pid, pc.text, l.text, c.note, c.ops, c.stepped, c.refused,"
			  " c.missing, c.since_ns FROM coverage c JOIN process p ON p.id=c.process"
			  " JOIN string pc ON pc.id=p.comm JOIN string l ON l.id=c.library"
			  " WHERE c.since_ns <= ?2 AND coalesce(p.exit_ns, ?2) >= ?1"
			  " ORDER BY p.pid, l.text",
			  w, &stmt);

	return err ? err : each(s, stmt, coverage_row, &to);
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
	int err = prepare(
		s,
		"SELECT name, kernel, gpu, attach_mode, version, start_ns, end_ns, cpus, count_cost_ns FROM run"
		" JOIN node ON node.id=run.node ORDER BY run.id DESC LIMIT 1",
		all, &stmt);

	*ret = (struct run_info){ 0 };
	if (!err)
		err = each(s, stmt, run_row, ret);
	if (!err && !ret->start_ns)
		err = fail(-ENODATA, "the trace is empty");
	return err;
}
