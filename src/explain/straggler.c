// SPDX-License-Identifier: Apache-2.0
/* Who makes others wait has a reason of its own, and that is what has to be mended. */
#include <string.h>

#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define ENOUGH_PART 3 /* of what the others lose must be explained by it */

static bool is_straggler(const struct finding *f)
{
	return streq(f->cause, cause_name(CAUSE_straggler));
}

/* ---- what its GPU waited for, beyond what the waiting rank's did ---- */

struct reason {
	int64_t ns[CAUSE_COUNT];
	int64_t most[CAUSE_COUNT]; /* of one chain: */
	int chain[CAUSE_COUNT];
};

static enum cause_id cause_of(const struct chain *c)
{
	static const struct around nothing;

	if (c->hops == 1 && STATE_ON_CPU(c->hop[0].state))
		return CAUSE_host_bound;
	return classify(c, CLASS_GAP, &nothing).cause;
}

static void add_idle_of(const struct facts *f, const struct thread_facts *t, int64_t sign,
			struct reason *to)
{
	for (int i = 0; i < t->idles; i++) {
		int chain = t->idle[i].chain;
		enum cause_id cause = cause_of(&f->chain[chain].chain);
		int64_t ns = (int64_t)t->idle[i].ns;

		to->ns[cause] += sign * ns;
		if (sign > 0 && ns > to->most[cause]) {
			to->most[cause] = ns;
			to->chain[cause] = chain;
		}
	}
}

/* CAUSE_none: when its GPU was idle is not known, or it does not explain the others' loss. */
static enum cause_id idle_cause(const struct facts *f, const struct finding *found, int *ret_chain)
{
	enum cause_id best = CAUSE_none;
	struct reason r = { 0 };

	for (int i = 0; i < f->threads; i++) {
		if (!streq(f->thread[i].node, found->node))
			continue;
		if (f->thread[i].pid == found->culprit[0].pid)
			add_idle_of(f, &f->thread[i], 1, &r);
		else if (f->thread[i].pid == found->pid)
			add_idle_of(f, &f->thread[i], -1, &r);
	}
	for (int i = CAUSE_none + 1; i < CAUSE_COUNT; i++)
		if (r.ns[i] > 0 && (best == CAUSE_none || r.ns[i] > r.ns[best]))
			best = (enum cause_id)i;
	if (best == CAUSE_none || (uint64_t)r.ns[best] * ENOUGH_PART < found->lost_ns)
		return CAUSE_none;
	*ret_chain = r.chain[best];
	return best;
}

/* ---- what else was found about it ---- */

/* The largest at the time when it was late, of this cause or, with NULL, of any. */
static const struct finding *own_finding(const struct explanation *e, const struct finding *f,
					 const char *cause)
{
	const struct finding *best = NULL;

	for (int i = 0; i < e->findings; i++) {
		const struct finding *o = &e->finding[i];

		if (o->pid != f->culprit[0].pid || is_straggler(o) || !streq(o->node, f->node) ||
		    o->last_ns < f->first_ns || o->first_ns > f->last_ns ||
		    (cause && !streq(cause, o->cause)))
			continue;
		if (!best || o->lost_ns > best->lost_ns)
			best = o;
	}
	return best;
}

static void tell(struct finding *f, const char *cause, const struct finding *own)
{
	f->own.cause = cause;
	str_add(f->title, sizeof(f->title), ", because of %s", cause);
	if (!own)
		return;
	f->own.lost_ns = own->lost_ns;
	memcpy(f->own.title, own->title, sizeof(f->own.title));
	add_fix(f, "mend its own trouble first: %s", own->title);
	if (own->fixes)
		add_fix(f, "%s", own->fix[0]);
}

static void add_own_cause(const struct facts *facts, const struct explanation *e, struct finding *f)
{
	const struct finding *own;
	struct idle_part part;
	enum cause_id cause;
	int chain = 0;

	/* A process of that number may be here, too. */
	cause = f->by_node[0] ? CAUSE_none : idle_cause(facts, f, &chain);
	own = f->by_node[0] ? NULL : own_finding(e, f, cause ? cause_name(cause) : NULL);
	if (own) {
		tell(f, own->cause, own);
		return;
	}
	if (!cause && f->by_node[0]) {
		add_fix(f, "what makes it late is told of node %s, where it runs", f->by_node);
		return;
	}
	if (!cause) {
		add_fix(f, "what makes it late is not known: nothing was found about that process");
		return;
	}
	tell(f, cause_name(cause), NULL);
	idle_part_of(&facts->chain[chain].chain, &part);
	snprintf(f->own.title, sizeof(f->own.title), "its GPU waited while it was %.120s",
		 part.what);
	add_fix(f, "what it does more than the others: %s", part.what);
}

void add_own_causes(const struct facts *f, struct explanation *e)
{
	for (int i = 0; i < e->findings; i++)
		if (is_straggler(&e->finding[i]))
			add_own_cause(f, e, &e->finding[i]);
}

/* ---- order ---- */

/* In front of what makes it late, which is part of it: several ranks lose by the one. */
static void lift(struct explanation *e, int i)
{
	struct finding it = e->finding[i];

	for (int k = 0; k < i; k++) {
		if (it.by_node[0] || e->finding[k].pid != it.culprit[0].pid ||
		    is_straggler(&e->finding[k]))
			continue;
		memmove(&e->finding[k + 1], &e->finding[k], (size_t)(i - k) * sizeof(*e->finding));
		e->finding[k] = it;
		return;
	}
}

void lift_stragglers(struct explanation *e)
{
	for (int i = 1; i < e->findings; i++)
		if (is_straggler(&e->finding[i]))
			lift(e, i);
}
