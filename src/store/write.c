// SPDX-License-Identifier: Apache-2.0
/* Rows in: prepared once, bound in column order, batched until store_commit(). */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"

static const char *const stmt_sql[STMT_COUNT] = {
	[STMT_STRING] = "INSERT OR IGNORE INTO string VALUES(?,?)",
	[STMT_OP] = "INSERT OR IGNORE INTO op VALUES(?,?,?,?)",
	[STMT_PROCESS] = "INSERT INTO process VALUES(NULL,?,?,?,?,?,?,?,?,?,NULL)",
	[STMT_PROCESS_NAME] = "UPDATE process SET comm=?2, cmdline=?3 WHERE id=?1",
	[STMT_PROCESS_EXIT] = "UPDATE process SET exit_ns=?2 WHERE id=?1",
	[STMT_THREAD] = "INSERT INTO thread VALUES(NULL,?,?,?,?,NULL)",
	[STMT_THREAD_EXIT] = "UPDATE thread SET comm=?2, exit_ns=?3 WHERE id=?1",
	[STMT_OP_SECOND] = "INSERT INTO op_second VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_BLAME] = "INSERT INTO blame_second VALUES(?,?,?,?,?,?)",
	[STMT_CALL] = "INSERT INTO call VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_CULPRIT] = "INSERT INTO call_culprit VALUES(?,?,?,?,?)",
	[STMT_LOSS] = "INSERT INTO loss VALUES(?,?,?,?)",
	[STMT_ACCOUNT] = "INSERT INTO account VALUES(?,?,?,?,?,?,?,?,?,?)",
	[STMT_COVERAGE] = "INSERT INTO coverage VALUES(?,?,?,?,?,?,?,?,?,?)",
	[STMT_CLOCK] = "INSERT INTO clock VALUES(?,?,?)",
};

int store_stmt(struct store *s, enum stmt_id id, sqlite3_stmt **ret)
{
	int err;

	if (sqlite3_get_autocommit(s->db)) {
		err = store_exec(s, "BEGIN");
		if (err)
			return err;
	}
	if (!s->stmt[id] && sqlite3_prepare_v3(s->db, stmt_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
					       &s->stmt[id], NULL) != SQLITE_OK)
		return store_fail(s, "prepare");
	*ret = s->stmt[id];
	return 0;
}

int store_step(struct store *s, sqlite3_stmt *stmt, const char *doing)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : store_fail(s, doing);
}

int64_t store_time(const struct store *s, uint64_t boot_ns)
{
	return (int64_t)boot_ns + s->wall_minus_boot;
}

/* FNV-1a; the id of a string is its content, so that two databases agree on it. */
static int64_t content_id(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (int64_t)(hash >> 1); /* SQLite's integers are signed */
}

/* True when the id was written lately; remembers it otherwise. */
static bool written(struct store *s, int64_t id)
{
	int64_t *slot = &s->interned[(uint64_t)id % INTERN_SLOTS];

	if (*slot == id)
		return true;
	*slot = id;
	return false;
}

int store_intern(struct store *s, const char *text, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int64_t id = content_id(text);
	int err;

	*ret = id;
	if (written(s, id))
		return 0;
	err = store_stmt(s, STMT_STRING, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, id);
	sqlite3_bind_text(stmt, 2, text, -1, SQLITE_STATIC);
	return store_step(s, stmt, "insert string");
}

static int intern_op(struct store *s, const struct op *op, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int64_t id = content_id(op->symbol);
	int err;

	*ret = id;
	if (written(s, ~id)) /* its own key space in the same cache */
		return 0;
	err = store_stmt(s, STMT_OP, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, id);
	sqlite3_bind_text(stmt, 2, op->symbol, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, op->lib < LIB_COUNT ? lib_names[op->lib] : "", -1,
			  SQLITE_STATIC);
	sqlite3_bind_text(stmt, 4, class_names[op->class], -1, SQLITE_STATIC);
	return store_step(s, stmt, "insert op");
}

static void bind_states(sqlite3_stmt *stmt, int column, const uint64_t state_ns[STATE_COUNT])
{
	for (int i = 0; i < STATE_COUNT; i++)
		sqlite3_bind_int64(stmt, column + i, (sqlite3_int64)state_ns[i]);
}

/* ---- runs ---- */

static int store_node(struct store *s, const char *name, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	*ret = content_id(name);
	if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO node VALUES(?,?)", -1, &stmt, NULL))
		return store_fail(s, "insert node");
	sqlite3_bind_int64(stmt, 1, *ret);
	sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : store_fail(s, "insert node");
}

