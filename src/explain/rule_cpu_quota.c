// SPDX-License-Identifier: Apache-2.0
/*
 * cpu-quota: a thread that feeds the GPU was stopped by the bandwidth limit of its control group.
 * Looks like contention from outside; nobody else is to blame.
 */
#include "base/util.h"
#include "explain/facts.h"

#define SHARE_MIN_PCT 5.0
#define LOST_MIN_NS 20000000ull

bool rule_cpu_quota(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	const struct thread_facts *t = NULL;
	struct finding worst = { 0 };

	for (int i = 0; i < n; i++) {
		struct finding now = { .thread = first[i].id };

		for (int k = 0; k < first[i].seconds; k++) {
			const struct second *s = &first[i].second[k];
			uint64_t stopped = s->state_ns[STATE_THROTTLED], total = second_total(s);

			if (percent(stopped, total) < SHARE_MIN_PCT)
				continue;
			now.lost_ns += stopped;
			now.affected_ns += total;
			now.last_ns = s->at_ns;
			if (!now.first_ns)
				now.first_ns = s->at_ns - min_u64(total, s->at_ns);
		}
		if (now.lost_ns > worst.lost_ns) {
			worst = now;
			t = &first[i];
		}
	}
	if (!t || worst.lost_ns < LOST_MIN_NS)
		return false;

	*ret = worst;
	ret->cause = "cpu-quota";
	ret->lost_pct = percent(worst.lost_ns, worst.affected_ns);
	ret->gain_high_pct = ret->lost_pct;
	ret->evidence = EVIDENCE_PROVEN;
	ret->severity = severity_of(f, ret);
	snprintf(ret->title, sizeof(ret->title),
		 "CPU quota: the control group of %s used up its limit", t->process_comm);
	snprintf(ret->basis, sizeof(ret->basis),
		 "the scheduler marked thread %u as throttled at each of these switches", t->tid);
	add_fix(ret,
		"raise the CPU limit of pid %u (cpu.max, cpu.cfs_quota_us, the pod's limits.cpu)",
		t->pid);
	return true;
}
