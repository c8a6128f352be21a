// SPDX-License-Identifier: Apache-2.0
/*
 * Rows that stand for n events, as n rows. Conditions and orders on their columns are answered by the rows
 * that are stored, before they are multiplied: ten million events of a GROUP BY are never sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "query/query_int.h"

#define PART_COLUMNS 3 /* n, total_ns, max_ns */
#define COLUMNS_MAX 48
#define TEXTS_MAX 100000 /* that are kept; others are copied each time */

struct table {
	sqlite3_vtab base;
	sqlite3 *db;
	char *view;
	int columns; /* of the view, without the first three */
	char *column[COLUMNS_MAX];
	struct hash *texts; /* hash of a text -> a copy that stays where it is */
};

/* A column of the row that is being multiplied. */
struct cell {
	const char *text; /* kept; NULL: no text, or not kept */
	int len;
};

struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *parts; /* NULL: at the end */
	struct cell cell[COLUMNS_MAX];
	sqlite3_int64 row, i, n; /* i of n */
	sqlite3_int64 total, longest; /* -1: not known */
};

/* ---- texts that stay: SQLite need not copy them for each row ---- */

static uint64_t hash_text(const char *text, int len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (int i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return h;
}

static bool drop_text(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(char **)value);
	return false;
}

static const char *keep_text(struct table *t, const char *text, int len)
{
	uint64_t key = hash_text(text, len);
	char **kept = hash_get(t->texts, &key);

	if (!kept) {
		if (hash_count(t->texts) >= TEXTS_MAX || strlen(text) != (size_t)len)
			return NULL;
		kept = hash_put(t->texts, &key);
		*kept = xstrdup(text);
	}
	return streq(*kept, text) ? *kept : NULL;
}

/* ---- the table ---- */

static int disconnect(sqlite3_vtab *vtab)
{
	struct table *t = (struct table *)vtab;

	if (t->texts)
		hash_each(t->texts, drop_text, NULL);
	hash_free(t->texts);
	for (int i = 0; i < t->columns; i++)
		free(t->column[i]);
	free(t->view);
	free(t);
	return SQLITE_OK;
}

static int read_columns(struct table *t)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", t->view);
	sqlite3_stmt *stmt = NULL;
	int rc = sql ? sqlite3_prepare_v2(t->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return rc;
	for (int i = PART_COLUMNS; i < sqlite3_column_count(stmt) && t->columns < COLUMNS_MAX; i++)
		t->column[t->columns++] =
			xstrdup(sqlite3_column_name(stmt, i) ? sqlite3_column_name(stmt, i) : "");
	sqlite3_finalize(stmt);
	return t->columns ? SQLITE_OK : SQLITE_ERROR;
}

static int declare(struct table *t, const char *duration)
{
	char *sql = sqlite3_mprintf("CREATE TABLE x(");
	int rc;

	for (int i = 0; sql && i < t->columns; i++)
		sql = sqlite3_mprintf("%z\"%w\",", sql, t->column[i]);
	if (sql)
		sql = sqlite3_mprintf("%z\"%w\" INTEGER)", sql, duration);
	rc = sql ? sqlite3_declare_vtab(t->db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc;
}

/* argv: module, database, table, and what stood in the brackets. */
static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
		   char **err)
{
	struct table *t;
	int rc;

	(void)aux;
	if (argc != 5) {
		*err = sqlite3_mprintf("expand(view, name of the duration)");
		return SQLITE_ERROR;
	}
	t = xcalloc(1, sizeof(*t));
	t->db = db;
	t->view = xstrdup(argv[3]);
	t->texts = hash_new(sizeof(uint64_t), sizeof(char *));
	rc = read_columns(t);
	if (rc == SQLITE_OK)
		rc = declare(t, argv[4]);
	if (rc != SQLITE_OK) {
		disconnect(&t->base);
		return rc;
	}
	*ret = &t->base;
	return SQLITE_OK;
}

/* ---- the plan: the statement on the view, as text ---- */

static const char *operator_of(int op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return "=";
	case SQLITE_INDEX_CONSTRAINT_GT:
		return ">";
	case SQLITE_INDEX_CONSTRAINT_GE:
		return ">=";
	case SQLITE_INDEX_CONSTRAINT_LT:
		return "<";
	case SQLITE_INDEX_CONSTRAINT_LE:
		return "<=";
	default:
		return NULL;
	}
}

/* SQLite looks at each row again, so that a condition may let too much through, never too little. */
static char *add_conditions(struct table *t, sqlite3_index_info *info, char *sql, int *ret_equal)
{
	int argc = 0;

	for (int i = 0; sql && i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		const char *op = operator_of(c->op);

		if (!c->usable || !op || c->iColumn < 0 || c->iColumn >= t->columns ||
		    sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		sql = sqlite3_mprintf("%z AND \"%w\" %s ?%d", sql, t->column[c->iColumn], op,
				      ++argc);
		info->aConstraintUsage[i].argvIndex = argc;
		*ret_equal += c->op == SQLITE_INDEX_CONSTRAINT_EQ;
	}
	return sql;
}

static char *add_order(struct table *t, sqlite3_index_info *info, char *sql)
{
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn < 0 || info->aOrderBy[i].iColumn >= t->columns)
			return sql; /* by duration: SQLite sorts */
	for (int i = 0; sql && i < info->nOrderBy; i++)
		sql = sqlite3_mprintf("%z%s \"%w\"%s", sql, i ? "," : " ORDER BY",
				      t->column[info->aOrderBy[i].iColumn],
				      info->aOrderBy[i].desc ? " DESC" : "");
	info->orderByConsumed = info->nOrderBy > 0;
	return sql;
}

