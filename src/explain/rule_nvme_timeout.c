// SPDX-License-Identifier: Apache-2.0
/*
 * nvme-timeout: the thread, or a worker that it waited for, waited ten seconds or more for a file on
 * an NVMe disk, and a request of that very disk took as long: it did not answer, and was reset. See
 * verdicts.c.
 */
#include "base/units.h"
#include "base/util.h"
#include "explain/measure.h"

/* The disk that was stuck longest in that time. */
static const struct host_facts *stuck_disk(const struct facts *f, const struct finding *found)
{
	const struct host_facts *worst = NULL;

	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (facts_disk_stuck(e) && e->at_ns >= found->first_ns &&
		    e->first_ns <= found->last_ns && (!worst || e->ns > worst->ns))
			worst = e;
	}
	return worst;
}

bool rule_nvme_timeout(const struct facts *f, const struct thread_facts *first, int n,
		       struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_nvme_timeout };
	const struct host_facts *disk;
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	char ns[UNITS_CAP];

	if (found) {
		measured_finding(f, &q, &m, ret);
		disk = stuck_disk(f, ret);
		snprintf(ret->title, sizeof(ret->title),
			 "Disk timeout: %s waited while %.40s did not answer",
			 m.thread->process_comm, disk ? disk->name : "its disk");
		snprintf(
			ret->basis, sizeof(ret->basis),
			"%llu requests of that disk took %s in all, and waits for files on it ended "
			"with them; why it was stuck is in the kernel's log",
			(unsigned long long)(disk ? disk->count : 0),
			format_ns(ns, sizeof(ns), disk ? disk->ns : 0));
		add_fix(ret,
			"look for resets and errors of %.40s: dmesg | grep -i nvme, nvme smart-log, "
			"nvme error-log",
			disk ? disk->name : "the disk");
		add_fix(ret,
			"check its firmware, its temperature and the PCIe link (lspci -vv); a lower "
			"nvme_core.io_timeout makes it give up sooner");
	}
	measured_release(&m);
	return found;
}
