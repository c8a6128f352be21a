/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost budget: what was spent in, what is to be given up out. Pure: no clock, no kernel.
 *
 * Things are given up in a fixed order, one at a time, and taken back in the reverse order: times of
 * launches, where these were asked for; then launches, which are then seen for a part of the time only;
 * then stacks; then the scheduling of processes that make no calls. What would gain nothing is passed over.
 */
#ifndef CAPTURE_BUDGET_H
#define CAPTURE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"

/*
 * What was spent since the last time, as shares: 0.01 is 1 %. `launches` to `calls` are those of the
 * process that pays most, of all its threads together, over the time that went by; the other two are
 * shared by all traced processes.
 */
struct budget_sample {
	uint64_t ns; /* that went by, */
	uint64_t sighted_ns; /* ... and of it: launches could be seen */
	double launches;
	double returns; /* of launches: their times */
	double calls; /* all that is never given up */
	double stacks;
	double detail;
	double host; /* of all CPUs: the agent itself, and switches of those who are not traced */
};

struct budget_plan {
	bool shed[SHED_COUNT];
	/* While launches are shed: see them for so long, then do not for so long. */
	uint64_t on_ns, off_ns;
};

/* Something that was given up, and may be tried again. */
struct budget_step {
	bool shed;
	uint64_t since_ns; /* in this condition for so long */
	uint64_t wait_ns; /* before it is tried again; grows when that was too early */
	double cost; /* of the workload, when it was given up */
};

struct budget {
	double limit; /* 0: none */
	struct budget_step step[SHED_COUNT];
	double rest, host, stacks, detail; /* lately */
	double debt; /* share times ns: above the limit lately; below zero: credit */
	uint64_t over_ns; /* without a break */
	double full; /* launches, if they were seen all the time */
	double tail, tail_now; /* share times ns, paid after a window: it takes time to end one */
	unsigned calm, patience; /* windows in a row that would do without; as many are needed */
};

void budget_init(struct budget *b, double limit);

/* Call it every BUDGET_TICK_NS, and at the end of each window in which launches were seen. */
void budget_step(struct budget *b, const struct budget_sample *s, struct budget_plan *ret);

#define BUDGET_TICK_NS 250000000ull

#endif
