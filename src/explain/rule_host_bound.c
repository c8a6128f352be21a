// SPDX-License-Identifier: Apache-2.0
/* host-bound: the thread's own work between calls is what the GPU waits for. See host.c. */
#include "explain/measure.h"

#define AFFECTED_MIN_NS 2000000000ull
#define AFFECTED_MIN_PCT 20.0

static uint64_t working(const struct facts *f, const struct thread_facts *t, const struct second *s)
{
	(void)f;
	return second_excess(t, s);
}

static bool for_long(const struct thread_facts *t, uint64_t affected)
{
	uint64_t total = 0;

	for (int i = 0; i < t->seconds; i++)
		total += second_total(&t->second[i]);
	return affected >= AFFECTED_MIN_NS || percent(affected, total) >= AFFECTED_MIN_PCT;
}

bool rule_host_bound(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_host_bound,
					   .own_ns = working,
					   .own_guilt = true,
					   .no_waits = true,
					   .states = 1u << STATE_RUN,
					   .places = 1u << CLASS_GAP };
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && for_long(m.thread, m.affected);

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		if (!m.steps)
			ret->gain_low_pct = 0; /* the GPU may have been busy with what is queued */
		snprintf(ret->title, sizeof(ret->title),
			 "Host-bound: the GPU waited for the work of %s itself",
			 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"it ran between calls, and synchronising took %.0f %% of the time: the GPU had "
			"caught up%s",
			percent(m.gpu_wait, m.affected),
			m.thread->quiet_host_ns >= 0
				? "; only what is beyond its usual work for a launch counts"
				: "");
		add_fix(ret,
			"do the work of thread %u beside the loop: in data workers (num_workers), or in a "
			"thread whose code gives the interpreter lock up",
			m.thread->tid);
		add_fix(ret,
			"queue the next step before this one's result is needed, so that the GPU "
			"has work meanwhile");
	}
	measured_release(&m);
	return found;
}
