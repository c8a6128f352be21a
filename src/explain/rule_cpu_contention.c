// SPDX-License-Identifier: Apache-2.0
/*
 * cpu-contention: a thread that feeds the GPU could run, and somebody else had its CPU. Exact:
 * the scheduler's own switches say how long it waited and who ran meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/facts.h"

/* Below this share of an interval a wait is the price of a shared machine, not a stall. */
#define SHARE_MIN_PCT 5.0
#define LOST_MIN_NS 20000000ull
/* From this share on one process is the culprit; below, the machine is simply busy. */
#define SINGLE_PCT 50.0

struct contention {
	uint64_t lost, affected, in_sync, gpu_wait;
	uint64_t waited, charged; /* charged: to anybody, an idle CPU included */
	uint64_t first, last;
	struct culprit *culprit; /* everybody: who took most may come last */
	int culprits;
};

/* Is this one to blame? An idle CPU (pid 0) is wake-up latency and nobody's fault. */
static bool guilty(const struct thread_facts *t, const struct second_blame *b, bool own)
{
	return b->pid && (b->pid == t->pid) == own;
}

static uint64_t taken(const struct thread_facts *t, const struct second *s, bool own)
{
	uint64_t ns = 0;

	for (int i = 0; i < s->blames; i++)
		ns += guilty(t, &s->blame[i], own) ? s->blame[i].ns : 0;
	return ns;
}

static void add_culprit(struct contention *c, const struct second_blame *b)
{
	struct culprit *who = NULL;

	for (int i = 0; i < c->culprits; i++)
		if (c->culprit[i].pid == b->pid)
			who = &c->culprit[i];
	if (!who) {
		c->culprit = xrealloc(c->culprit, (size_t)c->culprits + 1, sizeof(*c->culprit));
		who = &c->culprit[c->culprits++];
		*who = (struct culprit){ .pid = b->pid };
	}
	memcpy(who->comm, b->comm, sizeof(who->comm)); /* its latest name */
	who->ns += b->ns;
	if (b->cpu < 64)
		who->cpus |= 1ull << b->cpu;
}

static void measure(const struct thread_facts *t, bool own, struct contention *ret)
{
	*ret = (struct contention){ 0 };
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];
		uint64_t lost = taken(t, s, own), total = second_total(s);

		if (percent(lost, total) < SHARE_MIN_PCT)
			continue;
		ret->lost += lost;
		ret->affected += total;
		ret->waited += s->state_ns[STATE_PREEMPTED] + s->state_ns[STATE_WAKE];
		ret->in_sync += s->sync_runnable_ns;
		ret->gpu_wait += s->sync_wait_ns;
		ret->last = s->at_ns;
		if (!ret->first)
			ret->first = s->at_ns - min_u64(total, s->at_ns);
		for (int k = 0; k < s->blames; k++)
			ret->charged += s->blame[k].ns;
		for (int k = 0; k < s->blames; k++)
			if (guilty(t, &s->blame[k], own))
				add_culprit(ret, &s->blame[k]);
	}
}

