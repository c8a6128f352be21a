// SPDX-License-Identifier: Apache-2.0
/* Rows out: GPUs, what they say of themselves, who uses them, their errors. */
#include <math.h>

#include "store/store_int.h"

static const struct {
	double per, max;
} value[GPU_VALUE_COUNT] = {
#define X(id, per_, max_) { per_, (double)(max_) },
	GPU_VALUES(X)
#undef X
};

static int gpu_row(sqlite3_stmt *stmt, void *arg)
{
	struct gpu_info info = {
		.id = sqlite3_column_int64(stmt, 0),
		.index = column_u32(stmt, 1),
		.name = column_text(stmt, 2),
		.uuid = column_text(stmt, 3),
		.bus_id = column_text(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct gpu_info *, void *))to->fn)(&info, to->arg);
}

int store_each_gpu(struct store *s, struct window w, int (*fn)(const struct gpu_info *, void *),
		   void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT id, n, name, uuid, bus_id FROM gpu WHERE EXISTS"
			      " (SELECT 1 FROM gpu_second WHERE gpu=gpu.id AND at_ns > ?1"
			      " AND at_ns <= ?2) ORDER BY n, id",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, gpu_row, &to);
}

/* A file can hold anything: what cannot be is not known. */
static void column_values(sqlite3_stmt *stmt, int at, struct gpu_values *ret)
{
	for (int i = 0; i < GPU_VALUE_COUNT; i++) {
		double told = sqlite3_column_double(stmt, at + i) * value[i].per;

		if (sqlite3_column_type(stmt, at + i) == SQLITE_NULL ||
		    !(told >= 0 && told <= value[i].max))
			continue;
		ret->known |= 1ull << i;
		ret->value[i] = (uint64_t)llround(told);
	}
}

static int gpu_second_row(sqlite3_stmt *stmt, void *arg)
{
	struct gpu_second_info info = {
		.gpu = sqlite3_column_int64(stmt, 0),
		.at_ns = column_u64(stmt, 1),
	};
	struct to *to = arg;

	column_values(stmt, 2, &info.values);
	return ((int (*)(const struct gpu_second_info *, void *))to->fn)(&info, to->arg);
}

int store_each_gpu_second(struct store *s, struct window w,
			  int (*fn)(const struct gpu_second_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT gpu, at_ns" GPU_COLUMNS " FROM gpu_second"
			      " WHERE at_ns > ?1 AND at_ns <= ?2 ORDER BY gpu, at_ns",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, gpu_second_row, &to);
}

static uint64_t column_bytes(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? GPU_BYTES_UNKNOWN
							   : column_u64(stmt, i);
}

static int gpu_process_row(sqlite3_stmt *stmt, void *arg)
{
	struct gpu_process_info info = {
		.gpu = sqlite3_column_int64(stmt, 0),
		.pid = column_u32(stmt, 1),
		.first_ns = column_u64(stmt, 2),
		.last_ns = column_u64(stmt, 3),
		.mem_used = column_bytes(stmt, 4),
		.mem_max = column_bytes(stmt, 5),
	};
	struct to *to = arg;

	return ((int (*)(const struct gpu_process_info *, void *))to->fn)(&info, to->arg);
}

int store_each_gpu_process(struct store *s, struct window w,
			   int (*fn)(const struct gpu_process_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT gpu, pid, first_ns, last_ns, mem_used, mem_max"
			      " FROM gpu_process WHERE last_ns >= ?1 AND first_ns <= ?2"
			      " ORDER BY gpu, pid, first_ns",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, gpu_process_row, &to);
}

static int gpu_error_row(sqlite3_stmt *stmt, void *arg)
{
	struct gpu_error_row row = {
		.at_ns = column_u64(stmt, 0),
		.bus_id = column_text(stmt, 1),
		.code = column_u32(stmt, 2),
		.pid = column_u32(stmt, 3),
		.comm = column_text(stmt, 4),
		.text = column_text(stmt, 5),
	};
	struct to *to = arg;

	return ((int (*)(const struct gpu_error_row *, void *))to->fn)(&row, to->arg);
}

int store_each_gpu_error(struct store *s, struct window w,
			 int (*fn)(const struct gpu_error_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT at_ns, bus_id, code, pid, c.text, t.text FROM gpu_error"
			      " LEFT JOIN string c ON c.id=comm"
			      " LEFT JOIN string t ON t.id=gpu_error.text"
			      " WHERE at_ns >= ?1 AND at_ns <= ?2 ORDER BY at_ns, gpu_error.rowid",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, gpu_error_row, &to);
}
