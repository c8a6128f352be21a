/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time between two places of a thread's beats went. Private to src/step. */
#ifndef STEP_SPLIT_H
#define STEP_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "step/step.h"

enum part { PART_SYNC, PART_COLL, PART_COPY, PART_OTHER, PART_DATA, PART_COUNT };

struct split {
	uint64_t start_ns;
	uint64_t part_ns[PART_COUNT];
	uint64_t idle_ns;
	/* These go on across steps: */
	uint64_t
		idle_since_ns; /* all work was waited for, and no more was given since; 0: not known */
	uint64_t end_ns; /* of the last beat */
	bool blind; /* launches may be missing: that it is idle is never known */
	uint64_t wait_left_ns; /* of the beat that begins: not running between its own calls */
};

/* The next beats do not follow those before. */
void split_reset(struct split *s);

/* For each beat: what came before it, then a border if there is one, then the beat itself. */
void split_gap(struct split *s, const struct beat *b);
void split_border(struct split *s, uint64_t ns, struct step *ret); /* ret: of what ends; or NULL */
void split_beat(struct split *s, const struct beat *b);

#endif
