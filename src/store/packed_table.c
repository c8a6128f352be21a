// SPDX-License-Identifier: Apache-2.0
/*
 * The table call_packed: the calls of call_block as rows, unpacked while they are read. It is there on
 * every connection that we open; built with PACKED_EXTENSION this file is a module that the sqlite3
 * shell, and any other program, can load.
 */
#ifdef PACKED_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **err,
								  const sqlite3_api_routines *api);
#else
#include "store/store_int.h"
#endif

#include <string.h>

#include "store/pack.h"

/* Columns, in the order of call. X(column, value): what is no field of the call has its own line below. */
#define COLUMNS(X)                                                                                 \
	X(start_ns, c->start_ns)                                                                   \
	X(dur_ns, c->dur_ns)                                                                       \
	X(because, c->because)                                                                     \
	X(depth, c->depth)                                                                         \
	X(ret, c->ret)                                                                             \
	X(bytes, c->bytes)                                                                         \
	X(stream, c->stream)                                                                       \
	X(aux, c->aux)                                                                             \
	X(out, c->out)                                                                             \
	X(usual_ns, c->usual_ns)                                                                   \
	X(site, c->site)                                                                           \
	X(stack, c->stack)

enum column {
	COLUMN_id,
	COLUMN_thread,
	COLUMN_op,
	COLUMN_next_op,
#define X(column, value) COLUMN_##column,
	COLUMNS(X)
#undef X
		COLUMN_STATES,
	COLUMN_COUNTERS = COLUMN_STATES + STATE_COUNT,
	COLUMN_END = COLUMN_COUNTERS + COUNTER_COUNT,
};

static const char declaration[] = "CREATE TABLE call_packed(id INTEGER, thread INTEGER, op INTEGER,"
				  " next_op INTEGER"
#define X(column, value) ", " #column " INTEGER"
	COLUMNS(X)
#undef X
#define X(id, name, text) ", " #name "_ns INTEGER"
		STATES(X)
#undef X
			", minor_faults INTEGER, major_faults INTEGER, kernel_ns INTEGER)";

enum bound { FROM = 1, TO = 2, THREAD = 4 };

struct table {
	sqlite3_vtab base;
	sqlite3 *db;
};

struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *blocks;
	struct unpacker *unpacker; /* of the block that blocks is at; NULL: of none */
	struct packed_call call;
	sqlite3_int64 block, thread, n; /* n: of the call in its block */
	int end;
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret,
		   char **err)
{
	struct table *t;
	int rc = sqlite3_declare_vtab(db, declaration);

	(void)aux;
	(void)argc;
	(void)argv;
	(void)err;
	if (rc != SQLITE_OK)
		return rc;
	t = sqlite3_malloc(sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	memset(t, 0, sizeof(*t));
	t->db = db;
	*ret = &t->base;
	return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* views may use it: it only reads */
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int bound_of(const struct sqlite3_index_constraint *c)
{
	if (!c->usable)
		return 0;
	if (c->iColumn == COLUMN_thread && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
		return THREAD;
	if (c->iColumn != COLUMN_start_ns)
		return 0;
	if (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT)
		return FROM;
	return c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT ? TO : 0;
}

/* Bounds choose blocks; SQLite checks the rows. Arguments come in the order of enum bound. */
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int argc = 0;

	(void)vtab;
	info->idxNum = 0;
	for (int bound = FROM; bound <= THREAD; bound <<= 1) {
		for (int i = 0; i < info->nConstraint; i++) {
			if (info->idxNum & bound || bound_of(&info->aConstraint[i]) != bound)
				continue;
			info->aConstraintUsage[i].argvIndex = ++argc;
			info->idxNum |= bound;
		}
	}
	info->estimatedCost = 1e7;
	info->estimatedRows = 10000000;
	for (int i = 0; i < argc; i++) {
		info->estimatedCost /= 10;
		info->estimatedRows /= 10;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = sqlite3_malloc(sizeof(*c));

	(void)vtab;
	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	*ret = &c->base;
	return SQLITE_OK;
}

static void rewind_cursor(struct cursor *c)
{
	unpacker_free(c->unpacker);
	sqlite3_finalize(c->blocks);
	c->unpacker = NULL;
	c->blocks = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	rewind_cursor((struct cursor *)cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int damaged(struct cursor *c)
{
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg =
		sqlite3_mprintf("row %lld of call_block is damaged", (long long)c->block);
	return SQLITE_CORRUPT_VTAB;
}

/* The blobs are SQLite's until the statement moves on. */
static int next_block(struct cursor *c)
{
	int rc = sqlite3_step(c->blocks);

	unpacker_free(c->unpacker);
	c->unpacker = NULL;
	c->n = 0;
	if (rc == SQLITE_DONE)
		c->end = 1;
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	c->block = sqlite3_column_int64(c->blocks, 0);
	c->thread = sqlite3_column_int64(c->blocks, 1);
	c->unpacker = unpacker_new(
		sqlite3_column_blob(c->blocks, 2), (size_t)sqlite3_column_bytes(c->blocks, 2),
		sqlite3_column_blob(c->blocks, 3), (size_t)sqlite3_column_bytes(c->blocks, 3));
	return c->unpacker ? SQLITE_OK : damaged(c);
}

static int next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	int rc = SQLITE_OK, got = 0;

	while (rc == SQLITE_OK && !c->end && !got) {
		got = c->unpacker ? unpacker_next(c->unpacker, &c->call) : 0;
		if (got < 0)
			rc = damaged(c);
		else if (!got)
			rc = next_block(c);
	}
	c->n++;
	return rc;
}

/* Where the value is no number it bounds nothing: SQLite compares it itself. */
static sqlite3_int64 bound_value(sqlite3_value *value, sqlite3_int64 none)
{
	int type = sqlite3_value_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_value_int64(value) : none;
}

static int filter(sqlite3_vtab_cursor *cursor, int bounds, const char *name, int argc,
		  sqlite3_value **argv)
{
	static const char sql[] = "SELECT id, thread, kinds, data FROM call_block"
				  " WHERE last_ns >= ?1 AND first_ns <= ?2";
	struct cursor *c = (struct cursor *)cursor;
	struct table *t = (struct table *)cursor->pVtab;
	sqlite3_int64 from = INT64_MIN, to = INT64_MAX;
	int at = 0, rc;
	char *text;

	(void)name;
	(void)argc;
	rewind_cursor(c);
	c->end = 0;
	if (bounds & FROM)
		from = bound_value(argv[at++], from);
	if (bounds & TO)
		to = bound_value(argv[at++], to);
	text = sqlite3_mprintf("%s%s", sql, bounds & THREAD ? " AND thread = ?3" : "");
	if (!text)
		return SQLITE_NOMEM;
	rc = sqlite3_prepare_v2(t->db, text, -1, &c->blocks, NULL);
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(c->blocks, 1, from);
	sqlite3_bind_int64(c->blocks, 2, to);
	if (bounds & THREAD)
		sqlite3_bind_value(c->blocks, 3, argv[at]);
	rc = next_block(c);
	return rc == SQLITE_OK ? next(cursor) : rc;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->end;
}

/* Below zero, and another for each call of each block. A file can hold any id: it wraps around. */
static sqlite3_int64 call_id(const struct cursor *c)
{
	return (sqlite3_int64)(0 - ((sqlite3_uint64)c->block * PACK_CALLS + (sqlite3_uint64)c->n));
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int i)
{
	const struct cursor *cur = (struct cursor *)cursor;
	const struct packed_call *c = &cur->call;

	switch (i) {
	case COLUMN_id:
		sqlite3_result_int64(to, call_id(cur));
		break;
	case COLUMN_thread:
		sqlite3_result_int64(to, cur->thread);
		break;
	case COLUMN_op:
		sqlite3_result_int64(to, (sqlite3_int64)c->op);
		break;
	case COLUMN_next_op:
		if (c->next)
			sqlite3_result_int64(to, (sqlite3_int64)c->next);
		break;
#define X(column, value)                                                                           \
	case COLUMN_##column:                                                                      \
		sqlite3_result_int64(to, (sqlite3_int64)(value));                                  \
		break;
		COLUMNS(X)
#undef X
	default:
		if (i >= COLUMN_COUNTERS && i < COLUMN_END)
			sqlite3_result_int64(to, (sqlite3_int64)c->counter[i - COLUMN_COUNTERS]);
		else if (i >= COLUMN_STATES && i < COLUMN_COUNTERS)
			sqlite3_result_int64(to, (sqlite3_int64)c->state_ns[i - COLUMN_STATES]);
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = call_id((struct cursor *)cursor);
	return SQLITE_OK;
}

/* No xCreate: it is not in the file, and is there without being created. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

#ifdef PACKED_EXTENSION
int sqlite3_extension_init(sqlite3 *db, char **err, const sqlite3_api_routines *api)
{
	(void)err;
	SQLITE_EXTENSION_INIT2(api);
	return sqlite3_create_module(db, "call_packed", &module, NULL);
}
#else
int packed_table_register(sqlite3 *db)
{
	return sqlite3_create_module(db, "call_packed", &module, NULL);
}
#endif
