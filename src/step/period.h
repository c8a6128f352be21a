/* SPDX-License-Identifier: Apache-2.0 */
/* The period of a sequence of calls. Pure; private to src/step. */
#ifndef STEP_PERIOD_H
#define STEP_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERIODS_MIN 3 /* as many have to be seen before one is believed */
#define NEEDS_MAX 32

/*
 * What a repetition is marked by, best first. Loops are nested, layers in steps in rounds of
 * logging, and all of them repeat. The step is the smallest that has what the best mark does.
 */
enum mark {
	MARK_INPUT, /* a copy to the device: the next batch */
	MARK_RESULT, /* a synchronisation, or a copy back */
	MARK_TALK, /* a collective, a graph */
	MARK_NONE, /* launches, memory: these repeat inside a step as well */
};

struct rhythm {
	uint32_t beats; /* in one period */
	uint32_t anchor; /* the op whose start is the border between two steps */
	uint32_t every; /* how often it comes in a period */
	enum mark mark;
	bool sure; /* few exceptions */
	uint32_t needs; /* ops that each period has: */
	uint32_t need[NEEDS_MAX];
	uint32_t work; /* those of them that give the GPU work, as bits */
};

#define MEMORY 2048 /* beats looked at; a power of two */

/* The rhythm of the last n <= MEMORY ops, neighbours of which differ. False: there is none. */
bool period_find(const uint32_t ops[], size_t n, struct rhythm *ret);

/* Do these ops go on in a rhythm that was found before? */
bool period_holds(const uint32_t ops[], size_t n, const struct rhythm *r);

#endif
