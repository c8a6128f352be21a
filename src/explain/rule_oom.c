// SPDX-License-Identifier: Apache-2.0
/* oom: the kernel killed the process or one of its workers; waits for the dead count as lost. */
#include <string.h>

#include "base/util.h"
#include "explain/measure.h"

/* The kills that concern this process: how many, whom last, from when to when. */
static uint64_t kills(const struct facts *f, const struct thread_facts *t, struct finding *ret)
{
	uint64_t n = 0;

	for (int i = 0; i < f->events; i++) {
		const struct host_facts *e = &f->event[i];

		if (e->event != HOST_oom_kill ||
		    (e->pid != t->pid && !facts_child(f, t->pid, e->pid)))
			continue;
		n += e->count;
		ret->first_ns = ret->first_ns ? min_u64(ret->first_ns, e->first_ns) : e->first_ns;
		ret->last_ns = max_u64(ret->last_ns, e->at_ns);
		snprintf(ret->title, sizeof(ret->title),
			 "Out of memory: the kernel killed %s (pid %u)%s%s", e->comm, e->pid,
			 e->pid == t->pid ? "" : ", a worker of ",
			 e->pid == t->pid ? "" : t->process_comm);
	}
	return n;
}

bool rule_oom(const struct facts *f, const struct thread_facts *first, int n, struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_oom };
	struct finding when = { 0 };
	struct measured m;
	uint64_t count = n ? kills(f, first, &when) : 0;

	if (!count)
		return false;
	if (measure(f, first, n, &q, &m)) {
		measured_finding(f, &q, &m, ret);
	} else {
		*ret = (struct finding){ .cause = cause_name(CAUSE_oom), .thread = first->id };
		ret->affected_ns = max_u64(when.last_ns - when.first_ns, 1);
	}
	measured_release(&m);
	ret->first_ns = ret->first_ns ? min_u64(ret->first_ns, when.first_ns) : when.first_ns;
	ret->last_ns = max_u64(ret->last_ns, when.last_ns);
	ret->count = count;
	ret->severity = SEVERITY_HIGH;
	ret->evidence = EVIDENCE_OBSERVED;
	memcpy(ret->title, when.title, sizeof(ret->title));
	snprintf(
		ret->basis, sizeof(ret->basis),
		"the kernel told of each kill; waits for workers within 2 s of one are charged to it");
	add_fix(ret,
		"raise the memory limit of its control group, or find what grows: the victim's "
		"resident memory, batches in flight, caches of the workers of pid %u",
		first->pid);
	return true;
}
