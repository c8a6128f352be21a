// SPDX-License-Identifier: Apache-2.0
/* Rows out: complete counts, single calls, steps. */
#include "store/store_int.h"

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
		.nested = column_u64(stmt, 10),
		.nested_bytes = column_u64(stmt, 11),
	};
	struct to *to = arg;
	int err = column_hist(stmt, 12 + STATE_COUNT + COUNTER_COUNT, row.hist);

	if (err)
		return err;
	column_account(stmt, 12, row.state_ns, row.counter);
	return ((int (*)(const struct op_second_row *, void *))to->fn)(&row, to->arg);
}

int store_each_op_second(struct store *s, struct window w,
			 int (*fn)(const struct op_second_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT o.thread, symbol, class, o.at_ns, o.calls, done, errors, o.bytes, total_ns,"
		" max_ns, n.calls, n.bytes" ACCOUNT_COLUMNS ", hist FROM op_second o"
		" JOIN op ON op.id=o.op LEFT JOIN nested_second n"
		" ON n.thread=o.thread AND n.op=o.op AND n.at_ns=o.at_ns"
		" WHERE o.at_ns > ?1 AND o.at_ns <= ?2 ORDER BY o.thread, o.at_ns",
		w, &stmt);

	return err ? err : store_rows(s, stmt, op_second_row, &to);
}

static int blame_row(sqlite3_stmt *stmt, void *arg)
{
	struct blame_row row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.at_ns = column_u64(stmt, 1),
		.pid = column_u32(stmt, 2),
		.cpu = column_u32(stmt, 3),
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
	int err = store_query(s,
			      "SELECT thread, at_ns, pid, cpu, text, ns FROM blame_second"
			      " JOIN string ON string.id=comm WHERE at_ns > ?1 AND at_ns <= ?2"
			      " ORDER BY thread, at_ns",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, blame_row, &to);
}

static int blamed_row(sqlite3_stmt *stmt, void *arg)
{
	struct blamed_row row = {
		.at_ns = column_u64(stmt, 0),
		.pid = column_u32(stmt, 1),
		.comm = column_text(stmt, 2),
		.cgroup = column_text(stmt, 3),
	};
	struct to *to = arg;

	return ((int (*)(const struct blamed_row *, void *))to->fn)(&row, to->arg);
}

/* Of those who had a CPU or are on a chain in that time: on a busy host a trace knows very many others. */
int store_each_blamed(struct store *s, struct window w,
		      int (*fn)(const struct blamed_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"WITH linked(chain) AS ("
		"SELECT chain FROM wait_second WHERE at_ns > ?1 AND at_ns <= ?2"
		" UNION SELECT chain FROM idle_second WHERE at_ns > ?1 AND at_ns <= ?2"
		"), met(pid) AS ("
		"SELECT pid FROM blame_second WHERE at_ns > ?1 AND at_ns <= ?2"
		" UNION SELECT pid FROM hop WHERE chain IN (SELECT chain FROM linked)"
		" UNION SELECT cpu_pid FROM hop WHERE chain IN (SELECT chain FROM linked))"
		" SELECT at_ns, pid, c.text, g.text FROM blamed"
		" LEFT JOIN string c ON c.id=comm LEFT JOIN string g ON g.id=cgroup"
		" WHERE run IN (SELECT id FROM run) AND pid IN (SELECT pid FROM met)"
		" AND at_ns <= ?2 ORDER BY pid, at_ns",
		w, &stmt);

	return err ? err : store_rows(s, stmt, blamed_row, &to);
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
		.usual_ns = column_u64(stmt, 7),
		.stack = column_bits(stmt, 8),
	};
	struct to *to = arg;

	column_account(stmt, 9, row.state_ns, row.counter);
	return ((int (*)(const struct call_row *, void *))to->fn)(&row, to->arg);
}

/* Outermost calls and gaps that were sent for one of these reasons, longest first. */
static int each_call(struct store *s, struct window w, int because, int limit, struct to *to)
{
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT c.id, thread, o.symbol, n.symbol, start_ns, dur_ns, because, usual_ns,"
		" c.stack" ACCOUNT_COLUMNS " FROM call c"
		" JOIN op o ON o.id=c.op LEFT JOIN op n ON n.id=c.next_op"
		" WHERE start_ns >= ?1 AND start_ns <= ?2 AND because & ?4 AND depth=0"
		" ORDER BY dur_ns DESC, c.id LIMIT ?3",
		w, &stmt);

	if (err)
		return err;
	sqlite3_bind_int(stmt, 3, limit);
	sqlite3_bind_int(stmt, 4, because);
	return store_rows(s, stmt, call_row, to);
}

int store_each_slow(struct store *s, struct window w, int limit,
		    int (*fn)(const struct call_row *, void *), void *arg)
{
	return each_call(s, w, BECAUSE_SLOW, limit, &(struct to){ (void *)fn, arg });
}

int store_each_open(struct store *s, struct window w, int limit,
		    int (*fn)(const struct call_row *, void *), void *arg)
{
	return each_call(s, w, BECAUSE_OPEN, limit, &(struct to){ (void *)fn, arg });
}

static int step_second_row(sqlite3_stmt *stmt, void *arg)
{
	struct step_info row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.at_ns = column_u64(stmt, 1),
		.sum = {
			.steps = column_u64(stmt, 2),
			.max_ns = column_u64(stmt, 3),
			.sum = {
				.dur_ns = column_u64(stmt, 4),
				.host_ns = column_u64(stmt, 5),
				.data_ns = column_u64(stmt, 6),
				.copy_ns = column_u64(stmt, 7),
				.sync_ns = column_u64(stmt, 8),
				.coll_ns = column_u64(stmt, 9),
				.other_ns = column_u64(stmt, 10),
				.idle_ns = column_u64(stmt, 11),
			},
		},
	};
	struct to *to = arg;
	int err = column_hist(stmt, 12, row.sum.hist);

	return err ? err : ((int (*)(const struct step_info *, void *))to->fn)(&row, to->arg);
}

int store_each_step_second(struct store *s, struct window w,
			   int (*fn)(const struct step_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT thread, at_ns, steps, max_ns, dur_ns, host_ns, data_ns, copy_ns,"
		" sync_ns, coll_ns, other_ns, idle_ns, hist FROM step_second"
		" WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY thread, at_ns",
		w, &stmt);

	return err ? err : store_rows(s, stmt, step_second_row, &to);
}
