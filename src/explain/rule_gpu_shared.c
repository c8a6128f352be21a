// SPDX-License-Identifier: Apache-2.0
/*
 * gpu-shared: the GPU takes longer for the same number of launches whenever another process launches,
 * too. The two may be on different GPUs; then it does not take longer.
 */
#include <string.h>

#include "base/util.h"
#include "explain/measure.h"

#define SLOWER_MIN 1.4
#define EACH_SLOWER 1.2 /* in so many of the seconds that are shared: */
#define MOST_PCT 75.0
#define EACH_NS 1200000000ull /* of shared time, and of time alone: two looks of the agent */
#define LAUNCHES_MIN 10 /* in a second that is to be compared */
/* Of what the other launches in a second in which it launches: less is as if it did not, more as if it did all the time. */
#define ALONE_PART 0.05
#define SHARED_PART 0.5

static uint64_t gpu_ns(const struct second *s)
{
	return s->sync_wait_ns + s->class[CLASS_COPY].ns;
}

static uint64_t overlap(const struct second *a, const struct second *b)
{
	uint64_t from = max_u64(second_start(a), second_start(b)), to = min_u64(a->at_ns, b->at_ns);

	return to > from ? to - from : 0;
}

/* Launches of a thread while s lasted, as if they came evenly in each second of its own. */
static double launches_of(const struct thread_facts *t, const struct second *s)
{
	double n = 0;
	int lo = 0, hi = t->seconds;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (t->second[mid].at_ns <= second_start(s))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->seconds && second_start(&t->second[lo]) < s->at_ns; lo++) {
		const struct second *o = &t->second[lo];
		uint64_t length = o->at_ns - second_start(o);

		n += length ? (double)o->launches * (double)overlap(o, s) / (double)length : 0;
	}
	return n;
}

/* ... of its process. Threads of a process are together. */
static double launches_during(const struct facts *f, const struct thread_facts *other,
			      const struct second *s)
{
	const struct thread_facts *end = f->thread + f->threads;
	double n = 0;

	for (const struct thread_facts *o = other; o < end && o->process == other->process; o++)
		n += launches_of(o, s);
	return n;
}

struct sharing {
	double usual; /* launches of the other in a second in which it launches */
	uint64_t alone_ns, alone_gpu, alone_launches;
	uint64_t shared_ns, shared_gpu, shared_launches;
	double rate; /* of the GPU for a launch, alone */
	uint64_t lost, slower_ns, first, last;
};

static bool compares(const struct second *s)
{
	return !s->warm_up && s->launches >= LAUNCHES_MIN && !s->launches_unknown;
}

static void find_usual(const struct facts *f, const struct thread_facts *t,
		       const struct thread_facts *other, struct sharing *h)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < t->seconds; i++) {
		double launches = launches_during(f, other, &t->second[i]);

		sum += launches;
		n += launches > 0;
	}
	h->usual = n ? sum / n : 0;
}

static void add_time(const struct facts *f, const struct thread_facts *t,
		     const struct thread_facts *other, struct sharing *h)
{
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		double n = launches_during(f, other, s);

		if (!compares(s))
			continue;
		if (n <= ALONE_PART * h->usual) {
			h->alone_ns += second_total(s);
			h->alone_gpu += gpu_ns(s);
			h->alone_launches += s->launches;
		} else if (n >= SHARED_PART * h->usual) {
			h->shared_ns += second_total(s);
			h->shared_gpu += gpu_ns(s);
			h->shared_launches += s->launches;
		}
	}
}

static void add_loss(const struct facts *f, const struct thread_facts *t,
		     const struct thread_facts *other, struct sharing *h)
{
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		double usual = h->rate * (double)s->launches, took = (double)gpu_ns(s);

		if (!compares(s) || launches_during(f, other, s) < SHARED_PART * h->usual)
			continue;
		h->slower_ns += took >= EACH_SLOWER * usual ? second_total(s) : 0;
		h->lost += took > usual ? (uint64_t)(took - usual) : 0;
		h->first = h->first ? h->first : second_start(s);
		h->last = s->at_ns;
	}
}

static bool slower_with(const struct facts *f, const struct thread_facts *t,
			const struct thread_facts *other, struct sharing *ret)
{
	*ret = (struct sharing){ 0 };
	find_usual(f, t, other, ret);
	if (ret->usual <= 0)
		return false;
	add_time(f, t, other, ret);
	if (ret->alone_ns < EACH_NS || ret->shared_ns < EACH_NS || !ret->alone_gpu)
		return false;
	ret->rate = (double)ret->alone_gpu / (double)ret->alone_launches;
	if ((double)ret->shared_gpu < SLOWER_MIN * ret->rate * (double)ret->shared_launches)
		return false;
	add_loss(f, t, other, ret);
	return percent(ret->slower_ns, ret->shared_ns) >= MOST_PCT && ret->lost >= LOST_MIN_NS &&
	       percent(ret->lost, ret->shared_ns) >= SHARE_MIN_PCT;
}

static void tell(const struct facts *f, const struct thread_facts *t,
		 const struct thread_facts *other, const struct sharing *h, struct finding *ret)
{
	*ret = (struct finding){
		.cause = cause_name(CAUSE_gpu_shared),
		.evidence = EVIDENCE_INFERRED,
		.lost_ns = h->lost,
		.affected_ns = h->shared_ns,
		.lost_pct = percent(h->lost, h->shared_ns),
		.gain_high_pct = percent(h->lost, h->shared_ns),
		.first_ns = h->first,
		.last_ns = h->last,
		.thread = t->id,
		.culprit = { { .pid = other->pid, .ns = h->lost, .share = 100 } },
		.culprits = 1,
		.states = ~0u,
		.places = 1u << CLASS_SYNC | 1u << CLASS_COPY,
	};
	memcpy(ret->culprit[0].comm, other->process_comm, sizeof(ret->culprit[0].comm));
	ret->severity = severity_of(f, ret);
	snprintf(ret->title, sizeof(ret->title),
		 "Shared GPU: %s waits longer for the GPU while %s (pid %u) uses it, too",
		 t->process_comm, other->process_comm, other->pid);
	snprintf(
		ret->basis, sizeof(ret->basis),
		"%.1f us of waiting for each launch while the other launches nothing, %.1f us while "
		"it does; that both use the same GPU is assumed from that",
		h->rate / 1e3, (double)h->shared_gpu / 1e3 / (double)h->shared_launches);
	add_fix(ret,
		"move one of them to another GPU (CUDA_VISIBLE_DEVICES), or run pid %u when pid %u "
		"does not",
		other->pid, t->pid);
	add_fix(ret, "share in a controlled way: MIG instances, or MPS with "
		     "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
}

bool rule_gpu_shared(const struct facts *f, const struct thread_facts *first, int n,
		     struct finding *ret)
{
	uint64_t most = 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < f->threads; k++) {
			const struct thread_facts *other = &f->thread[k];
			struct sharing h;

			/* Once for each process, at its first thread. */
			if (other->process == first->process ||
			    (k && f->thread[k - 1].process == other->process))
				continue;
			/* Ranks of one job have a GPU each; NCCL insists on it. */
			if (facts_same_job(f, first->process, other->process))
				continue;
			if (!slower_with(f, &first[i], other, &h) || h.lost <= most)
				continue;
			most = h.lost;
			tell(f, &first[i], other, &h, ret);
		}
	}
	return most > 0;
}
