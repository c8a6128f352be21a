// SPDX-License-Identifier: Apache-2.0
/* What a statement may do: read. A list of what is allowed; everything else is refused. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "query/query_int.h"

/* What SQLite calls the things that a statement can do, for the message. */
static const char *const actions[] = {
	[SQLITE_CREATE_INDEX] = "CREATE INDEX",
	[SQLITE_CREATE_TABLE] = "CREATE TABLE",
	[SQLITE_CREATE_TEMP_INDEX] = "CREATE INDEX",
	[SQLITE_CREATE_TEMP_TABLE] = "CREATE TEMP TABLE",
	[SQLITE_CREATE_TEMP_TRIGGER] = "CREATE TRIGGER",
	[SQLITE_CREATE_TEMP_VIEW] = "CREATE TEMP VIEW",
	[SQLITE_CREATE_TRIGGER] = "CREATE TRIGGER",
	[SQLITE_CREATE_VIEW] = "CREATE VIEW",
	[SQLITE_CREATE_VTABLE] = "CREATE VIRTUAL TABLE",
	[SQLITE_DELETE] = "DELETE",
	[SQLITE_DROP_INDEX] = "DROP INDEX",
	[SQLITE_DROP_TABLE] = "DROP TABLE",
	[SQLITE_DROP_TEMP_INDEX] = "DROP INDEX",
	[SQLITE_DROP_TEMP_TABLE] = "DROP TABLE",
	[SQLITE_DROP_TEMP_TRIGGER] = "DROP TRIGGER",
	[SQLITE_DROP_TEMP_VIEW] = "DROP VIEW",
	[SQLITE_DROP_TRIGGER] = "DROP TRIGGER",
	[SQLITE_DROP_VIEW] = "DROP VIEW",
	[SQLITE_DROP_VTABLE] = "DROP TABLE",
	[SQLITE_INSERT] = "INSERT",
	[SQLITE_PRAGMA] = "PRAGMA",
	[SQLITE_TRANSACTION] = "BEGIN, COMMIT or ROLLBACK",
	[SQLITE_UPDATE] = "UPDATE",
	[SQLITE_ATTACH] = "ATTACH",
	[SQLITE_DETACH] = "DETACH",
	[SQLITE_ALTER_TABLE] = "ALTER TABLE",
	[SQLITE_REINDEX] = "REINDEX",
	[SQLITE_ANALYZE] = "ANALYZE",
	[SQLITE_FUNCTION] = "the function",
	[SQLITE_SAVEPOINT] = "SAVEPOINT",
};

/* Those that describe tables; the rest changes something, or tells of the machine. */
static const char *const pragmas[] = { "table_info", "table_list",  "table_xinfo",     "index_list",
				       "index_info", "index_xinfo", "foreign_key_list" };

/* Functions that reach outside the file, whoever built SQLite. */
static const char *const forbidden[] = { "load_extension", "readfile",       "writefile",
					 "edit",           "fts3_tokenizer", "sqlite_log" };

/* Tables with single events, of which some may be missing: see schema.sql. */
static const char *const samples[] = { "call", "call_packed", "call_wait", "call_culprit", "step" };

static bool one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; name && i < n; i++)
		if (!sqlite3_stricmp(name, list[i]))
			return true;
	return false;
}

static int refuse(struct guard *g, int action, const char *what)
{
	const char *name = action >= 0 && action < (int)ARRAY_LEN(actions) ? actions[action] : NULL;

	if (!g->refused[0])
		snprintf(g->refused, sizeof(g->refused), "%s%s%.80s", name ? name : "this",
			 what ? " " : "", what ? what : "");
	return SQLITE_DENY;
}

static int on_action(void *arg, int action, const char *a, const char *b, const char *db,
		     const char *inside)
{
	struct guard *g = arg;

	(void)db;
	(void)inside;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		g->sampled = g->sampled || one_of(a, samples, ARRAY_LEN(samples));
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return one_of(b, forbidden, ARRAY_LEN(forbidden)) ? refuse(g, action, b)
								  : SQLITE_OK;
	case SQLITE_PRAGMA:
		return one_of(a, pragmas, ARRAY_LEN(pragmas)) ? SQLITE_OK : refuse(g, action, a);
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_TRANSACTION:
		return refuse(g, action, NULL);
	default:
		return refuse(g, action, a);
	}
}

/* What a query can cost, by the length of its parts. */
static const struct {
	int limit, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 4 << 20 },
	{ SQLITE_LIMIT_SQL_LENGTH, 100000 },
	{ SQLITE_LIMIT_COLUMN, 400 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 50 },
	{ SQLITE_LIMIT_VDBE_OP, 250000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 16 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500 },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 64 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

int guard_set(sqlite3 *db, struct guard *g)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	sqlite3_enable_load_extension(db, 0);
	return sqlite3_set_authorizer(db, on_action, g);
}
