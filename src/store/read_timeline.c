// SPDX-License-Identifier: Apache-2.0
/* Rows out, in the order of time: who was there, single calls, steps, and what is known of a second. */
#include "store/timeline.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "store/store_int.h"

bool store_has(struct store *s, const char *name)
{
	sqlite3_stmt *stmt;
	bool has;

	if (sqlite3_prepare_v2(s->db, "SELECT 1 FROM sqlite_master WHERE name=?1", -1, &stmt,
			       NULL) != SQLITE_OK)
		return false; /* what is asked next says why */
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	has = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	return has;
}

int store_freeze(struct store *s)
{
	int err;

	if (!sqlite3_get_autocommit(s->db))
		return 0;
	err = store_exec(s, "BEGIN; SELECT count(*) FROM node"); /* it begins with what is read */
	return err ? err : 1;
}

void store_thaw(struct store *s)
{
	(void)store_exec(s, "ROLLBACK"); /* nothing was written, so there is nothing to fail */
}

static int node_clock_row(sqlite3_stmt *stmt, void *arg)
{
	struct to *to = arg;

	return ((int (*)(const char *, int64_t, void *))to->fn)(
		column_text(stmt, 0), sqlite3_column_int64(stmt, 1), to->arg);
}

int store_each_node_clock(struct store *s, int (*fn)(const char *node, int64_t shift_ns, void *),
			  void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err;

	if (!store_has(s, "node_clock"))
		return 0;
	err = store_query(
		s, "SELECT name, offset_ns FROM node_clock JOIN node ON node.id=node_clock.node",
		(struct window){ 0, 0 }, &stmt);
	return err ? err : store_rows(s, stmt, node_clock_row, &to);
}

static int process_row(sqlite3_stmt *stmt, void *arg)
{
	struct process_info row = {
		.id = sqlite3_column_int64(stmt, 0),
		.node = column_text(stmt, 1),
		.comm = column_text(stmt, 2),
		.cmdline = column_text(stmt, 3),
		.cgroup = column_text(stmt, 4),
		.pid = column_u32(stmt, 5),
		.start_ns = column_u64(stmt, 6),
	};
	struct to *to = arg;

	return ((int (*)(const struct process_info *, void *))to->fn)(&row, to->arg);
}

int store_each_process(struct store *s, struct window w,
		       int (*fn)(const struct process_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT p.id, n.name, c.text, l.text, g.text, p.pid, p.start_ns"
			      " FROM process p JOIN run r ON r.id=p.run JOIN node n ON n.id=r.node"
			      " LEFT JOIN string c ON c.id=p.comm"
			      " LEFT JOIN string l ON l.id=p.cmdline"
			      " LEFT JOIN string g ON g.id=p.cgroup"
			      " WHERE p.start_ns <= ?2 AND coalesce(p.exit_ns, ?2) >= ?1"
			      " ORDER BY p.id",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, process_row, &to);
}

/* ---- single calls ---- */

static int timed_call_row(sqlite3_stmt *stmt, void *arg)
{
	struct timed_call row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.symbol = column_text(stmt, 1),
		.class = column_text(stmt, 2),
		.next = sqlite3_column_type(stmt, 3) == SQLITE_NULL ? NULL : column_text(stmt, 3),
		.start_ns = column_u64(stmt, 4),
		.dur_ns = column_u64(stmt, 5),
		.because = column_u64(stmt, 6),
		.depth = column_u64(stmt, 7),
		.ret = sqlite3_column_int64(stmt, 8),
		.bytes = column_u64(stmt, 9),
		.stream = column_bits(stmt, 10),
		.usual_ns = column_u64(stmt, 11),
		.stack = column_bits(stmt, 12),
	};
	struct to *to = arg;

	for (int i = 0; i < STATE_COUNT; i++)
		row.state_ns[i] = column_u64(stmt, 13 + i);
	return ((int (*)(const struct timed_call *, void *))to->fn)(&row, to->arg);
}

/* Where calls are packed in blocks, these are rows of a table that only this program has. */
#define WITH_PACKED "(SELECT * FROM call UNION ALL SELECT * FROM call_packed)"

