// SPDX-License-Identifier: Apache-2.0
/* python-gc: Python searched its objects for garbage. Its beginning and end are probed: exact. */
#include "explain/measure.h"

static uint64_t collecting(const struct facts *f, const struct thread_facts *t,
			   const struct second *s)
{
	(void)f;
	(void)t;
	return s->state_ns[STATE_GC];
}

/* Most of it: a look can also meet what the program has called at the end of a collection. */
static bool looked_at(const struct thread_facts *t)
{
	uint64_t looked = 0, all = 0;

	for (int i = 0; i < t->seconds; i++) {
		looked += t->second[i].looked_gc_ns;
		all += t->second[i].state_ns[STATE_GC];
	}
	return looked * 2 > all;
}

bool rule_python_gc(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_python_gc,
					   .min_hops = 2,
					   .own_ns = collecting,
					   .own_guilt = true,
					   .states = 1u << STATE_GC,
					   .places = ~0u };
	struct measured m;
	bool found = measure(f, first, n, &q, &m);

	if (found) {
		measured_finding(f, &q, &m, ret);
		snprintf(ret->title, sizeof(ret->title), "Python's garbage collector: %s%s",
			 m.own * 2 >= m.lost ? "" : "a worker of ", m.thread->process_comm);
		if (looked_at(m.thread)) {
			ret->evidence = EVIDENCE_INFERRED;
			snprintf(
				ret->basis, sizeof(ret->basis),
				"this interpreter has no probe for collections: looks at it, about "
				"99 a second, found it in one");
		} else {
			snprintf(ret->basis, sizeof(ret->basis),
				 "the interpreter's own collection was timed from its beginning to "
				 "its end");
		}
		add_fix(ret, "after loading: gc.freeze(); then gc.set_threshold(50000, 50, 50), or "
			     "gc.disable() in the loop and gc.collect() where it does not hurt");
		add_fix(ret, "keep fewer objects: arrays and tensors instead of lists and dicts of "
			     "Python numbers");
	}
	measured_release(&m);
	return found;
}
