/* SPDX-License-Identifier: Apache-2.0 */
/* SQL of anybody on a trace: it can read what is in the file, for a while, and nothing else. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct query_opts {
	uint64_t timeout_ns; /* 0: none */
	uint64_t rows_max; /* 0: all */
	uint64_t memory_max; /* bytes; of this process while a query is open. 0: any */
	const volatile int *stop; /* ends the query when it becomes non-zero; NULL: nothing does */
};

struct query;

/* Opens the trace for one query after another, on a connection of its own. */
int query_open(const char *path, const struct query_opts *opts, struct query **ret);
void query_close(struct query *q);

enum query_type { QUERY_NULL, QUERY_INT, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

struct query_value {
	enum query_type type;
	int64_t i;
	double real;
	const char *text; /* ends in NUL, and may have some before */
	const void *blob;
	size_t len; /* of text and blob */
};

/* Both may return non-zero, which ends the query and is returned. Everything is borrowed. */
struct query_sink {
	int (*columns)(const char *const *name, int n, void *arg);
	int (*row)(const struct query_value *value, int n, void *arg);
	void *arg;
};

struct query_result {
	uint64_t rows;
	bool cut; /* there are more than rows_max */
	bool sampled; /* it read a table that holds some events only, in a trace that is not complete */
};

/*
 * One statement that reads. -EPERM: it would do something else; -EINVAL: it is no SQL; -ETIMEDOUT: it
 * took too long; -EINTR: *opts->stop; -ENOMEM: memory_max. *ret is filled in any case.
 */
int query_run(struct query *q, const char *sql, const struct query_sink *sink,
	      struct query_result *ret);

/* The tables and views with their comments: SQL that makes them. */
void query_schema(FILE *out);

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/* Run it and print the answer; notes of what it is not go to notes (may be NULL), in JSON into it. */
int query_print(struct query *q, const char *sql, enum query_format format, FILE *out, FILE *notes);

#endif
