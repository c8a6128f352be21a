// SPDX-License-Identifier: Apache-2.0
/*
 * launch-bound: kernels so small that launching them takes longer than running them. See host.c. Lost is
 * what a round takes longer than it does when the thread is well, as with graphs; where it never is, or
 * where its rounds were not shorter then, nothing is known of the kernels, and it is all of the launching.
 */
#include "base/util.h"
#include "explain/measure.h"

static uint64_t launching(const struct facts *f, const struct thread_facts *t,
			  const struct second *s)
{
	uint64_t host = second_host(t, s), total = second_total(s);
	double usual = t->quiet_round_ns * (double)second_drains(s);
	bool known = usual > 0 && usual < (double)total;

	(void)f;
	if (s->load != LOAD_launches && !(known && second_beside(t, s, LOAD_launches)))
		return 0;
	return known ? min_u64(host, total - (uint64_t)usual) : host;
}

bool rule_launch_bound(const struct facts *f, const struct thread_facts *first, int n,
		       struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_launch_bound,
					   .own_ns = launching,
					   .own_guilt = true,
					   .no_waits = true,
					   .share_min_pct = 30,
					   .lost_min_ns = 500000000,
					   .states = 1u << STATE_RUN,
					   .places = 1u << CLASS_GAP };
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && m.launches;

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		if (!m.steps)
			ret->gain_low_pct = 0;
		snprintf(ret->title, sizeof(ret->title),
			 "Launch-bound: %s launches %.0f kernels a second, one by one",
			 m.thread->process_comm, (double)m.launches * 1e9 / (double)m.affected);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"%.1f us of the host for each launch, in short gaps; synchronising took %.0f %% "
			"of the time: the GPU had caught up",
			(double)(m.affected - min_u64(m.gpu_wait, m.affected)) / 1e3 /
				(double)m.launches,
			percent(m.gpu_wait, m.affected));
		add_fix(ret, "launch many at once: CUDA graphs (torch.cuda.graph, "
			     "torch.compile(mode=\"reduce-overhead\"))");
		add_fix(ret,
			"make kernels larger: fuse them (torch.compile), larger batches, foreach "
			"optimizers");
	}
	measured_release(&m);
	return found;
}
