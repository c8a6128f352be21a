/* SPDX-License-Identifier: Apache-2.0 */
/* What period.c and bags.c share. */
#ifndef STEP_PERIOD_INT_H
#define STEP_PERIOD_INT_H

#include "step/period.h"
#include "wire/event.h"

#define RARE 9 /* an op that comes in less than one of so many periods is not part of them */

/* One op of the sequence. */
struct type {
	uint32_t op;
	enum op_class class;
	enum mark mark;
	bool work; /* gives the GPU something to do */
	uint32_t total, kept; /* how often it is there, before and after rare ops were taken out */
	uint32_t again; /* ... and comes again one period later */
	uint32_t every; /* how often in a period; 0: not in each of them */
	uint32_t steady; /* the share of `again`, in twentieths */
};

struct search {
	size_t n, types;
	struct type type[MEMORY];
	uint16_t seq[MEMORY]; /* numbers of types */
	/* Without rare ops: */
	uint16_t kept[MEMORY];
	size_t kept_n;
	uint32_t floor;
	double sum[MEMORY + 1]; /* of the weights before it; each op's weights add up to 1 */
	enum mark mark;
	bool step_like;
};

/* The rhythm in which the types with `every` set come again. */
bool period_describe(struct search *s, uint32_t beats, struct rhythm *ret);

/* A rhythm of passes with equal contents but not of equal order; only that of `like`, unless NULL. */
bool bags_find(struct search *s, const struct rhythm *like, struct rhythm *ret);

#endif
