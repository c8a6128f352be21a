// SPDX-License-Identifier: Apache-2.0
/* disk-write: the thread, or a worker that it waited for, waited until a file was written. */
#include "explain/measure.h"

bool rule_disk_write(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_disk_write };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	const char *what;
	char disk[160];

	if (found) {
		measured_finding(f, &q, &m, ret);
		finding_disk(f, true, ret);
		what = ret->object.name[0] ? ret->object.name : "a file";
		if (ret->culprits && ret->culprit[0].pid != m.thread->pid)
			snprintf(ret->title, sizeof(ret->title),
				 "Disk write: %s waited for %s (pid %u), which wrote %.70s",
				 m.thread->process_comm, ret->culprit[0].comm, ret->culprit[0].pid,
				 what);
		else
			snprintf(ret->title, sizeof(ret->title),
				 "Disk write: %s waited until %.80s was written",
				 m.thread->process_comm, what);
		snprintf(ret->basis, sizeof(ret->basis), "%d file%s by name; %s", m.objects,
			 m.objects == 1 ? "" : "s", finding_disk_text(ret, disk, sizeof(disk)));
		add_fix(ret,
			"write %.100s in the background: a thread or process of its own, from a copy, so "
			"that the loop goes on meanwhile",
			what);
		add_fix(ret, "flush less often, or to a faster disk; copy to slow storage later");
	}
	measured_release(&m);
	return found;
}
