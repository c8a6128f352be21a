// SPDX-License-Identifier: Apache-2.0
/* What a finding rests on, and what it did: single calls, latencies and pace before and during. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/explain_int.h"

#define ROWS_MAX 100000
#define CANDIDATES_MAX 16
#define NS_PER_S 1000000000ull
#define BASELINE_NS 2000000000ull /* less time outside says nothing about the usual pace */

/* ---- evidence: the slow calls of the thread that carry the loss ---- */

static enum op_class class_of_symbol(const char *symbol)
{
	for (int i = 0; i < OP_SLOTS; i++)
		if (op_table[i].symbol && streq(op_table[i].symbol, symbol))
			return op_table[i].class;
	return CLASS_COUNT;
}

/* Is at least a quarter of the call what the finding is about? */
static bool carries(const struct call_row *row, enum op_class class, const struct finding *f)
{
	uint64_t ns = 0;

	if (row->thread != f->thread || (class < CLASS_COUNT && !(f->places >> class & 1)))
		return false;
	if (row->start_ns < f->first_ns || row->start_ns > f->last_ns)
		return false;
	for (int i = 0; i < STATE_COUNT; i++)
		ns += f->states >> i & 1 ? row->state_ns[i] : 0;
	return ns && ns * 4 >= row->dur_ns;
}

/* The slow calls that may carry a finding, longest first. */
struct candidates {
	int64_t id[CANDIDATES_MAX];
	char op[CANDIDATES_MAX][64];
	uint64_t dur_ns[CANDIDATES_MAX];
	int n;
	uint64_t rows, first, last; /* of all, also those beyond */
};

struct evidence_query {
	const struct explanation *e;
	struct candidates *of; /* each finding */
};

static int on_slow(const struct call_row *row, void *arg)
{
	struct evidence_query *q = arg;
	enum op_class class = class_of_symbol(row->symbol);

	for (int i = 0; i < q->e->findings; i++) {
		struct candidates *c = &q->of[i];
		char op[128];

		if (!carries(row, class, &q->e->finding[i]))
			continue;
		c->rows++;
		c->first = min_u64(c->first, row->start_ns);
		c->last = max_u64(c->last, row->start_ns + row->dur_ns);
		if (c->n == CANDIDATES_MAX)
			continue;
		snprintf(op, sizeof(op), "%s%s", row->next ? "before " : "",
			 row->next ? row->next : row->symbol);
		text_safe(c->op[c->n], sizeof(c->op[0]), op);
		c->id[c->n] = row->id;
		c->dur_ns[c->n++] = row->dur_ns;
	}
	return 0;
}

/* Which causes the waits on each chain were found to have. */
static struct hash *causes_of_chains(const struct facts *f)
{
	struct hash *causes_of = hash_new(sizeof(int64_t), sizeof(uint32_t));

	for (int i = 0; i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++) {
			const struct second *s = &f->thread[i].second[k];

			for (int n = 0; n < s->waits; n++)
				*(uint32_t *)hash_put(causes_of, &f->path[s->wait[n].path].id) |=
					1u << s->wait[n].verdict.cause;
		}
	}
	return causes_of;
}

struct charged {
	struct hash *causes_of;
	const char *cause;
	uint64_t ns;
};

static int on_call_wait(int64_t chain, uint64_t ns, void *arg)
{
	struct charged *c = arg;
	const uint32_t *known = hash_get(c->causes_of, &chain);

	for (int i = 1; known && i < CAUSE_COUNT; i++)
		if (*known >> i & 1 && streq(cause_name((enum cause_id)i), c->cause))
			c->ns += ns;
	return 0;
}

/*
 * Quote rows. Where a finding rests on chains, so must they; a state alone could have another cause.
 * Otherwise the rows know the moment, the intervals only the second.
 */
