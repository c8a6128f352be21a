// SPDX-License-Identifier: Apache-2.0
/*
 * How a table of an older file differs from the same table now, found by looking at both, because
 * versions had several layouts while they were made. No text of the file becomes SQL.
 */
#include "store/shape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"

#define COLUMNS_MAX 256 /* a file can hold anything */

/* What an old row has for a column that it has not, where that is not nothing. */
static const struct {
	const char *table, *column;
	const char *from; /* only where the old table has this column; NULL: always */
	const char *value;
} rules[] = {
	/* Version 1 told blocked from running, and nothing more of it. */
	{ "op_second", "unknown_ns", "blocked_ns", "unknown_ns + blocked_ns" },
	{ "call", "unknown_ns", "blocked_ns", "unknown_ns + blocked_ns" },
	{ "account", "traced_ns", "thread_ns", "thread_ns" },
	{ "hop", "irq", NULL, "-1" },
	{ "sample_second", "state", NULL, "'run'" },
};

struct column {
	char name[48];
	char type[16];
	bool not_null;
};

struct columns {
	int count;
	struct column at[COLUMNS_MAX];
};

int shape_exec(struct store *s, const char *fmt, ...)
{
	char *sql = NULL;
	va_list ap;
	int n, err;

	va_start(ap, fmt);
	n = vasprintf(&sql, fmt, ap);
	va_end(ap);
	if (n < 0)
		return fail(-ENOMEM, "no memory");
	err = store_exec(s, sql);
	free(sql);
	return err;
}

int shape_now(sqlite3 **ret)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
		    SQLITE_OK &&
	    sqlite3_exec(db, store_schema, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(db, store_views, NULL, NULL, NULL) == SQLITE_OK) {
		*ret = db;
		return 0;
	}
	sqlite3_close(db);
	return fail(-ENOMEM, "the schema cannot be made in memory");
}

static int read_columns(sqlite3 *db, const char *table, struct columns *ret)
{
	sqlite3_stmt *stmt;
	int rc;

	ret->count = 0;
	if (sqlite3_prepare_v2(db,
			       "SELECT name, type, \"notnull\""
			       " FROM pragma_table_info(?1, 'main')",
			       -1, &stmt, NULL) != SQLITE_OK)
		return fail(-EIO, "columns of %s: %s", table, sqlite3_errmsg(db));
	sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && ret->count < COLUMNS_MAX) {
		struct column *c = &ret->at[ret->count++];

		*c = (struct column){ .not_null = sqlite3_column_int(stmt, 2) != 0 };
		str_copy(c->name, sizeof(c->name), column_text(stmt, 0));
		str_copy(c->type, sizeof(c->type), column_text(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : fail(-EIO, "columns of %s cannot be read", table);
}

static bool has_column(const struct columns *old, const char *name)
{
	for (int i = 0; i < old->count; i++)
		if (streq(old->at[i].name, name))
			return true;
	return false;
}

static bool same_columns(const struct columns *a, const struct columns *b)
{
	bool same = a->count == b->count;

	for (int i = 0; same && i < a->count; i++)
		same = streq(a->at[i].name, b->at[i].name);
	return same;
}

static const char *nothing(const struct column *c)
{
	if (!c->not_null)
		return "NULL";
	return streq(c->type, "TEXT") ? "''" : streq(c->type, "BLOB") ? "x''" : "0";
}

static const char *value_of(const char *table, const struct column *c, const struct columns *old)
{
	bool has = has_column(old, c->name);

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (streq(rules[i].table, table) && streq(rules[i].column, c->name) &&
		    (rules[i].from ? has_column(old, rules[i].from) : !has))
			return rules[i].value;
	return has ? c->name : nothing(c);
}

static void compare(struct shape *shape, const struct columns *now, const struct columns *old)
{
	size_t columns_len, values_len;
	FILE *columns = open_memstream(&shape->columns, &columns_len);
	FILE *values = open_memstream(&shape->values, &values_len);

	for (int i = 0; i < now->count; i++) {
		fprintf(columns, "%s%s", i ? ", " : "", now->at[i].name);
		fprintf(values, "%s%s AS %s", i ? ", " : "",
			value_of(shape->table, &now->at[i], old), now->at[i].name);
	}
	fclose(columns);
	fclose(values);
	shape->missing = !old->count;
	shape->same = same_columns(now, old);
}

struct each {
	sqlite3 *now;
	int (*fn)(struct store *, const struct shape *, void *);
	void *arg;
};

static int one_table(struct store *s, const char *name, const char *sql, void *arg)
{
	struct columns *now = xcalloc(2, sizeof(*now)), *old = now + 1;
	struct shape shape = { .table = name, .sql = sql };
	struct each *each = arg;
	int err = read_columns(each->now, name, now);

	if (!err)
		err = read_columns(s->db, name, old);
	if (!err) {
		compare(&shape, now, old);
		err = each->fn(s, &shape, each->arg);
	}
	free(shape.columns);
	free(shape.values);
	free(now);
	return err;
}

int shape_each(struct store *s, sqlite3 *now,
	       int (*fn)(struct store *s, const struct shape *, void *), void *arg)
{
	struct each each = { now, fn, arg };

	return shape_objects(now, "table", one_table, s, &each);
}

int shape_objects(sqlite3 *now, const char *type,
		  int (*fn)(struct store *s, const char *name, const char *sql, void *arg),
		  struct store *s, void *arg)
{
	sqlite3_stmt *stmt;
	int err = 0;

	if (sqlite3_prepare_v2(now,
			       "SELECT name, sql FROM sqlite_master"
			       " WHERE type=?1 AND sql IS NOT NULL ORDER BY rowid",
			       -1, &stmt, NULL) != SQLITE_OK)
		return fail(-EIO, "the schema: %s", sqlite3_errmsg(now));
	sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC);
	while (!err && sqlite3_step(stmt) == SQLITE_ROW)
		err = fn(s, column_text(stmt, 0), column_text(stmt, 1), arg);
	sqlite3_finalize(stmt);
	return err;
}
