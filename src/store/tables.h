/* SPDX-License-Identifier: Apache-2.0 */
/* Every table of the schema: how its rows are told apart, what they refer to, which columns are times. */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <stdbool.h>

#define TABLE_REFS 3

enum table_ids {
	IDS_CONTENT, /* hashes of what is in the row, in all files the same */
	IDS_LOCAL, /* the column id is a number of this file */
	IDS_NONE, /* no id; what it refers to and the primary key, if there is one, tell its rows apart */
};

struct table {
	const char *name;
	enum table_ids ids;
	bool keyed; /* it has a primary key */
	/* References to tables with local ids. The first says which run the row is of. */
	struct {
		const char *column, *table;
	} ref[TABLE_REFS];
	const char *
		times; /* columns with a time of the wall clock, between blanks: " at_ns first_ns " */
};

/* Parents first; ends with a row without a name. */
extern const struct table store_tables[];

const struct table *table_find(const char *name);

/* Is the column one of its times? */
bool table_is_time(const struct table *t, const char *column);

/* The table that a column refers to, if that has local ids; else NULL. */
const char *table_ref(const struct table *t, const char *column);

#endif
