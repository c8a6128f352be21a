// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a trace within its limits, a slice of its time after the other. Pages that become free are
 * used again at once, so a file that is at its limit does not grow; only one that is above it, because
 * the limit was lowered, gives pages back.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "store/store_int.h"

#define SLICE_NS 1000000000ull /* of the trace, removed at once: at first, */
#define SLICE_MAX_NS (3600 * SLICE_NS) /* ... and where all of it has to go, and there is little */
#define QUICK_NS 500000ull /* a slice that takes less may be longer */
#define NAMES_NS (60 * SLICE_NS) /* between two looks for names that nobody needs */
#define AROUND_NS 5000000000ull /* also evidence: before and after an incident */
#define RECENT_NS 2000000000ull /* never removed for its size: whoever looks needs it */
#define WINDOWS_MAX 1024
#define SWEEP_NS 3600000000000ull
#define VACUUM_PAGES 64

/* Rows from ?1 on and before ?2. */
#define BETWEEN(column) column " >= ?1 AND " column " < ?2"
#define CALLS "(SELECT id FROM call WHERE " BETWEEN("start_ns") ")"
#define THREADS "thread IN (SELECT id FROM thread) AND "
#define RUNS "run IN (SELECT id FROM run) AND "
#define GONE "(SELECT id FROM process WHERE exit_ns < ?2)"

static const char *const delete_blocks[] = {
	"DELETE FROM call_block WHERE " BETWEEN("last_ns"),
	NULL,
};

static const char *const delete_calls[] = {
	"DELETE FROM call_culprit WHERE call IN " CALLS,
	"DELETE FROM call_wait WHERE call IN " CALLS,
	"DELETE FROM call WHERE " BETWEEN("start_ns"),
	"DELETE FROM collective WHERE " BETWEEN("start_ns"),
	"DELETE FROM step WHERE " THREADS BETWEEN("start_ns"),
	NULL,
};

static const char *const delete_seconds[] = {
	"DELETE FROM nested_second WHERE (thread, op, at_ns) IN"
	" (SELECT thread, op, at_ns FROM op_second WHERE " BETWEEN("at_ns") ")",
	"DELETE FROM op_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM blame_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM wait_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM sample_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM idle_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM kernel_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM gpu_second WHERE " BETWEEN("at_ns"),
	"DELETE FROM host_event WHERE " BETWEEN("at_ns"),
	/* The last one of each goes on to be true. */
	"DELETE FROM memory_second AS m WHERE " BETWEEN(
		"at_ns") " AND EXISTS (SELECT 1 FROM"
			 " memory_second n WHERE n.process=m.process AND n.kind=m.kind AND n.device=m.device"
			 " AND n.at_ns > m.at_ns)",
	"DELETE FROM step_second WHERE " THREADS BETWEEN("at_ns"),
	"DELETE FROM communicator_second WHERE communicator IN"
	" (SELECT id FROM communicator) AND " BETWEEN("at_ns"),
	"DELETE FROM core_second WHERE " RUNS BETWEEN("at_ns"),
	"DELETE FROM system_second WHERE " RUNS BETWEEN("at_ns"),
	"DELETE FROM cost_second WHERE " RUNS BETWEEN("at_ns"),
	"DELETE FROM account WHERE " BETWEEN("at_ns"),
	"DELETE FROM loss WHERE " BETWEEN("at_ns"),
	NULL,
};

/* Whoever was gone before ?2: nothing of theirs is left. */
static const char *const delete_names[] = {
	"DELETE FROM thread WHERE exit_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM coverage WHERE process IN " GONE " AND ?1 <= ?2",
	"DELETE FROM rank_env WHERE process IN " GONE " AND ?1 <= ?2",
	"DELETE FROM kernel WHERE process IN " GONE " AND ?1 <= ?2",
	"DELETE FROM communicator WHERE process IN " GONE " AND ?1 <= ?2",
	"DELETE FROM memory_second WHERE process IN " GONE " AND ?1 <= ?2",
	"DELETE FROM process WHERE exit_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM incident WHERE last_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM gpu_error WHERE at_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM gpu_process WHERE last_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM shed WHERE to_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM clock WHERE wall_ns < ?2 AND ?1 <= ?2",
	"DELETE FROM blamed WHERE run IN (SELECT id FROM run WHERE end_ns < ?2) AND ?1 <= ?2",
	NULL,
};

