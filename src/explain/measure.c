// SPDX-License-Identifier: Apache-2.0
/* Adds up one cause over the seconds of each thread of a process, and takes the worst thread. */
#include "explain/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define PACED_MIN 0.3 /* waits per step */
#define PACED_BUSY_PCT 3.0

static const struct chain *chain_of(const struct facts *f, const struct wait *w)
{
	return &f->chain[w->chain].chain;
}

static bool asked_for(const struct facts *f, const struct question *q, const struct wait *w)
{
	return !q->no_waits && w->verdict.cause == q->cause &&
	       (!q->gaps_only || w->place == CLASS_GAP) && chain_of(f, w)->hops >= q->min_hops;
}

static uint64_t own_of(const struct facts *f, const struct question *q,
		       const struct thread_facts *t, const struct second *s)
{
	return q->own_ns ? q->own_ns(f, t, s) : 0;
}

/* ---- culprits ---- */

void add_culprit(struct culprit **list, int *n, const struct culprit *more)
{
	struct culprit *who = NULL;

	for (int i = 0; i < *n; i++)
		if ((*list)[i].pid == more->pid)
			who = &(*list)[i];
	if (!who) {
		*list = xrealloc(*list, (size_t)*n + 1, sizeof(**list));
		who = &(*list)[(*n)++];
		*who = (struct culprit){ .pid = more->pid, .tid = more->tid };
	}
	if (who->tid != more->tid)
		who->tid = 0; /* several of its threads */
	memcpy(who->comm, more->comm, sizeof(who->comm)); /* its latest name */
	who->ns += more->ns;
	who->cpus |= more->cpus;
}

