// SPDX-License-Identifier: Apache-2.0
/* Adds up the cost of the probes, and takes them off and puts them back as the budget says. */
#include "capture/throttle.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/capture_int.h"

/* What the kernel takes to call programs at a switch and its wake-up: doc/overhead.md. */
#define SWITCH_CALL_NS 100
/* Where a probe could not be measured. */
#define COUNT_NS 1000
#define RETURN_NS 1000
#define TIMED_NS 2000

#define SIGHT_MIN_NS 5000000ull /* shorter, and the rate of launches is not known */
#define TIMED_MIN 20 /* other calls that are enough to tell how fast a program goes */
#define PIDS_MAX 65536

/* Of one process, since the last step of the budget. */
struct paid {
	uint64_t launch_ns, return_ns, call_ns;
};

/* What was called in some time in which launches were seen. */
struct sight {
	uint64_t ns, launches, timed;
};

/* Something that is or was shed. */
struct span {
	struct shed_span told;
	bool open, complete; /* complete: the sight after it is known */
	struct sight before;
	uint64_t timed_at, timed; /* other calls until it began; while it lasted */
};

struct throttle {
	struct capture *c;
	struct libs *libs;
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wake;
	bool runs, stop;
	bool started; /* the agent has: from here on its CPU time counts */
	struct budget budget;
	struct budget_plan plan;
	/* What was counted so far: */
	uint64_t calls[TALLIES];
	uint32_t serial[TALLIES];
	struct hash *pids; /* serial -> pid */
	struct cpu_cost cpu;
	struct stats stats;
	uint64_t agent_ns;
	struct capture_spent spent;
	/* Since the last step of the budget: */
	struct hash *paid; /* pid -> struct paid */
	struct capture_spent before; /* `spent` then, */
	uint64_t before_ns; /* ... which was then */
	uint64_t sighted_ns;
	/* Launches: */
	bool hidden;
	uint64_t phase_ns; /* that is counted up to then */
	bool in_window; /* while they are shed: they are seen since window_ns; else not since then */
	uint64_t window_ns;
	uint64_t put_down; /* launches in `total` that no tally has heard of */
	struct sight total, last; /* so far; in the last window, or look */
	struct sight then; /* `total` when that was over */
	struct span *span; /* not told, or not for the last time */
	size_t spans;
};

/* ---- what it costs ---- */

static uint32_t pid_of(struct throttle *t, uint32_t serial)
{
	uint32_t *pid = hash_get(t->pids, &serial);
	struct task_info info;

	if (pid)
		return *pid;
	if (hash_count(t->pids) >= PIDS_MAX) { /* serials are never used twice */
		hash_free(t->pids);
		t->pids = hash_new(sizeof(uint32_t), sizeof(uint32_t));
	}
	pid = hash_put(t->pids, &serial);
	*pid = capture_find_task(t->c, serial, &info) ? 0 : info.pid;
	return *pid;
}

static void add_hits(struct throttle *t, const struct tally *y, uint64_t hits)
{
	enum op_class class = y->op < OP_COUNT ? op_table[y->op].class : CLASS_GAP;
	const struct capture_cost *cost = &t->c->cost;
	uint32_t pid = pid_of(t, y->serial);
	struct paid *paid;
	uint64_t ns;

	if (class == CLASS_GAP)
		return;
	paid = hash_put(t->paid, &pid);
	if (op_timed(class)) {
		ns = hits * (cost->timed_ns ? cost->timed_ns : TIMED_NS);
		paid->call_ns += ns;
		t->spent.call_ns += ns;
		t->total.timed += hits;
		return;
	}
	ns = hits * (cost->count_ns ? cost->count_ns : COUNT_NS);
	paid->launch_ns += ns;
	t->spent.launch_ns += ns;
	if (t->c->opts.launch_times && !t->c->probe->bss->shed_returns) {
		ns = hits * (cost->return_ns ? cost->return_ns : RETURN_NS);
		paid->return_ns += ns;
		t->spent.launch_ns += ns;
	}
	if (class == CLASS_LAUNCH) /* events go with them, but are not estimated */
		t->total.launches += hits;
}

static void on_tally(uint32_t i, const struct tally *y, void *arg)
{
	uint64_t calls = __atomic_load_n(&y->calls, __ATOMIC_RELAXED);
	struct throttle *t = arg;

	if (t->serial[i] != y->serial || calls < t->calls[i])
		t->calls[i] = 0; /* somebody else's now */
	t->serial[i] = y->serial;
	if (calls > t->calls[i])
		add_hits(t, y, calls - t->calls[i]);
	t->calls[i] = calls;
}

