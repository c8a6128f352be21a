// SPDX-License-Identifier: Apache-2.0
/* network-retransmit: what the thread waited for had to be sent again, because packets got lost. */
#include "explain/measure.h"

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
		add_fix(ret,
			"look for loss on the way to %.60s: ip -s link, ethtool -S, nstat -az "
			"TcpRetransSegs, switch counters",
			peer);
	}
	measured_release(&m);
	return found;
}
