// SPDX-License-Identifier: Apache-2.0
/* One row in: statements prepared once, bound in column order, batched until store_commit(). */
#include <assert.h>
#include <math.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/util.h"
#include "store/store_int.h"

#define STATE_MARK(id, name, text) ",?"
#define COUNTER_MARK(id, text) ",?"
#define GPU_MARK(id, per, max) ",?"
#define ACCOUNT_MARKS STATES(STATE_MARK) COUNTERS(COUNTER_MARK)

static const char *const stmt_sql[STMT_COUNT] = {
	[STMT_STRING] = "INSERT OR IGNORE INTO string VALUES(?,?)",
	[STMT_OP] = "INSERT OR IGNORE INTO op VALUES(?,?,?,?)",
	[STMT_PROCESS] = "INSERT INTO process VALUES(NULL,?,?,?,?,?,?,?,?,?,?,NULL)",
	[STMT_PROCESS_NAME] = "UPDATE process SET comm=?2, cmdline=?3 WHERE id=?1",
	[STMT_PROCESS_EXIT] = "UPDATE process SET exit_ns=?2 WHERE id=?1",
	[STMT_PROCESS_PYTHON] = "UPDATE process SET python_note=?2 WHERE id=?1",
	[STMT_PROCESS_CGROUP] = "UPDATE process SET cgroup=?2 WHERE id=?1",
	/* What is known of it only grows; a name that was found stays. */
	[STMT_CONTAINER] =
		"INSERT INTO container VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?15)"
		" ON CONFLICT(id) DO UPDATE SET runtime=coalesce(nullif(?3, ''), runtime),"
		" namespace=coalesce(nullif(?5, ''), namespace), pod=coalesce(nullif(?6, ''), pod),"
		" name=coalesce(nullif(?7, ''), name), image=coalesce(nullif(?8, ''), image),"
		" label=CASE WHEN ?5 || ?7 = '' THEN label ELSE ?12 END,"
		" cgroup_id=coalesce(cgroup_id, ?14), last_ns=max(last_ns, ?15)",
	[STMT_CONTAINER_SEEN] = "UPDATE container SET last_ns=max(last_ns, ?2) WHERE id=?1",
	[STMT_PROCESS_CONTAINER] = "INSERT OR REPLACE INTO process_container VALUES(?,?,?,?)",
	[STMT_CGROUP_CONTAINER] = "INSERT OR REPLACE INTO cgroup_container VALUES(?,?)",
	[STMT_DISK_USER] = "INSERT INTO disk_user_second VALUES(?,?,?,?,?,?,?,?,?)",
	[STMT_THREAD] = "INSERT INTO thread VALUES(NULL,?,?,?,?,NULL)",
	[STMT_THREAD_EXIT] = "UPDATE thread SET comm=?2, exit_ns=?3 WHERE id=?1",
	[STMT_OP_SECOND] = "INSERT INTO op_second(thread, op, at_ns, calls, done, errors, bytes,"
			   " total_ns, max_ns" ACCOUNT_COLUMNS ", hist)"
			   " VALUES(?,?,?,?,?,?,?,?,?" ACCOUNT_MARKS ",?)",
	[STMT_NESTED_SECOND] = "INSERT INTO nested_second VALUES(?,?,?,?,?)",
	[STMT_BLAME] = "INSERT INTO blame_second VALUES(?,?,?,?,?,?)",
	[STMT_BLAMED] = "INSERT OR IGNORE INTO blamed VALUES(?,?,?,?,?)",
	[STMT_CALL] = "INSERT INTO call(thread, op, next_op, start_ns, dur_ns, because, depth, ret,"
		      " bytes, stream, aux, out, usual_ns, site, stack" ACCOUNT_COLUMNS ")"
		      " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?" ACCOUNT_MARKS ")",
	[STMT_CALL_BLOCK] = "INSERT INTO call_block VALUES(NULL,?,?,?,?,?,?)",
	[STMT_CULPRIT] = "INSERT INTO call_culprit VALUES(?,?,?,?,?)",
	[STMT_CHAIN] = "INSERT OR IGNORE INTO chain VALUES(?,?)",
	[STMT_HOP] = "INSERT OR IGNORE INTO hop VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_FRAME] = "INSERT OR IGNORE INTO frame VALUES(?,?,?,?,?)",
	[STMT_STACK] = "INSERT OR IGNORE INTO stack VALUES(?,?,?)",
	[STMT_STACK_FRAME] = "INSERT OR IGNORE INTO stack_frame VALUES(?,?,?)",
	[STMT_SAMPLE_SECOND] = "INSERT INTO sample_second VALUES(?,?,?,?,?,?,?)"
			       " ON CONFLICT(thread, at_ns, op, stack, state)"
			       " DO UPDATE SET samples=samples+excluded.samples,"
			       " ns=ns+excluded.ns",
	/* Told twice, it adds up: the account of a second stays complete. */
	[STMT_WAIT_SECOND] = "INSERT INTO wait_second VALUES(?,?,?,?,?,?,?)"
			     " ON CONFLICT(thread, at_ns, op, chain)"
			     " DO UPDATE SET ns=ns+excluded.ns, count=count+excluded.count,"
			     " max_ns=max(max_ns, excluded.max_ns)",
	[STMT_CALL_WAIT] = "INSERT INTO call_wait VALUES(?,?,?)",
	[STMT_IDLE_SECOND] = "INSERT INTO idle_second VALUES(?,?,?,?,?,?)"
			     " ON CONFLICT(thread, at_ns, chain)"
			     " DO UPDATE SET ns=ns+excluded.ns, count=count+excluded.count,"
			     " max_ns=max(max_ns, excluded.max_ns)",
	[STMT_STEP] = "INSERT INTO step VALUES(?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_STEP_SECOND] = "INSERT INTO step_second VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_COMMUNICATOR] = "INSERT INTO communicator VALUES(NULL,?,?,?,?,?,?,?,?,NULL)",
	[STMT_COMMUNICATOR_RANK] = "UPDATE communicator SET rank=?2, nranks=?3 WHERE id=?1",
	[STMT_COMMUNICATOR_GONE] = "UPDATE communicator SET gone_ns=?2 WHERE id=?1",
	[STMT_COMMUNICATOR_SECOND] = "INSERT INTO communicator_second VALUES(?,?,?,?,?,?)"
				     " ON CONFLICT(communicator, at_ns) DO UPDATE SET"
				     " collectives=collectives+excluded.collectives,"
				     " p2p=p2p+excluded.p2p, bytes=bytes+excluded.bytes,"
				     " told=told+excluded.told",
	[STMT_COLLECTIVE] = "INSERT INTO collective"
			    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_RANK_ENV] = "INSERT OR REPLACE INTO rank_env VALUES(?,?,?,?,?)",
	[STMT_HOST_EVENT] = "INSERT INTO host_event VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_SYSTEM_SECOND] = "INSERT INTO system_second(run, at_ns, busy_pct, iowait_pct,"
			       " steal_pct, load1, running, blocked, mem_total_kb,"
			       " mem_available_kb, swap_used_kb, swap_in_pages, swap_out_pages,"
			       " major_faults, psi_cpu_us, psi_memory_us, psi_io_us)"
			       " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_CORE_SECOND] = "INSERT INTO core_second VALUES(?,?,?,?,?)",
	[STMT_GPU] = "INSERT INTO gpu VALUES(NULL,?,?,?,?,?,?)",
	/* The library may answer twice in an instant; the first answer is as good. */
	[STMT_GPU_SECOND] = "INSERT OR IGNORE INTO gpu_second(gpu, at_ns" GPU_COLUMNS ")"
			    " VALUES(?,?" GPU_VALUES(GPU_MARK) ")",
	[STMT_GPU_PROCESS] =
		"INSERT INTO gpu_process VALUES(?1,?2,?3,?4,?5,?5)"
		" ON CONFLICT(gpu, pid, first_ns) DO UPDATE SET last_ns=?4,"
		" mem_used=?5, mem_max=max(coalesce(mem_max, 0), coalesce(?5, mem_max))",
	[STMT_GPU_ERROR] = "INSERT INTO gpu_error VALUES(?,?,?,?,?,?,?)",
	[STMT_INCIDENT] = "INSERT INTO incident(severity, title, culprit_pid, culprit, first_ns,"
			  " last_ns, lost_ns, run, cause, pid, comm)"
			  " VALUES(?,?,?,?,?,?,?,?,?,?,?)",
	/* The words are the latest; time and loss only grow. */
	[STMT_INCIDENT_MORE] = "UPDATE incident SET severity=?1, title=?2, culprit_pid=?3,"
			       " culprit=?4, first_ns=min(first_ns, ?5), last_ns=max(last_ns, ?6),"
			       " lost_ns=max(lost_ns, ?7) WHERE id=?8",
	[STMT_KERNEL] = "INSERT INTO kernel VALUES(NULL,?,?,?,?,?)",
	[STMT_KERNEL_NAME] = "UPDATE kernel SET name=?2, source=?3, library=?4 WHERE id=?1",
	[STMT_KERNEL_SECOND] = "INSERT INTO kernel_second VALUES(?,?,?)"
			       " ON CONFLICT(kernel, at_ns)"
			       " DO UPDATE SET launches=launches+excluded.launches",
	[STMT_MEMORY_SECOND] = "INSERT OR REPLACE INTO memory_second"
			       " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_TAG] = "INSERT OR IGNORE INTO tag VALUES(?,?,?)",
	[STMT_TAG_TARGET] = "INSERT INTO tag_target VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[STMT_CHECKPOINT] = "INSERT OR REPLACE INTO checkpoint VALUES("
			    "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			    "?,?,?,?,?,?)",
	[STMT_CHECKPOINT_EVENT] = "INSERT INTO checkpoint_event VALUES(?,?,?,?,?,?,?,?,?,?)",
	[STMT_IO_SECOND] = "INSERT INTO io_second"
			   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			   "?,?,?,?,?,?,?,?,?,?)",
	[STMT_IO_REQUEST] = "INSERT INTO io_request"
			    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			    "?,?,?,?,?,?,?,?)",
	[STMT_LOSS] = "INSERT INTO loss VALUES(?,?,?,?)",
	[STMT_ACCOUNT] = "INSERT INTO account VALUES(?,?,?,?,?,?,?,?,?,?)",
	[STMT_COST] = "INSERT INTO cost_second VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	/* Told again while it goes on. */
	[STMT_SHED] = "INSERT OR REPLACE INTO shed VALUES(?,?,?,?,?,?)",
	[STMT_COVERAGE] = "INSERT INTO coverage VALUES(?,?,?,?,?,?,?,?,?,?)",
	[STMT_CLOCK] = "INSERT INTO clock VALUES(?,?,?)",
};

