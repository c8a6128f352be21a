// SPDX-License-Identifier: Apache-2.0
/*
 * cpu-quota: a thread that feeds the GPU, or a worker that it waited for, was stopped by the
 * bandwidth limit of its control group. Looks like contention from outside; nobody else is to blame.
 */
#include "explain/measure.h"

static uint64_t stopped(const struct facts *f, const struct thread_facts *t, const struct second *s)
{
	(void)f;
	(void)t;
	return s->state_ns[STATE_THROTTLED];
}

bool rule_cpu_quota(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_cpu_quota,
					   .min_hops = 2,
					   .own_ns = stopped,
					   .lost_min_ns = 20000000,
					   .states = 1u << STATE_THROTTLED,
					   .places = ~0u };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	uint32_t pid;

	if (found) {
		measured_finding(f, &q, &m, ret);
		pid = m.own ? m.thread->pid : ret->chain.hop[chain_end(&ret->chain)].pid;
		ret->gain_low_pct = 0; /* more quota may only move the wait to the GPU */
		snprintf(ret->title, sizeof(ret->title),
			 m.own ? "CPU quota: the control group of %s used up its limit"
			       : "CPU quota: the control group of a worker of %s used up its limit",
			 m.thread->process_comm);
		snprintf(ret->basis, sizeof(ret->basis),
			 "the scheduler marked thread %u%s as throttled at each of these switches",
			 m.thread->tid, m.count ? ", or who it waited for," : "");
		add_fix(ret,
			"raise the CPU limit of pid %u (cpu.max, cpu.cfs_quota_us, the pod's "
			"limits.cpu)",
			pid);
	}
	measured_release(&m);
	return found;
}
