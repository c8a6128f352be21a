/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of store/ and nobody else. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include <sqlite3.h>
#include <time.h>

#include "store/pack.h"
#include "store/raw.h"
#include "store/store.h"

/* Every statement that is run more than once, prepared on first use. */
enum stmt_id {
	STMT_STRING,
	STMT_OP,
	STMT_PROCESS,
	STMT_PROCESS_NAME,
	STMT_PROCESS_EXIT,
	STMT_PROCESS_PYTHON,
	STMT_PROCESS_CGROUP,
	STMT_CONTAINER,
	STMT_CONTAINER_SEEN,
	STMT_PROCESS_CONTAINER,
	STMT_CGROUP_CONTAINER,
	STMT_DISK_USER,
	STMT_THREAD,
	STMT_THREAD_EXIT,
	STMT_OP_SECOND,
	STMT_NESTED_SECOND,
	STMT_BLAME,
	STMT_BLAMED,
	STMT_CALL,
	STMT_CALL_BLOCK,
	STMT_CULPRIT,
	STMT_FRAME,
	STMT_STACK,
	STMT_STACK_FRAME,
	STMT_SAMPLE_SECOND,
	STMT_CHAIN,
	STMT_HOP,
	STMT_WAIT_SECOND,
	STMT_CALL_WAIT,
	STMT_IDLE_SECOND,
	STMT_STEP,
	STMT_STEP_SECOND,
	STMT_COMMUNICATOR,
	STMT_COMMUNICATOR_RANK,
	STMT_COMMUNICATOR_GONE,
	STMT_COMMUNICATOR_SECOND,
	STMT_COLLECTIVE,
	STMT_RANK_ENV,
	STMT_HOST_EVENT,
	STMT_SYSTEM_SECOND,
	STMT_CORE_SECOND,
	STMT_GPU,
	STMT_GPU_SECOND,
	STMT_GPU_PROCESS,
	STMT_GPU_ERROR,
	STMT_INCIDENT,
	STMT_INCIDENT_MORE,
	STMT_KERNEL,
	STMT_KERNEL_NAME,
	STMT_KERNEL_SECOND,
	STMT_MEMORY_SECOND,
	STMT_TAG,
	STMT_TAG_TARGET,
	STMT_CHECKPOINT,
	STMT_CHECKPOINT_EVENT,
	STMT_IO_SECOND,
	STMT_IO_REQUEST,
	STMT_LOSS,
	STMT_ACCOUNT,
	STMT_COST,
	STMT_SHED,
	STMT_COVERAGE,
	STMT_CLOCK,
	STMT_COUNT,
};

#define INTERN_SLOTS 4096
#define IDS_KNOWN 65536

struct store {
	sqlite3 *db;
	sqlite3_stmt *stmt[STMT_COUNT];
	int64_t run;
	int64_t wall_minus_boot;
	int64_t node; /* that is in sight; 0: all. See store/scope.h */
	int64_t interned[INTERN_SLOTS]; /* ids written lately: spares most INSERT OR IGNOREs */
	struct hash *chains, *stacks; /* ids written, at most IDS_KNOWN; NULL: none */
	struct packing *packing; /* blocks that are not full; NULL: none */
	struct pruning *pruning; /* NULL: nothing was removed yet */
	struct sweep *sweep; /* NULL: nobody looks for chains that nobody needs */
	char *path; /* of what is written; NULL: in memory, or only read */
};

/* ---- files of older versions; see migrate.c ---- */

/* Make it a file of this version. */
int store_migrate(struct store *s, int version);
/* Let it be read as if it were one. */
int store_overlay(struct store *s);

void store_prune_free(struct store *s);

/* Remove chains that nothing refers to, until then. 1: there is more to do. */
int store_sweep(struct store *s, uint64_t end_boot_ns);
/* This one is referred to. */
void store_sweep_spare(struct store *s, int64_t chain);
void store_sweep_free(struct store *s); /* or give it up */

/* Close the file, not the store; and open what has its name now. */
void store_shut(struct store *s);
int store_reopen(struct store *s);

/* What a file of that time is called, the nth. */
void store_dated_name(const char *path, time_t at, int n, char *dst, size_t cap);

/* The first column of the first row, a number. */
int store_ask(struct store *s, const char *sql, int64_t *ret);

/* ---- calls in blocks ---- */

/* Is this one of those that are packed? They get no row of their own. */
bool store_packs(const struct record *rec);
int store_pack(struct store *s, int64_t thread, const struct record *rec);

/* Write the blocks as they are; store_commit() does. Or forget them, as store_rollback() does. */
int store_pack_flush(struct store *s);
void store_pack_forget(struct store *s);

/* The table call_packed on a connection; see packed_table.c. */
int packed_table_register(sqlite3 *db);

int store_fail(struct store *s, const char *doing);
int store_exec(struct store *s, const char *sql);

/* What was written lately may be undone: write it again when it comes again. */
void store_forget(struct store *s);

/* The id of a string; writes it on first sight. */
int store_intern(struct store *s, const char *text, int64_t *ret);