static void add_cpus(struct throttle *t)
{
	struct cpu_cost sum = { 0 }, fresh;

	for (int cpu = 0; cpu < t->c->cpus; cpu++) {
		const struct cpu_cost *one = &t->c->costs[cpu];

		for (int k = 0; k < SWITCH_KINDS; k++) {
			sum.switches[k] += one->switches[k];
			sum.switch_ns[k] += one->switch_ns[k];
		}
		sum.stack_ns += one->stack_ns;
		sum.record_ns += one->record_ns;
	}
	for (int k = 0; k < SWITCH_KINDS; k++) {
		fresh.switches[k] = sum.switches[k] - t->cpu.switches[k];
		fresh.switch_ns[k] = sum.switch_ns[k] - t->cpu.switch_ns[k];
		t->spent.switch_ns[k] += fresh.switch_ns[k] + fresh.switches[k] * SWITCH_CALL_NS;
	}
	t->spent.stack_ns += sum.stack_ns - t->cpu.stack_ns;
	t->spent.record_ns += sum.record_ns - t->cpu.record_ns;
	t->cpu = sum;
}

static void measure(struct throttle *t)
{
	const struct capture_cost *cost = &t->c->cost;
	uint64_t each = cost->count_ns ? cost->count_ns : COUNT_NS;
	struct stats stats = t->c->probe->bss->stats;
	uint64_t more = stats.late - t->stats.late + stats.stubs - t->stats.stubs;
	uint64_t put_down = capture_put_down(t->c);

	capture_each_tally(t->c, on_tally, t);
	t->total.launches += put_down - t->put_down;
	t->put_down = put_down;
	add_cpus(t);
	t->spent.stepped_ns += (stats.stepped - t->stats.stepped) * cost->stepped_ns;
	t->spent.launch_ns += more * each;
	t->spent.stack_ns += (stats.code_frees - t->stats.code_frees) * each;
	t->spent.foreign_ns += (stats.foreign - t->stats.foreign) * each;
	t->spent.uncounted += more;
	t->stats = stats;
}

void throttle_spent(struct throttle *t, struct capture_spent *ret)
{
	pthread_mutex_lock(&t->lock);
	measure(t);
	*ret = t->spent;
	pthread_mutex_unlock(&t->lock);
}

/* ---- what the budget is asked ---- */

static bool find_worst(const void *key, void *value, void *arg)
{
	const struct paid *paid = value;
	struct paid *worst = arg;

	(void)key;
	if (paid->launch_ns + paid->return_ns + paid->call_ns >
	    worst->launch_ns + worst->return_ns + worst->call_ns)
		*worst = *paid;
	return true;
}

/* Of an interval: the process that pays most, and its part of what all pay together. */
static void sample(struct throttle *t, uint64_t now, struct budget_sample *ret)
{
	uint64_t cpu = clock_cpu_ns(),
		 more = (t->spent.uncounted - t->before.uncounted) * t->c->cost.count_ns;
	const struct capture_spent *a = &t->before, *b = &t->spent;
	uint64_t n = hash_count(t->paid) ? hash_count(t->paid) : 1;
	double wall = (double)(now - t->before_ns), all;
	struct paid worst = { 0 };

	hash_each(t->paid, find_worst, &worst);
	all = (double)n * wall;
	*ret = (struct budget_sample){
		.ns = now - t->before_ns,
		.sighted_ns = t->sighted_ns,
		.launches = (double)(worst.launch_ns + more) / wall,
		.returns = (double)worst.return_ns / wall,
		.calls = (double)worst.call_ns / wall +
			 (double)(b->stepped_ns - a->stepped_ns + b->record_ns - a->record_ns +
				  b->switch_ns[SWITCH_followed] - a->switch_ns[SWITCH_followed]) /
				 all,
		.stacks = (double)(b->stack_ns - a->stack_ns) / all,
		.detail =
			(double)(b->switch_ns[SWITCH_related] - a->switch_ns[SWITCH_related]) / all,
		.host = !t->started ? 0
				    : (double)(cpu - t->agent_ns + b->switch_ns[SWITCH_other] -
					       a->switch_ns[SWITCH_other] + b->foreign_ns -
					       a->foreign_ns) /
					      (wall * t->c->cpus_online),
	};
	t->spent.worst_ns +=
		(ret->launches + ret->returns + ret->calls + ret->stacks + ret->detail) * wall;
	t->agent_ns = cpu;
	t->before = t->spent;
	t->before_ns = now;
	t->sighted_ns = 0;
}

