// SPDX-License-Identifier: Apache-2.0
/* Rows in: runs, processes, threads, and what the agent says of itself. */
#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"

/* ---- runs; written at once, so that a reader knows whose the file is ---- */

static int store_node(struct store *s, const char *name, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	*ret = store_text_id(name);
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
	sqlite3_bind_int64(stmt, 2, store_number(run->start_ns));
	sqlite3_bind_int64(stmt, 3, run->wall_minus_boot_ns);
	for (int i = 0; i < (int)ARRAY_LEN(text); i++)
		sqlite3_bind_text(stmt, 4 + i, text[i], -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 9, run->cpus);
	sqlite3_bind_int64(stmt, 10, store_number(run->slow_ns));
	sqlite3_bind_int(stmt, 11, run->record_all);
	sqlite3_bind_int64(stmt, 12, store_number(run->count_cost_ns));
	sqlite3_bind_int64(stmt, 13, store_number(run->timed_cost_ns));
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
	struct row r = row_begin(s, STMT_CLOCK);

	row_i64(&r, s->run);
	row_u64(&r, boot_ns);
	row_u64(&r, wall_ns);
	return row_end(&r, "insert clock");
}

/* ---- processes and threads ---- */

static int end_with_id(struct row *r, const char *doing, int64_t *ret)
{
	int err = row_end(r, doing);

	if (!err)
		*ret = sqlite3_last_insert_rowid(r->s->db);
	return err;
}

int store_process(struct store *s, const struct process_row *row, int64_t *ret)
{
	struct row r = row_begin(s, STMT_PROCESS);

	row_i64(&r, s->run);
	row_i64(&r, row->pid);
	row_time(&r, row->start_boot_ns);
	row_i64(&r, row->ppid);
	row_string(&r, row->comm);
	row_string(&r, row->cmdline);
	row_string(&r, row->exe);
	row_string(&r, row->cgroup);
	row_text(&r, row->python);
	row_text(&r, row->python_note ? row->python_note : "");
	return end_with_id(&r, "insert process", ret);
}

int store_process_name(struct store *s, int64_t process, const char *comm, const char *cmdline)
{
	struct row r = row_begin(s, STMT_PROCESS_NAME);

	row_i64(&r, process);
	row_string(&r, comm);
	row_string(&r, cmdline);
	return row_end(&r, "rename process");
}

int store_process_python(struct store *s, int64_t process, const char *note)
{
	struct row r = row_begin(s, STMT_PROCESS_PYTHON);

	row_i64(&r, process);
	row_text(&r, note);
	return row_end(&r, "note about the interpreter");
}

int store_process_exit(struct store *s, int64_t process, uint64_t boot_ns)
{
	struct row r = row_begin(s, STMT_PROCESS_EXIT);

	row_i64(&r, process);
	row_time(&r, boot_ns);
	return row_end(&r, "end process");
}

int store_thread(struct store *s, int64_t process, uint32_t tid, const char *comm,
		 uint64_t first_boot_ns, int64_t *ret)
{
	struct row r = row_begin(s, STMT_THREAD);

	row_i64(&r, process);
	row_i64(&r, tid);
	row_string(&r, comm);
	row_time(&r, first_boot_ns);
	return end_with_id(&r, "insert thread", ret);
}

int store_thread_exit(struct store *s, int64_t thread, const char *comm, uint64_t boot_ns)
{
	struct row r = row_begin(s, STMT_THREAD_EXIT);

	row_i64(&r, thread);
	row_string(&r, comm);
	row_time(&r, boot_ns);
	return row_end(&r, "end thread");
}

/* ---- the agent ---- */

int store_loss(struct store *s, uint64_t at_boot_ns, const char *reason, uint64_t count)
{
	struct row r = row_begin(s, STMT_LOSS);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_text(&r, reason);
	row_u64(&r, count);
	return row_end(&r, "insert loss");
}

int store_account(struct store *s, uint64_t at_boot_ns, const struct account_row *row)
{
	struct row r = row_begin(s, STMT_ACCOUNT);

	row_i64(&r, s->run);
	row_time(&r, at_boot_ns);
	row_u64(&r, row->seen);
	row_u64(&r, row->submitted);
	row_u64(&r, row->filtered);
	row_u64(&r, row->dropped);
	row_u64(&r, row->received);
	row_u64(&r, row->probe_ns);
	row_u64(&r, row->agent_ns);
	row_u64(&r, row->traced_ns);
	return row_end(&r, "insert account");
}

int store_coverage(struct store *s, int64_t process, const struct coverage_row *row)
{
	struct row r = row_begin(s, STMT_COVERAGE);

	row_i64(&r, process);
	row_string(&r, row->library);
	row_text(&r, row->build_id);
	row_u64(&r, row->inode);
	row_i64(&r, row->ops);
	row_i64(&r, row->stepped);
	row_i64(&r, row->refused);
	row_i64(&r, row->missing);
	row_time(&r, row->since_boot_ns);
	row_text(&r, row->note);
	return row_end(&r, "insert coverage");
}
