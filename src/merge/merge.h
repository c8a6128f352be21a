/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of several nodes as one. What was there is never changed; the result appears when it is whole. */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include <stdint.h>

struct merge_opts {
	char *const *input;
	int inputs;
	const char *output; /* one that was merged before is added to */
	const char *force_node; /* the node of all inputs, whatever they say; NULL: what they say */
	const volatile int *stop; /* ends it when it becomes non-zero; NULL: nothing does */
	/* How far it is, from 0 to 1, and with which file; NULL: nobody asks. */
	void (*progress)(double part, const char *file, void *arg);
	/* What the user should know of, a sentence; NULL: nobody asks. */
	void (*warn)(const char *text, void *arg);
	void *arg;
};

struct merge_result {
	uint64_t nodes, runs, bytes;
	uint64_t added, known; /* runs */
};

int merge_traces(const struct merge_opts *opts, struct merge_result *ret);

#endif
