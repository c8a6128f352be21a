// SPDX-License-Identifier: Apache-2.0
/*
 * swap: what the thread needs was swapped out. Freeing memory to bring it back is part of the same
 * trouble, so all of that counts here and not as memory-reclaim.
 */
#include "explain/measure.h"

static uint64_t swapping(const struct facts *f, const struct thread_facts *t,
			 const struct second *s)
{
	if (!second_swaps(f, s))
		return 0;
	return second_kernel(t, s) + s->state_ns[STATE_RECLAIM] + s->state_ns[STATE_RECLAIM_WAIT] +
	       s->state_ns[STATE_FAULT];
}

bool rule_swap(const struct facts *f, const struct thread_facts *first, int n, struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_swap,
					   .min_hops = 2,
					   .own_ns = swapping,
					   .states = 1u << STATE_RUN | 1u << STATE_FAULT |
						     1u << STATE_RECLAIM | 1u << STATE_RECLAIM_WAIT,
					   .places = ~0u };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(ret->title, sizeof(ret->title),
			 "Swap: memory of %s was swapped out and had to come back",
			 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"the thread had major faults while the host read pages from swap; that its "
			"time in the kernel (sampled) and in faults went into them is assumed");
		add_fix(ret,
			"give pid %u the memory that it uses (memory.max, the pod's limits.memory), or "
			"let it use less",
			m.thread->pid);
		add_fix(ret, "if others need the memory: keep this one in, memory.swap.max=0 or "
			     "memory.min on its control group");
	}
	measured_release(&m);
	return found;
}
