/* SPDX-License-Identifier: Apache-2.0 */
/* A trace for the viewers that people use already: flame data, timelines. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "store/store.h"

enum export_format {
	EXPORT_FOLDED, /* one line per stack: outermost;...;innermost weight */
	EXPORT_SPEEDSCOPE, /* https://www.speedscope.app/file-format-schema.json */
	EXPORT_PERFETTO, /* ui.perfetto.dev */
	EXPORT_CHROME, /* chrome://tracing, and many more: JSON */
};

enum export_weight {
	EXPORT_LOST, /* what the findings of `explain` lost */
	EXPORT_WALL, /* all time of the calling threads */
};

struct export_opts {
	enum export_format format;
	enum export_weight weight;
	uint32_t pid; /* 0: all */
	const char *container; /* of timelines; NULL: all */
	struct window window;
	/* How far it is, now and then; non-zero stops and is returned. NULL: nobody asks. */
	int (*progress)(double share, uint64_t slices, void *arg);
	void *progress_arg;
};

/* Weights are nanoseconds. -ENODATA: there is nothing to write; then nothing is. */
int export_stacks(struct store *s, const struct export_opts *opts, FILE *out);

struct export_result {
	uint64_t slices; /* and points */
	uint64_t hidden; /* for which there was no room */
};

/* All that is known, by time: EXPORT_PERFETTO or EXPORT_CHROME. -ENODATA: as above, or opts->container is
 * nobody; -EINVAL: it is several. */
int export_timeline(struct store *s, const struct export_opts *opts, FILE *out,
		    struct export_result *ret);

#endif
