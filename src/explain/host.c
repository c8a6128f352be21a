// SPDX-License-Identifier: Apache-2.0
/*
 * When a thread runs between its calls and hardly ever waits for the GPU, the GPU waits for it: for
 * its own work, for the launching itself, or because it stops after every little kernel.
 *
 * Launches are not timed, so one that waits for room in a full queue looks like work of the host.
 * Then the next synchronisation finds a long queue; where it finds a short one, or where so few
 * launches were made since the last that no queue was filled, the GPU keeps up with the host.
 *
 * That alone is no loss: both may be equally fast. The GPU is known to be idle between the end of a
 * synchronisation and the next launch, and during long stretches of work between two calls.
 */
#include <stdlib.h>

#include "base/util.h"
#include "explain/facts.h"

#define RUNS_MIN_PCT 60.0
#define GPU_MAX_PCT 15.0
#define IDLE_MIN_PCT 40.0 /* ... of which it is known that the GPU was idle */
#define QUEUE_MIN 256 /* launches that might have filled a queue */
#define BACKLOG_MAX 24 /* launches' worth of waiting: more is a queue */
#define LAUNCHES_MIN 5000 /* per second */
#define LAUNCH_MAX_NS 50000ull /* of the host for each */
#define SHORT_MIN_PCT 60.0 /* of the time between calls, in short gaps */
#define SYNCS_MIN                                                                                  \
	500 /* per second, short ones; or so many of any length, if the GPU is idle beside them: */
#define SYNCS_LONG_MIN 100
#define SYNC_PER_LAUNCH 0.15 /* PyTorch makes two or three launches for an operation */
#define SYNC_COST_MIN_PCT 10.0
#define QUIET_NS 2000000000ull

/* What the whole process did for the GPU in an interval of one of its threads. */
struct pulse {
	uint64_t launches, drains, drain_ns;
};

uint64_t second_drains(const struct second *s)
{
	return second_calls(s, CLASS_SYNC) + s->blocking_copies;
}

static void add_pulse(struct pulse *p, const struct second *s)
{
	p->launches += s->launches;
	p->drains += second_drains(s);
	p->drain_ns += s->sync_wait_ns + (s->blocking_copies ? s->class[CLASS_COPY].ns : 0);
}

/* Waiting for another thread of the process, which worked for the GPU meanwhile. */
static uint64_t turns_ns(const struct second *s)
{
	uint64_t ns = 0;

	for (int i = 0; i < s->waits; i++)
		if (s->wait[i].verdict.healthy == HEALTHY_turn && s->wait[i].verdict.worked)
			ns += s->wait[i].ns;
	return ns;
}

/* Of other threads only where they took turns with this one. */
static struct pulse pulse_of(const struct facts *f, const struct thread_facts *t,
			     const struct second *s)
{
	uint64_t turns = turns_ns(s);
	struct pulse p = { 0 };

	add_pulse(&p, s);
	for (int i = 0; turns && i < f->threads; i++) {
		const struct thread_facts *o = &f->thread[i];

		if (o == t || o->process != t->process)
			continue;
		for (int k = 0; k < o->seconds; k++)
			if (o->second[k].at_ns > second_start(s) && o->second[k].at_ns <= s->at_ns)
				add_pulse(&p, &o->second[k]);
	}
	return p;
}

uint64_t second_host(const struct thread_facts *t, const struct second *s)
{
	uint64_t ns = s->gap_ns[STATE_RUN] + turns_ns(s);
	uint64_t faults = second_faults(s) ? second_kernel(t, s) : 0;

	return ns > faults ? ns - faults : 0;
}

/* Running while the GPU had nothing to do, as far as that is known. */
static uint64_t idle_host(const struct second *s)
{
	uint64_t waits = 0, in_long;

	for (int i = 0; i < STATE_COUNT; i++)
		waits += i == STATE_RUN ? 0 : s->gap_ns[i];
	in_long = s->long_gap_ns > waits ? s->long_gap_ns - waits : 0;
	if (s->steps && s->idle_ns > waits)
		in_long = max_u64(in_long, s->idle_ns - waits);
	return min_u64(in_long, s->gap_ns[STATE_RUN]);
}

static uint64_t gpu_calls(const struct second *s)
{
	return s->sync_wait_ns + s->class[CLASS_COPY].ns + s->class[CLASS_GRAPH].ns +
	       s->class[CLASS_COLL].ns + s->class[CLASS_P2P].ns;
}

/* Long stretches of work are another matter. */
uint64_t second_idle_beside(const struct second *s)
{
	uint64_t other = s->long_gap_ns;

	for (int i = 0; i < STATE_COUNT; i++)
		other += i == STATE_RUN ? 0 : s->gap_ns[i];
	if (!s->steps || s->idle_ns <= other)
		return 0;
	return min_u64(s->idle_ns - other, s->gap_ns[STATE_RUN]);
}