/* ---- what was shed ---- */

static void begin_span(struct throttle *t, enum shed what, uint64_t now)
{
	t->span = xrealloc(t->span, t->spans + 1, sizeof(*t->span));
	t->span[t->spans++] = (struct span){
		.told = { .what = what, .from_ns = now, .cost = t->budget.step[what].cost },
		.open = true,
		.before = t->last,
		.timed_at = t->total.timed,
	};
}

/*
 * How many launches there were. Other calls are counted all the time, and a program makes so many
 * launches for each of them; where there are too few of these, as many as in the time that was seen,
 * although looking has made it slower.
 */
static void estimate(struct span *s, const struct sight *after)
{
	double launches = (double)(s->before.launches + after->launches);
	uint64_t timed = s->before.timed + after->timed, ns = s->before.ns + after->ns;

	if (s->told.what != SHED_launches || !ns)
		return;
	if (timed >= TIMED_MIN)
		launches *= (double)s->timed / (double)timed;
	else
		launches *= (double)(s->told.to_ns - s->told.from_ns) / (double)ns;
	s->told.calls = (uint64_t)launches;
}

static void extend(struct throttle *t, struct span *s, uint64_t now)
{
	if (!s->open)
		return;
	s->told.to_ns = now;
	s->timed = t->total.timed - s->timed_at;
	estimate(s, &(struct sight){ 0 });
}

static void end_span(struct throttle *t, enum shed what, uint64_t now)
{
	for (size_t i = 0; i < t->spans; i++) {
		struct span *s = &t->span[i];

		if (!s->open || s->told.what != what)
			continue;
		extend(t, s, now);
		s->open = false;
		s->complete = what != SHED_launches;
	}
}

/* They were seen: what was hidden before is like what came before and after it. */
static void end_sight(struct throttle *t)
{
	struct sight now = { .ns = t->total.ns - t->then.ns,
			     .launches = t->total.launches - t->then.launches,
			     .timed = t->total.timed - t->then.timed };

	if (now.ns < SIGHT_MIN_NS)
		return;
	t->last = now;
	t->then = t->total;
	for (size_t i = 0; i < t->spans; i++) {
		struct span *s = &t->span[i];

		if (s->open || s->complete)
			continue;
		estimate(s, &now);
		s->complete = true;
	}
}

void throttle_each_shed(struct throttle *t, shed_fn fn, void *arg)
{
	uint64_t now = clock_boot_ns();
	size_t kept = 0;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < t->spans; i++) {
		struct span *s = &t->span[i];

		extend(t, s, now);
		s->told.final = s->complete && !s->open;
		fn(&s->told, arg);
		if (!s->told.final)
			t->span[kept++] = *s;
	}
	t->spans = kept;
	pthread_mutex_unlock(&t->lock);
}

bool throttle_blind(struct throttle *t)
{
	bool ret;

	pthread_mutex_lock(&t->lock);
	ret = t->plan.shed[SHED_launches] || t->hidden;
	pthread_mutex_unlock(&t->lock);
	return ret;
}

/* ---- doing it; the lock is not held while the kernel is waited for ---- */

static void add_sight(struct throttle *t, uint64_t now)
{
	if (!t->hidden) {
		t->sighted_ns += now - t->phase_ns;
		t->spent.sighted_ns += now - t->phase_ns;
		t->total.ns += now - t->phase_ns;
	}
	t->phase_ns = now;
}

static void hide(struct throttle *t)
{
	uint64_t now;

	capture_close_rows(t->c, true);
	t->c->probe->bss->launch_era++; /* odd: from here on they are not counted */
	now = clock_boot_ns();
	add_sight(t, now);
	measure(t);
	end_sight(t);
	begin_span(t, SHED_launches, now);
	t->hidden = true;
	pthread_mutex_unlock(&t->lock);
	libs_hide_launches(t->libs);
	log_debug("launches hidden: took %.1f ms", (double)(clock_boot_ns() - now) / 1e6);
	pthread_mutex_lock(&t->lock);
}

static void show(struct throttle *t)
{
	uint64_t start = clock_boot_ns();

	pthread_mutex_unlock(&t->lock);
	(void)libs_show_launches(t->libs); /* has said so */
	pthread_mutex_lock(&t->lock);
	t->c->probe->bss->launch_era++;
	capture_close_rows(t->c, false);
	t->hidden = false;
	t->phase_ns = clock_boot_ns();
	measure(t);
	end_span(t, SHED_launches, t->phase_ns);
	t->then = t->total;
	log_debug("launches shown: took %.1f ms", (double)(t->phase_ns - start) / 1e6);
}

