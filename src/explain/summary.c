// SPDX-License-Identifier: Apache-2.0
/* Where the time of each process went: complete sums, no judgement. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/explain_int.h"

static uint64_t calls_of(const struct thread_facts *t)
{
	uint64_t n = 0;

	for (int i = 0; i < t->seconds; i++)
		n += t->second[i].calls;
	return n;
}

static void add_ops(struct summary *sum, const struct thread_facts *t)
{
	for (int i = 0; i < t->ops; i++) {
		const struct op_sum *from = &t->op[i];
		struct op_summary *to = NULL;

		for (int k = 0; k < sum->ops; k++)
			if (streq(sum->op[k].symbol, from->symbol))
				to = &sum->op[k];
		if (!to) {
			sum->op = xrealloc(sum->op, (size_t)sum->ops + 1, sizeof(*sum->op));
			to = &sum->op[sum->ops++];
			*to = (struct op_summary){ 0 };
			memcpy(to->symbol, from->symbol, sizeof(to->symbol));
		}
		to->calls += from->calls;
		to->done += from->done;
		to->total_ns += from->total_ns;
		for (int k = 0; k < HIST_BUCKETS; k++)
			to->hist[k] += from->hist[k];
	}
}

static void add_helper(struct summary *sum, const struct helper_summary *more)
{
	struct helper_summary *to = NULL;

	for (int i = 0; i < sum->helpers; i++)
		if (sum->helper[i].pid == more->pid && sum->helper[i].tid == more->tid &&
		    sum->helper[i].state == more->state)
			to = &sum->helper[i];
	if (!to) {
		sum->helper = xrealloc(sum->helper, (size_t)sum->helpers + 1, sizeof(*sum->helper));
		to = &sum->helper[sum->helpers++];
		*to = *more;
		return;
	}
	memcpy(to->comm, more->comm, sizeof(to->comm));
	to->ns += more->ns;
}

/* Who had the CPU that it needed, and what those did for whom it waited. */
static void add_helpers(const struct facts *f, struct summary *sum, const struct thread_facts *t)
{
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		for (int k = 0; k < s->blames; k++) {
			const struct second_blame *b = &s->blame[k];
			struct helper_summary h = { .pid = b->pid,
						    .state = STATE_PREEMPTED,
						    .relation = RELATION_foreign,
						    .ns = b->ns };

			if (!b->pid)
				continue;
			memcpy(h.comm, b->comm, sizeof(h.comm));
			add_helper(sum, &h);
		}
		for (int k = 0; k < s->waits; k++) {
			const struct chain *c = &f->chain[s->wait[k].chain].chain;
			const struct hop *last = c->hops > 1 ? &c->hop[chain_end(c)] : NULL;
			struct helper_summary h = { .ns = s->wait[k].ns };

			if (!last || last == &c->hop[0])
				continue;
			h.pid = last->pid;
			h.tid = last->tid;
			h.relation = last->relation;
			h.state = last->state == STATE_PREEMPTED ? STATE_WAKE : last->state;
			memcpy(h.comm, last->comm, sizeof(h.comm));
			add_helper(sum, &h);
		}
	}
}

static int by_time(const void *x, const void *y)
{
	const struct helper_summary *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int by_total(const void *x, const void *y)
{
	const struct op_summary *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->calls > b->calls ? -1 : a->calls < b->calls;
}

static void add_busiest(struct summary *sum, const struct thread_facts *t)
{
	sum->process = t->process;
	sum->pid = t->pid;
	sum->tid = t->tid;
	memcpy(sum->comm, t->process_comm, sizeof(sum->comm));
	memcpy(sum->cmdline, t->cmdline, sizeof(sum->cmdline));
	memcpy(sum->cgroup, t->cgroup, sizeof(sum->cgroup));
	memcpy(sum->python_note, t->python_note, sizeof(sum->python_note));
	for (int k = 0; k < t->seconds; k++) {
		const struct second *s = &t->second[k];

		for (int i = 0; i < STATE_COUNT; i++) {
			sum->state_ns[i] += s->state_ns[i];
			sum->sync_state_ns[i] += s->sync_state_ns[i];
		}
		sum->total_ns += second_total(s);
		sum->sync_ns += s->sync_wait_ns;
	}
	sum->steps = t->steps;
	sum->step_sum = t->step_sum;
	memcpy(sum->step_hist, t->step_hist, sizeof(sum->step_hist));
}

static void add_launches(struct summary *sum, const struct second *s)
{
	sum->launches += s->launches_seen;
	sum->launches_shed += s->launches - s->launches_seen;
}

void summarise(const struct facts *f, const struct thread_facts *first, int n,
	       struct explanation *e)
{
	const struct thread_facts *busiest = first;
	uint64_t most = 0;
	struct summary sum = { 0 };

	for (int i = 0; i < n; i++) {
		uint64_t calls = calls_of(&first[i]);

		for (int k = 0; k < first[i].seconds; k++)
			add_launches(&sum, &first[i].second[k]);
		sum.calls += calls;
		sum.threads += calls > 0;
		if (calls > most) {
			most = calls;
			busiest = &first[i];
		}
	}
	if (!sum.calls)
		return;
	/* The main thread drives the loop, where others (autograd) only take turns with it. */
	for (int i = 0; i < n; i++)
		if (first[i].tid == first[i].pid && calls_of(&first[i]) * 20 >= sum.calls)
			busiest = &first[i];
	add_busiest(&sum, busiest);
	add_helpers(f, &sum, busiest);
	add_idle(f, first, n, &sum);
	for (int i = 0; i < n; i++)
		add_ops(&sum, &first[i]);
	if (sum.ops)
		qsort(sum.op, (size_t)sum.ops, sizeof(*sum.op), by_total);
	if (sum.helpers)
		qsort(sum.helper, (size_t)sum.helpers, sizeof(*sum.helper), by_time);
	e->summary = xrealloc(e->summary, (size_t)e->summaries + 1, sizeof(*e->summary));
	e->summary[e->summaries++] = sum;
}

void summary_release(struct summary *s)
{
	free(s->op);
	free(s->helper);
	free(s->idle);
	free(s->kernel);
	free(s->library);
	free(s->memory);
}
