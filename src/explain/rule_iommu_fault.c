// SPDX-License-Identifier: Apache-2.0
/*
 * iommu-fault: the IOMMU refused a device its memory, and meanwhile the thread, or a worker that it
 * waited for, waited long for a device of that kind. See verdicts.c.
 */
#include "base/util.h"
#include "explain/measure.h"

/* One of that time, or any. */
static const struct host_facts *fault_of(const struct facts *f, const struct finding *found)
{
	const struct host_facts *any = NULL;

	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event != HOST_iommu_fault)
			continue;
		if (e->at_ns >= found->first_ns && e->first_ns <= found->last_ns)
			return e;
		any = any ? any : e;
	}
	return any;
}

bool rule_iommu_fault(const struct facts *f, const struct thread_facts *first, int n,
		      struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_iommu_fault };
	const struct host_facts *fault;
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		fault = fault_of(f, ret);
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(ret->title, sizeof(ret->title),
			 "IOMMU: %.40s was refused its memory while %s waited for it",
			 fault ? fault->name : "a device", m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"the fault and the long waits fall into the same seconds; first address 0x%llx",
			fault ? (unsigned long long)fault->value : 0);
		add_fix(ret,
			"look for the faults in the kernel's log (dmesg | grep -iE 'iommu|dmar'): a "
			"driver that gives memory back too early, or peer-to-peer through an IOMMU "
			"that does not allow it");
		add_fix(ret,
			"for peer-to-peer between GPUs: iommu=pt, or ACS off on the switch above "
			"them");
	}
	measured_release(&m);
	return found;
}