#define TIMED_CALLS(table)                                                                         \
	"SELECT thread, o.symbol, o.class, n.symbol, start_ns, dur_ns, because, depth, ret,"       \
	" bytes, stream, usual_ns, stack" STATES(                                                  \
		STATE_COLUMN) " FROM " table " c"                                                  \
			      " JOIN op o ON o.id=c.op LEFT JOIN op n ON n.id=c.next_op"           \
			      " WHERE start_ns >= ?1 AND start_ns <= ?2 ORDER BY start_ns"

int store_each_timed_call(struct store *s, struct window w,
			  int (*fn)(const struct timed_call *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s, store_has(s, "call_block") ? TIMED_CALLS(WITH_PACKED) : TIMED_CALLS("call"), w,
		&stmt);

	return err ? err : store_rows(s, stmt, timed_call_row, &to);
}

static int call_chain_row(sqlite3_stmt *stmt, void *arg)
{
	struct call_chain row = {
		.thread = sqlite3_column_int64(stmt, 0),
		.chain = sqlite3_column_int64(stmt, 1),
		.symbol = column_text(stmt, 2),
		.start_ns = column_u64(stmt, 3),
		.dur_ns = column_u64(stmt, 4),
		.ns = column_u64(stmt, 5),
	};
	struct to *to = arg;

	return ((int (*)(const struct call_chain *, void *))to->fn)(&row, to->arg);
}

int store_each_call_chain(struct store *s, struct window w,
			  int (*fn)(const struct call_chain *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT c.thread, chain, symbol, start_ns, dur_ns, ns FROM call_wait"
			      " JOIN call c ON c.id=call_wait.call JOIN op ON op.id=c.op"
			      " WHERE start_ns >= ?1 AND start_ns <= ?2"
			      " ORDER BY c.thread, start_ns, dur_ns DESC, c.id, ns DESC, chain",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, call_chain_row, &to);
}

static int single_step_row(sqlite3_stmt *stmt, void *arg)
{
	struct step step = {
		.index = column_u64(stmt, 1),
		.start_ns = column_u64(stmt, 2),
		.dur_ns = column_u64(stmt, 3),
		.host_ns = column_u64(stmt, 4),
		.data_ns = column_u64(stmt, 5),
		.copy_ns = column_u64(stmt, 6),
		.sync_ns = column_u64(stmt, 7),
		.coll_ns = column_u64(stmt, 8),
		.other_ns = column_u64(stmt, 9),
		.idle_ns = column_u64(stmt, 10),
	};
	struct to *to = arg;

	return ((int (*)(int64_t, const struct step *, void *))to->fn)(
		sqlite3_column_int64(stmt, 0), &step, to->arg);
}

int store_each_single_step(struct store *s, struct window w,
			   int (*fn)(int64_t thread, const struct step *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT thread, n, start_ns, dur_ns, host_ns, data_ns, copy_ns,"
			      " sync_ns, coll_ns, other_ns, idle_ns FROM step"
			      " WHERE start_ns >= ?1 AND start_ns <= ?2 ORDER BY thread, start_ns",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, single_step_row, &to);
}

/* ---- intervals: three tables, walked side by side ---- */

struct cursor {
	sqlite3_stmt *stmt;
	int64_t thread; /* of the row that it stands on */
	uint64_t at_ns;
	bool done;
};

static int cursor_next(struct store *s, struct cursor *c)
{
	int rc = sqlite3_step(c->stmt);

	if (rc == SQLITE_DONE)
		c->done = true;
	else if (rc != SQLITE_ROW)
		return store_fail(s, "query");
	c->thread = sqlite3_column_int64(c->stmt, 0);
	c->at_ns = column_u64(c->stmt, 1);
	return 0;
}

static int cursor_open(struct store *s, struct window w, const char *sql, struct cursor *c)
{
	int err = store_query(s, sql, w, &c->stmt);

	return err ? err : cursor_next(s, c);
}

/* Is it at, or before, this interval? */
static bool cursor_upto(const struct cursor *c, const struct interval *i)
{
	return !c->done &&
	       (c->thread < i->thread || (c->thread == i->thread && c->at_ns <= i->at_ns));
}

static bool cursor_in(const struct cursor *c, const struct interval *i)
{
	return c->thread == i->thread && c->at_ns == i->at_ns;
}

static void take_wait(sqlite3_stmt *stmt, struct interval *ret)
{
	uint64_t ns = column_u64(stmt, 3);

	if (ret->waits == INTERVAL_PARTS) {
		ret->rest_waits++;
		ret->rest_wait_ns += ns;
		return;
	}
	ret->wait[ret->waits++] = (struct interval_wait){
		.chain = sqlite3_column_int64(stmt, 2),
		.ns = ns,
		.count = column_u64(stmt, 4),
		.max_ns = column_u64(stmt, 5),
	};
}

