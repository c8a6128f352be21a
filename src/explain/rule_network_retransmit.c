// SPDX-License-Identifier: Apache-2.0
/* network-retransmit: what the thread waited for had to be sent again, because packets got lost. */
#include <string.h>

#include "base/util.h"
#include "explain/measure.h"

/* Who sent them again: known by his end of the connection where that is on this host. */
static void add_sender(const struct facts *f, const struct thread_facts *t, struct finding *ret)
{
	int h = chain_tcp(&ret->chain);
	const char *cgroup = "";
	uint64_t n = 0;

	for (int i = 0; h >= 0 && i < f->events; i++) {
		const struct host_facts *e = &f->event[i];
		uint64_t ours = ret->chain.hop[h].obj2;

		if (e->event != HOST_retransmit || e->at_ns < ret->first_ns ||
		    e->first_ns > ret->last_ns || !same_socket(ours, e->obj))
			continue;
		n += e->count;
		cgroup = e->cgroup;
		/* Below the root there is nothing to see: then the user of the socket counts. */
		if ((!cgroup[0] || streq(cgroup, "/")) && (uint32_t)ours == (uint32_t)e->obj)
			cgroup = t->cgroup;
	}
	if (n)
		str_add(ret->basis, sizeof(ret->basis), "; %llu sent again%s%.60s",
			(unsigned long long)n, cgroup[0] ? " by cgroup " : "", cgroup);
}

bool rule_network_retransmit(const struct facts *f, const struct thread_facts *first, int n,
			     struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_network_retransmit };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	const char *peer;

	if (found) {
		measured_finding(f, &q, &m, ret);
		peer = ret->object.name[0] ? ret->object.name : "its peer";
		snprintf(ret->title, sizeof(ret->title),
			 "Network: packets between %s and %.60s got lost and were sent again",
			 m.thread->process_comm, peer);
		snprintf(ret->basis, sizeof(ret->basis),
			 "packets of that connection came out of order or were sent again in these "
			 "seconds; a slow peer at the same time is in it");
		add_sender(f, m.thread, ret);
		add_fix(ret,
			"look for loss on the way to %.60s: ip -s link, ethtool -S, nstat -az "
			"TcpRetransSegs, switch counters",
			peer);
	}
	measured_release(&m);
	return found;
}
