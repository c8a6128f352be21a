// SPDX-License-Identifier: Apache-2.0
/* Rows in and out: kernels and their launches. */
#include "store/store_int.h"

int store_kernel(struct store *s, struct kernel_row *row)
{
	struct row r = row_begin(s, row->id ? STMT_KERNEL_NAME : STMT_KERNEL);
	int err;

	if (row->id) {
		row_i64(&r, row->id);
	} else {
		row_i64(&r, row->process);
		row_bits(&r, row->handle);
	}
	row_string(&r, row->name);
	row_text(&r, row->source);
	row_string(&r, row->library);
	err = row_end(&r, "insert kernel");
	if (!err && !row->id)
		row->id = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_kernel_second(struct store *s, int64_t kernel, uint64_t at_boot_ns, uint64_t launches)
{
	struct row r = row_begin(s, STMT_KERNEL_SECOND);

	row_i64(&r, kernel);
	row_time(&r, at_boot_ns);
	row_u64(&r, launches);
	return row_end(&r, "insert kernel_second");
}

static int kernel_row(sqlite3_stmt *stmt, void *arg)
{
	struct kernel_info info = {
		.row = {
			.process = sqlite3_column_int64(stmt, 0),
			.name = column_text(stmt, 1),
			.source = column_text(stmt, 2),
			.library = column_text(stmt, 3),
		},
		.launches = column_u64(stmt, 4),
	};
	struct to *to = arg;

	return ((int (*)(const struct kernel_info *, void *))to->fn)(&info, to->arg);
}

int store_each_kernel(struct store *s, struct window w,
		      int (*fn)(const struct kernel_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT process, n.text, source, l.text, sum(launches) AS launched"
		" FROM kernel_second JOIN kernel k ON k.id=kernel"
		" LEFT JOIN string n ON n.id=k.name LEFT JOIN string l ON l.id=k.library"
		" WHERE at_ns > ?1 AND at_ns <= ?2"
		" GROUP BY process, k.name, k.library, source"
		" ORDER BY process, launched DESC",
		w, &stmt);

	return err ? err : store_rows(s, stmt, kernel_row, &to);
}
