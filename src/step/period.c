// SPDX-License-Identifier: Apache-2.0
/*
 * A sequence repeats after p when it equals itself moved by p. Each op counts as much as any other,
 * however often it is called: the synchronisation once per step says more than a hundred launches.
 * Ops that come in few of the periods (logging, a checkpoint) are taken out first. Loops whose
 * passes differ in length are left to bags.c.
 */
#include "step/period.h"

#include <stdlib.h>

#include "base/util.h"
#include "step/period_int.h"
#include "wire/event.h"

#define OPS_MIN 6
#define SCORE_MIN 0.8
#define SCORE_OF_BEST 0.9
#define SLOTS (2ul * MEMORY)

static enum mark copy_mark(const char *symbol, uint32_t direction)
{
	if (strstr(symbol, "Memset") || strstr(symbol, "DtoD") || direction == 3)
		return MARK_NONE;
	if (strstr(symbol, "HtoD") || direction == 1)
		return MARK_INPUT;
	return MARK_RESULT;
}

static struct type type_of(uint32_t op)
{
	struct type t = { .op = op, .mark = MARK_NONE };

	if (BEAT_OP(op) >= OP_SLOTS)
		return t;
	t.class = op_table[BEAT_OP(op)].class;
	switch (t.class) {
	case CLASS_SYNC:
		t.mark = MARK_RESULT;
		break;
	case CLASS_COPY:
		t.mark = copy_mark(op_table[BEAT_OP(op)].symbol, op >> 16);
		break;
	case CLASS_GRAPH: /* recorded or made, it is no work yet */
		t.work = strstr(op_table[BEAT_OP(op)].symbol, "Launch") != NULL;
		t.mark = t.work ? MARK_TALK : MARK_NONE;
		break;
	case CLASS_COLL:
	case CLASS_P2P:
		t.mark = MARK_TALK;
		t.work = true;
		break;
	case CLASS_LAUNCH:
	case CLASS_FILL:
		t.work = true;
		break;
	default:
		break;
	}
	return t;
}

static void number_types(struct search *s, const uint32_t ops[], size_t n)
{
	uint16_t *slot = xcalloc(SLOTS, sizeof(*slot)); /* number + 1; 0: free */

	s->n = n;
	for (size_t i = 0; i < n; i++) {
		size_t h = (ops[i] * 2654435761u >> 16) % SLOTS;

		while (slot[h] && s->type[slot[h] - 1].op != ops[i])
			h = (h + 1) % SLOTS;
		if (!slot[h]) {
			s->type[s->types] = type_of(ops[i]);
			slot[h] = (uint16_t)++s->types;
		}
		s->seq[i] = (uint16_t)(slot[h] - 1);
		s->type[s->seq[i]].total++;
	}
	free(slot);
}

/* The sequence without ops that come less than `floor` times; what they parted is one run again. */
static void keep_frequent(struct search *s, uint32_t floor)
{
	for (size_t t = 0; t < s->types; t++)
		s->type[t].kept = 0;
	s->floor = floor;
	s->kept_n = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint16_t t = s->seq[i];

		if (s->type[t].total < floor || (s->kept_n && s->kept[s->kept_n - 1] == t))
			continue;
		s->kept[s->kept_n++] = t;
		s->type[t].kept++;
	}
	s->sum[0] = 0;
	for (size_t i = 0; i < s->kept_n; i++)
		s->sum[i + 1] = s->sum[i] + 1.0 / s->type[s->kept[i]].kept;
}

/* What the ops that are kept amount to; false: nothing that could be a step. */
static bool judge_kept(struct search *s)
{
	size_t kept = 0, frequent = 0;
	bool work = false, graph = false;

	s->mark = MARK_NONE;
	for (size_t t = 0; t < s->types; t++) {
		const struct type *type = &s->type[t];

		frequent += type->total >= PERIODS_MIN;
		if (!type->kept)
			continue;
		kept++;
		work |= type->work;
		graph |= type->class == CLASS_GRAPH && type->work;
		if (type->mark < s->mark)
			s->mark = type->mark;
	}
	if (!work || kept < 2)
		return false;
	if (s->mark <= MARK_RESULT || graph)
		return true;
	/* Buckets, layers: two ops always alternate, and that alone makes no step. */
	return kept > 2 && (s->mark == MARK_TALK || kept == frequent);
}

/* Take out what is rare if the period is p. False: what is left cannot have that period. */
static bool prepare(struct search *s, size_t p)
{
	uint32_t floor = (uint32_t)(s->n / (RARE * p) + 1);

	floor = floor < PERIODS_MIN ? PERIODS_MIN : floor;
	if (floor != s->floor) {
		keep_frequent(s, floor);
		s->step_like = judge_kept(s);
	}
	return s->step_like && s->kept_n >= PERIODS_MIN * p;
}

