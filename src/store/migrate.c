// SPDX-License-Identifier: Apache-2.0
/*
 * Files of older versions. To be written to, a file is brought up to date, all or nothing. To be read it
 * stays as it is: views of this connection show its tables as they are now.
 */
#include <string.h>

#include "store/shape.h"

#define AS_TABLE "CREATE TABLE "
#define AS_VIEW "CREATE VIEW "

/* ---- for writing ---- */

static int renew_table(struct store *s, const struct shape *shape, void *arg)
{
	int err;

	(void)arg;
	if (shape->same)
		return 0;
	if (shape->missing)
		return shape_exec(s, "%s", shape->sql);
	err = shape_exec(s, "ALTER TABLE main.%s RENAME TO before_%s", shape->table, shape->table);
	if (!err)
		err = shape_exec(s, "%s", shape->sql);
	if (!err)
		err = shape_exec(s, "INSERT INTO main.%s(%s) SELECT %s FROM main.before_%s",
				 shape->table, shape->columns, shape->values, shape->table);
	return err ? err : shape_exec(s, "DROP TABLE main.before_%s", shape->table);
}

static int drop_view(struct store *s, const char *name, const char *sql, void *arg)
{
	(void)sql;
	(void)arg;
	return shape_exec(s, "DROP VIEW IF EXISTS main.%s", name);
}

/* An index goes with its table, where that was made anew. */
static int make_index(struct store *s, const char *name, const char *sql, void *arg)
{
	int err = shape_exec(s, "DROP INDEX IF EXISTS main.%s", name);

	(void)arg;
	return err ? err : shape_exec(s, "%s", sql);
}

static int need_index(struct store *s, const char *name, const char *sql, void *arg)
{
	sqlite3_stmt *stmt;
	bool same = false;

	if (sqlite3_prepare_v2(s->db, "SELECT sql=?2 FROM main.sqlite_master WHERE name=?1", -1,
			       &stmt, NULL) != SQLITE_OK)
		return store_fail(s, "indexes");
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, sql, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		same = sqlite3_column_int(stmt, 0) != 0;
	sqlite3_finalize(stmt);
	return same ? 0 : make_index(s, name, sql, arg);
}

static int make_view(struct store *s, const char *name, const char *sql, void *arg)
{
	(void)name;
	(void)arg;
	return shape_exec(s, "%s", sql);
}

int store_migrate(struct store *s, int version)
{
	sqlite3 *now;
	int err = shape_now(&now);

	if (err)
		return err;
	/* Renaming a table must not make others refer to the old one. */
	err = store_exec(s, "PRAGMA legacy_alter_table=ON; BEGIN IMMEDIATE");
	if (!err)
		err = shape_objects(now, "view", drop_view, s, NULL);
	if (!err)
		err = shape_each(s, now, renew_table, NULL);
	if (!err)
		err = shape_objects(now, "index", need_index, s, NULL);
	if (!err)
		err = shape_objects(now, "view", make_view, s, NULL);
	if (!err)
		err = shape_exec(s, "PRAGMA user_version=%d; COMMIT", version);
	if (err && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* err says more */
	sqlite3_exec(s->db, "PRAGMA legacy_alter_table=OFF", NULL, NULL, NULL);
	sqlite3_close(now);
	return err;
}

/* ---- for reading ---- */

static int lay_table(struct store *s, const struct shape *shape, void *arg)
{
	(void)arg;
	if (shape->same)
		return 0;
	if (shape->missing)
		return shape_exec(s, "CREATE TEMP TABLE %s", shape->sql + strlen(AS_TABLE));
	return shape_exec(s, "CREATE TEMP VIEW %s AS SELECT %s FROM main.%s", shape->table,
			  shape->values, shape->table);
}

static int lay_view(struct store *s, const char *name, const char *sql, void *arg)
{
	(void)name;
	(void)arg;
	return shape_exec(s, "CREATE TEMP VIEW %s", sql + strlen(AS_VIEW));
}

int store_overlay(struct store *s)
{
	sqlite3 *now;
	int err = shape_now(&now);

	if (err)
		return err;
	err = store_exec(s, "PRAGMA temp_store=MEMORY");
	if (!err)
		err = shape_each(s, now, lay_table, NULL);
	if (!err)
		err = shape_objects(now, "view", lay_view, s, NULL);
	sqlite3_close(now);
	return err;
}