static int quote(struct store *s, struct hash *causes_of, const struct candidates *from,
		 struct finding *f)
{
	for (int i = 0; i < from->n && f->ids < EVIDENCE_MAX; i++) {
		struct charged c = { .causes_of = causes_of, .cause = f->cause };
		int err =
			f->chain.hops ? store_each_call_wait(s, from->id[i], on_call_wait, &c) : 0;

		if (err)
			return err;
		if (f->chain.hops && c.ns * 4 < from->dur_ns[i])
			continue;
		if (!f->ids)
			memcpy(f->op, from->op[i], sizeof(f->op));
		f->id[f->ids++] = from->id[i];
	}
	if (!f->op[0] && f->places >> CLASS_GAP & 1)
		str_copy(f->op, sizeof(f->op), op_table[OP_GAP].symbol);
	if (f->chain.hops || f->counted)
		return 0;
	if (!f->count)
		f->count = from->rows;
	if (from->rows) {
		f->first_ns = from->first;
		f->last_ns = max_u64(from->first, from->last);
	}
	return 0;
}

int add_evidence(struct store *s, const struct facts *f, struct explanation *e)
{
	struct evidence_query q = { e, xcalloc((size_t)e->findings + 1, sizeof(*q.of)) };
	struct hash *causes_of = causes_of_chains(f);
	int err;

	for (int i = 0; i < e->findings; i++)
		q.of[i].first = UINT64_MAX;
	err = e->findings ? store_each_slow(s, e->window, ROWS_MAX, on_slow, &q) : 0;
	for (int i = 0; !err && i < e->findings; i++)
		err = quote(s, causes_of, &q.of[i], &e->finding[i]);
	hash_free(causes_of);
	free(q.of);
	return err;
}

/* ---- effect: the thread's ops inside the time of the finding and outside it ---- */

struct op_effect {
	char op[64];
	uint32_t during[HIST_BUCKETS], before[HIST_BUCKETS];
	uint64_t during_n, before_n;
};

struct op_effects {
	struct op_effect *op;
	int ops;
};

struct effect_query {
	const struct facts *f;
	const struct explanation *e;
	struct op_effects *of; /* each finding */
};

enum when { BEFORE, DURING, NEITHER };

/* at_ns is the end of a second. */
static bool within(const struct finding *f, uint64_t at_ns)
{
	return at_ns > f->first_ns && at_ns < f->last_ns + NS_PER_S;
}

static const struct thread_facts *thread_of(const struct facts *f, int64_t id)
{
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].id == id)
			return &f->thread[i];
	return NULL;
}