/* The first time from ?1 on at which there is something. */
#define FIRST(table, column) "SELECT min(" column ") AS t FROM " table " WHERE " column " >= ?1"
#define FIRST_BLOCK FIRST("call_block", "last_ns")
#define FIRST_CALL FIRST("call", "start_ns") " UNION ALL " FIRST("collective", "start_ns")
#define FIRST_SECOND FIRST("op_second", "at_ns") " UNION ALL " FIRST("account", "at_ns")
#define EARLIEST(of) "SELECT min(t) FROM (" of ")"

#define LISTS 4

enum pass_id {
	PASS_AGE,
	PASS_BLOCKS,
	PASS_CALLS,
	PASS_INCIDENT_BLOCKS,
	PASS_INCIDENT_CALLS,
	PASS_SECONDS,
	PASS_INCIDENT_SECONDS,
	PASS_COUNT
};

static const struct pass {
	const char *name; /* in pruned.what */
	const char *first;
	const char *const *lists[LISTS];
	bool spares; /* the time of incidents */
	bool all; /* that is old enough, however much it is */
} passes[PASS_COUNT] = {
	[PASS_AGE] = { "age",
		       EARLIEST(FIRST_BLOCK " UNION ALL " FIRST_CALL " UNION ALL " FIRST_SECOND),
		       { delete_blocks, delete_calls, delete_seconds, delete_names },
		       false,
		       true },
	[PASS_BLOCKS] = { "blocks", EARLIEST(FIRST_BLOCK), { delete_blocks }, true, false },
	[PASS_CALLS] = { "calls", EARLIEST(FIRST_CALL), { delete_calls }, true, false },
	[PASS_INCIDENT_BLOCKS] = { "incident_blocks",
				   EARLIEST(FIRST_BLOCK),
				   { delete_blocks },
				   false,
				   false },
	[PASS_INCIDENT_CALLS] = { "incident_calls",
				  EARLIEST(FIRST_CALL),
				  { delete_calls },
				  false,
				  false },
	[PASS_SECONDS] = { "seconds", EARLIEST(FIRST_SECOND), { delete_seconds }, true, false },
	[PASS_INCIDENT_SECONDS] = { "incident_seconds",
				    EARLIEST(FIRST_SECOND),
				    { delete_seconds, delete_names },
				    false,
				    false },
};

struct pruning {
	uint64_t removed;
	uint64_t swept, swept_ns; /* removed until chains were last looked for, and when that was */
	uint64_t slice_ns;
	uint64_t names_ns; /* when names were last looked for, in the trace's time */
	enum pass_id pass; /* of those for size, while it is too large */
	uint64_t cursor; /* where that pass is; 0: at its beginning */
	bool too_large;
	struct window window[WINDOWS_MAX]; /* of incidents, in order of time */
	int windows;
};

void store_prune_free(struct store *s)
{
	free(s->pruning);
	s->pruning = NULL;
}

/* ---- how large it is ---- */

int store_size(struct store *s, struct store_size *ret)
{
	int64_t page = 0, pages = 0, free_pages = 0;
	int err = store_ask(s, "PRAGMA page_size", &page);

	if (!err)
		err = store_ask(s, "PRAGMA page_count", &pages);
	if (!err)
		err = store_ask(s, "PRAGMA freelist_count", &free_pages);
	*ret = (struct store_size){
		.removed = s->pruning ? s->pruning->removed : 0,
		.bytes = (uint64_t)(pages * page),
		.used = (uint64_t)((pages - free_pages) * page),
	};
	return err;
}

static int until_row(sqlite3_stmt *stmt, void *arg)
{
	struct pruned_until *ret = arg;

	ret->calls_ns = column_u64(stmt, 0);
	ret->seconds_ns = column_u64(stmt, 1);
	return 0;
}

/* Noted by the run that removed it, of whatever run it was: so of all of them. */
int store_pruned_until(struct store *s, struct pruned_until *ret)
{
	sqlite3_stmt *stmt;
	int64_t there;
	int err =
		store_ask(s, "SELECT count(*) FROM main.sqlite_master WHERE name='pruned'", &there);

	*ret = (struct pruned_until){ 0, 0 };
	if (err || !there) /* a file of before that */
		return err;
	err = store_query(s,
			  "SELECT max(until_ns), max(CASE WHEN what IN ('age', 'seconds',"
			  " 'incident_seconds') THEN until_ns END) FROM main.pruned",
			  (struct window){ 0, 0 }, &stmt);
	return err ? err : store_rows(s, stmt, until_row, ret);
}

/* ---- incidents ---- */