static bool is_used(const sqlite3_index_info *info, int column)
{
	return info->colUsed & (1ull << (column < 63 ? column : 63));
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct table *t = (struct table *)vtab;
	char *sql = sqlite3_mprintf("SELECT n, total_ns, max_ns");
	int equal = 0;

	for (int i = 0; sql && i < t->columns; i++)
		sql = is_used(info, i) ? sqlite3_mprintf("%z, \"%w\"", sql, t->column[i])
				       : sqlite3_mprintf("%z, NULL", sql);
	if (sql)
		sql = sqlite3_mprintf("%z FROM \"%w\" WHERE n > 0", sql, t->view);
	sql = add_conditions(t, info, sql, &equal);
	sql = add_order(t, info, sql);
	if (!sql)
		return SQLITE_NOMEM;
	info->idxStr = sql;
	info->needToFreeIdxStr = 1;
	info->estimatedRows = 1000000 >> (equal > 4 ? 12 : 3 * equal);
	/* To find a few costs nearly as much as to find all: better once than for each row of another. */
	info->estimatedCost = 1e6 + (double)info->estimatedRows;
	return SQLITE_OK;
}

/* ---- reading ---- */

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	(void)vtab;
	*ret = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	sqlite3_finalize(c->parts);
	free(c);
	return SQLITE_OK;
}

static sqlite3_int64 number(sqlite3_stmt *stmt, int i)
{
	sqlite3_int64 value = sqlite3_column_int64(stmt, i);

	return sqlite3_column_type(stmt, i) == SQLITE_NULL || value < 0 ? -1 : value;
}

static void take_texts(struct table *t, struct cursor *c)
{
	for (int i = 0; i < t->columns; i++) {
		int at = PART_COLUMNS + i;
		const char *text;

		c->cell[i] = (struct cell){ 0 };
		if (sqlite3_column_type(c->parts, at) != SQLITE_TEXT)
			continue;
		text = (const char *)sqlite3_column_text(c->parts, at);
		if (!text)
			continue; /* no memory: SQLite will say so */
		c->cell[i].len = sqlite3_column_bytes(c->parts, at);
		c->cell[i].text = keep_text(t, text, c->cell[i].len);
	}
}

static int next_part(struct cursor *c)
{
	int rc = sqlite3_step(c->parts);

	if (rc != SQLITE_ROW) {
		sqlite3_finalize(c->parts);
		c->parts = NULL;
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	}
	c->i = 0;
	c->n = sqlite3_column_int64(c->parts, 0);
	c->total = number(c->parts, 1);
	c->longest = number(c->parts, 2);
	if (c->longest > c->total || c->n == 1)
		c->longest = -1;
	take_texts((struct table *)c->base.pVtab, c);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number_of, const char *sql, int argc,
		  sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	struct table *t = (struct table *)cursor->pVtab;
	int rc;

	(void)number_of;
	sqlite3_finalize(c->parts);
	c->parts = NULL;
	c->row = 0;
	rc = sqlite3_prepare_v2(t->db, sql, -1, &c->parts, NULL);
	for (int i = 0; rc == SQLITE_OK && i < argc; i++)
		rc = sqlite3_bind_value(c->parts, i + 1, argv[i]);
	return rc == SQLITE_OK ? next_part(c) : rc;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	c->row++;
	return ++c->i < c->n ? SQLITE_OK : next_part(c);
}

static int eof(sqlite3_vtab_cursor *cursor)
{
	return !((struct cursor *)cursor)->parts;
}

/* Shares that add up to the total. As the view events has it. */
static void give_duration(const struct cursor *c, sqlite3_context *to)
{
	sqlite3_int64 rest = c->total, n = c->n, i = c->i;

	if (c->total < 0)
		return; /* NULL */
	if (c->longest >= 0) {
		if (!i) {
			sqlite3_result_int64(to, c->longest);
			return;
		}
		rest -= c->longest;
		n--;
		i--;
	}
	sqlite3_result_int64(to, rest / n + (i < rest % n));
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	struct table *t = (struct table *)cursor->pVtab;

	if (i == t->columns)
		give_duration(c, to);
	else if (c->cell[i].text)
		sqlite3_result_text(to, c->cell[i].text, c->cell[i].len, SQLITE_STATIC);
	else
		sqlite3_result_value(to, sqlite3_column_value(c->parts, PART_COLUMNS + i));
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = ((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

int expand_register(sqlite3 *db)
{
	static const sqlite3_module module = {
		.xCreate = connect,
		.xConnect = connect,
		.xBestIndex = best_index,
		.xDisconnect = disconnect,
		.xDestroy = disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next,
		.xEof = eof,
		.xColumn = column,
		.xRowid = rowid,
	};

	return sqlite3_create_module(db, "expand", &module, NULL);
}
