// SPDX-License-Identifier: Apache-2.0
/* disk-read: the thread, or a worker that it waited for, waited until a file was read. */
#include "explain/measure.h"

bool rule_disk_read(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_disk_read };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	const char *what;

	if (found) {
		measured_finding(f, &q, &m, ret);
		what = ret->object.name[0] ? ret->object.name : "a file";
		if (ret->culprits && ret->culprit[0].pid != m.thread->pid)
			snprintf(ret->title, sizeof(ret->title),
				 "Disk read: %s waited for %s (pid %u), which read %.70s",
				 m.thread->process_comm, ret->culprit[0].comm, ret->culprit[0].pid,
				 what);
		else
			snprintf(ret->title, sizeof(ret->title), "Disk read: %s waited for %.90s",
				 m.thread->process_comm, what);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"%s%d file%s by name; whether the disk is slow or others keep it busy is not "
			"told here",
			ret->evidence == EVIDENCE_INFERRED
				? "page faults and system calls that ended with a disk request; "
				: "",
			m.objects, m.objects == 1 ? "" : "s");
		add_fix(ret,
			"read ahead: more data workers, a larger prefetch, or posix_fadvise(WILLNEED) "
			"before %.100s is needed",
			what);
		add_fix(ret, "put it where reading is fast: a local NVMe, or memory (page cache, "
			     "/dev/shm) if it fits");
	}
	measured_release(&m);
	return found;
}