struct row row_begin(struct store *s, enum stmt_id id)
{
	struct row r = { .s = s };

	if (sqlite3_get_autocommit(s->db))
		r.err = store_exec(s, "BEGIN");
	if (r.err)
		return r;
	if (!s->stmt[id] && sqlite3_prepare_v3(s->db, stmt_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
					       &s->stmt[id], NULL) != SQLITE_OK)
		r.err = store_fail(s, "prepare");
	r.stmt = s->stmt[id];
	return r;
}

int row_end(struct row *r, const char *doing)
{
	int rc;

	if (r->err)
		return r->err;
	assert(r->at == sqlite3_bind_parameter_count(r->stmt));
	rc = sqlite3_step(r->stmt);
	sqlite3_reset(r->stmt);
	return rc == SQLITE_DONE ? 0 : store_fail(r->s, doing);
}

static void bound(struct row *r, int rc)
{
	if (rc != SQLITE_OK)
		r->err = store_fail(r->s, "bind");
}

void row_i64(struct row *r, int64_t value)
{
	if (!r->err)
		bound(r, sqlite3_bind_int64(r->stmt, ++r->at, value));
}

void row_u64(struct row *r, uint64_t value)
{
	row_i64(r, store_number(value));
}

void row_bits(struct row *r, uint64_t value)
{
	row_i64(r, (int64_t)value);
}

