/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a cause there is: what most rules do, each with its own question. */
#ifndef EXPLAIN_MEASURE_H
#define EXPLAIN_MEASURE_H

#include "explain/facts.h"

#define SHARE_MIN_PCT 5.0 /* of an interval: below, it is the price of a shared machine */
#define LOST_MIN_NS 50000000ull
#define REPEATED_MIN 3 /* waits, unless one of them is LONG_NS */
#define LONG_NS 100000000ull

/* What to add up. Waits are those with this verdict; own_ns is what the thread did by itself. */
struct question {
	enum cause_id cause;
	int min_hops; /* 2: only waits for somebody else; the thread's own are in own_ns */
	uint64_t (*own_ns)(const struct facts *f, const struct thread_facts *t,
			   const struct second *s); /* NULL: nothing */
	double share_min_pct; /* 0: SHARE_MIN_PCT */
	uint64_t lost_min_ns; /* 0: LOST_MIN_NS */
	bool no_waits; /* own_ns alone */
	bool gaps_only; /* waits between calls */
	bool holder; /* who held a lock is not always seen: show a chain that names him */
	bool own_guilt; /* own_ns is the process's own doing: it is the culprit of that */
	uint32_t states, places; /* of own_ns, to find rows of `call` that carry it */
};

/* The answer: of the thread that lost most. Threads wait at the same time, so it is not summed. */
struct measured {
	const struct thread_facts *thread;
	uint64_t lost, own, affected; /* own: of lost, without a chain */
	uint64_t count, max_ns; /* of waits */
	uint64_t first, last;
	/* Of the affected intervals: */
	uint64_t gpu_wait, steps, idle, launches, syncs, busy;
	uint64_t sleeping; /* of lost: whoever was waited for slept */
	uint64_t inferred, healed; /* of lost */
	uint64_t open; /* of lost: not over when the trace ended */
	uint32_t states, places;
	struct culprit *culprit; /* most first */
	int culprits;
	int chain; /* that is shown, with most of it; -1: none */
	uint64_t chain_ns;
	struct thing object; /* with most of it, of so many: */
	int objects;
};

/* False: not enough of it. Release in any case. */
bool measure(const struct facts *f, const struct thread_facts *first, int n,
	     const struct question *q, struct measured *ret);
void measured_release(struct measured *m);

/* As often as the steps, by a thread that is at work: not a server between requests. */
bool measured_paced(const struct measured *m);

/* One long wait that never ended, of a thread that was at work until then. */
bool measured_stuck(const struct measured *m);

/* Everything of a finding but its title, basis and fix. */
void measured_finding(const struct facts *f, const struct question *q, const struct measured *m,
		      struct finding *ret);

/* One more of the culprits, by pid. Also for rules that know them otherwise. */
void add_culprit(struct culprit **list, int *n, const struct culprit *more);
void sort_culprits(struct culprit *list, int n);

#endif
