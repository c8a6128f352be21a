// SPDX-License-Identifier: Apache-2.0
/*
 * cpu-contention: a thread that feeds the GPU could run, and somebody else had its CPU. Exact:
 * the scheduler's own switches say how long it waited and who ran meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/measure.h"

#define LOST_MIN 20000000ull
/* From this share on one process is the culprit; below, the machine is simply busy. */
#define SINGLE_PCT 50.0
/* So few that took so much are named together. */
#define FEW_MAX 3
#define FEW_PCT 90.0

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

static void charge(struct contention *c, const struct second_blame *b)
{
	struct culprit who = { .pid = b->pid,
			       .ns = b->ns,
			       .cpus = b->cpu < 64 ? 1ull << b->cpu : 0 };

	memcpy(who.comm, b->comm, sizeof(who.comm));
	add_culprit(&c->culprit, &c->culprits, &who);
}

static void weigh(const struct thread_facts *t, bool own, struct contention *ret)
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
			ret->first = second_start(s);
		for (int k = 0; k < s->blames; k++)
			ret->charged += s->blame[k].ns;
		for (int k = 0; k < s->blames; k++)
			if (guilty(t, &s->blame[k], own))
				charge(ret, &s->blame[k]);
	}
}

/* Interrupts, or the kernel thread that works off what is left of them. */
static bool serves_devices(const struct culprit *who)
{
	return who->pid == PID_IRQ || starts_with(who->comm, "ksoftirqd/");
}

static bool advise_on_interrupts(const struct culprit *top, uint32_t winner, struct finding *ret)
{
	char busy[128];

	if (!serves_devices(top))
		return false;
	format_cpus(busy, sizeof(busy), top->cpus);
	add_fix(ret,
		"see whose interrupts come to CPU %s (/proc/interrupts, /proc/softirqs) and move them: "
		"/proc/irq/N/smp_affinity_list, irqbalance, RPS of the network card",
		busy);
	add_fix(ret, "or keep pid %u off CPU %s (taskset, a cpuset)", winner, busy);
	return true;
}

static void format_others(char *dst, size_t cap, const struct facts *f, uint64_t cpus)
{
	uint64_t all = f->cpus >= 64 ? ~0ull : (1ull << (f->cpus > 0 ? f->cpus : 0)) - 1;

	dst[0] = '\0';
	if (all & ~cpus)
		format_cpus(dst, cap, all & ~cpus);
}

/* To whoever took the CPU, where it is one: move it, or let the others win. */
static void advise_against(const struct facts *f, const struct culprit *top, uint32_t winner,
			   struct finding *ret)
{
	char busy[128], rest[128];

	if (advise_on_interrupts(top, winner, ret))
		return;
	format_cpus(busy, sizeof(busy), top->cpus);
	format_others(rest, sizeof(rest), f, top->cpus);
	if (rest[0])
		add_fix(ret, "keep %s off CPU %s: taskset -a -p -c %s %u", top->comm, busy, rest,
			top->pid);
	add_fix(ret,
		"let the training process win: renice -n 19 -p %u, or a cpuset of its own "
		"for pid %u",
		top->pid, winner);
}

/* No single process, but a few that took almost all of it: how many; 0: they were more. */
static int few(const struct finding *found)
{
	double share = 0;

	for (int i = 0; i < found->culprits && i < FEW_MAX; i++) {
		if (serves_devices(&found->culprit[i]))
			return 0;
		share += found->culprit[i].share;
		if (share >= FEW_PCT)
			return i + 1;
	}
	return 0;
}

/* "sh, make and cc1"; each name once. */
static void name_few(char *dst, size_t cap, const struct finding *found, int n)
{
	const char *name[FEW_MAX];
	int names = 0;

	for (int i = 0; i < n; i++) {
		int k = 0;

		while (k < names && !streq(name[k], found->culprit[i].comm))
			k++;
		if (k == names)
			name[names++] = found->culprit[i].comm;
	}
	dst[0] = '\0';
	for (int i = 0; i < names; i++)
		str_add(dst, cap, "%s%s", !i ? "" : i == names - 1 ? " and " : ", ", name[i]);
}

static void advise_against_few(const struct facts *f, int n, uint32_t winner, struct finding *ret)
{
	char busy[128], rest[128], pids[64] = "";
	uint64_t cpus = 0;

	for (int i = 0; i < n; i++) {
		cpus |= ret->culprit[i].cpus;
		str_add(pids, sizeof(pids), "%s%u", i ? " " : "", ret->culprit[i].pid);
	}
	format_cpus(busy, sizeof(busy), cpus);
	format_others(rest, sizeof(rest), f, cpus);
	if (rest[0])
		add_fix(ret, "keep them off CPU %s: for p in %s; do taskset -a -p -c %s $p; done",
			busy, pids, rest);
	add_fix(ret,
		"let the training process win: renice -n 19 -p %s, or a cpuset of its own for pid %u",
		pids, winner);
}

/* No single process, but one control group, and not that of the process itself. */
static bool together(const struct finding *found, const struct thread_facts *t)
{
	return found->culprit[0].share < SINGLE_PCT && found->groups &&
	       found->group[0].share >= SINGLE_PCT && !streq(found->group[0].cgroup, t->cgroup);
}

