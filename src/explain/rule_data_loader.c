// SPDX-License-Identifier: Apache-2.0
/*
 * data-loader: a worker was slow by its own work, and the thread waited for what it makes. A worker
 * that sleeps may have nothing to do; then it is only blamed if that happens in every step.
 */
#include "explain/measure.h"

bool rule_data_loader(const struct facts *f, const struct thread_facts *first, int n,
		      struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_data_loader };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	bool sleeps = m.sleeping * 2 > m.lost;

	found = found && m.culprits &&
		(sleeps ? measured_paced(&m) || measured_stuck(&m)
			: thread_busy(m.thread) >= BUSY_MIN_PCT);
	if (found) {
		measured_finding(f, &q, &m, ret);
		snprintf(ret->title, sizeof(ret->title),
			 "Data loader: %s waited for its worker%s (%s, pid %u)",
			 m.thread->process_comm, m.culprits > 1 ? "s" : "", ret->culprit[0].comm,
			 ret->culprit[0].pid);
		snprintf(ret->basis, sizeof(ret->basis),
			 "the worker sent what was waited for, and %s until then",
			 sleeps ? "slept" : "ran on a CPU");
		if (sleeps)
			add_fix(ret,
				"find out why %s (pid %u) sleeps: a rate limit, a retry, a poll "
				"with a pause",
				ret->culprit[0].comm, ret->culprit[0].pid);
		else
			add_fix(ret,
				"start more workers (num_workers) on CPUs that are free, and let "
				"them work ahead (prefetch_factor, persistent_workers=True)");
		add_fix(ret,
			"make the work of a batch cheaper: prepare it once and store it, or do it "
			"on the GPU");
	}
	measured_release(&m);
	return found;
}
