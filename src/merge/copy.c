// SPDX-License-Identifier: Apache-2.0
/* The rows of every table: references become those of the result, everything else stays as it is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "merge/merge_int.h"

#define CALLS_AT_ONCE 200000 /* between two looks at the progress */
#define CALLS_PART 0.8 /* of the work with a file that has many: an estimate, for the bar */

/* A column of the result and how it comes about. */
struct column {
	char *name, *from;
};

struct copying {
	const struct table *t;
	struct column *column;
	int columns;
};

static void copying_free(struct copying *c)
{
	for (int i = 0; i < c->columns; i++) {
		free(c->column[i].name);
		sqlite3_free(c->column[i].from);
	}
	free(c->column);
}

/* ---- columns ---- */

/* What an older file does not tell. */
static const char *default_of(const char *type, bool not_null)
{
	if (!not_null)
		return "NULL";
	if (streq(type, "TEXT"))
		return "''";
	return streq(type, "BLOB") ? "x''" : "0";
}

static char *expression(const struct copying *c, const char *name, const char *type, bool not_null,
			bool in_src)
{
	const char *to = table_ref(c->t, name);

	if (!in_src)
		return sqlite3_mprintf("%s", default_of(type, not_null));
	if (to && streq(to, "call"))
		return sqlite3_mprintf("((p.new >> 32) << 32) | (t.\"%w\" & 4294967295)", name);
	if (to)
		return streq(name, c->t->ref[0].column) ? sqlite3_mprintf("p.new")
							: sqlite3_mprintf("\"m_%w\".new", name);
	if (c->t->ids == IDS_LOCAL && streq(name, "id") && streq(c->t->name, "run"))
		return sqlite3_mprintf("own.new");
	if (c->t->ids == IDS_LOCAL && streq(name, "id"))
		return sqlite3_mprintf("((p.new >> 32) << 32) | (t.id & 4294967295)");
	if (streq(c->t->name, "run") && streq(name, "node"))
		return sqlite3_mprintf("n.new");
	return sqlite3_mprintf("t.\"%w\"", name);
}

static int read_columns(struct merging *m, struct copying *c)
{
	sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf(
		"SELECT d.name, d.type, d.\"notnull\" OR d.pk, s.name IS NOT NULL"
		" FROM pragma_table_info(%Q, 'main') d"
		" LEFT JOIN pragma_table_info(%Q, 'src') s ON s.name=d.name ORDER BY d.cid",
		c->t->name, c->t->name);
	int rc = sql ? sqlite3_prepare_v2(m->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return merge_fail(m, c->t->name);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);
		struct column *to;

		c->column = xrealloc(c->column, (size_t)c->columns + 1, sizeof(*c->column));
		to = &c->column[c->columns++];
		to->name = xstrdup(name);
		to->from = expression(c, name, (const char *)sqlite3_column_text(stmt, 1),
				      sqlite3_column_int(stmt, 2), sqlite3_column_int(stmt, 3));
	}
	return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : merge_fail(m, c->t->name);
}

/* ---- statements ---- */

/* From src, with the maps of what it refers to; "p" has the run and the mode. */
static char *from_clause(const struct table *t)
{
	char *sql = sqlite3_mprintf(" FROM src.\"%w\" t", t->name);

	if (t->ids == IDS_CONTENT)
		return sql;
	if (streq(t->name, "run"))
		return sqlite3_mprintf("%z JOIN temp.map_run own ON own.old=t.id"
				       " JOIN temp.map_node n ON n.old=t.node",
				       sql);
	if (streq(t->ref[0].table, "call"))
		return sqlite3_mprintf("%z JOIN src.call c ON c.id=t.\"%w\""
				       " JOIN temp.map_thread p ON p.old=c.thread",
				       sql, t->ref[0].column);
	sql = sqlite3_mprintf("%z JOIN temp.\"map_%w\" p ON p.old=t.\"%w\"", sql, t->ref[0].table,
			      t->ref[0].column);
	for (int i = 1; sql && i < TABLE_REFS && t->ref[i].column; i++)
		sql = sqlite3_mprintf("%z JOIN temp.\"map_%w\" \"m_%w\" ON \"m_%w\".old=t.\"%w\"",
				      sql, t->ref[i].table, t->ref[i].column, t->ref[i].column,
				      t->ref[i].column);
	return sql;
}