static void advise(const struct facts *f, const struct thread_facts *t, struct finding *ret)
{
	const struct culprit *top = &ret->culprit[0];
	char busy[128];

	format_cpus(busy, sizeof(busy), top->cpus);
	if (top->pid == t->pid) {
		add_fix(ret,
			"the process competes with its own threads: lower its thread counts "
			"(OMP_NUM_THREADS, data workers) or give it more cores than CPU %s",
			busy);
		return;
	}
	if (facts_child(f, t->pid, top->pid))
		add_fix(ret,
			"start fewer workers, or give them other CPUs than %s: they belong to "
			"pid %u itself",
			busy, t->pid);
	if (together(ret, t)) {
		add_fix(ret,
			"hold back cgroup %.160s as a whole: a lower cpu.weight (cpu.shares), a "
			"cpuset without CPU %s",
			ret->group[0].cgroup, busy);
		return;
	}
	if (top->share < SINGLE_PCT && few(ret)) {
		advise_against_few(f, few(ret), t->pid, ret);
		return;
	}
	if (top->share < SINGLE_PCT) {
		add_fix(ret,
			"no single process is to blame: give pid %u a cpuset of its own, or more cores",
			t->pid);
		return;
	}
	advise_against(f, top, t->pid, ret);
}

static void entitle(const struct facts *f, const struct thread_facts *t, int all,
		    struct finding *ret)
{
	const struct culprit *top = &ret->culprit[0];
	bool ours = facts_child(f, t->pid, top->pid);
	char names[FEW_MAX * (COMM_LEN + 5)];

	if (serves_devices(top) && top->share >= SINGLE_PCT)
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: interrupts took the CPU that %s needed", t->process_comm);
	else if (top->pid == t->pid)
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: the threads of %s compete for too few CPUs",
			 t->process_comm);
	else if (ours)
		snprintf(
			ret->title, sizeof(ret->title),
			"CPU contention: %s's own worker%s had the CPU that it needed (%s, pid %u)",
			t->process_comm, all > 1 ? "s" : "", top->comm, top->pid);
	else if (top->share >= SINGLE_PCT)
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %s had the CPU that %s needed", top->comm,
			 t->process_comm);
	else if (together(ret, t))
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %d processes of cgroup %.60s had the CPU that %s needed",
			 ret->group[0].processes, ret->group[0].cgroup, t->process_comm);
	else if (few(ret)) {
		name_few(names, sizeof(names), ret, few(ret));
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %s had the CPU that %s needed", names, t->process_comm);
	} else /* no single culprit: the machine is busy */
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: %d processes had the CPU that %s needed", all,
			 t->process_comm);
}

static bool judge(const struct facts *f, const struct thread_facts *first, int n, bool own,
		  struct finding *ret)
{
	struct contention worst = { 0 }, c;
	const struct thread_facts *t = NULL;
	uint64_t outside;

	/* Threads wait at the same time: the one that waited longest bounds the time lost. */
	for (int i = 0; i < n; i++) {
		weigh(&first[i], own, &c);
		if (c.lost > worst.lost) {
			free(worst.culprit);
			worst = c;
			t = &first[i];
		} else {
			free(c.culprit);
		}
	}
	if (!t || worst.lost < LOST_MIN) {
		free(worst.culprit);
		return false;
	}

	sort_culprits(worst.culprit, worst.culprits);
	*ret = (struct finding){
		.cause = cause_name(CAUSE_cpu_contention),
		.lost_ns = worst.lost,
		.affected_ns = worst.affected,
		.lost_pct = percent(worst.lost, worst.affected),
		.first_ns = worst.first,
		.last_ns = worst.last,
		.thread = t->id,
		.culprits = worst.culprits < CULPRITS_MAX ? worst.culprits : CULPRITS_MAX,
		.states = 1u << STATE_PREEMPTED | 1u << STATE_WAKE,
		.places = ~0u,
	};
	memcpy(ret->culprit, worst.culprit, sizeof(ret->culprit[0]) * (size_t)ret->culprits);
	group_culprits(f, worst.culprit, worst.culprits, ret);
	free(worst.culprit);
	for (int i = 0; i < ret->culprits; i++)
		ret->culprit[i].share = percent(ret->culprit[i].ns, worst.lost);
	entitle(f, t, worst.culprits, ret);
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

/* Not the one that calls, but a worker that it waited for. */
bool rule_cpu_contention_worker(const struct facts *f, const struct thread_facts *first, int n,
				struct finding *ret)
{
	static const struct question q = { .cause = CAUSE_cpu_contention, .min_hops = 2 };
	const struct hop *kept;
	struct measured m;
	bool found = measure(f, first, n, &q, &m) && m.culprits && m.chain >= 0;

	if (found) {
		measured_finding(f, &q, &m, ret);
		kept = &ret->chain.hop[chain_end(&ret->chain)];
		snprintf(ret->title, sizeof(ret->title),
			 "CPU contention: a worker of %s (%s, pid %u) was kept off the CPU by %s",
			 m.thread->process_comm, kept->comm, kept->pid, ret->culprit[0].comm);
		snprintf(
			ret->basis, sizeof(ret->basis),
			"the waits of thread %u were followed to threads that could run and did not",
			m.thread->tid);
		if (ret->culprit[0].pid == m.thread->pid)
			add_fix(ret, "give pid %u and its workers CPUs of their own each",
				m.thread->pid);
		else
			advise_against(f, &ret->culprit[0], kept->pid, ret);
	}
	measured_release(&m);
	return found;
}
