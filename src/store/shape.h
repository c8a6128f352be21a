/* SPDX-License-Identifier: Apache-2.0 */
/* Files of older versions: what their tables look like, next to what they look like now. */
#ifndef STORE_SHAPE_H
#define STORE_SHAPE_H

#include "store/store_int.h"

/* A database in memory with the present schema, and nothing in it. */
int shape_now(sqlite3 **ret);

/* A table of the present schema, and how it is in a file. */
struct shape {
	const char *table, *sql; /* sql: that makes it now */
	bool missing; /* in the file */
	bool same; /* column by column */
	char *columns; /* of the present: "id, thread" */
	char *values; /* for each of them what an old row has for it, as SQL */
};

/* Call fn for each table; strings are borrowed for the length of the callback. */
int shape_each(struct store *s, sqlite3 *now,
	       int (*fn)(struct store *s, const struct shape *, void *), void *arg);

/* Call fn with the name and SQL of each object of that type ("view", "index") of the present schema. */
int shape_objects(sqlite3 *now, const char *type,
		  int (*fn)(struct store *s, const char *name, const char *sql, void *arg),
		  struct store *s, void *arg);

/* Run what a printf() of it gives. */
int shape_exec(struct store *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
