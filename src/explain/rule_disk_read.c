// SPDX-License-Identifier: Apache-2.0
/* disk-read: the thread, or a worker that it waited for, waited until a file was read. */
#include "explain/classify.h"
#include "explain/measure.h"

/* Who made the file wait by itself, as a file system in a process can; NULL: a disk did. */
static const struct hop *server_of(const struct finding *f)
{
	int end = chain_end(&f->chain);
	const struct hop *last = &f->chain.hop[end];

	if (end < 1 || !f->culprits || last->pid != f->culprit[0].pid ||
	    last->state == STATE_READ || last->state == STATE_PATH)
		return NULL;
	for (int h = 0; h < end; h++)
		if (f->chain.hop[h].state == STATE_READ || f->chain.hop[h].state == STATE_PATH)
			return last;
	return NULL;
}

static void say_who(const struct thread_facts *t, const char *what, bool served,
		    struct finding *ret)
{
	if (ret->culprits && ret->culprit[0].pid != t->pid)
		snprintf(ret->title, sizeof(ret->title),
			 "Disk read: %s waited for %s (pid %u), which %s %.70s", t->process_comm,
			 ret->culprit[0].comm, ret->culprit[0].pid, served ? "serves" : "read",
			 what);
	else
		snprintf(ret->title, sizeof(ret->title), "Disk read: %s waited for %.90s",
			 t->process_comm, what);
}

bool rule_disk_read(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_disk_read };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	const struct hop *server;
	const char *what;

	if (found) {
		measured_finding(f, &q, &m, ret);
		what = ret->object.name[0] ? ret->object.name : "a file";
		server = server_of(ret);
		say_who(m.thread, what, server, ret);
		snprintf(
			ret->basis, sizeof(ret->basis), "%s%d file%s by name; %s",
			ret->evidence == EVIDENCE_INFERRED
				? "page faults and system calls that ended with a disk request; "
				: "",
			m.objects, m.objects == 1 ? "" : "s",
			server ? "the process that serves them ended the waits"
			       : "whether the disk is slow or others keep it busy is not told here");
		if (server)
			add_fix(ret, "make %s (pid %u) answer sooner: it was %s until it did",
				ret->culprit[0].comm, server->pid, state_texts[server->state]);
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
