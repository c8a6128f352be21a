/* SPDX-License-Identifier: Apache-2.0 */
/* A chain becomes a verdict: the cause, who is to blame, what it was about. Pure, by tables. */
#ifndef EXPLAIN_CLASSIFY_H
#define EXPLAIN_CLASSIFY_H

#include "explain/explain.h"
#include "wire/ops.h"

/* A wait that nobody needs to look at. */
enum healthy {
	HEALTHY_no,
	HEALTHY_gpu, /* the GPU was at work */
	HEALTHY_idle, /* there was nothing to do: a server between requests */
	HEALTHY_turn, /* another thread of the process fed the GPU meanwhile */
	HEALTHY_small, /* the price of a shared machine: waking up, the driver's own locks */
};

#define WHO_NOBODY (-1)
#define WHO_CPU (-2) /* whoever had the CPU of the last hop: its cpu_pid */

struct verdict {
	enum cause_id cause; /* CAUSE_none: healthy says why */
	enum healthy healthy;
	int who; /* the culprit's hop, or WHO_* */
	int what; /* the hop whose object it is about; -1: none */
	bool inferred; /* by a rule that the basis must state */
	bool worked; /* of a turn: the other thread ran, it did not wait for anything in its turn */
};

/* What is known from elsewhere about the second in which it happened. */
struct around {
	bool swapping; /* the host read pages back from swap */
	bool resent; /* packets of the awaited connection were sent again */
	bool killed; /* a process of this family was killed for want of memory just before */
	int feeder; /* the first hop behind hop 0 that feeds the GPU itself, in this process; 0: none */
};

/* place: the class of the call in which the wait began, CLASS_GAP between two. */
struct verdict classify(const struct chain *c, enum op_class place, const struct around *around);

/* Another calling thread of the process had its turn; its own time is judged where it spent it. */
struct verdict turn_of(const struct chain *c, int feeder);

/* The hop that decides: the last one that is not the kernel as a messenger. */
int chain_end(const struct chain *c);

/* The first hop that waits on a connection of its own making; -1: none. */
int chain_tcp(const struct chain *c);

#endif
