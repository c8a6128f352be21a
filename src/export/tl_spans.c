// SPDX-License-Identifier: Apache-2.0
/*
 * What has a beginning and an end: when the agent recorded, what it lost or did not look at, incidents
 * and errors; and the findings of `explain`, with an arrow from each culprit.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/explain.h"
#include "export/timeline.h"

/* ---- spans: see span_kinds[] for the list ---- */

struct spans {
	struct timeline_out *t;
	const struct span_kind *kind;
	char node[65];
	bool any;
};

static enum shade shade_by_name(const char *severity)
{
	static const enum shade shades[] = { [SEVERITY_LOW] = SHADE_LOW,
					     [SEVERITY_MEDIUM] = SHADE_MEDIUM,
					     [SEVERITY_HIGH] = SHADE_HIGH };

	for (size_t i = 0; i < ARRAY_LEN(shades); i++)
		if (streq(severity, severity_names[i]))
			return shades[i];
	return SHADE_NONE;
}

/* 0: it is of somebody who is not shown. */
static uint64_t owner_of(struct spans *s, int node, const struct span_row *row)
{
	struct tl_process *p;

	if (!s->kind->of_process)
		return tl_node_selected(s->t, node) ? tl_node_track(s->t, node) : 0;
	p = tl_anyone(s->t, node, row->pid, "?");
	if (p->selected)
		return tl_process_track(s->t, p);
	/* Incidents of somebody whose process is not stored any more. */
	return p->traced || s->t->opts->pid || s->t->opts->container ? 0
								     : tl_process_track(s->t, p);
}

static int on_span(const struct span_row *row, void *arg)
{
	struct spans *s = arg;
	const struct span_kind *kind = s->kind;
	uint64_t owner;
	struct mark m;

	if (!s->any || !streq(s->node, row->node))
		tl_sequence(s->t, tl_node(s->t, row->node));
	s->any = true;
	str_copy(s->node, sizeof(s->node), row->node);
	owner = owner_of(s, tl_node(s->t, row->node), row);
	if (!owner || row->to_ns < s->t->w.from_ns)
		return 0;
	mark_init(&m, 0, row->from_ns, min_u64(row->to_ns, s->t->end_ns), row->name, kind->track);
	m.shade = shade_by_name(row->severity);
	if (row->severity[0])
		mark_str(&m, "severity", row->severity);
	if (kind->detail_name && row->detail[0])
		mark_str(&m, kind->detail_name, row->detail);
	if (kind->count_name)
		mark_u64(&m, kind->count_name, row->count);
	if (kind->value_name)
		mark_f64(&m, kind->value_name, row->value);
	if (row->from_ns < s->t->w.from_ns)
		mark_str(&m, "began", "before the part of the trace that is shown");
	if (tl_place(s->t, tl_lanes(s->t, owner, kind->track), &m))
		sink_mark(&s->t->sink, &m);
	return 0;
}

int tl_spans(struct timeline_out *t)
{
	struct spans s = { .t = t };
	int err = 0;

	for (s.kind = span_kinds; !err && s.kind->track; s.kind++) {
		s.any = false;
		err = store_each_span(t->store, t->w, s.kind, on_span, &s);
	}
	return err;
}

/* ---- findings ---- */

/* Of a straggler that is another rank, maybe on another node. */
static struct tl_process *culprit_process(struct timeline_out *t, int node, const struct finding *f,
					  const struct culprit *by)
{
	for (int i = 0; f->by_ranked && i < t->processes; i++)
		if (t->process[i].traced && t->process[i].rank == f->by_rank &&
		    t->process[i].pid == by->pid)
			return &t->process[i];
	return tl_anyone(t, node, by->pid, by->comm);
}

static bool put_culprit(struct timeline_out *t, int node, const struct finding *f,
			const struct culprit *by, uint64_t *flow)
{
	char name[96], track[64];
	struct mark m;

	if (!by->pid || by->pid == PID_IRQ)
		return false;
	snprintf(track, sizeof(track), "makes %s (pid %u) wait", f->comm, f->pid);
	snprintf(name, sizeof(name), "%s: %s", severity_names[f->severity], f->cause);
	*flow = ++t->flows;
	mark_init(&m, 0, max_u64(f->first_ns, t->w.from_ns), f->last_ns, name, "finding");
	m.shade = shade_by_name(severity_names[f->severity]);
	m.effect = flow;
	m.effects = 1;
	mark_f64(&m, "ms", (double)by->ns / 1e6);
	mark_f64(&m, "percent of what was lost", by->share);
	if (by->cgroup[0])
		mark_str(&m, "control group", by->cgroup);
	if (!tl_place(t, tl_lanes(t, tl_process_track(t, culprit_process(t, node, f, by)), track),
		      &m)) {
		t->flows--;
		return false;
	}
	sink_mark(&t->sink, &m);
	return true;
}

static void put_finding_args(struct mark *m, const struct finding *f)
{
	mark_str(m, "severity", severity_names[f->severity]);
	mark_str(m, "cause", f->cause);
	mark_f64(m, "lost ms", (double)f->lost_ns / 1e6);
	mark_f64(m, "percent of the affected time", f->lost_pct);
	mark_u64(m, "tid", f->tid);
	mark_str(m, "rests on", f->basis);
	for (int i = 0; i < f->fixes; i++)
		mark_str(m, "fix", f->fix[i]);
	mark_str(m, "length", "from the first to the last time that it was seen");
}

static void put_finding(struct timeline_out *t, const struct finding *f)
{
	int node = tl_node(t, f->node), n = 0;
	uint64_t flow[CULPRITS_MAX];
	struct lanes *lanes;
	struct mark m;

	if (!tl_anyone(t, node, f->pid, f->comm)->selected || f->last_ns < t->w.from_ns)
		return;
	mark_init(&m, 0, f->first_ns, f->last_ns, f->title, "finding");
	lanes = tl_lanes(t, tl_process_track(t, tl_anyone(t, node, f->pid, f->comm)), "findings");
	if (!tl_place(t, lanes, &m))
		return;
	for (int i = 0; i < f->culprits; i++)
		n += put_culprit(t, node, f, &f->culprit[i], &flow[n]);
	m.shade = shade_by_name(severity_names[f->severity]);
	m.cause = flow;
	m.causes = n;
	put_finding_args(&m, f);
	sink_mark(&t->sink, &m);
}

static int by_node_and_time(const void *x, const void *y)
{
	const struct finding *const *a = x, *const *b = y;

	int node = strcmp((*a)->node, (*b)->node);

	if (node)
		return node;
	if ((*a)->first_ns != (*b)->first_ns)
		return (*a)->first_ns < (*b)->first_ns ? -1 : 1;
	return (*a)->last_ns > (*b)->last_ns ? -1 : (*a)->last_ns < (*b)->last_ns;
}

int tl_findings(struct timeline_out *t)
{
	const struct finding **list;
	struct explanation e;
	int err = explain(t->store, t->w, &e);

	if (err)
		return err == -ENODATA ? 0 : err;
	list = xcalloc((size_t)e.findings + 1, sizeof(const struct finding *));
	for (int i = 0; i < e.findings; i++)
		list[i] = &e.finding[i];
	qsort(list, (size_t)e.findings, sizeof(const struct finding *), by_node_and_time);
	for (int i = 0; i < e.findings; i++) {
		if (!i || !streq(list[i]->node, list[i - 1]->node))
			tl_sequence(t, tl_node(t, list[i]->node));
		put_finding(t, list[i]);
	}
	free(list);
	explain_free(&e);
	return 0;
}
