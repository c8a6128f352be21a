// SPDX-License-Identifier: Apache-2.0
/*
 * nvme-timeout: the thread, or a worker that it waited for, waited for a file on a disk whose driver gave
 * up waiting for it just then, or waited ten seconds or more, as long as a request of that very disk took.
 * See verdicts.c.
 */
#include "base/units.h"
#include "base/util.h"
#include "explain/measure.h"

/* Of that time: the disk that was stuck longest, and what happened to it. */
struct stuck {
	const struct host_facts *worst;
	uint64_t timeouts, resets;
};

static struct stuck stuck_disk(const struct facts *f, const struct finding *found)
{
	struct stuck ret = { 0 };

	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (!facts_disk_stuck(e) || e->at_ns < found->first_ns ||
		    e->first_ns > found->last_ns)
			continue;
		if (!ret.worst || e->ns > ret.worst->ns)
			ret.worst = e;
		ret.timeouts += e->event == HOST_disk_timeout ? e->count : 0;
		ret.resets += e->event == HOST_disk_reset ? e->count : 0;
	}
	return ret;
}

static void say_why(const struct stuck *stuck, struct finding *ret)
{
	char ns[UNITS_CAP];

	if (stuck->timeouts || stuck->resets) {
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(
			ret->basis, sizeof(ret->basis),
			"its driver gave up %llu requests and reset the controller %llu times, by the "
			"kernel's log; the waits for files on that disk fall into the same seconds",
			(unsigned long long)stuck->timeouts, (unsigned long long)stuck->resets);
		return;
	}
	snprintf(ret->basis, sizeof(ret->basis),
		 "%llu requests of that disk took %s in all, and waits for files on it ended with "
		 "them; why it was stuck is in the kernel's log",
		 (unsigned long long)(stuck->worst ? stuck->worst->count : 0),
		 format_ns(ns, sizeof(ns), stuck->worst ? stuck->worst->ns : 0));
}

bool rule_nvme_timeout(const struct facts *f, const struct thread_facts *first, int n,
		       struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_nvme_timeout };
	const struct host_facts *disk;
	struct stuck stuck;
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		stuck = stuck_disk(f, ret);
		disk = stuck.worst;
		snprintf(ret->title, sizeof(ret->title),
			 "Disk timeout: %s waited while %.40s did not answer",
			 m.thread->process_comm, disk ? disk->name : "its disk");
		say_why(&stuck, ret);
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
