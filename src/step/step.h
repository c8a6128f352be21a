/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps without a framework hook: a training loop repeats itself, so the sequence of its calls has a
 * period. Pure: beats in, steps out.
 */
#ifndef STEP_STEP_H
#define STEP_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

/* Where the time of a step went; the parts add up to dur_ns. */
struct step {
	uint64_t index; /* counts up per thread, from 0 at the first period that was recognised */
	uint64_t start_ns, dur_ns;
	uint64_t host_ns; /* running between calls, and in launches, which are not timed */
	uint64_t data_ns; /* not running between calls */
	uint64_t copy_ns, sync_ns, coll_ns;
	uint64_t other_ns; /* in allocations, modules, graphs and the like */
	uint64_t
		idle_ns; /* of all this: the GPU had nothing to do from this thread (lower bound) */
};

struct stepper;

struct stepper *stepper_new(void);
void stepper_free(struct stepper *s);

/* Finished beats of one thread, in order. fn hears of each step that they complete. */
typedef void (*step_fn)(const struct step *step, void *arg);
void stepper_add(struct stepper *s, const struct beat *beats, size_t n, step_fn fn, void *arg);

/* Beats were lost here: no step spans this place. */
void stepper_break(struct stepper *s);

/* Launches may be missing from here on: whether the GPU has work is not known. */
void stepper_blind(struct stepper *s, bool blind);

/* The present period: beats per step and the median step time; false: no rhythm found. */
bool stepper_period(const struct stepper *s, uint32_t *beats, uint64_t *median_ns);

#endif
