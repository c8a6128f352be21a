// SPDX-License-Identifier: Apache-2.0
/* Rows in and out: what processes have from CUDA. */
#include <errno.h>

#include "base/fail.h"
#include "store/store_int.h"

static const char *const kinds[KIND_COUNT] = {
#define X(id, text) #id,
	MEMORY_KINDS(X)
#undef X
};

/* Frees of two threads at once may be seen in any order: for a moment it can be below nothing. */
static uint64_t at_least_none(uint64_t bytes)
{
	return (int64_t)bytes < 0 ? 0 : bytes;
}

int store_memory_second(struct store *s, int64_t process, uint64_t at_boot_ns,
			const struct memory_key *key, const struct memory_count *count)
{
	struct row r;

	if (key->kind >= KIND_COUNT)
		return fail(-EBADMSG, "memory of kind %u", key->kind);
	r = row_begin(s, STMT_MEMORY_SECOND);
	row_i64(&r, process);
	row_text(&r, kinds[key->kind]);
	row_i64(&r, key->device);
	row_time(&r, at_boot_ns);
	row_u64(&r, at_least_none(count->current));
	row_u64(&r, at_least_none(count->high));
	row_u64(&r, count->allocs);
	row_u64(&r, at_least_none(count->frees));
	row_u64(&r, count->failed);
	row_u64(&r, count->failed_bytes);
	row_u64(&r, count->retried);
	row_u64(&r, count->strangers);
	return row_end(&r, "insert memory_second");
}

static int memory_row(sqlite3_stmt *stmt, void *arg)
{
	struct memory_info info = {
		.process = sqlite3_column_int64(stmt, 0),
		.kind = column_text(stmt, 1),
		.device = sqlite3_column_int(stmt, 2),
		.at_ns = column_u64(stmt, 3),
		.count = {
			.current = column_u64(stmt, 4),
			.high = column_u64(stmt, 5),
			.allocs = column_u64(stmt, 6),
			.frees = column_u64(stmt, 7),
			.failed = column_u64(stmt, 8),
			.failed_bytes = column_u64(stmt, 9),
			.retried = column_u64(stmt, 10),
			.strangers = column_u64(stmt, 11),
		},
	};
	struct to *to = arg;

	return ((int (*)(const struct memory_info *, void *))to->fn)(&info, to->arg);
}

int store_each_memory(struct store *s, struct window w,
		      int (*fn)(const struct memory_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT process, kind, device, at_ns, current, high, allocs, frees, failed,"
		" failed_bytes, retried, strangers FROM memory_second m WHERE at_ns <= ?2 AND"
		" (at_ns > ?1 OR at_ns = (SELECT max(at_ns) FROM memory_second b WHERE"
		"  b.process=m.process AND b.kind=m.kind AND b.device=m.device AND b.at_ns <= ?1))"
		" ORDER BY process, kind, device, at_ns",
		w, &stmt);

	return err ? err : store_rows(s, stmt, memory_row, &to);
}

static int failed_row(sqlite3_stmt *stmt, void *arg)
{
	struct failed_alloc info = {
		.process = sqlite3_column_int64(stmt, 0),
		.op = column_text(stmt, 1),
		.bytes = column_u64(stmt, 2),
		.ret = sqlite3_column_int(stmt, 3),
		.at_ns = column_u64(stmt, 4),
		.file = column_text(stmt, 5),
		.func = column_text(stmt, 6),
		.line = sqlite3_column_int(stmt, 7),
	};
	struct to *to = arg;

	return ((int (*)(const struct failed_alloc *, void *))to->fn)(&info, to->arg);
}

int store_each_failed_alloc(struct store *s, struct window w,
			    int (*fn)(const struct failed_alloc *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT process, symbol, bytes, ret, max(start_ns), file, func, line"
		" FROM call JOIN op ON op.id=op JOIN thread ON thread.id=thread"
		" LEFT JOIN stack_line l ON l.stack=call.stack"
		" WHERE start_ns >= ?1 AND start_ns <= ?2 AND class='alloc' AND ret <> 0"
		" AND depth=0 AND because & 16 GROUP BY process",
		w, &stmt);

	return err ? err : store_rows(s, stmt, failed_row, &to);
}
