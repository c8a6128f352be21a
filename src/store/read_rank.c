// SPDX-License-Identifier: Apache-2.0
/* Rows out: collectives that were waited for, and who is which rank. */
#include "store/store_int.h"

static int64_t column_rank(sqlite3_stmt *stmt, int i)
{
	int64_t value = sqlite3_column_int64(stmt, i);

	return sqlite3_column_type(stmt, i) == SQLITE_NULL || value < 0 ? -1 : value;
}

static int collective_row(sqlite3_stmt *stmt, void *arg)
{
	struct collective_row row = {
		.process = sqlite3_column_int64(stmt, 0),
		.thread = sqlite3_column_int64(stmt, 1),
		.hash = column_bits(stmt, 2),
		.communicator = sqlite3_column_int64(stmt, 3),
		.rank = column_rank(stmt, 4),
		.nranks = column_rank(stmt, 5),
		.seq = column_u64(stmt, 6),
		.symbol = column_text(stmt, 7),
		.sure = sqlite3_column_int(stmt, 8),
		.start_ns = column_u64(stmt, 9),
		.sync_start_ns = column_u64(stmt, 10),
		.sync_end_ns = column_u64(stmt, 11),
	};
	struct to *to = arg;

	return ((int (*)(const struct collective_row *, void *))to->fn)(&row, to->arg);
}

int store_each_collective(struct store *s, struct window w, int limit,
			  int (*fn)(const struct collective_row *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(
		s,
		"SELECT * FROM (SELECT process, thread, hash, communicator, rank, nranks, seq,"
		" op.symbol, joined IN ('stream', 'device'), start_ns, sync_start_ns, sync_end_ns"
		" FROM collective JOIN communicator c ON c.id=communicator JOIN op ON op.id=op"
		" WHERE start_ns >= ?1 AND start_ns <= ?2 AND last AND joined<>'none'"
		" ORDER BY start_ns DESC LIMIT ?3) ORDER BY communicator, seq",
		w, &stmt);

	if (err)
		return err;
	sqlite3_bind_int(stmt, 3, limit);
	return store_rows(s, stmt, collective_row, &to);
}

static int rank_row(sqlite3_stmt *stmt, void *arg)
{
	struct rank_row row = {
		.process = sqlite3_column_int64(stmt, 0),
		.rank = column_rank(stmt, 1),
		.nranks = column_rank(stmt, 2),
	};
	struct to *to = arg;

	return ((int (*)(const struct rank_row *, void *))to->fn)(&row, to->arg);
}

int store_each_rank(struct store *s, struct window w, int (*fn)(const struct rank_row *, void *),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	/* Of equal ones SQLite takes the row with the maximum: the largest communicator. */
	int err = store_query(s,
			      "SELECT process, rank, max(n) FROM ("
			      " SELECT process, rank, nranks AS n FROM communicator"
			      " WHERE rank IS NOT NULL AND nranks IS NOT NULL"
			      " AND coalesce(made_ns, 0) <= ?2 AND coalesce(gone_ns, ?2) >= ?1"
			      " UNION ALL SELECT process, rank, coalesce(world, 0) FROM rank_env"
			      " WHERE rank IS NOT NULL) GROUP BY process",
			      w, &stmt);

	return err ? err : store_rows(s, stmt, rank_row, &to);
}