static int by_ns(const void *x, const void *y)
{
	const struct culprit *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* "0-14", "1,3": as taskset takes it. */
static void cpu_list(uint64_t cpus, char *dst, size_t cap)
{
	size_t at = 0;

	dst[0] = '\0';
	for (int i = 0, end; i < 64 && at < cap; i = end + 1) {
		for (end = i; end < 63 && cpus >> i & 1 && cpus >> (end + 1) & 1; end++)
			;
		if (!(cpus >> i & 1))
			continue;
		at += (size_t)snprintf(dst + at, cap - at, at ? ",%d" : "%d", i);
		if (end > i && at < cap)
			at += (size_t)snprintf(dst + at, cap - at, "-%d", end);
	}
}

static void advise(const struct facts *f, const struct thread_facts *t, struct finding *ret)
{
	const struct culprit *top = &ret->culprit[0];
	uint64_t all = f->cpus >= 64 ? ~0ull : (1ull << (f->cpus > 0 ? f->cpus : 0)) - 1;
	char busy[128], rest[128];

	cpu_list(top->cpus, busy, sizeof(busy));
	cpu_list(all & ~top->cpus, rest, sizeof(rest));
	if (top->pid == t->pid) {
		add_fix(ret,
			"the process competes with its own threads: lower its thread counts "
			"(OMP_NUM_THREADS, data workers) or give it more cores than CPU %s",
			busy);
		return;
	}
	if (top->share < SINGLE_PCT) {
		add_fix(ret,
			"no single process is to blame: give pid %u a cpuset of its own, or more cores",
			t->pid);
		return;
	}
	if (all & ~top->cpus)
		add_fix(ret, "keep %s off CPU %s: taskset -a -p -c %s %u", top->comm, busy, rest,
			top->pid);
	add_fix(ret,
		"let the training process win: renice -n 19 -p %u, or a cpuset of its own "
		"for pid %u",
		top->pid, t->pid);
}

static bool judge(const struct facts *f, const struct thread_facts *first, int n, bool own,
		  struct finding *ret)
{
	struct contention worst = { 0 }, c;
	const struct thread_facts *t = NULL;
	uint64_t outside;

	/* Threads wait at the same time: the one that waited longest bounds the time lost. */
	for (int i = 0; i < n; i++) {
		measure(&first[i], own, &c);
		if (c.lost > worst.lost) {
			free(worst.culprit);
			worst = c;
			t = &first[i];
		} else {
			free(c.culprit);
		}
	}
	if (!t || worst.lost < LOST_MIN_NS) {
		free(worst.culprit);
		return false;
	}

	qsort(worst.culprit, (size_t)worst.culprits, sizeof(worst.culprit[0]), by_ns);
	*ret = (struct finding){
		.cause = "cpu-contention",
		.lost_ns = worst.lost,
		.affected_ns = worst.affected,
		.lost_pct = percent(worst.lost, worst.affected),
		.first_ns = worst.first,
		.last_ns = worst.last,
		.thread = t->id,
		.culprits = worst.culprits < CULPRITS_MAX ? worst.culprits : CULPRITS_MAX,
	};
	memcpy(ret->culprit, worst.culprit, sizeof(ret->culprit[0]) * (size_t)ret->culprits);
	free(worst.culprit);
	for (int i = 0; i < ret->culprits; i++)
		ret->culprit[i].share = percent(ret->culprit[i].ns, worst.lost);
	if (own)
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: the threads of %s compete for too few CPUs",
			 t->process_comm);
	else if (ret->culprit[0].share >= SINGLE_PCT)
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %s had the CPU that %s needed", ret->culprit[0].comm,
			 t->process_comm);
	else /* no single culprit: the machine is busy */
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %d processes had the CPU that %s needed", worst.culprits,
			 t->process_comm);
	ret->severity = severity_of(f, ret);

	/* At best all of it; at worst only what no wait for the GPU could have hidden. */
	outside = worst.lost > worst.in_sync ? worst.lost - worst.in_sync : 0;
	outside = outside > worst.gpu_wait ? outside - worst.gpu_wait : 0;
	ret->gain_low_pct = percent(outside, worst.affected);
	ret->gain_high_pct = ret->lost_pct;

	/* What is charged to nobody is missing history. */
	ret->evidence =
		worst.charged * 20 >= worst.waited * 19 ? EVIDENCE_PROVEN : EVIDENCE_OBSERVED;
	snprintf(ret->basis, sizeof(ret->basis),
		 "all switches of thread %u were followed; %.0f %% of its waits are accounted for",
		 t->tid, percent(min_u64(worst.charged, worst.waited), worst.waited));
	advise(f, t, ret);
	return true;
}

bool rule_cpu_contention(const struct facts *f, const struct thread_facts *first, int n,
			 struct finding *ret)
{
	return judge(f, first, n, false, ret);
}

/* The same symptom, made by the process itself: another remedy, so another finding. */
bool rule_cpu_contention_own(const struct facts *f, const struct thread_facts *first, int n,
			     struct finding *ret)
{
	return judge(f, first, n, true, ret);
}
