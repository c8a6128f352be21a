// SPDX-License-Identifier: Apache-2.0
/* cold-start: opening the GPU and loading code took long. Once, so it is never more than MEDIUM. */
#include "base/util.h"
#include "explain/measure.h"

#define LOST_MIN 300000000ull

#define CALLS_BEFORE_MAX 3 /* of other kinds, until the first of these is over */

/*
 * A first launch opens the device inside, and libraries that it loads are not probed at once: what
 * lies between the very first calls belongs to it.
 */
static uint64_t opening(const struct second *s, uint64_t calls_so_far)
{
	uint64_t ns = s->class[CLASS_INIT].total_ns + s->class[CLASS_MODULE].total_ns;
	bool opens = second_calls(s, CLASS_INIT) || second_calls(s, CLASS_MODULE);

	if (opens && calls_so_far <= CALLS_BEFORE_MAX)
		ns += s->gap_ns[STATE_RUN];
	return min_u64(ns, second_total(s));
}

/* Calls that open and load, where they are not inside others. */
static uint64_t openings(const struct second *s)
{
	static const enum op_class classes[] = { CLASS_INIT, CLASS_MODULE };
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
		const struct class_sum *sum = &s->class[classes[i]];
		uint64_t all = sum->calls[LAYER_RUNTIME] + sum->calls[LAYER_DRIVER];

		n += all - min_u64(sum->nested, all);
	}
	return n;
}

bool rule_cold_start(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	const struct thread_facts *t = NULL;
	struct finding worst = { 0 };

	(void)f;
	for (int i = 0; i < n; i++) {
		struct finding now = { .thread = first[i].id };
		uint64_t calls = 0; /* not counting those that open and load */

		for (int k = 0; k < first[i].seconds; k++) {
			const struct second *s = &first[i].second[k];
			uint64_t ns;

			calls += s->calls - min_u64(s->calls, openings(s));
			ns = opening(s, calls);
			now.affected_ns += second_total(s);
			now.lost_ns += ns;
			if (!ns)
				continue;
			now.count += second_calls(s, CLASS_INIT) + second_calls(s, CLASS_MODULE);
			now.first_ns = now.first_ns ? now.first_ns : second_start(s);
			now.last_ns = s->at_ns;
		}
		if (now.lost_ns > worst.lost_ns) {
			worst = now;
			t = &first[i];
		}
	}
	worst.lost_pct = percent(worst.lost_ns, worst.affected_ns);
	if (!t || worst.lost_ns < LOST_MIN || worst.lost_pct < SHARE_MIN_PCT)
		return false;

	*ret = worst;
	ret->cause = cause_name(CAUSE_cold_start);
	ret->gain_high_pct = ret->lost_pct;
	ret->evidence = EVIDENCE_OBSERVED;
	ret->severity = severity_of(f, ret) == SEVERITY_LOW ? SEVERITY_LOW : SEVERITY_MEDIUM;
	ret->states = ~0u;
	ret->places = 1u << CLASS_INIT | 1u << CLASS_MODULE;
	ret->culprit[0] = (struct culprit){ .pid = t->pid, .ns = ret->lost_ns, .share = 100 };
	str_copy(ret->culprit[0].comm, sizeof(ret->culprit[0].comm), t->process_comm);
	ret->culprits = 1;
	snprintf(ret->title, sizeof(ret->title), "Cold start: %s opens the GPU and loads code",
		 t->process_comm);
	snprintf(
		ret->basis, sizeof(ret->basis),
		"time inside the calls that initialise and load, of thread %u; it is over, and counts "
		"only because the window is short",
		t->tid);
	add_fix(ret, "keep the process: a server that stays, or a pool of started workers");
	add_fix(ret,
		"load less, and later: CUDA_MODULE_LOADING=LAZY; compile for this GPU ahead of "
		"time (TORCH_CUDA_ARCH_LIST, a warm CUDA_CACHE_PATH); nvidia-persistenced");
	return true;
}
