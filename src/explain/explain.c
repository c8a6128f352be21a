// SPDX-License-Identifier: Apache-2.0
/* Runs every rule on every process, then adds where, since when, by which rows, to what effect. */
#include "explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "explain/tenants.h"

static const rule_fn rules[] = {
#define X(name) rule_##name,
	RULES(X)
#undef X
};

/* ---- per process ---- */

static void place(struct finding *found, const struct thread_facts *first, int n)
{
	for (int i = 0; i < n; i++) {
		if (first[i].id != found->thread)
			continue;
		found->pid = first[i].pid;
		found->tid = first[i].tid;
		memcpy(found->node, first[i].node, sizeof(found->node));
		memcpy(found->comm, first[i].process_comm, sizeof(found->comm));
		memcpy(found->thread_comm, first[i].comm, sizeof(found->thread_comm));
		memcpy(found->cmdline, first[i].cmdline, sizeof(found->cmdline));
		memcpy(found->python_note, first[i].python_note, sizeof(found->python_note));
		memcpy(found->cgroup, first[i].cgroup, sizeof(found->cgroup));
		found->rank = first[i].rank;
		found->ranked = first[i].ranked;
	}
}

static void judge(const struct facts *f, const struct thread_facts *first, int n,
		  struct explanation *e)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct finding found;

		if (!rules[i](f, first, n, &found))
			continue;
		place(&found, first, n);
		find_cgroups(f, &found);
		find_neighbour(f, e, &found);
		e->finding = xrealloc(e->finding, (size_t)e->findings + 1, sizeof(*e->finding));
		e->finding[e->findings++] = found;
	}
}

/* What nobody saw: time in no known state. */
static double unexplained_pct(const struct facts *f)
{
	uint64_t unknown = 0, total = 0;

	for (int i = 0; i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++) {
			unknown += f->thread[i].second[k].state_ns[STATE_UNKNOWN];
			total += second_total(&f->thread[i].second[k]);
		}
	}
	return percent(unknown, total);
}

static void judge_all(const struct facts *f, struct explanation *e)
{
	for (int i = 0, n; i < f->threads; i += n) {
		for (n = 1; i + n < f->threads; n++)
			if (f->thread[i + n].process != f->thread[i].process)
				break;
		judge(f, &f->thread[i], n, e);
		summarise(f, &f->thread[i], n, e);
	}
	add_own_causes(f, e);
	e->unexplained_pct = unexplained_pct(f);
}

/* ---- the rest of the answer ---- */

static int on_loss(const struct loss_row *row, void *arg)
{
	struct explanation *e = arg;

	if (e->losses == LOSS_REASONS) {
		e->losses_cut++;
		return 0;
	}
	text_safe(e->loss[e->losses].reason, sizeof(e->loss[0].reason), row->reason);
	e->loss[e->losses++].count = row->count;
	return 0;
}

