// SPDX-License-Identifier: Apache-2.0
/* Runs every rule on every process, then adds where, since when, by which rows, to what effect. */
#include "explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/facts.h"

static const rule_fn rules[] = { rule_cpu_contention, rule_cpu_contention_own, rule_cpu_quota };

const struct cause causes[] = {
	{ "cpu-contention", "Somebody else had the CPU of a thread that feeds the GPU" },
	{ "cpu-quota", "The CPU limit of the control group stopped a thread that feeds the GPU" },
	{ NULL, NULL },
};

/* ---- evidence: the slow calls of the thread that carry the loss ---- */

struct evidence_query {
	struct finding *found;
	uint64_t first, last;
};

static int on_slow(const struct call_row *row, void *arg)
{
	struct evidence_query *q = arg;
	struct finding *f = q->found;
	bool quota = streq(f->cause, "cpu-quota");
	uint64_t ns = quota ? row->state_ns[STATE_THROTTLED]
			    : row->state_ns[STATE_PREEMPTED] + row->state_ns[STATE_WAKE];

	if (row->thread != f->thread || ns * 4 < row->dur_ns)
		return 0;
	f->count++;
	if (!f->ids) {
		if (row->next)
			snprintf(f->op, sizeof(f->op), "before %s", row->next);
		else
			snprintf(f->op, sizeof(f->op), "%s", row->symbol);
	}
	if (f->ids < EVIDENCE_MAX)
		f->id[f->ids++] = row->id;
	q->first = q->first ? min_u64(q->first, row->start_ns) : row->start_ns;
	q->last = max_u64(q->last, row->start_ns + row->dur_ns);
	return 0;
}

static int add_evidence(struct store *s, struct finding *f)
{
	struct evidence_query q = { .found = f };
	struct window w = { f->first_ns, f->last_ns };
	int err = store_each_slow(s, w, 100000, on_slow, &q);

	if (!err && q.first) { /* the rows know the moment, the intervals only the second */
		f->first_ns = q.first;
		f->last_ns = q.last;
	}
	return err;
}

/* ---- effect: the thread's ops inside the time of the finding and outside it ---- */

struct op_effect {
	char op[64];
	uint32_t during[HIST_BUCKETS], before[HIST_BUCKETS];
	uint64_t during_n, before_n;
};

struct effect_query {
	const struct finding *found;
	struct op_effect *op;
	int ops;
	uint64_t calls[2], ns[2]; /* outside and during */
};

#define BASELINE_NS 2000000000ull /* less time outside says nothing about the usual pace */

static struct op_effect *effect_of(struct effect_query *q, const char *symbol)
{
	for (int i = 0; i < q->ops; i++)
		if (streq(q->op[i].op, symbol))
			return &q->op[i];
	q->op = xrealloc(q->op, (size_t)q->ops + 1, sizeof(*q->op));
	q->op[q->ops] = (struct op_effect){ 0 };
	text_safe(q->op[q->ops].op, sizeof(q->op[0].op), symbol);
	return &q->op[q->ops++];
}