int store_run(struct store *s, const struct run_row *run)
{
	const char *const text[] = { run->boot_id, run->version, run->kernel, run->gpu,
				     run->attach_mode };
	sqlite3_stmt *stmt = NULL;
	int64_t node;
	int err, rc;

	err = store_node(s, run->node, &node);
	if (err)
		return err;
	if (sqlite3_prepare_v2(s->db, "INSERT INTO run VALUES(NULL,?,?,NULL,?,?,?,?,?,?,?,?,?,?,?)",
			       -1, &stmt, NULL))
		return store_fail(s, "insert run");
	s->wall_minus_boot = run->wall_minus_boot_ns;
	sqlite3_bind_int64(stmt, 1, node);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)run->start_ns);
	sqlite3_bind_int64(stmt, 3, run->wall_minus_boot_ns);
	for (int i = 0; i < (int)ARRAY_LEN(text); i++)
		sqlite3_bind_text(stmt, 4 + i, text[i], -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 9, run->cpus);
	sqlite3_bind_int64(stmt, 10, (sqlite3_int64)run->slow_ns);
	sqlite3_bind_int(stmt, 11, run->record_all);
	sqlite3_bind_int64(stmt, 12, (sqlite3_int64)run->count_cost_ns);
	sqlite3_bind_int64(stmt, 13, (sqlite3_int64)run->timed_cost_ns);
	rc = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (rc != SQLITE_DONE)
		return store_fail(s, "insert run");
	s->run = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_run_end(struct store *s, uint64_t end_boot_ns)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "UPDATE run SET end_ns=%lld WHERE id=%lld",
		 (long long)store_time(s, end_boot_ns), (long long)s->run);
	return store_exec(s, sql);
}

int store_clock(struct store *s, uint64_t boot_ns, uint64_t wall_ns)
{
	sqlite3_stmt *stmt = NULL;
	int err = store_stmt(s, STMT_CLOCK, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->run);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)boot_ns);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)wall_ns);
	return store_step(s, stmt, "insert clock");
}

/* ---- processes and threads ---- */

int store_process(struct store *s, const struct process_row *row, int64_t *ret)
{
	const char *const text[] = { row->comm, row->cmdline, row->exe, row->cgroup };
	int64_t id[ARRAY_LEN(text)];
	sqlite3_stmt *stmt = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_LEN(text); i++)
		err = store_intern(s, text[i], &id[i]);
	if (!err)
		err = store_stmt(s, STMT_PROCESS, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->run);
	sqlite3_bind_int64(stmt, 2, row->pid);
	sqlite3_bind_int64(stmt, 3, store_time(s, row->start_boot_ns));
	sqlite3_bind_int64(stmt, 4, row->ppid);
	for (int i = 0; i < (int)ARRAY_LEN(text); i++)
		sqlite3_bind_int64(stmt, 5 + i, id[i]);
	sqlite3_bind_text(stmt, 9, row->python, -1, SQLITE_STATIC);
	err = store_step(s, stmt, "insert process");
	if (!err)
		*ret = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_process_name(struct store *s, int64_t process, const char *comm, const char *cmdline)
{
	int64_t comm_id, cmdline_id;
	sqlite3_stmt *stmt = NULL;
	int err = store_intern(s, comm, &comm_id);

	if (!err)
		err = store_intern(s, cmdline, &cmdline_id);
	if (!err)
		err = store_stmt(s, STMT_PROCESS_NAME, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, process);
	sqlite3_bind_int64(stmt, 2, comm_id);
	sqlite3_bind_int64(stmt, 3, cmdline_id);
	return store_step(s, stmt, "rename process");
}

int store_process_exit(struct store *s, int64_t process, uint64_t boot_ns)
{
	sqlite3_stmt *stmt = NULL;
	int err = store_stmt(s, STMT_PROCESS_EXIT, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, process);
	sqlite3_bind_int64(stmt, 2, store_time(s, boot_ns));
	return store_step(s, stmt, "end process");
}

int store_thread(struct store *s, int64_t process, uint32_t tid, const char *comm,
		 uint64_t first_boot_ns, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int64_t name;
	int err = store_intern(s, comm, &name);

	if (!err)
		err = store_stmt(s, STMT_THREAD, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, process);
	sqlite3_bind_int64(stmt, 2, tid);
	sqlite3_bind_int64(stmt, 3, name);
	sqlite3_bind_int64(stmt, 4, store_time(s, first_boot_ns));
	err = store_step(s, stmt, "insert thread");
	if (!err)
		*ret = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_thread_exit(struct store *s, int64_t thread, const char *comm, uint64_t boot_ns)
{
	sqlite3_stmt *stmt = NULL;
	int64_t name;
	int err = store_intern(s, comm, &name);

	if (!err)
		err = store_stmt(s, STMT_THREAD_EXIT, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, thread);
	sqlite3_bind_int64(stmt, 2, name);
	sqlite3_bind_int64(stmt, 3, store_time(s, boot_ns));
	return store_step(s, stmt, "end thread");
}

/* ---- what happened ---- */

int store_op_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		    const struct op_delta *delta)
{
	uint8_t hist[HIST_BLOB_MAX];
	size_t hist_len = hist_pack(delta->hist, hist);
	const uint64_t numbers[] = { delta->calls, delta->done,     delta->errors,
				     delta->bytes, delta->total_ns, delta->max_ns };
	sqlite3_stmt *stmt = NULL;
	int64_t op;
	int err = intern_op(s, delta->op, &op);

	if (!err)
		err = store_stmt(s, STMT_OP_SECOND, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, thread);
	sqlite3_bind_int64(stmt, 2, op);
	sqlite3_bind_int64(stmt, 3, store_time(s, at_boot_ns));
	for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
		sqlite3_bind_int64(stmt, 4 + i, (sqlite3_int64)numbers[i]);
	bind_states(stmt, 10, delta->state_ns);
	sqlite3_bind_blob(stmt, 16, hist, (int)hist_len, SQLITE_TRANSIENT);
	return store_step(s, stmt, "insert op_second");
}

