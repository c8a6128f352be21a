/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of merge/ and nobody else. */
#ifndef MERGE_MERGE_INT_H
#define MERGE_MERGE_INT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "merge/merge.h"
#include "store/tables.h"

/* How rows of a run meet those that are there; as the column mode of temp.map_*. */
enum mode {
	MODE_FRESH, /* the run is new */
	MODE_NEWER, /* it is known, and this file knows more of it */
	MODE_OLDER, /* ... less, or the same */
	MODE_COUNT,
};

struct merging {
	const struct merge_opts *opts;
	sqlite3 *db; /* the result, until it has its name; the input is attached as src */
	const char *file; /* the input */
	const char *force_node; /* its node, whatever it says; NULL: what it says */
	double before, share; /* of the work: done before this input, and this input's */
	bool merged; /* the input is a result of ours */
	bool is_output; /* ... the one that is added to: its runs are neither new nor known */
	bool modes[MODE_COUNT]; /* that its runs have */
	struct merge_result result;
};

/* Run SQL; the sentence about an error names the input. fmt is SQLite's: %Q, %w, %lld for an int64_t. */
int merge_exec(struct merging *m, const char *sql);
int merge_execf(struct merging *m, const char *fmt, ...);

/* The first column of the first row; no row is 0. */
int merge_int(struct merging *m, int64_t *ret, const char *fmt, ...);
int merge_fail(struct merging *m, const char *doing);

/* ---- input.c: is it a trace, and whose ---- */
int input_attach(struct merging *m);
void input_detach(struct merging *m);
bool input_has(struct merging *m, const char *table);

/* ---- runs.c: which run is which: fills temp.map_* (old, new, mode) for every table with local ids ---- */
int runs_map(struct merging *m);

/* Of the last run of the input that is attached: where its rows will lie. */
int runs_number(struct merging *m, int64_t *ret);

/* ---- copy.c: the rows of every table ---- */
int copy_tables(struct merging *m);

/* ---- clocks.c: how far the nodes' clocks are apart ---- */
int clocks_compare(struct merging *m);

#endif