void row_time(struct row *r, uint64_t boot_ns)
{
	row_i64(r, store_time(r->s, boot_ns));
}

void row_null(struct row *r)
{
	if (!r->err)
		bound(r, sqlite3_bind_null(r->stmt, ++r->at));
}

void row_told(struct row *r, int64_t value)
{
	if (value < 0)
		row_null(r);
	else
		row_i64(r, value);
}

void row_told_real(struct row *r, double value)
{
	if (!isfinite(value) || value < 0)
		row_null(r);
	else if (!r->err)
		bound(r, sqlite3_bind_double(r->stmt, ++r->at, value));
}

void row_text(struct row *r, const char *text)
{
	if (!r->err)
		bound(r, sqlite3_bind_text(r->stmt, ++r->at, text, -1, SQLITE_STATIC));
}

void row_states(struct row *r, const uint64_t state_ns[STATE_COUNT])
{
	for (int i = 0; i < STATE_COUNT; i++)
		row_u64(r, state_ns[i]);
}

void row_counters(struct row *r, const uint64_t counter[COUNTER_COUNT])
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		row_u64(r, counter[i]);
}

void row_hist(struct row *r, const uint32_t hist[HIST_BUCKETS])
{
	uint8_t blob[HIST_BLOB_MAX];
	size_t len = hist_pack(hist, blob);

	if (!r->err)
		bound(r, sqlite3_bind_blob(r->stmt, ++r->at, blob, (int)len, SQLITE_TRANSIENT));
}

