// SPDX-License-Identifier: Apache-2.0
/* Views that hide the tables of the file: less rows, or other times. */
#include "store/scope.h"

#include <errno.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"
#include "store/tables.h"

/* ---- SQL ---- */

static int take(struct store *s, char *sql)
{
	int err = sql ? store_exec(s, sql) : fail(-ENOMEM, "no memory");

	sqlite3_free(sql);
	return err;
}

static int number_row(sqlite3_stmt *stmt, void *arg)
{
	*(int64_t *)arg = sqlite3_column_int64(stmt, 0);
	return 0;
}

static int ask(struct store *s, const char *sql, int64_t *ret)
{
	sqlite3_stmt *stmt;
	int err = store_query(s, sql, (struct window){ 0, 0 }, &stmt);

	*ret = 0;
	return err ? err : store_rows(s, stmt, number_row, ret);
}

/* Do the clocks differ? A file that was not merged has no such table. */
static int has_offsets(struct store *s, bool *ret)
{
	int64_t n;
	int err = ask(
		s,
		"SELECT count(*) FROM main.sqlite_master WHERE type='table' AND name='node_clock'",
		&n);

	if (!err && n)
		err = ask(s, "SELECT count(*) FROM main.node_clock WHERE offset_ns<>0", &n);
	*ret = n > 0;
	return err;
}

/* ---- whose rows ---- */

/* Tables in which nodes meet. */
static bool is_common(const struct table *t)
{
	return streq(t->name, "communicator") || streq(t->name, "communicator_second") ||
	       streq(t->name, "collective") || streq(t->name, "rank_env");
}

/* temp.of_run, of_process, ...: id, ns to add, and whether it is in sight. */
static int note_owners(struct store *s, int64_t node, bool offsets)
{
	int err = take(
		s,
		sqlite3_mprintf(
			"DROP TABLE IF EXISTS temp.of_run;"
			"CREATE TEMP TABLE of_run(id INTEGER PRIMARY KEY, ns INTEGER, seen INTEGER);"
			"INSERT INTO of_run SELECT r.id, %s, %lld IN (0, r.node) FROM main.run r%s",
			offsets ? "coalesce(c.offset_ns, 0)" : "0", (long long)node,
			offsets ? " LEFT JOIN main.node_clock c ON c.node=r.node" : ""));

	for (const struct table *t = store_tables; !err && t->name; t++) {
		if (t->ids != IDS_LOCAL || !t->ref[0].column || streq(t->name, "call"))
			continue;
		err = take(
			s,
			sqlite3_mprintf(
				"DROP TABLE IF EXISTS temp.\"of_%w\";"
				"CREATE TEMP TABLE \"of_%w\"(id INTEGER PRIMARY KEY, ns INTEGER, seen INTEGER);"
				"INSERT INTO \"of_%w\" SELECT t.id, o.ns, o.seen FROM main.\"%w\" t"
				" JOIN temp.\"of_%w\" o ON o.id=t.\"%w\"",
				t->name, t->name, t->name, t->name, t->ref[0].table,
				t->ref[0].column));
	}
	return err;
}

/* ---- the views ---- */

static char *columns_of(struct store *s, const struct table *t, bool offsets)
{
	sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q, 'main') ORDER BY cid",
				    t->name);
	char *ret = sqlite3_mprintf("");

	if (sql && sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
		while (ret && sqlite3_step(stmt) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(stmt, 0);
			const char *comma = ret[0] ? "," : "";

			ret = offsets && table_is_time(t, name)
				      ? sqlite3_mprintf("%z%st.\"%w\"+o.ns AS \"%w\"", ret, comma,
							name, name)
				      : sqlite3_mprintf("%z%st.\"%w\"", ret, comma, name);
		}
	}
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return ret;
}

static int make_view(struct store *s, const struct table *t, int64_t node, bool offsets)
{
	const char *owner = streq(t->name, "run") ? "run" : t->ref[0].table;
	const char *column = streq(t->name, "run") ? "id" : t->ref[0].column;
	char *columns = columns_of(s, t, offsets);
	int err = take(
		s,
		columns && columns[0]
			? sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS SELECT %s FROM main.\"%w\" t"
					  " JOIN temp.\"of_%w\" o ON o.id=t.\"%w\"%s",
					  t->name, columns, t->name, owner, column,
					  node && !is_common(t) ? " AND o.seen" : "")
			: sqlite3_mprintf(""));

	sqlite3_free(columns);
	return err;
}

int store_scope(struct store *s, int64_t node)
{
	bool offsets = false;
	int err = has_offsets(s, &offsets);

	for (const struct table *t = store_tables; !err && t->name; t++)
		if (t->ids != IDS_CONTENT)
			err = take(s, sqlite3_mprintf("DROP VIEW IF EXISTS temp.\"%w\"", t->name));
	s->node = node;
	if (err || (!node && !offsets))
		return err;
	err = note_owners(s, node, offsets);
	for (const struct table *t = store_tables; !err && t->name; t++) {
		if (t->ids == IDS_CONTENT || (t->ref[0].table && streq(t->ref[0].table, "call")))
			continue; /* these are asked for by call */
		err = make_view(s, t, node, offsets);
	}
	return err;
}

/* ---- nodes ---- */

static int node_row(sqlite3_stmt *stmt, void *arg)
{
	struct to *to = arg;

	return ((int (*)(int64_t, const char *, void *))to->fn)(sqlite3_column_int64(stmt, 0),
								column_text(stmt, 1), to->arg);
}

int store_each_node(struct store *s, int (*fn)(int64_t node, const char *name, void *arg),
		    void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err =
		store_query(s,
			    "SELECT id, name FROM main.node WHERE id IN (SELECT node FROM main.run)"
			    " ORDER BY name",
			    (struct window){ 0, 0 }, &stmt);

	return err ? err : store_rows(s, stmt, node_row, &to);
}