static char *list(const struct copying *c, bool names)
{
	char *sql = sqlite3_mprintf("");

	for (int i = 0; sql && i < c->columns; i++)
		sql = names ? sqlite3_mprintf("%z%s\"%w\"", sql, i ? "," : "", c->column[i].name)
			    : sqlite3_mprintf("%z%s%s", sql, i ? "," : "", c->column[i].from);
	return sql;
}

/* Rows without a key are known by all of their columns. */
static int copy_mode(struct merging *m, const struct copying *c, enum mode mode, const char *more)
{
	const char *whose = streq(c->t->name, "run") ? "own" : "p";
	char *names = list(c, true), *values = list(c, false), *from = from_clause(c->t);
	char *where = c->t->ids == IDS_CONTENT
			      ? sqlite3_mprintf("")
			      : sqlite3_mprintf(" WHERE %s.mode=%d%s", whose, mode, more);
	char *except =
		c->t->keyed || mode == MODE_FRESH
			? sqlite3_mprintf("")
			: sqlite3_mprintf(" EXCEPT SELECT %s FROM main.\"%w\"", names, c->t->name);
	int err;

	err = merge_execf(m, "INSERT OR %s INTO main.\"%w\"(%s) SELECT %s%s%s%s",
			  mode == MODE_NEWER && c->t->ids != IDS_CONTENT ? "REPLACE" : "IGNORE",
			  c->t->name, names, values, from, where, except);
	sqlite3_free(names);
	sqlite3_free(values);
	sqlite3_free(from);
	sqlite3_free(where);
	sqlite3_free(except);
	return err;
}

static void tell(struct merging *m, double part)
{
	if (m->opts->progress)
		m->opts->progress(m->before + m->share * part, m->file, m->opts->arg);
}

/* In pieces: there may be millions. */
static int copy_calls(struct merging *m, const struct copying *c, enum mode mode, double part)
{
	int64_t first = 0, last = 0;
	int err = merge_int(m, &first, "SELECT min(id) FROM src.call");

	if (!err)
		err = merge_int(m, &last, "SELECT max(id) FROM src.call");
	for (int64_t at = first; !err && at <= last;) {
		int64_t to = 0;
		char more[96];

		/* Ids of a file that was merged have holes. */
		err = merge_int(
			m, &to,
			"SELECT coalesce((SELECT id FROM src.call WHERE id >= %lld ORDER BY id"
			" LIMIT 1 OFFSET %d), %lld)",
			at, CALLS_AT_ONCE, last + 1);
		if (err)
			break;
		snprintf(more, sizeof(more), " AND t.id >= %lld AND t.id < %lld", (long long)at,
			 (long long)to);
		err = copy_mode(m, c, mode, more);
		at = to;
		tell(m, part + CALLS_PART * (double)(at - first) / (double)(last + 1 - first));
	}
	return err;
}

static int copy_table(struct merging *m, const struct table *t, double part)
{
	struct copying c = { .t = t };
	int err;

	if (!input_has(m, t->name))
		return 0; /* of an older version */
	err = read_columns(m, &c);
	for (int mode = 0; !err && mode < MODE_COUNT; mode++) {
		if (t->ids == IDS_CONTENT && mode)
			break;
		if (t->ids != IDS_CONTENT && !m->modes[mode])
			continue;
		err = streq(t->name, "call") ? copy_calls(m, &c, (enum mode)mode, part)
					     : copy_mode(m, &c, (enum mode)mode, "");
	}
	copying_free(&c);
	return err;
}

/* The same id, but other words: one of the files is not what it says. */
static int check_content(struct merging *m, const char *table, const char *column)
{
	int64_t n = 0;
	int err = merge_int(m, &n,
			    "SELECT count(*) FROM src.\"%w\" s JOIN main.\"%w\" o ON o.id=s.id"
			    " WHERE o.\"%w\"<>s.\"%w\"",
			    table, table, column, column);

	return err || !n ? err
			 : fail(-EBADMSG, "%s: %lld rows of %s contradict those of other files",
				m->file, (long long)n, table);
}

int copy_tables(struct merging *m)
{
	double part = 0;
	int err = 0, all = 0;

	for (const struct table *t = store_tables; t->name; t++)
		all++;
	for (const struct table *t = store_tables; !err && t->name; t++) {
		if (!streq(t->name, "node")) /* see runs.c */
			err = copy_table(m, t, part);
		part += (1 - CALLS_PART) / all + (streq(t->name, "call") ? CALLS_PART : 0);
		tell(m, part);
	}
	if (!err)
		err = check_content(m, "string", "text");
	if (!err)
		err = check_content(m, "op", "symbol");
	return err;
}
