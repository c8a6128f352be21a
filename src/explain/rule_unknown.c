// SPDX-License-Identifier: Apache-2.0
/* unknown: the thread waits between calls, in every step, and it could not be seen for what. */
#include "explain/measure.h"

static void say_what_is_missing(const struct finding *found, char *dst, size_t cap)
{
	const struct chain *c = &found->chain;
	const struct hop *last;

	if (!c->hops) {
		snprintf(dst, cap, "the history of these waits is not in the trace");
		return;
	}
	last = &c->hop[chain_end(c)];
	if (last->state == STATE_UNKNOWN && chain_end(c) > 0)
		snprintf(dst, cap, "what %s (pid %u) did meanwhile: it was not followed then",
			 last->comm, last->pid);
	else
		snprintf(dst, cap, "who ended that it was %s: it is no thread that was followed",
			 state_texts[last->state]);
}

bool rule_unknown(const struct facts *f, const struct thread_facts *first, int n,
		  struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_unknown,
					   .gaps_only = true,
					   .share_min_pct = 10 };
	char missing[160];
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && measured_paced(&m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		say_what_is_missing(ret, missing, sizeof(missing));
		ret->culprits = 0; /* nobody is blamed for what was not seen */
		ret->evidence = EVIDENCE_INFERRED;
		snprintf(ret->title, sizeof(ret->title),
			 "Unknown: %s waited between calls, for what is not known",
			 m.thread->process_comm);
		snprintf(ret->basis, sizeof(ret->basis), "missing: %s", missing);
		add_fix(ret,
			"trace for longer: a process is followed from the first time on that it "
			"ends a wait");
	}
	measured_release(&m);
	return found;
}
