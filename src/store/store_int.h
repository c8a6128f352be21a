/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of store/ and nobody else. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include <sqlite3.h>

#include "store/store.h"

/* Every statement that is run more than once, prepared on first use. */
enum stmt_id {
	STMT_STRING,
	STMT_OP,
	STMT_PROCESS,
	STMT_PROCESS_NAME,
	STMT_PROCESS_EXIT,
	STMT_THREAD,
	STMT_THREAD_EXIT,
	STMT_OP_SECOND,
	STMT_BLAME,
	STMT_CALL,
	STMT_CULPRIT,
	STMT_LOSS,
	STMT_ACCOUNT,
	STMT_COVERAGE,
	STMT_CLOCK,
	STMT_COUNT,
};

#define INTERN_SLOTS 4096

struct store {
	sqlite3 *db;
	sqlite3_stmt *stmt[STMT_COUNT];
	int64_t run;
	int64_t wall_minus_boot;
	int64_t interned[INTERN_SLOTS]; /* ids written lately: spares most INSERT OR IGNOREs */
};

extern const char store_schema[];

int store_fail(struct store *s, const char *doing);
int store_exec(struct store *s, const char *sql);

/* A prepared statement, reset and ready to bind; opens a transaction if none is open. */
int store_stmt(struct store *s, enum stmt_id id, sqlite3_stmt **ret);

/* Run a bound statement that returns no rows. */
int store_step(struct store *s, sqlite3_stmt *stmt, const char *doing);

/* The id of a string; writes it on first sight. */
int store_intern(struct store *s, const char *text, int64_t *ret);

/* Boot time as stored. */
int64_t store_time(const struct store *s, uint64_t boot_ns);

/* Histograms as stored: pairs of varints. cap of HIST_BLOB_MAX is enough for any. */
#define HIST_BLOB_MAX (HIST_BUCKETS * 6)
size_t hist_pack(const uint32_t hist[HIST_BUCKETS], uint8_t *dst);
int hist_unpack(const uint8_t *src, size_t len, uint32_t ret[HIST_BUCKETS]);

#endif
