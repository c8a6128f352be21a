// SPDX-License-Identifier: Apache-2.0
/*
 * copy-bound: the thread waits inside copies between host and GPU. A copy of a few bytes that takes
 * long waits for the GPU's work, not for the copy.
 */
#include "base/units.h"
#include "explain/measure.h"

#define BYTES_PER_SECOND_MIN 200e6

static uint64_t copying(const struct facts *f, const struct thread_facts *t, const struct second *s)
{
	uint64_t ns = s->class[CLASS_COPY].ns;

	(void)f;
	(void)t;
	if (s->warm_up ||
	    (double)second_bytes(s, CLASS_COPY) * 1e9 < BYTES_PER_SECOND_MIN * (double)ns)
		return 0;
	return ns;
}

static uint64_t bytes_of(const struct thread_facts *t)
{
	uint64_t bytes = 0;

	for (int i = 0; i < t->seconds; i++)
		bytes += second_bytes(&t->second[i], CLASS_COPY);
	return bytes;
}

bool rule_copy_bound(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_copy_bound,
					   .own_ns = copying,
					   .own_guilt = true,
					   .no_waits = true,
					   .share_min_pct = 30,
					   .states = ~0u,
					   .places = 1u << CLASS_COPY };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	char bytes[UNITS_CAP];

	if (found) {
		measured_finding(f, &q, &m, ret);
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(ret->title, sizeof(ret->title),
			 "Copies: %s waits inside copies between host and GPU",
			 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"time inside copy calls, %s in all, so %.2f GB/s; that they waited for the copy "
			"and not for the GPU's work before it is assumed from that",
			format_bytes(bytes, sizeof(bytes), bytes_of(m.thread)),
			(double)bytes_of(m.thread) / (double)m.lost);
		add_fix(ret,
			"copy from pinned memory (pin_memory=True) with non_blocking=True, on a "
			"stream of its own, while the GPU computes");
		add_fix(ret, "copy less: smaller types (uint8, bfloat16), convert on the GPU");
	}
	measured_release(&m);
	return found;
}
