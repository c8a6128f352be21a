/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of query/ and nobody else. */
#ifndef QUERY_QUERY_INT_H
#define QUERY_QUERY_INT_H

#include <sqlite3.h>

#include "query/query.h"

/* What a statement wants to do, looked at while it is prepared. */
struct guard {
	char refused[160]; /* the first thing that it may not do; "": none */
	bool sampled; /* it reads single events */
};

/* From now on this connection reads, and does nothing else. The guard must outlive it. */
int guard_set(sqlite3 *db, struct guard *g);

/*
 * The module "expand": CREATE VIRTUAL TABLE temp.events USING expand(event_part, duration). A row of the
 * view event_part stands for n events; the table has one for each, without n, total_ns and max_ns, the
 * first columns of the view, but with their duration.
 */
int expand_register(sqlite3 *db);

/*
 * A statement with the same answer that asks the rows which stand for n events, in place of the events. Free
 * with sqlite3_free(). NULL: there is none, or it is not seen.
 */
char *sums_of(const char *sql);

#endif