static int add_window(sqlite3_stmt *stmt, void *arg)
{
	struct pruning *p = arg;
	uint64_t from = column_u64(stmt, 0), to = column_u64(stmt, 1) + AROUND_NS;
	struct window *last = p->windows ? &p->window[p->windows - 1] : NULL;

	from -= min_u64(from, AROUND_NS);
	/* No room: better one that is too long than evidence that is lost. */
	if (last && (from <= last->to_ns || p->windows == WINDOWS_MAX))
		last->to_ns = max_u64(last->to_ns, to);
	else
		p->window[p->windows++] = (struct window){ from, to };
	return 0;
}

static int read_windows(struct store *s)
{
	sqlite3_stmt *stmt;
	int err = store_query(s, "SELECT first_ns, last_ns FROM incident ORDER BY first_ns",
			      (struct window){ 0, 0 }, &stmt);

	s->pruning->windows = 0;
	return err ? err : store_rows(s, stmt, add_window, s->pruning);
}

/* The next slice from `at` on: it ends where incidents begin. False: it is their time, until w->to_ns. */
static bool may_remove(const struct pruning *p, uint64_t at, struct window *w)
{
	*w = (struct window){ at, at + p->slice_ns };
	for (int i = 0; i < p->windows; i++) {
		if (p->window[i].to_ns <= at)
			continue;
		if (p->window[i].from_ns > at) {
			w->to_ns = min_u64(w->to_ns, p->window[i].from_ns);
			return true;
		}
		w->to_ns = p->window[i].to_ns;
		return false;
	}
	return true;
}

/* ---- removing ---- */

static int delete_rows(struct store *s, const char *sql, struct window w)
{
	sqlite3_stmt *stmt;
	int err = store_query(s, sql, w, &stmt);

	if (err)
		return err;
	if (sqlite3_step(stmt) != SQLITE_DONE)
		err = store_fail(s, "prune");
	else
		s->pruning->removed += (uint64_t)sqlite3_changes(s->db);
	sqlite3_finalize(stmt);
	return err;
}

