// SPDX-License-Identifier: Apache-2.0
/* disk-read: the thread, or a worker that it waited for, waited until a file was read. */
#include "explain/classify.h"
#include "explain/measure.h"

static bool asks_for_file(enum state state)
{
	return state == STATE_READ || state == STATE_PATH || state == STATE_FAULT;
}

/* Who made the file wait by itself, as a file system in a process can; NULL: a disk did. */
static const struct hop *server_of(const struct finding *f)
{
	const struct hop *last;
	int end;

	if (f->chain.hops < 2 || !f->culprits)
		return NULL;
	end = chain_end(&f->chain);
	last = &f->chain.hop[end];
	if (last->pid != f->culprit[0].pid || asks_for_file(last->state))
		return NULL;
	for (int h = 0; h < end; h++)
		if (asks_for_file(f->chain.hop[h].state))
			return last;
	return NULL;
}

static void say_basis(const struct measured *m, bool served, struct finding *ret)
{
	const char *how = "";
	char disk[160];

	if (ret->evidence == EVIDENCE_INFERRED)
		how = served ? "page faults that another process ended; "
			     : "page faults and system calls that ended with a disk request; ";
	snprintf(ret->basis, sizeof(ret->basis), "%s%d file%s by name; %s", how, m->objects,
		 m->objects == 1 ? "" : "s",
		 served ? "the process that serves them ended the waits"
			: finding_disk_text(ret, disk, sizeof(disk)));
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
		if (!server)
			finding_disk(f, false, ret);
		say_who(m.thread, what, server, ret);
		say_basis(&m, server, ret);
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