int store_blame_second(struct store *s, int64_t thread, uint64_t at_boot_ns, const struct who *who)
{
	sqlite3_stmt *stmt = NULL;
	int64_t comm;
	int err = store_intern(s, who->comm, &comm);

	if (!err)
		err = store_stmt(s, STMT_BLAME, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, thread);
	sqlite3_bind_int64(stmt, 2, store_time(s, at_boot_ns));
	sqlite3_bind_int64(stmt, 3, who->pid);
	sqlite3_bind_int64(stmt, 4, who->cpu);
	sqlite3_bind_int64(stmt, 5, comm);
	sqlite3_bind_int64(stmt, 6, (sqlite3_int64)who->ns);
	return store_step(s, stmt, "insert blame");
}

static int store_culprit(struct store *s, int64_t call, const struct who *who)
{
	sqlite3_stmt *stmt = NULL;
	int64_t comm;
	int err = store_intern(s, who->comm, &comm);

	if (!err)
		err = store_stmt(s, STMT_CULPRIT, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, call);
	sqlite3_bind_int64(stmt, 2, who->pid);
	sqlite3_bind_int64(stmt, 3, who->cpu);
	sqlite3_bind_int64(stmt, 4, comm);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)who->ns);
	return store_step(s, stmt, "insert culprit");
}

int store_call(struct store *s, int64_t thread, const struct record *rec)
{
	const uint64_t numbers[] = { (uint64_t)store_time(s, rec->start_ns),
				     rec->dur_ns,
				     rec->because,
				     rec->depth,
				     (uint64_t)(int64_t)rec->ret,
				     rec->bytes,
				     rec->stream,
				     rec->aux,
				     rec->out };
	sqlite3_stmt *stmt = NULL;
	int64_t op, next = 0, id;
	int err = intern_op(s, rec->op, &op);

	if (!err && rec->next)
		err = intern_op(s, rec->next, &next);
	if (!err)
		err = store_stmt(s, STMT_CALL, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, thread);
	sqlite3_bind_int64(stmt, 2, op);
	if (rec->next)
		sqlite3_bind_int64(stmt, 3, next);
	else
		sqlite3_bind_null(stmt, 3);
	for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
		sqlite3_bind_int64(stmt, 4 + i, (sqlite3_int64)numbers[i]);
	bind_states(stmt, 13, rec->state_ns);
	err = store_step(s, stmt, "insert call");
	id = sqlite3_last_insert_rowid(s->db);
	for (uint32_t i = 0; !err && i < rec->who_count; i++)
		err = store_culprit(s, id, &rec->who[i]);
	return err;
}

int store_loss(struct store *s, uint64_t at_boot_ns, const char *reason, uint64_t count)
{
	sqlite3_stmt *stmt = NULL;
	int err = store_stmt(s, STMT_LOSS, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->run);
	sqlite3_bind_int64(stmt, 2, store_time(s, at_boot_ns));
	sqlite3_bind_text(stmt, 3, reason, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)count);
	return store_step(s, stmt, "insert loss");
}

int store_account(struct store *s, uint64_t at_boot_ns, const struct account_row *row)
{
	const uint64_t numbers[] = { row->seen,     row->submitted, row->filtered, row->dropped,
				     row->received, row->probe_ns,  row->agent_ns, row->traced_ns };
	sqlite3_stmt *stmt = NULL;
	int err = store_stmt(s, STMT_ACCOUNT, &stmt);

	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, s->run);
	sqlite3_bind_int64(stmt, 2, store_time(s, at_boot_ns));
	for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
		sqlite3_bind_int64(stmt, 3 + i, (sqlite3_int64)numbers[i]);
	return store_step(s, stmt, "insert account");
}

int store_coverage(struct store *s, int64_t process, const struct coverage_row *row)
{
	const int numbers[] = { row->ops, row->stepped, row->refused, row->missing };
	sqlite3_stmt *stmt = NULL;
	int64_t library;
	int err = store_intern(s, row->library, &library);

	if (!err)
		err = store_stmt(s, STMT_COVERAGE, &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, process);
	sqlite3_bind_int64(stmt, 2, library);
	sqlite3_bind_text(stmt, 3, row->build_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)row->inode);
	for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
		sqlite3_bind_int(stmt, 5 + i, numbers[i]);
	sqlite3_bind_int64(stmt, 9, store_time(s, row->since_boot_ns));
	sqlite3_bind_text(stmt, 10, row->note, -1, SQLITE_STATIC);
	return store_step(s, stmt, "insert coverage");
}