static void take_blame(sqlite3_stmt *stmt, struct interval *ret)
{
	struct interval_blame *b;

	if (ret->blames == INTERVAL_PARTS) {
		ret->rest_blame_ns += column_u64(stmt, 3);
		return;
	}
	b = &ret->blame[ret->blames++];
	*b = (struct interval_blame){
		.pid = column_u32(stmt, 2),
		.ns = column_u64(stmt, 3),
		.cpu = column_u32(stmt, 5),
	};
	str_copy(b->comm, sizeof(b->comm), column_text(stmt, 4));
}

static int take_all(struct store *s, struct cursor *c,
		    void (*take)(sqlite3_stmt *, struct interval *), struct interval *ret)
{
	int err = 0;

	while (!err && cursor_upto(c, ret)) {
		if (cursor_in(c, ret))
			take(c->stmt, ret);
		err = cursor_next(s, c);
	}
	return err;
}

#define STATE_SUM(id, name, text) ", total(" #name "_ns)"

static int open_cursors(struct store *s, struct window w, struct cursor c[3])
{
	int err = cursor_open(
		s, w,
		"SELECT thread, at_ns" STATES(
			STATE_SUM) " FROM op_second"
				   " WHERE at_ns > ?1 AND at_ns <= ?2 GROUP BY thread, at_ns"
				   " ORDER BY thread, at_ns",
		&c[0]);

	if (!err)
		err = cursor_open(s, w,
				  "SELECT thread, at_ns, chain, total(ns) AS sum_ns, total(count),"
				  " max(max_ns) FROM wait_second WHERE at_ns > ?1 AND at_ns <= ?2"
				  " GROUP BY thread, at_ns, chain"
				  " ORDER BY thread, at_ns, sum_ns DESC, chain",
				  &c[1]);
	if (!err)
		err = cursor_open(s, w,
				  "SELECT thread, at_ns, pid, ns, text, cpu FROM blame_second"
				  " LEFT JOIN string ON string.id=comm"
				  " WHERE at_ns > ?1 AND at_ns <= ?2"
				  " ORDER BY thread, at_ns, ns DESC, pid, cpu",
				  &c[2]);
	return err;
}

int store_each_interval(struct store *s, struct window w,
			int (*fn)(const struct interval *, void *), void *arg)
{
	struct cursor c[3] = { 0 };
	int err = open_cursors(s, w, c);

	while (!err && !c[0].done) {
		struct interval i = { .thread = c[0].thread, .at_ns = c[0].at_ns };

		for (int k = 0; k < STATE_COUNT; k++)
			i.state_ns[k] = column_u64(c[0].stmt, 2 + k);
		err = take_all(s, &c[1], take_wait, &i);
		if (!err)
			err = take_all(s, &c[2], take_blame, &i);
		if (!err)
			err = fn(&i, arg);
		if (!err)
			err = cursor_next(s, &c[0]);
	}
	for (size_t k = 0; k < ARRAY_LEN(c); k++)
		sqlite3_finalize(c[k].stmt);
	return err;
}

/* ---- lines of code ---- */

struct line_text {
	char *dst;
	size_t cap;
};

static int line_row(sqlite3_stmt *stmt, void *arg)
{
	const char *file = column_text(stmt, 0), *base = strrchr(file, '/');
	struct line_text *to = arg;
	char safe[300];

	text_safe(safe, sizeof(safe), base ? base + 1 : file);
	snprintf(to->dst, to->cap, "%s:%d ", safe, sqlite3_column_int(stmt, 1));
	text_safe(safe, sizeof(safe), column_text(stmt, 2));
	(void)str_copy(to->dst + strlen(to->dst), to->cap - strlen(to->dst), safe);
	return 0;
}

int store_stack_line(struct store *s, uint64_t stack, char *dst, size_t cap)
{
	struct line_text to = { dst, cap };
	sqlite3_stmt *stmt;
	int err = store_query(s, "SELECT file, line, func FROM stack_line WHERE stack=?3",
			      (struct window){ 0, 0 }, &stmt);

	dst[0] = '\0';
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, (int64_t)stack);
	return store_rows(s, stmt, line_row, &to);
}
