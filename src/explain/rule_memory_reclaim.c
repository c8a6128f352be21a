// SPDX-License-Identifier: Apache-2.0
/*
 * memory-reclaim: the thread, or a worker that it waited for, had to free memory before it got any.
 * Where pages come back from swap, swap is the name of the same trouble.
 */
#include "explain/measure.h"

static uint64_t reclaiming(const struct facts *f, const struct thread_facts *t,
			   const struct second *s)
{
	(void)t;
	if (second_swaps(f, s))
		return 0;
	return s->state_ns[STATE_RECLAIM] + s->state_ns[STATE_RECLAIM_WAIT];
}

bool rule_memory_reclaim(const struct facts *f, const struct thread_facts *first, int n,
			 struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_memory_reclaim,
					   .min_hops = 2,
					   .own_ns = reclaiming,
					   .states = 1u << STATE_RECLAIM | 1u << STATE_RECLAIM_WAIT,
					   .places = ~0u };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		snprintf(
			ret->title, sizeof(ret->title),
			m.own * 2 >= m.lost
				? "Memory reclaim: %s had to free memory before it got any"
				: "Memory reclaim: a worker of %s had to free memory before it got any",
			m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"the kernel marks a task that reclaims: all of that time of thread %u, running "
			"and waiting",
			m.thread->tid);
		add_fix(ret,
			"raise the memory limit of pid %u (memory.max, memory.limit_in_bytes, the pod's "
			"limits.memory), or use less: smaller batches in flight, fewer workers",
			m.thread->pid);
		add_fix(ret,
			"what it reads or writes once need not stay in the page cache: O_DIRECT, "
			"posix_fadvise(DONTNEED)");
	}
	measured_release(&m);
	return found;
}