static int note(struct store *s, const struct pass *pass, uint64_t until, uint64_t rows)
{
	sqlite3_stmt *stmt;
	int err;

	if (!rows || !s->run)
		return 0;
	err = store_query(s,
			  "INSERT INTO pruned VALUES(?3,?4,?1,?2) ON CONFLICT(run, what) DO UPDATE"
			  " SET until_ns=max(until_ns, excluded.until_ns), rows=rows+excluded.rows",
			  (struct window){ until, rows }, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 3, s->run);
	sqlite3_bind_text(stmt, 4, pass->name, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		err = store_fail(s, "prune");
	sqlite3_finalize(stmt);
	return err;
}

static bool is_due(struct pruning *p, const char *const *list, uint64_t until)
{
	if (list != delete_names)
		return true;
	if (until < p->names_ns + NAMES_NS)
		return false;
	p->names_ns = until;
	return true;
}

static int delete_slice(struct store *s, const struct pass *pass, struct window w)
{
	uint64_t before = s->pruning->removed;
	int err = 0;

	if (sqlite3_get_autocommit(s->db))
		err = store_exec(s, "BEGIN");
	for (int i = 0; i < LISTS && pass->lists[i]; i++) {
		if (!is_due(s->pruning, pass->lists[i], w.to_ns))
			continue;
		for (int k = 0; !err && pass->lists[i][k]; k++)
			err = delete_rows(s, pass->lists[i][k], w);
	}
	return err ? err : note(s, pass, w.to_ns, s->pruning->removed - before);
}

/* As much at once as is quick; but where there is only too much, no more than is needed. */
static int delete_timed(struct store *s, const struct pass *pass, struct window w)
{
	struct pruning *p = s->pruning;
	uint64_t begin = clock_boot_ns(), took;
	int err = delete_slice(s, pass, w);

	took = clock_boot_ns() - begin;
	if (took < QUICK_NS)
		p->slice_ns = min_u64(2 * p->slice_ns, pass->all ? SLICE_MAX_NS : SLICE_NS);
	else if (took > 4 * QUICK_NS)
		p->slice_ns = max_u64(p->slice_ns / 2, SLICE_NS / 16);
	return err;
}

static int first_row(sqlite3_stmt *stmt, void *arg)
{
	if (sqlite3_column_type(stmt, 0) == SQLITE_INTEGER)
		*(uint64_t *)arg = column_u64(stmt, 0);
	return 0;
}

/*
 * Remove the oldest slice of a pass, from *cursor on and before `until`. *cursor becomes where the next
 * one begins; UINT64_MAX: there is none.
 */
static int prune_slice(struct store *s, const struct pass *pass, uint64_t until, uint64_t *cursor)
{
	uint64_t at = UINT64_MAX;
	sqlite3_stmt *stmt;
	struct window w;
	bool may = true;
	int err = store_query(s, pass->first, (struct window){ *cursor, 0 }, &stmt);

	if (!err)
		err = store_rows(s, stmt, first_row, &at);
	if (err)
		return err;
	if (at >= until) {
		*cursor = UINT64_MAX;
		return 0;
	}
	if (pass->spares)
		may = may_remove(s->pruning, at, &w);
	else /* from where it was: some tables have rows where those that were asked have none */
		w = (struct window){ *cursor, at + s->pruning->slice_ns };
	w.to_ns = may ? min_u64(w.to_ns, until) : w.to_ns;
	*cursor = w.to_ns;
	return may ? delete_timed(s, pass, w) : 0;
}

/* ---- limits ---- */

/* 1: there may be more. */
static int prune_age(struct store *s, uint64_t max_age_ns, uint64_t now_ns, uint64_t end)
{
	uint64_t cursor = 0, until = now_ns - min_u64(now_ns, max_age_ns);
	int err;

	do
		err = prune_slice(s, &passes[PASS_AGE], until, &cursor);
	while (!err && cursor != UINT64_MAX && clock_boot_ns() < end);
	return err ? err : cursor != UINT64_MAX;
}

/* From one twentieth below the limit to one tenth: not at every second anew. */
static int is_too_large(struct store *s, uint64_t max_bytes, bool *ret)
{
	struct store_size size;
	int err = store_size(s, &size);

	*ret = !err && size.used > max_bytes - max_bytes / (s->pruning->too_large ? 10 : 20);
	return err;
}

/* 1: there is more to give back. A file of an older version keeps its pages, and uses them again. */
static int shrink(struct store *s, uint64_t max_bytes, uint64_t end)
{
	struct store_size size;
	uint64_t was = UINT64_MAX;
	char sql[64];
	int err = store_size(s, &size);

	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
	while (!err && size.bytes > max_bytes && size.bytes > size.used && size.bytes < was) {
		if (clock_boot_ns() >= end)
			return 1;
		was = size.bytes;
		err = store_exec(s, sql);
		if (!err)
			err = store_size(s, &size);
	}
	return err;
}

static int prune_size(struct store *s, uint64_t max_bytes, uint64_t now_ns, uint64_t end)
{
	uint64_t until = now_ns - min_u64(now_ns, RECENT_NS);
	struct pruning *p = s->pruning;
	bool too_large;
	int err = is_too_large(s, max_bytes, &too_large);

	if (!err && too_large && !p->too_large) {
		p->pass = PASS_BLOCKS;
		p->cursor = 0;
		p->slice_ns = min_u64(p->slice_ns, SLICE_NS);
		err = read_windows(s);
	}
	p->too_large = too_large;
	for (bool first = true;
	     !err && p->too_large && p->pass < PASS_COUNT && (first || clock_boot_ns() < end);
	     first = false) {
		err = prune_slice(s, &passes[p->pass], until, &p->cursor);
		if (p->cursor == UINT64_MAX) {
			p->pass++;
			p->cursor = 0;
		}
		if (!err)
			err = is_too_large(s, max_bytes, &p->too_large);
	}
	if (p->pass == PASS_COUNT)
		p->too_large = false; /* what is left is too young: look again when it is older */
	if (err || p->too_large)
		return err ? err : 1;
	return shrink(s, max_bytes, end);
}

/* Chains go with the seconds that needed them, an hour later. */
static int sweep_if_due(struct store *s, uint64_t now_ns, uint64_t end)
{
	struct pruning *p = s->pruning;

	if (!s->sweep && (p->removed == p->swept || now_ns < p->swept_ns + SWEEP_NS))
		return 0;
	p->swept = p->removed;
	p->swept_ns = now_ns;
	return store_sweep(s, end);
}

int store_prune(struct store *s, const struct retention *keep, uint64_t now_boot_ns,
		uint64_t spend_ns)
{
	uint64_t end = clock_boot_ns() + spend_ns;
	int more = 0;

	uint64_t now_ns = (uint64_t)store_time(s, now_boot_ns);

	if (!s->pruning) {
		s->pruning = xcalloc(1, sizeof(*s->pruning));
		s->pruning->slice_ns = SLICE_NS;
	}
	if (keep->max_age_ns)
		more = prune_age(s, keep->max_age_ns, now_ns, end);
	if (!more && keep->max_bytes)
		more = prune_size(s, keep->max_bytes, now_ns, end);
	return more ? more : sweep_if_due(s, now_ns, end);
}