/* How much of the sequence comes again after p, 0 to 1; below SCORE_MIN it is not worked out. */
static double score_at(const struct search *s, size_t p)
{
	size_t pairs = s->kept_n - p;
	double total = s->sum[pairs], missed = 0;

	for (size_t i = 0; i < pairs; i++) {
		if (s->kept[i] == s->kept[i + p])
			continue;
		missed += s->sum[i + 1] - s->sum[i];
		if (missed > (1 - SCORE_MIN) * total)
			return 0;
	}
	return 1 - missed / total;
}

struct candidate {
	double score;
	enum mark mark;
};

/* The smallest period that is about as good as the best of its kind; 0: none. */
static size_t choose(const struct candidate c[], size_t max_p)
{
	for (enum mark mark = MARK_INPUT; mark <= MARK_NONE; mark++) {
		double best = 0;

		for (size_t p = 2; p <= max_p; p++) {
			if (c[p].mark == mark && c[p].score > best)
				best = c[p].score;
		}
		for (size_t p = 2; best > 0 && p <= max_p; p++) {
			if (c[p].mark == mark && c[p].score >= SCORE_OF_BEST * best)
				return p;
		}
	}
	return 0;
}

static size_t search(struct search *s)
{
	size_t max_p = s->n / PERIODS_MIN;
	struct candidate *c = xcalloc(max_p + 1, sizeof(*c));
	enum mark best = MARK_NONE;
	size_t found = 0;

	for (size_t t = 0; t < s->types; t++) {
		if (s->type[t].total >= PERIODS_MIN && s->type[t].mark < best)
			best = s->type[t].mark;
	}
	for (size_t p = 2; !found && p <= max_p; p++) {
		if (!prepare(s, p))
			continue;
		c[p] = (struct candidate){ score_at(s, p), s->mark };
		/* Nothing longer can be that much better. */
		if (s->mark == best && c[p].score >= SCORE_OF_BEST)
			found = p;
	}
	if (!found)
		found = choose(c, max_p);
	free(c);
	return found;
}

/*
 * The border should be an op that comes once in a period and misses none, better still a
 * synchronisation: there the work of a step is done.
 */
static bool better_anchor(const struct type *a, const struct type *b)
{
	if (a->every != b->every)
		return a->every < b->every;
	if (a->steady != b->steady)
		return a->steady > b->steady;
	return a->class == CLASS_SYNC && b->class != CLASS_SYNC;
}

bool period_describe(struct search *s, uint32_t beats, struct rhythm *ret)
{
	const struct type *anchor = NULL;
	struct rhythm r = { .beats = beats, .mark = MARK_NONE };

	for (size_t t = 0; t < s->types; t++) {
		const struct type *type = &s->type[t];

		if (!type->every)
			continue;
		if (!anchor || better_anchor(type, anchor))
			anchor = type;
		if (type->mark < r.mark)
			r.mark = type->mark;
		if (r.needs == NEEDS_MAX)
			continue;
		r.work |= (uint32_t)type->work << r.needs;
		r.need[r.needs++] = type->op;
	}
	if (!anchor || !r.work)
		return false;
	r.anchor = anchor->op;
	r.every = anchor->every;
	*ret = r;
	return true;
}

/* How often each op comes in a period of p, and how steadily. */
static void measure(struct search *s, size_t p)
{
	double periods;

	(void)prepare(s, p);
	periods = (double)s->kept_n / (double)p;
	for (size_t i = 0; i + p < s->kept_n; i++)
		s->type[s->kept[i]].again += s->kept[i] == s->kept[i + p];
	for (size_t t = 0; t < s->types; t++) {
		struct type *type = &s->type[t];
		double each = type->kept / periods, steady;

		if (each < 0.75)
			continue;
		steady = type->again / (type->kept - each);
		type->steady = (uint32_t)(steady * 20 + 0.5);
		if (steady >= 0.75)
			type->every = (uint32_t)(each + 0.5);
	}
}

bool period_find(const uint32_t ops[], size_t n, struct rhythm *ret)
{
	struct search *s;
	size_t p;
	bool found;

	if (n < OPS_MIN || n > MEMORY)
		return false;
	s = xcalloc(1, sizeof(*s));
	number_types(s, ops, n);
	p = search(s);
	if (p) {
		measure(s, p);
		found = period_describe(s, (uint32_t)p, ret);
		if (found)
			ret->sure = score_at(s, p) >= SCORE_OF_BEST;
	} else {
		found = bags_find(s, NULL, ret);
	}
	free(s);
	return found;
}

bool period_holds(const uint32_t ops[], size_t n, const struct rhythm *r)
{
	struct search *s;
	struct rhythm same;
	bool holds;

	if (n < OPS_MIN || n > MEMORY || r->beats < 2)
		return false;
	s = xcalloc(1, sizeof(*s));
	number_types(s, ops, n);
	holds = prepare(s, r->beats) && score_at(s, r->beats) > 0;
	if (!holds)
		holds = bags_find(s, r, &same);
	free(s);
	return holds;
}