void row_blob(struct row *r, const void *bytes, size_t len)
{
	if (!r->err)
		bound(r, sqlite3_bind_blob(r->stmt, ++r->at, bytes, (int)len, SQLITE_STATIC));
}

int64_t store_time(const struct store *s, uint64_t boot_ns)
{
	int64_t wall;

	if (__builtin_add_overflow(store_number(boot_ns), s->wall_minus_boot, &wall))
		return INT64_MAX;
	return wall < 0 ? 0 : wall;
}

/* ---- interning ---- */

/* FNV-1a */
int64_t store_text_id(const char *text)
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
	struct row r;

	*ret = store_text_id(text);
	if (written(s, *ret))
		return 0;
	r = row_begin(s, STMT_STRING);
	row_i64(&r, *ret);
	row_text(&r, text);
	return row_end(&r, "insert string");
}

static int intern_op(struct store *s, const struct op *op, int64_t *ret)
{
	struct row r;

	*ret = store_text_id(op->symbol);
	if (written(s, ~*ret)) /* its own key space in the same cache */
		return 0;
	r = row_begin(s, STMT_OP);
	row_i64(&r, *ret);
	row_text(&r, op->symbol);
	row_text(&r, op->lib < LIB_COUNT ? lib_names[op->lib] : "");
	row_text(&r, class_names[op->class]);
	return row_end(&r, "insert op");
}

bool store_knows(const struct hash *ids, int64_t id)
{
	return ids && hash_get(ids, &id);
}

void store_remember(struct hash **ids, int64_t id)
{
	if (*ids && hash_count(*ids) >= IDS_KNOWN) {
		hash_free(*ids);
		*ids = NULL;
	}
	if (!*ids)
		*ids = hash_new(sizeof(id), 0);
	hash_put(*ids, &id);
}

void row_string(struct row *r, const char *text)
{
	int64_t id = 0;

	if (!r->err)
		r->err = store_intern(r->s, text, &id);
	row_i64(r, id);
}

void row_comm(struct row *r, const char comm[COMM_LEN])
{
	char text[COMM_LEN + 1] = { 0 };

	memcpy(text, comm, COMM_LEN);
	row_string(r, text);
}

int store_op_id(struct store *s, const struct op *op, int64_t *ret)
{
	*ret = 0;
	return op ? intern_op(s, op, ret) : 0;
}

void row_op(struct row *r, const struct op *op)
{
	int64_t id = 0;

	if (!op) {
		row_null(r);
		return;
	}
	if (!r->err)
		r->err = intern_op(r->s, op, &id);
	row_i64(r, id);
}
