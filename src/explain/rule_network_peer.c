// SPDX-License-Identifier: Apache-2.0
/*
 * network-peer: the other end of a connection that the program opened took its time. A program that
 * mostly waits for work from there is idle, not stalled.
 */
#include "explain/measure.h"

bool rule_network_peer(const struct facts *f, const struct thread_facts *first, int n,
		       struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_network_peer };
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && thread_busy(m.thread) >= BUSY_AWAY_PCT;
	const char *peer;

	if (found) {
		measured_finding(f, &q, &m, ret);
		peer = ret->object.name[0] ? ret->object.name : "the other end";
		if (ret->culprits)
			snprintf(ret->title, sizeof(ret->title),
				 "Network peer: %s waited for %s (pid %u) at %.60s",
				 m.thread->process_comm, ret->culprit[0].comm, ret->culprit[0].pid,
				 peer);
		else
			snprintf(ret->title, sizeof(ret->title),
				 "Network peer: %s waited for %.60s", m.thread->process_comm, peer);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"waits on that connection, without a lost packet seen on this host; the way "
			"there and the peer itself look the same from here");
		if (ret->culprits)
			add_fix(ret, "look at what %s (pid %u) does for each answer",
				ret->culprit[0].comm, ret->culprit[0].pid);
		add_fix(ret, "ask %.60s ahead of time: prefetch, larger requests, several at once",
			peer);
	}
	measured_release(&m);
	return found;
}