/* The same of an op; NULL is 0. */
int store_op_id(struct store *s, const struct op *op, int64_t *ret);

/* Ids that were written: what is forgotten costs a statement that changes nothing. */
bool store_knows(const struct hash *ids, int64_t id);
void store_remember(struct hash **ids, int64_t id);

/* Boot time as stored. */
int64_t store_time(const struct store *s, uint64_t boot_ns);

/* SQLite's integers are signed: a quantity that does not fit is the largest that does. */
static inline int64_t store_number(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* ---- columns by state and counter, for SQL: ", run_ns, gc_ns" and so on ---- */

#define COLUMN_minor "minor_faults"
#define COLUMN_major "major_faults"
#define COLUMN_kernel_ns "kernel_ns"

#define STATE_COLUMN(id, name, text) ", " #name "_ns"
#define COUNTER_COLUMN(id, text) ", " COLUMN_##id
#define ACCOUNT_COLUMNS STATES(STATE_COLUMN) COUNTERS(COUNTER_COLUMN)

#define GPU_COLUMN(id, per, max) ", " #id
#define GPU_COLUMNS GPU_VALUES(GPU_COLUMN)

/* ---- writing one row: its values in the order of the statement's parameters ---- */

struct row {
	struct store *s;
	sqlite3_stmt *stmt;
	int at; /* bound so far */
	int err; /* the first; nothing happens after it */
};

/* Begins a transaction too, if none is open. */
struct row row_begin(struct store *s, enum stmt_id id);

void row_i64(struct row *r, int64_t value);
void row_u64(struct row *r, uint64_t value); /* a quantity: see store_number() */
void row_bits(struct row *r, uint64_t value); /* an address or the like: all of its bits */
void row_time(struct row *r, uint64_t boot_ns);
void row_text(struct row *r, const char *text); /* borrowed until row_end() */
void row_string(struct row *r, const char *text); /* interned */
void row_comm(struct row *r, const char comm[COMM_LEN]); /* interned; may lack its NUL */
void row_op(struct row *r, const struct op *op); /* interned; NULL is NULL */
void row_states(struct row *r, const uint64_t state_ns[STATE_COUNT]);
void row_null(struct row *r);
void row_counters(struct row *r, const uint64_t counter[COUNTER_COUNT]);
void row_hist(struct row *r, const uint32_t hist[HIST_BUCKETS]);
void row_blob(struct row *r, const void *bytes, size_t len); /* borrowed until row_end() */

/* What a host may not tell: negative, and what is no number, are NULL. */
void row_told(struct row *r, int64_t value);
void row_told_real(struct row *r, double value);

/* Run it. `doing` begins the sentence that says why it failed. */
int row_end(struct row *r, const char *doing);

/* ---- reading ---- */

/* Prepare sql and bind the window to ?1 and ?2, where it has these. */
int store_query(struct store *s, const char *sql, struct window w, sqlite3_stmt **ret);

/* Call row for each row; it returns non-zero to stop. Finalizes stmt. */
int store_rows(struct store *s, sqlite3_stmt *stmt, int (*row)(sqlite3_stmt *, void *), void *arg);

/* Is there such a table or view? Some are only in files that were merged. */
bool store_has(struct store *s, const char *name);

/* A callback and its argument, as one. The function type differs by question. */
struct to {
	void *fn;
	void *arg;
};

/* A quantity; a file can hold anything, but none of ours is below zero. */
static inline uint64_t column_u64(sqlite3_stmt *stmt, int i)
{
	int64_t value = sqlite3_column_int64(stmt, i);

	return value < 0 ? 0 : (uint64_t)value;
}

static inline uint64_t column_bits(sqlite3_stmt *stmt, int i)
{
	return (uint64_t)sqlite3_column_int64(stmt, i);
}

static inline uint32_t column_u32(sqlite3_stmt *stmt, int i)
{
	return (uint32_t)sqlite3_column_int64(stmt, i);
}

/* Never NULL. */
static inline const char *column_text(sqlite3_stmt *stmt, int i)
{
	const unsigned char *text = sqlite3_column_text(stmt, i);

	return text ? (const char *)text : "";
}

/* ACCOUNT_COLUMNS from column i on. */
void column_account(sqlite3_stmt *stmt, int i, uint64_t state_ns[STATE_COUNT],
		    uint64_t counter[COUNTER_COUNT]);
int column_hist(sqlite3_stmt *stmt, int i, uint32_t ret[HIST_BUCKETS]);
/* What a block of calls says of them: see pack.h. */
int column_kinds(sqlite3_stmt *stmt, int i, int (*fn)(const struct packed_kind *, void *),
		 void *arg);

/* Histograms as stored: pairs of varints. HIST_BLOB_MAX is enough for any. */
#define HIST_BLOB_MAX (HIST_BUCKETS * 6)
size_t hist_pack(const uint32_t hist[HIST_BUCKETS], uint8_t *dst);
int hist_unpack(const uint8_t *src, size_t len, uint32_t ret[HIST_BUCKETS]);

#endif