static void flag(struct throttle *t, enum shed what, bool *to, uint64_t now)
{
	bool shed = t->plan.shed[what];

	if (shed == *to)
		return;
	*to = shed;
	if (shed)
		begin_span(t, what, now);
	else
		end_span(t, what, now);
}

/* When to look again. */
static uint64_t apply(struct throttle *t)
{
	const struct budget_plan *p = &t->plan;
	uint64_t now = clock_boot_ns(), since;

	flag(t, SHED_returns, &t->c->probe->bss->shed_returns, now);
	flag(t, SHED_stacks, &t->c->probe->bss->shed_stacks, now);
	flag(t, SHED_detail, &t->c->probe->bss->shed_detail, now);
	if (!p->shed[SHED_launches]) {
		if (t->hidden)
			show(t);
		return clock_boot_ns() + BUDGET_TICK_NS;
	}
	since = now - t->window_ns;
	if (t->hidden && since >= p->off_ns)
		show(t);
	else if (!t->hidden && (since >= p->on_ns || !t->in_window))
		hide(t);
	else
		return now + min_u64(BUDGET_TICK_NS, (t->hidden ? p->off_ns : p->on_ns) - since);
	t->in_window = !t->hidden;
	t->window_ns = clock_boot_ns();
	return t->window_ns + min_u64(BUDGET_TICK_NS, t->hidden ? p->off_ns : p->on_ns);
}

static void look(struct throttle *t)
{
	struct budget_sample s;
	uint64_t now;

	measure(t);
	now = clock_boot_ns();
	add_sight(t, now);
	if (!t->hidden)
		end_sight(t);
	sample(t, now, &s);
	budget_step(&t->budget, &s, &t->plan);
	if (!t->plan.shed[SHED_launches])
		t->in_window = false;
}

static void *work(void *arg)
{
	struct throttle *t = arg;
	uint64_t until;

	pthread_mutex_lock(&t->lock);
	until = clock_boot_ns() + BUDGET_TICK_NS;
	while (!t->stop) {
		uint64_t now = clock_boot_ns();
		struct timespec at;

		if (now < until) {
			clock_gettime(CLOCK_MONOTONIC, &at);
			at.tv_nsec += (long)min_u64(until - now, 999999999);
			at.tv_sec += at.tv_nsec / 1000000000;
			at.tv_nsec %= 1000000000;
			pthread_cond_timedwait(&t->wake, &t->lock, &at);
			continue;
		}
		look(t);
		until = apply(t);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- life ---- */

void capture_started(struct capture *c)
{
	struct throttle *t = c->throttle;

	pthread_mutex_lock(&t->lock);
	t->agent_ns = clock_cpu_ns();
	t->started = true;
	pthread_mutex_unlock(&t->lock);
}

int throttle_start(struct capture *c, double limit, struct throttle **ret)
{
	struct throttle *t = xcalloc(1, sizeof(*t));
	pthread_condattr_t attr;
	sigset_t all, old;
	int err;

	t->c = c;
	t->libs = c->libs;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &attr);
	pthread_condattr_destroy(&attr);
	budget_init(&t->budget, limit);
	t->pids = hash_new(sizeof(uint32_t), sizeof(uint32_t));
	t->paid = hash_new(sizeof(uint32_t), sizeof(struct paid));
	t->stats = c->probe->bss->stats;
	t->agent_ns = clock_cpu_ns();
	t->before_ns = t->phase_ns = clock_boot_ns();
	sigfillset(&all); /* signals are for the thread that waits for them */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&t->thread, NULL, work, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		throttle_free(t);
		return fail(-err, "no thread to watch the cost: %s", strerror(err));
	}
	t->runs = true;
	*ret = t;
	return 0;
}

void throttle_stop(struct throttle *t)
{
	uint64_t now;

	if (!t || !t->runs)
		return;
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	t->runs = false;
	now = clock_boot_ns();
	pthread_mutex_lock(&t->lock);
	add_sight(t, now);
	for (enum shed i = 0; i < SHED_COUNT; i++)
		end_span(t, i, now);
	for (size_t i = 0; i < t->spans; i++)
		t->span[i].complete = true;
	pthread_mutex_unlock(&t->lock);
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	throttle_stop(t);
	hash_free(t->pids);
	hash_free(t->paid);
	free(t->span);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->wake);
	free(t);
}
