/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as flame data, for the viewers that people use already. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdio.h>

#include "store/store.h"

enum export_format {
	EXPORT_FOLDED, /* one line per stack: outermost;...;innermost weight */
	EXPORT_SPEEDSCOPE, /* https://www.speedscope.app/file-format-schema.json */
};

enum export_weight {
	EXPORT_LOST, /* what the findings of `explain` lost */
	EXPORT_WALL, /* all time of the calling threads */
};

struct export_opts {
	enum export_format format;
	enum export_weight weight;
	uint32_t pid; /* 0: all */
	struct window window;
};

/* Weights are nanoseconds. -ENODATA: there is nothing to write; then nothing is. */
int export_stacks(struct store *s, const struct export_opts *opts, FILE *out);

#endif