static int on_incident(const struct incident_row *row, void *arg)
{
	struct explanation *e = arg;
	struct incident *to;

	e->incident = xrealloc(e->incident, (size_t)e->incidents + 1, sizeof(*e->incident));
	to = &e->incident[e->incidents++];
	*to = (struct incident){ .id = row->id,
				 .pid = row->pid,
				 .culprit_pid = row->culprit_pid,
				 .first_ns = row->first_ns,
				 .last_ns = row->last_ns,
				 .lost_ns = row->lost_ns };
	text_safe(to->cause, sizeof(to->cause), row->cause);
	text_safe(to->comm, sizeof(to->comm), row->comm);
	text_safe(to->culprit, sizeof(to->culprit), row->culprit);
	text_safe(to->title, sizeof(to->title), row->title);
	text_safe(to->severity, sizeof(to->severity), row->severity);
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

static void rank(struct explanation *e)
{
	if (e->findings)
		qsort(e->finding, (size_t)e->findings, sizeof(*e->finding), by_lost);
	lift_stragglers(e);
	if (e->summaries)
		qsort(e->summary, (size_t)e->summaries, sizeof(*e->summary), by_calls);
}

/* The part of w that was traced; what was not is no part of the answer. */
static int clip(struct store *s, struct window *w)
{
	struct window span;
	int err = store_span(s, &span);

	if (err)
		return err;
	w->from_ns = max_u64(w->from_ns, span.from_ns);
	w->to_ns = w->to_ns ? min_u64(w->to_ns, span.to_ns) : span.to_ns;
	if (w->from_ns >= w->to_ns)
		return fail(-ENODATA, "nothing was traced in that time");
	return 0;
}

static int explain_window(struct store *s, struct window w, bool in_full, struct explanation *ret)
{
	struct facts facts = { 0 };
	int err;

	*ret = (struct explanation){ 0 };
	err = store_last_run(s, &ret->run);
	if (!err)
		err = clip(s, &w);
	if (err)
		return err;
	ret->window = w;
	err = facts_load(s, w, &facts);
	facts.cpus = ret->run.cpus;
	if (!err)
		err = tenants_load(s, &facts, ret);
	if (!err) {
		judge_all(&facts, ret);
		rank(ret);
		name_tenants(ret);
	}
	if (!err && in_full)
		err = add_lines(s, &facts, ret);
	if (!err && in_full)
		err = store_stack_counts(s, w, &ret->stacks);
	if (!err)
		add_happenings(&facts, ret);
	if (!err && in_full)
		err = add_kernels(s, ret);
	if (!err && in_full)
		err = add_memory(s, ret);
	if (!err && in_full)
		add_gpus(&facts, ret);
	if (!err && in_full)
		err = add_open(s, &facts, ret);
	if (!err && in_full)
		err = add_evidence(s, &facts, ret);
	if (!err && in_full)
		err = add_effects(s, &facts, ret);
	if (!err)
		err = name_checkpoints(s, ret); /* the others know it as disk-write */
	if (!err && in_full)
		err = store_each_incident(s, w, on_incident, ret);
	if (!err)
		err = store_account_total(s, w, &ret->account);
	if (!err)
		err = store_each_loss(s, w, on_loss, ret);
	if (!err)
		err = store_pruned_until(s, &ret->pruned);
	if (!err)
		err = store_cost_total(s, w, &ret->cost);
	if (!err)
		err = add_shed(s, ret);
	facts_release(&facts);
	if (err)
		explain_free(ret);
	return err;
}

int explain(struct store *s, struct window w, struct explanation *ret)
{
	return explain_window(s, w, true, ret);
}

int explain_recent(struct store *s, uint64_t now_ns, uint64_t span_ns, struct explanation *ret)
{
	struct window w = { now_ns > span_ns ? now_ns - span_ns : 0, now_ns };

	return explain_window(s, w, false, ret);
}

const struct stack *explain_stack(const struct explanation *e, uint64_t stack)
{
	return e->book ? book_find(e->book, stack) : NULL;
}

void explain_keep(struct explanation *e, bool (*keep)(const struct finding *f, void *arg),
		  bool (*keep_pid)(uint32_t pid, void *arg), void *arg)
{
	int findings = 0, summaries = 0, incidents = 0, opens = 0, lines = 0;
	bool *kept = xcalloc((size_t)e->summaries + 1, sizeof(*kept));

	for (int i = 0; i < e->findings; i++) {
		if (keep(&e->finding[i], arg))
			e->finding[findings++] = e->finding[i];
		else
			free(e->finding[i].share);
	}
	for (int i = 0; i < e->lines; i++)
		if (keep_pid(e->line[i].pid, arg))
			e->line[lines++] = e->line[i];
	for (int i = 0; i < e->incidents; i++)
		if (keep_pid(e->incident[i].pid, arg))
			e->incident[incidents++] = e->incident[i];
	for (int i = 0; i < e->opens; i++)
		if (keep_pid(e->open[i].pid, arg))
			e->open[opens++] = e->open[i];
	for (int i = 0; i < e->summaries; i++) /* all first: the answer may depend on them */
		kept[i] = keep_pid(e->summary[i].pid, arg);
	for (int i = 0; i < e->summaries; i++) {
		if (kept[i])
			e->summary[summaries++] = e->summary[i];
		else
			summary_release(&e->summary[i]);
	}
	free(kept);
	e->opens = opens;
	e->findings = findings;
	e->lines = lines;
	e->summaries = summaries;
	e->incidents = incidents;
}

static bool finding_is_of(const struct finding *f, void *arg)
{
	return f->pid == *(const uint32_t *)arg;
}

static bool is_pid(uint32_t pid, void *arg)
{
	return pid == *(const uint32_t *)arg;
}

void explain_only(struct explanation *e, uint32_t pid)
{
	explain_keep(e, finding_is_of, is_pid, &pid);
}

void explain_free(struct explanation *e)
{
	for (int i = 0; i < e->summaries; i++)
		summary_release(&e->summary[i]);
	for (int i = 0; i < e->findings; i++)
		free(e->finding[i].share);
	book_free(e->book);
	free(e->line);
	free(e->finding);
	free(e->summary);
	free(e->incident);
	free(e->happening);
	free(e->open);
	free(e->gpu);
	free(e->gpu_error);
	tenant_list_release(&e->tenants);
	*e = (struct explanation){ 0 };
}
