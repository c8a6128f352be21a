// SPDX-License-Identifier: Apache-2.0
/*
 * sync-too-often: the thread waits for the GPU after every little work, so neither is ever ahead.
 * See host.c. Lost is what its launches take longer than usual or, where that is not known or is
 * less, the gaps beside the short synchronisations, or those in which the GPU is known to be idle.
 */
#include "base/util.h"
#include "explain/measure.h"

static uint64_t beside(const struct second *s)
{
	uint64_t syncs =
		max_u64(s->short_sync[LAYER_RUNTIME].count, s->short_sync[LAYER_DRIVER].count);
	double share;

	if (2 * syncs < second_calls(s, CLASS_SYNC)) /* most are long */
		return second_idle_beside(s);
	if (!s->short_gap.count)
		return 0;
	share = 2.0 * (double)syncs / (double)s->short_gap.count;
	return (uint64_t)((double)s->short_gap.ns * (share < 1 ? share : 1));
}

static uint64_t stopping(const struct facts *f, const struct thread_facts *t,
			 const struct second *s)
{
	uint64_t total = second_total(s), usual;

	(void)f;
	if (s->load != LOAD_syncs)
		return 0;
	usual = t->quiet_launch_ns < 0 ? total
				       : (uint64_t)(t->quiet_launch_ns * (double)s->launches);
	return min_u64(max_u64(beside(s), total > usual ? total - usual : 0), total);
}

bool rule_sync_too_often(const struct facts *f, const struct thread_facts *first, int n,
			 struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_sync_too_often,
					   .own_ns = stopping,
					   .own_guilt = true,
					   .no_waits = true,
					   .share_min_pct = 5,
					   .states = ~0u,
					   .places = 1u << CLASS_SYNC };
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && m.launches;

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		if (!m.steps)
			ret->gain_low_pct = 0;
		snprintf(ret->title, sizeof(ret->title),
			 "Synchronises too often: %s waits for the GPU %.0f times a second",
			 m.thread->process_comm, (double)m.syncs * 1e9 / (double)m.affected);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"%.2f synchronisations for each launch; counted are the gaps beside them, in "
			"which the GPU has nothing to do, or what launches take longer than usual",
			(double)m.syncs / (double)m.launches);
		add_fix(ret, "do not ask for results in between: .item(), .cpu(), print(tensor), "
			     "if tensor: and cudaStreamSynchronize wait for everything queued");
		add_fix(ret, "collect what is to be logged on the GPU, and fetch it every hundred "
			     "steps");
	}
	measured_release(&m);
	return found;
}