static int by_ns(const void *x, const void *y)
{
	const struct culprit *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

void sort_culprits(struct culprit *list, int n)
{
	if (n)
		qsort(list, (size_t)n, sizeof(*list), by_ns);
}

/* What people call the process: as the thread that calls knows its own, or by its main thread. */
static const char *process_name(const struct thread_facts *t, const struct chain *c, int who)
{
	uint32_t pid = c->hop[who].pid;

	if (pid == t->pid)
		return t->process_comm;
	for (int h = 0; h < c->hops; h++)
		if (c->hop[h].pid == pid && c->hop[h].tid == pid)
			return c->hop[h].comm;
	return c->hop[who].comm;
}

static bool culprit_of(const struct thread_facts *t, const struct chain *c, const struct wait *w,
		       struct culprit *ret)
{
	const struct hop *last = &c->hop[chain_end(c)];
	int who = w->verdict.who;

	*ret = (struct culprit){ .ns = w->ns };
	if (who == WHO_NOBODY)
		return false;
	if (who == WHO_CPU) {
		ret->pid = last->cpu_pid;
		str_copy(ret->comm, sizeof(ret->comm), last->name);
		ret->cpus = last->cpu < 64 ? 1ull << last->cpu : 0;
		return true;
	}
	ret->pid = c->hop[who].pid;
	ret->tid = c->hop[who].tid;
	str_copy(ret->comm, sizeof(ret->comm), process_name(t, c, who));
	return ret->pid != 0;
}

/* ---- one second, one thread ---- */

static uint64_t lost_in(const struct facts *f, const struct question *q,
			const struct thread_facts *t, const struct second *s)
{
	uint64_t lost = own_of(f, q, t, s);

	for (int i = 0; i < s->waits; i++)
		lost += asked_for(f, q, &s->wait[i]) ? s->wait[i].ns : 0;
	return lost;
}

/* Nobody has ended it yet; who will is a guess from the times before. */
static bool guessed(const struct chain *c)
{
	for (int h = 0; h < c->hops - 1; h++)
		if (c->hop[h].flags & STOP_OPEN)
			return true;
	return false;
}

static void add_wait(const struct facts *f, const struct wait *w, struct measured *m)
{
	const struct chain *c = chain_of(f, w);
	const struct hop *last;
	struct culprit who;

	m->count += w->count;
	m->max_ns = max_u64(m->max_ns, w->max_ns);
	m->inferred += w->verdict.inferred || !c->complete || guessed(c) ? w->ns : 0;
	m->places |= 1u << w->place;
	if (!c->hops)
		return;
	last = &c->hop[chain_end(c)];
	m->states |= 1u << c->hop[0].state;
	m->open += c->hop[0].flags & STOP_OPEN ? w->ns : 0;
	m->healed += last->flags & STOP_HEALED ? w->ns : 0;
	m->sleeping += STATE_BLOCKED(last->state) ? w->ns : 0;
	if (culprit_of(m->thread, c, w, &who))
		add_culprit(&m->culprit, &m->culprits, &who);
}

static void add_second(const struct facts *f, const struct question *q, const struct second *s,
		       struct measured *m)
{
	uint64_t total = second_total(s), own = own_of(f, q, m->thread, s);
	struct culprit self = { .pid = m->thread->pid, .ns = own };

	m->own += own;
	m->lost += lost_in(f, q, m->thread, s);
	m->affected += total;
	m->gpu_wait += s->sync_wait_ns;
	m->steps += s->steps;
	m->idle += s->idle_ns;
	m->launches += s->launches;
	m->syncs += second_calls(s, CLASS_SYNC) + s->blocking_copies;
	m->busy += second_busy(s);
	m->last = s->at_ns;
	if (!m->first)
		m->first = second_start(s);
	if (own) {
		m->states |= q->states;
		m->places |= q->places;
	}
	if (own && q->own_guilt) {
		memcpy(self.comm, m->thread->process_comm, sizeof(self.comm));
		add_culprit(&m->culprit, &m->culprits, &self);
	}
	for (int i = 0; i < s->waits; i++)
		if (asked_for(f, q, &s->wait[i]))
			add_wait(f, &s->wait[i], m);
}

static bool affected(const struct facts *f, const struct question *q, const struct thread_facts *t,
		     const struct second *s)
{
	uint64_t total = second_total(s), lost = lost_in(f, q, t, s);
	double min_pct = q->share_min_pct > 0 ? q->share_min_pct : SHARE_MIN_PCT;

	return total && percent(lost, total) >= min_pct;
}

static uint64_t lost_by(const struct facts *f, const struct question *q,
			const struct thread_facts *t)
{
	uint64_t lost = 0;

	for (int i = 0; i < t->seconds; i++)
		if (affected(f, q, t, &t->second[i]))
			lost += lost_in(f, q, t, &t->second[i]);
	return lost;
}

/* ---- the chain with most of it, and what it is about ---- */

struct tally_ns {
	uint64_t *ns;
	int best;
};

static void tally_add(struct tally_ns *tally, int index, uint64_t ns)
{
	tally->ns[index] += ns;
	if (tally->best < 0 || tally->ns[index] > tally->ns[tally->best])
		tally->best = index;
}

/* Many chains end at the same file: the name decides, not the chain. */
static void find_object(const struct facts *f, const struct question *q, struct measured *m)
{
	struct {
		struct thing thing;
		uint64_t ns;
	} seen[64] = { 0 };
	int n = 0, best = -1;

	for (int i = 0; i < m->thread->seconds; i++) {
		const struct second *s = &m->thread->second[i];
		int waits = affected(f, q, m->thread, s) ? s->waits : 0;

		for (int k = 0; k < waits; k++) {
			const struct wait *w = &s->wait[k];
			const struct hop *hop;
			int at = 0;

			if (!asked_for(f, q, w) || w->verdict.what < 0)
				continue;
			hop = &chain_of(f, w)->hop[w->verdict.what];
			if (!hop->name[0])
				continue;
			while (at < n && !streq(seen[at].thing.name, hop->name))
				at++;
			if (at == (int)ARRAY_LEN(seen))
				continue;
			if (at == n) {
				seen[n++].thing.kind = hop->object;
				str_copy(seen[at].thing.name, sizeof(seen[at].thing.name),
					 hop->name);
			}
			seen[at].ns += w->ns;
			if (best < 0 || seen[at].ns > seen[best].ns)
				best = at;
		}
	}
	m->objects = n;
	if (best >= 0)
		m->object = seen[best].thing;
}

static bool same_hop(const struct hop *a, const struct hop *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->state == b->state;
}

/* One that goes on behind the end of the best, and is more than an accident. */
static int longer_chain(const struct facts *f, const struct tally_ns *tally)
{
	const struct chain *best = &f->chain[tally->best].chain;
	int ret = tally->best;

	for (int i = 0; i < f->chains; i++) {
		const struct chain *c = &f->chain[i].chain;

		if (tally->ns[i] * 50 < tally->ns[tally->best] || c->hops <= best->hops ||
		    !same_hop(&c->hop[0], &best->hop[0]))
			continue;
		if (ret == tally->best || tally->ns[i] > tally->ns[ret])
			ret = i;
	}
	return ret;
}

static void find_chain(const struct facts *f, const struct question *q, struct measured *m)
{
	struct tally_ns tally = { .best = -1 };

	if (!f->chains)
		return;
	tally.ns = xcalloc((size_t)f->chains, sizeof(*tally.ns));
	for (int i = 0; i < m->thread->seconds; i++) {
		const struct second *s = &m->thread->second[i];
		int waits = affected(f, q, m->thread, s) ? s->waits : 0;

		for (int k = 0; k < waits; k++)
			if (asked_for(f, q, &s->wait[k]))
				tally_add(&tally, s->wait[k].chain, s->wait[k].ns);
	}
	if (q->holder && tally.best >= 0)
		tally.best = longer_chain(f, &tally);
	m->chain = tally.best;
	m->chain_ns = tally.best < 0 ? 0 : tally.ns[tally.best];
	free(tally.ns);
}

bool measure(const struct facts *f, const struct thread_facts *first, int n,
	     const struct question *q, struct measured *ret)
{
	uint64_t least = q->lost_min_ns ? q->lost_min_ns : LOST_MIN_NS, most = 0;

	*ret = (struct measured){ .chain = -1 };
	for (int i = 0; i < n; i++) {
		uint64_t lost = lost_by(f, q, &first[i]);

		if (lost > most) {
			most = lost;
			ret->thread = &first[i];
		}
	}
	if (!ret->thread || most < least)
		return false;
	for (int i = 0; i < ret->thread->seconds; i++)
		if (affected(f, q, ret->thread, &ret->thread->second[i]))
			add_second(f, q, &ret->thread->second[i], ret);
	/* A single short wait is an accident. */
	if (ret->own * 2 < ret->lost && ret->count < REPEATED_MIN && ret->max_ns < LONG_NS)
		return false;
	sort_culprits(ret->culprit, ret->culprits);
	find_object(f, q, ret);
	find_chain(f, q, ret);
	return true;
}

void measured_release(struct measured *m)
{
	free(m->culprit);
	m->culprit = NULL;
	m->culprits = 0;
}

bool measured_paced(const struct measured *m)
{
	uint64_t rounds = m->steps ? m->steps : m->syncs;

	return (double)m->count >= PACED_MIN * (double)rounds &&
	       percent(m->busy, m->affected) >= PACED_BUSY_PCT;
}

bool measured_stuck(const struct measured *m)
{
	return m->open * 2 > m->lost && thread_busy(m->thread) >= BUSY_ASLEEP_PCT;
}

/* ---- the finding ---- */

/* How much of the thread's waiting went through each hop of the chain that we show. */
static void fill_chain(const struct facts *f, const struct question *q, const struct measured *m,
		       struct finding *ret)
{
	const struct chain *shown = &f->chain[m->chain].chain;

	ret->chain = *shown;
	for (int i = 0; i < m->thread->seconds; i++) {
		const struct second *s = &m->thread->second[i];
		int waits = affected(f, q, m->thread, s) ? s->waits : 0;

		for (int k = 0; k < waits; k++) {
			const struct chain *c = chain_of(f, &s->wait[k]);

			if (s->wait[k].verdict.cause == CAUSE_none)
				continue; /* the same kind of wait, for the GPU */
			for (int h = 0; h < c->hops && h < shown->hops; h++) {
				if (!same_hop(&c->hop[h], &shown->hop[h]))
					break;
				ret->hop_ns[h] += s->wait[k].ns;
			}
		}
	}
}

static enum evidence evidence_of(const struct facts *f, const struct measured *m)
{
	if (m->inferred * 2 > m->lost)
		return EVIDENCE_INFERRED;
	if (f->lost_stops || m->healed * 20 > m->lost || m->inferred)
		return EVIDENCE_OBSERVED;
	return EVIDENCE_PROVEN;
}

void measured_finding(const struct facts *f, const struct question *q, const struct measured *m,
		      struct finding *ret)
{
	/* Without it the GPU is fed sooner: at best all of it, at least what it was idle for. */
	uint64_t sure = m->lost > m->gpu_wait ? m->lost - m->gpu_wait : 0;

	if (m->steps)
		sure = min_u64(m->lost, m->idle);
	*ret = (struct finding){
		.cause = cause_name(q->cause),
		.evidence = evidence_of(f, m),
		.lost_ns = m->lost,
		.affected_ns = m->affected,
		.lost_pct = percent(m->lost, m->affected),
		.gain_low_pct = percent(sure, m->affected),
		.gain_high_pct = percent(m->lost, m->affected),
		.count = m->count,
		.first_ns = m->first,
		.last_ns = m->last,
		.thread = m->thread->id,
		.culprits = m->culprits < CULPRITS_MAX ? m->culprits : CULPRITS_MAX,
		.object = m->object,
		.states = m->states,
		.places = m->places,
	};
	if (ret->culprits)
		memcpy(ret->culprit, m->culprit, sizeof(ret->culprit[0]) * (size_t)ret->culprits);
	for (int i = 0; i < ret->culprits; i++)
		ret->culprit[i].share = percent(ret->culprit[i].ns, m->lost);
	group_culprits(f, m->culprit, m->culprits, ret);
	if (m->chain >= 0)
		fill_chain(f, q, m, ret);
	ret->severity = severity_of(f, ret);
}
