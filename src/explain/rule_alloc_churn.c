// SPDX-License-Identifier: Apache-2.0
/* alloc-churn: GPU memory is allocated and freed all the time. Timed calls: exact. */
#include "base/units.h"
#include "explain/measure.h"

#define CALLS_MIN 10 /* per second */

static uint64_t allocating(const struct facts *f, const struct thread_facts *t,
			   const struct second *s)
{
	uint64_t calls = second_calls(s, CLASS_ALLOC) + second_calls(s, CLASS_FREE);

	(void)f;
	(void)t;
	if (s->warm_up || (double)calls * 1e9 < (double)CALLS_MIN * (double)second_total(s))
		return 0;
	return s->class[CLASS_ALLOC].ns + s->class[CLASS_FREE].ns;
}

bool rule_alloc_churn(const struct facts *f, const struct thread_facts *first, int n,
		      struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_alloc_churn,
					   .own_ns = allocating,
					   .own_guilt = true,
					   .no_waits = true,
					   .share_min_pct = 5,
					   .states = ~0u,
					   .places = 1u << CLASS_ALLOC | 1u << CLASS_FREE };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		snprintf(ret->title, sizeof(ret->title),
			 "Allocation churn: %s allocates and frees GPU memory all the time",
			 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"time inside the allocating and freeing calls of thread %u; a free waits for "
			"the GPU as well",
			m.thread->tid);
		add_fix(ret,
			"keep buffers and use them again: a caching allocator (PyTorch's, RMM), "
			"or cudaMallocAsync with a pool");
		add_fix(ret, "in PyTorch: drop torch.cuda.empty_cache() from the loop, and set "
			     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
	}
	measured_release(&m);
	return found;
}
