// SPDX-License-Identifier: Apache-2.0
/*
 * self-sleep: somebody left a sleep in the loop. A program that sleeps because there is nothing to
 * do is healthy; so is one that sleeps inside launches until the GPU's queue has room.
 */
#include "base/util.h"
#include "explain/measure.h"

#define QUEUE_MIN 256 /* launches between two synchronisations that might have filled a queue */

static bool waits_for_room(const struct measured *m)
{
	return m->count * 2 >= m->launches && m->launches >= QUEUE_MIN * max_u64(m->syncs, 1);
}

bool rule_self_sleep(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_self_sleep, .gaps_only = true };
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && (measured_paced(&m) || measured_stuck(&m)) &&
		     !waits_for_room(&m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		snprintf(ret->title, sizeof(ret->title), "Sleep: %s sleeps by itself in its loop",
			 m.thread->process_comm);
		snprintf(ret->basis, sizeof(ret->basis),
			 "%s; %.1f ms at a time on average, between calls of thread %u",
			 ret->evidence == EVIDENCE_INFERRED
				 ? "waits that nothing but their own time limit ended"
				 : "sleeps that a timer ended, as they asked for",
			 (double)m.lost / 1e6 / (double)(m.count ? m.count : 1), m.thread->tid);
		add_fix(ret,
			"find the sleep in thread %u of pid %u (time.sleep, a poll with a time limit) and "
			"wait for what it stands for instead",
			m.thread->tid, m.thread->pid);
	}
	measured_release(&m);
	return found;
}
