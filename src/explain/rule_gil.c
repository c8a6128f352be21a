// SPDX-License-Identifier: Apache-2.0
/* gil: the thread waited for Python's interpreter lock while another thread ran Python code. */
#include "explain/measure.h"

bool rule_gil(const struct facts *f, const struct thread_facts *first, int n, struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_gil, .holder = true };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);
	uint32_t tid;

	if (found) {
		measured_finding(f, &q, &m, ret);
		tid = ret->culprits ? ret->culprit[0].tid : 0;
		if (tid && tid != m.thread->tid)
			snprintf(ret->title, sizeof(ret->title),
				 "GIL: thread %u of %s held Python's interpreter lock", tid,
				 ret->culprit[0].comm);
		else
			snprintf(ret->title, sizeof(ret->title),
				 "GIL: other threads of %s held Python's interpreter lock",
				 m.thread->process_comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"the lock is known by its address in the interpreter; thread %u asked for it "
			"and got it from whoever ran Python code",
			m.thread->tid);
		add_fix(ret,
			"move the Python work of the other threads of pid %u into processes "
			"(multiprocessing, a DataLoader with workers), or into code that gives the lock "
			"up",
			m.thread->pid);
		add_fix(ret,
			"sys.setswitchinterval() below 5 ms shortens each wait, at the price of "
			"more of them");
	}
	measured_release(&m);
	return found;
}