static bool warms_up(const struct thread_facts *t, uint64_t at_ns)
{
	int lo = 0, hi = t->seconds;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (t->second[mid].at_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->seconds && t->second[lo].warm_up;
}

/* What is usual is what neither this nor another finding, nor the start, disturbs. */
static enum when when_of(const struct explanation *e, const struct finding *f,
			 const struct thread_facts *t, uint64_t at_ns)
{
	if (within(f, at_ns))
		return DURING;
	for (int i = 0; i < e->findings; i++)
		if (e->finding[i].thread == f->thread && within(&e->finding[i], at_ns))
			return NEITHER;
	return t && warms_up(t, at_ns) ? NEITHER : BEFORE;
}

static struct op_effect *effect_of(struct op_effects *list, const char *symbol)
{
	struct op_effect fresh = { 0 };

	text_safe(fresh.op, sizeof(fresh.op), symbol);
	for (int i = 0; i < list->ops; i++)
		if (streq(list->op[i].op, fresh.op))
			return &list->op[i];
	list->op = xrealloc(list->op, (size_t)list->ops + 1, sizeof(*list->op));
	list->op[list->ops] = fresh;
	return &list->op[list->ops++];
}

static int on_op(const struct op_second_row *row, void *arg)
{
	struct effect_query *q = arg;

	for (int i = 0; i < q->e->findings; i++) {
		const struct finding *f = &q->e->finding[i];
		struct op_effect *e;
		enum when when;

		if (row->thread != f->thread || !row->done)
			continue;
		when = when_of(q->e, f, thread_of(q->f, f->thread), row->at_ns);
		if (when == NEITHER)
			continue;
		e = effect_of(&q->of[i], row->symbol);
		for (int k = 0; k < HIST_BUCKETS; k++) {
			*(when == DURING ? &e->during[k] : &e->before[k]) += row->hist[k];
			*(when == DURING ? &e->during_n : &e->before_n) += row->hist[k];
		}
	}
	return 0;
}

/* How much worse the op became; 0: too few calls to say. */
static double worse(const struct op_effect *e)
{
	uint64_t before = hist_quantile(e->before, 0.99), during = hist_quantile(e->during, 0.99);

	if (e->before_n < 20 || e->during_n < 20 || !before)
		return 0;
	return (double)during / (double)before;
}

static int by_worse(const void *x, const void *y)
{
	double a = worse(x), b = worse(y);

	return a > b ? -1 : a < b;
}

static void keep_worst(struct op_effects *list, struct finding *f)
{
	if (list->ops)
		qsort(list->op, (size_t)list->ops, sizeof(*list->op), by_worse);
	for (int i = 0; i < list->ops && f->effects < EFFECTS_MAX; i++) {
		const struct op_effect *e = &list->op[i];
		struct effect *to = &f->effect[f->effects];

		if (worse(e) < 1.5)
			break;
		memcpy(to->op, e->op, sizeof(to->op));
		to->p50_before = hist_quantile(e->before, 0.5);
		to->p99_before = hist_quantile(e->before, 0.99);
		to->p50_during = hist_quantile(e->during, 0.5);
		to->p99_during = hist_quantile(e->during, 0.99);
		f->effects++;
	}
}

/*
 * Work done per second, outside and during: what the thread really lost by it. Bounds the gain from
 * below better than arithmetic alone, which cannot know what the GPU's own work would have hidden.
 */
static void add_pace(const struct facts *facts, const struct explanation *e, struct finding *f)
{
	const struct thread_facts *t = thread_of(facts, f->thread);
	uint64_t calls[2] = { 0 }, steps[2] = { 0 }, ns[2] = { 0 };
	double drop;

	for (int i = 0; t && i < t->seconds; i++) {
		enum when when = when_of(e, f, t, t->second[i].at_ns);

		if (when == NEITHER)
			continue;
		calls[when] += t->second[i].calls;
		steps[when] += t->second[i].steps;
		ns[when] += second_total(&t->second[i]);
	}
	if (ns[BEFORE] < BASELINE_NS || !ns[DURING] || !calls[BEFORE])
		return;
	f->rate_before = (double)calls[BEFORE] * 1e9 / (double)ns[BEFORE];
	f->rate_during = (double)calls[DURING] * 1e9 / (double)ns[DURING];
	drop = 100 * (1 - f->rate_during / f->rate_before);
	if (steps[BEFORE]) { /* a step is what counts, where it is known */
		f->steps_before = (double)steps[BEFORE] * 1e9 / (double)ns[BEFORE];
		f->steps_during = (double)steps[DURING] * 1e9 / (double)ns[DURING];
		drop = 100 * (1 - f->steps_during / f->steps_before);
	}
	if (drop > f->gain_low_pct)
		f->gain_low_pct = drop < f->gain_high_pct ? drop : f->gain_high_pct;
}

int add_effects(struct store *s, const struct facts *f, struct explanation *e)
{
	struct effect_query q = { f, e, xcalloc((size_t)e->findings + 1, sizeof(*q.of)) };
	int err = e->findings ? store_each_op_second(s, e->window, on_op, &q) : 0;

	for (int i = 0; i < e->findings; i++) {
		if (!err) {
			add_pace(f, e, &e->finding[i]);
			keep_worst(&q.of[i], &e->finding[i]);
		}
		free(q.of[i].op);
	}
	free(q.of);
	return err;
}