static bool syncs_too_often(const struct second *s, uint64_t total)
{
	const struct short_sum *runtime = &s->short_sync[LAYER_RUNTIME];
	const struct short_sum *driver = &s->short_sync[LAYER_DRIVER];
	const struct short_sum *brief = runtime->count > driver->count ? runtime : driver;
	uint64_t syncs = second_calls(s, CLASS_SYNC);

	if ((double)syncs < SYNC_PER_LAUNCH * (double)s->launches)
		return false;
	if ((double)syncs * 1e9 >= SYNCS_MIN * (double)total && brief->count * 2 >= syncs &&
	    percent(brief->ns + s->short_gap.ns, total) >= SYNC_COST_MIN_PCT)
		return true;
	return (double)syncs * 1e9 >= SYNCS_LONG_MIN * (double)total &&
	       percent(second_idle_beside(s), total) >= SYNC_COST_MIN_PCT;
}

/* Could the launches have waited for the GPU without our seeing it? */
static bool might_queue(const struct pulse *p, uint64_t total)
{
	double per_drain, backlog;

	if (!p->drains)
		return true;
	per_drain = (double)p->launches / (double)p->drains;
	backlog = per_drain * (double)p->drain_ns / (double)total;
	return per_drain >= QUEUE_MIN && backlog >= BACKLOG_MAX;
}

static enum load load_of(const struct facts *f, const struct thread_facts *t,
			 const struct second *s)
{
	uint64_t total = second_total(s), host = second_host(t, s), gaps;
	struct pulse p = pulse_of(f, t, s);

	if (!total || s->warm_up || !p.launches || s->launches_unknown)
		return LOAD_none;
	if (syncs_too_often(s, total))
		return LOAD_syncs;
	/* While it has its turn the other thread may be waiting for the GPU, and spin. */
	if (percent(host, total) < RUNS_MIN_PCT ||
	    percent(max_u64(gpu_calls(s), p.drain_ns), total) > GPU_MAX_PCT ||
	    might_queue(&p, total))
		return LOAD_none;
	gaps = s->gap_hist_ns - min_u64(s->gap_hist_ns, turns_ns(s));
	if (percent(s->short_gap.ns, gaps) >= SHORT_MIN_PCT &&
	    (double)p.launches * 1e9 >= (double)LAUNCHES_MIN * (double)total &&
	    host <= p.launches * LAUNCH_MAX_NS)
		return LOAD_launches;
	return percent(idle_host(s), total) >= IDLE_MIN_PCT ? LOAD_work : LOAD_none;
}

static int by_size(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/*
 * How long it takes from one synchronisation to the next, also where graphs are launched. The median: a
 * second in which the trouble begins or ends is neither well nor ill.
 */
static void find_round(struct thread_facts *t)
{
	double *round = xcalloc((size_t)t->seconds + 1, sizeof(*round));
	uint64_t total = 0;
	int n = 0;

	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		if (s->load != LOAD_none || s->warm_up || !second_drains(s))
			continue;
		round[n++] = (double)second_total(s) / (double)second_drains(s);
		total += second_total(s);
	}
	qsort(round, (size_t)n, sizeof(*round), by_size);
	t->quiet_round_ns = total >= QUIET_NS ? round[n / 2] : -1;
	free(round);
}

static void find_quiet(struct thread_facts *t)
{
	uint64_t host = 0, launches = 0, total = 0;

	find_round(t);
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		if (s->load != LOAD_none || s->warm_up || !s->launches || s->launches_unknown)
			continue;
		host += second_host(t, s);
		launches += s->launches;
		total += second_total(s);
	}
	t->quiet_host_ns = total >= QUIET_NS ? (double)host / (double)launches : -1;
	t->quiet_launch_ns = total >= QUIET_NS ? (double)total / (double)launches : -1;
}

void facts_loads(struct facts *f)
{
	for (int i = 0; i < f->threads; i++) {
		struct thread_facts *t = &f->thread[i];

		for (int k = 0; k < t->seconds; k++)
			t->second[k].load = load_of(f, t, &t->second[k]);
		find_quiet(t);
	}
}

bool second_beside(const struct thread_facts *t, const struct second *s, enum load load)
{
	long i = s - t->second;

	return s->load == LOAD_none && !s->warm_up &&
	       ((i > 0 && t->second[i - 1].load == load) ||
		(i + 1 < t->seconds && t->second[i + 1].load == load));
}

uint64_t second_excess(const struct thread_facts *t, const struct second *s)
{
	uint64_t host = second_host(t, s), usual = 0;

	if (s->load != LOAD_work && !second_beside(t, s, LOAD_work))
		return 0;
	if (t->quiet_host_ns >= 0)
		usual = (uint64_t)(t->quiet_host_ns * (double)s->launches);
	else if (s->load != LOAD_work)
		return 0;
	return host > usual ? min_u64(host - usual, idle_host(s)) : 0;
}