static int on_op(const struct op_second_row *row, void *arg)
{
	struct effect_query *q = arg;
	const struct finding *f = q->found;
	struct op_effect *e;
	bool during;

	if (row->thread != f->thread || !row->done)
		return 0;
	e = effect_of(q, row->symbol);
	during = row->at_ns >= f->first_ns && row->at_ns <= f->last_ns + 1000000000ull;
	if (!streq(row->class, class_names[CLASS_GAP]))
		q->calls[during] += row->calls;
	for (int i = 0; i < STATE_COUNT; i++)
		q->ns[during] += row->state_ns[i];
	for (int i = 0; i < HIST_BUCKETS; i++) {
		*(during ? &e->during[i] : &e->before[i]) += row->hist[i];
		*(during ? &e->during_n : &e->before_n) += row->hist[i];
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

/*
 * Work done per second, outside and during: what the thread really lost by it. Bounds the gain from
 * below better than arithmetic alone, which cannot know what the GPU's own work would have hidden.
 */
static void add_pace(const struct effect_query *q, struct finding *f)
{
	double drop;

	if (q->ns[0] < BASELINE_NS || !q->ns[1] || !q->calls[0])
		return;
	f->rate_before = (double)q->calls[0] * 1e9 / (double)q->ns[0];
	f->rate_during = (double)q->calls[1] * 1e9 / (double)q->ns[1];
	drop = 100 * (1 - f->rate_during / f->rate_before);
	if (drop > f->gain_low_pct)
		f->gain_low_pct = drop < f->gain_high_pct ? drop : f->gain_high_pct;
}

static int add_effects(struct store *s, struct window w, struct finding *f)
{
	struct effect_query q = { .found = f };
	int err = store_each_op_second(s, w, on_op, &q);

	if (!err)
		add_pace(&q, f);
	if (!err && q.ops)
		qsort(q.op, (size_t)q.ops, sizeof(*q.op), by_worse);
	for (int i = 0; !err && i < q.ops && f->effects < EFFECTS_MAX; i++) {
		const struct op_effect *e = &q.op[i];
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
	free(q.op);
	return err;
}

/* ---- per process ---- */

static int judge(struct store *s, const struct facts *facts, const struct thread_facts *first,
		 int n, struct explanation *e)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct finding found;
		int err;

		if (!rules[i](facts, first, n, &found))
			continue;
		for (int k = 0; k < n; k++) {
			if (first[k].id != found.thread)
				continue;
			found.pid = first[k].pid;
			found.tid = first[k].tid;
			memcpy(found.node, first[k].node, sizeof(found.node));
			memcpy(found.comm, first[k].process_comm, sizeof(found.comm));
			memcpy(found.thread_comm, first[k].comm, sizeof(found.thread_comm));
			memcpy(found.cmdline, first[k].cmdline, sizeof(found.cmdline));
		}
		err = add_evidence(s, &found);
		if (!err)
			err = add_effects(s, facts->window, &found);
		if (err)
			return err;
		e->finding = xrealloc(e->finding, (size_t)e->findings + 1, sizeof(*e->finding));
		e->finding[e->findings++] = found;
	}
	return 0;
}

static uint64_t launches_of(const struct thread_facts *t)
{
	uint64_t n = 0;

	for (int i = 0; i < t->seconds; i++)
		n += t->second[i].launches;
	return n;
}

static void summarise(const struct thread_facts *first, int n, struct explanation *e)
{
	const struct thread_facts *busiest = first;
	uint64_t most = 0;
	struct summary sum = { 0 };

	for (int i = 0; i < n; i++) {
		uint64_t calls = 0;

		for (int k = 0; k < first[i].seconds; k++)
			calls += first[i].second[k].calls;
		sum.calls += calls;
		sum.launches += launches_of(&first[i]);
		sum.threads += calls > 0;
		if (calls > most) {
			most = calls;
			busiest = &first[i];
		}
	}
	if (!sum.calls)
		return;
	sum.pid = busiest->pid;
	sum.tid = busiest->tid;
	memcpy(sum.comm, busiest->process_comm, sizeof(sum.comm));
	memcpy(sum.cmdline, busiest->cmdline, sizeof(sum.cmdline));
	for (int k = 0; k < busiest->seconds; k++) {
		const struct second *s = &busiest->second[k];

		for (int i = 0; i < STATE_COUNT; i++)
			sum.state_ns[i] += s->state_ns[i];
		sum.total_ns += second_total(s);
		sum.sync_ns += s->sync_wait_ns;
	}
	e->summary = xrealloc(e->summary, (size_t)e->summaries + 1, sizeof(*e->summary));
	e->summary[e->summaries++] = sum;
}

static int on_loss(const struct loss_row *row, void *arg)
{
	struct explanation *e = arg;

	if (e->losses == LOSS_COUNT)
		return 0;
	text_safe(e->loss[e->losses].reason, sizeof(e->loss[0].reason), row->reason);
	e->loss[e->losses++].count = row->count;
	return 0;
}

static int by_lost(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;

	return a->lost_ns > b->lost_ns ? -1 : a->lost_ns < b->lost_ns;
}

static int by_calls(const void *x, const void *y)
{
	const struct summary *a = x, *b = y;

	return a->calls > b->calls ? -1 : a->calls < b->calls;
}

int explain(struct store *s, struct window w, struct explanation *ret)
{
	struct facts facts = { 0 };
	struct window span;
	int err;

	*ret = (struct explanation){ 0 };
	err = store_last_run(s, &ret->run);
	if (!err)
		err = store_span(s, &span);
	if (err)
		return err;
	/* What was not traced is not part of the answer. */
	w.from_ns = max_u64(w.from_ns, span.from_ns);
	w.to_ns = w.to_ns ? min_u64(w.to_ns, span.to_ns) : span.to_ns;
	if (w.from_ns >= w.to_ns)
		return fail(-ENODATA, "nothing was traced in that time");
	ret->window = w;
	err = facts_load(s, w, &facts);
	facts.cpus = ret->run.cpus;
	for (int i = 0, n; !err && i < facts.threads; i += n) {
		for (n = 1; i + n < facts.threads; n++)
			if (facts.thread[i + n].process != facts.thread[i].process)
				break;
		err = judge(s, &facts, &facts.thread[i], n, ret);
		summarise(&facts.thread[i], n, ret);
	}
	if (!err)
		err = store_account_total(s, w, &ret->account);
	if (!err)
		err = store_each_loss(s, w, on_loss, ret);
	facts_release(&facts);
	if (err) {
		explain_free(ret);
		return err;
	}
	if (ret->findings)
		qsort(ret->finding, (size_t)ret->findings, sizeof(*ret->finding), by_lost);
	if (ret->summaries)
		qsort(ret->summary, (size_t)ret->summaries, sizeof(*ret->summary), by_calls);
	return 0;
}

void explain_free(struct explanation *e)
{
	free(e->finding);
	free(e->summary);
	*e = (struct explanation){ 0 };
}
