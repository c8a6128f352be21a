// SPDX-License-Identifier: Apache-2.0
/* lock: the thread, or a worker that it waited for, waited for a lock that somebody held. */
#include "explain/measure.h"

bool rule_lock(const struct facts *f, const struct thread_facts *first, int n, struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_lock };
	const struct hop *holder;
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && m.chain >= 0;

	found = found &&
		thread_busy(m.thread) >= (m.sleeping * 2 > m.lost ? BUSY_ASLEEP_PCT : BUSY_MIN_PCT);

	if (found) {
		measured_finding(f, &q, &m, ret);
		holder = &ret->chain.hop[chain_end(&ret->chain)];
		snprintf(ret->title, sizeof(ret->title),
			 holder->pid == m.thread->pid
				 ? "Lock: %s waited for a lock that its thread %u (%s) held"
				 : "Lock: %s was held up by a lock that thread %u (%s) held",
			 m.thread->process_comm, holder->tid, holder->comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"thread %u released it, and %s while it was waited for; a queue that it feeds "
			"would look the same",
			holder->tid, m.sleeping * 2 > m.lost ? "slept or waited" : "worked");
		add_fix(ret,
			"hold it shorter: thread %u of %s (pid %u) should do its work first and take the "
			"lock then",
			holder->tid, holder->comm, holder->pid);
		add_fix(ret, "or give each side its own copy, so that the loop needs no lock in a "
			     "step");
	}
	measured_release(&m);
	return found;
}
