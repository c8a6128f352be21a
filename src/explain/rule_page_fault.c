// SPDX-License-Identifier: Apache-2.0
/*
 * page-fault: the thread writes to memory that it has not got yet, page by page. The faults are
 * counted by the kernel; the time in them is the time in the kernel beyond what is usual.
 */
#include "explain/measure.h"

/* A program that always has many faults may be like that: from here on it hurts. */
#define ALWAYS_MIN_PCT 25.0

static uint64_t faulting(const struct facts *f, const struct thread_facts *t,
			 const struct second *s)
{
	uint64_t ns = second_kernel(t, s);

	if (!second_faults(s) || second_swaps(f, s))
		return 0;
	if (t->always_faults && percent(ns, second_total(s)) < ALWAYS_MIN_PCT)
		return 0;
	return ns;
}

bool rule_page_fault(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_page_fault,
					   .own_ns = faulting,
					   .own_guilt = true,
					   .share_min_pct = 10,
					   .states = 1u << STATE_RUN | 1u << STATE_FAULT,
					   .places = 1u << CLASS_GAP };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(ret->title, sizeof(ret->title),
			 "Page faults: %s spends its time getting memory page by page",
			 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"page faults are counted; that the time in the kernel (sampled, beyond %.1f %% "
			"that it spends there otherwise) went into them is assumed",
			100 * m.thread->quiet_kernel);
		add_fix(ret,
			"use buffers again instead of new ones in each step; after a fork, write "
			"less of what the child shares");
		add_fix(ret, "let the allocator keep its memory (MALLOC_TRIM_THRESHOLD_, "
			     "MALLOC_MMAP_THRESHOLD_), or use huge pages: madvise(MADV_HUGEPAGE)");
	}
	measured_release(&m);
	return found;
}
