// SPDX-License-Identifier: Apache-2.0
/*
 * Follows a rhythm beat by beat once there is one. Detection looks at the last MEMORY beats, seldom;
 * when it finds a rhythm, the steps that these already hold are told at once. A pass that does not
 * look like the others (an evaluation, a checkpoint) is kept back: it is told when the rhythm goes on
 * behind it, and given up when another one takes over.
 */
#include "step/step.h"

#include <stdlib.h>

#include "base/util.h"
#include "step/period.h"
#include "step/split.h"

#define BEATS_MIN 16 /* to look for a period at all */

/*
 * How much is needed to believe in a period: so many of them that the longer one, of which it may be
 * a part, would have shown; or half of what we keep; or that long.
 */
#define SURE_PERIODS 30
#define SURE_BEATS (MEMORY / 2)
#define SURE_NS 4000000000ull
#define DOUBT 4 /* times as much if it has many exceptions */

#define ODD_MAX 8 /* passes in a row */
#define ASTRAY 4 /* periods without a regular pass */
#define RECENT 63

struct stepper {
	struct beat ring[MEMORY];
	uint64_t head; /* beats so far */
	uint64_t from; /* beats before this one were lost */
	uint64_t told; /* steps are told up to this beat */
	uint64_t look_at; /* when head gets there, look for a period */
	bool locked, astray;
	struct rhythm rhythm;
	/* The step that is going on: */
	bool open;
	uint64_t begin; /* its first beat */
	uint32_t anchors; /* that came since */
	uint32_t seen; /* of what the rhythm needs, as bits */
	struct split split;
	struct step odd[ODD_MAX];
	size_t odds;
	bool too_odd; /* more of them: none is told */
	uint64_t steps;
	uint64_t recent_ns[RECENT];
	uint64_t regular; /* how many, for recent_ns */
};

struct listener {
	step_fn fn;
	void *arg;
};

struct stepper *stepper_new(void)
{
	struct stepper *s = xcalloc(1, sizeof(*s));

	s->look_at = BEATS_MIN;
	return s;
}

void stepper_free(struct stepper *s)
{
	free(s);
}

/* The first beat of what may be looked at. */
static uint64_t window_start(const struct stepper *s)
{
	uint64_t oldest = s->head > MEMORY ? s->head - MEMORY : 0;
	uint64_t start = max_u64(s->from, oldest);

	/* Off the rhythm, what came before the last good step is of no interest. */
	return s->astray ? max_u64(start, s->told) : start;
}

static const struct beat *beat_at(const struct stepper *s, uint64_t i)
{
	return &s->ring[i % MEMORY];
}

static void tell(struct stepper *s, struct step *step, struct listener to)
{
	step->index = s->steps++;
	to.fn(step, to.arg);
}

static void tell_regular(struct stepper *s, uint64_t i, struct step *step, struct listener to)
{
	for (size_t k = 0; k < s->odds; k++)
		tell(s, &s->odd[k], to);
	s->odds = 0;
	s->too_odd = s->astray = false;
	s->told = i;
	s->recent_ns[s->regular++ % RECENT] = step->dur_ns;
	tell(s, step, to);
}

static void keep_odd(struct stepper *s, const struct step *step)
{
	if (s->odds == ODD_MAX) {
		s->odds = 0;
		s->too_odd = true;
	}
	if (!s->too_odd)
		s->odd[s->odds++] = *step;
}

static bool complete(const struct stepper *s)
{
	return s->seen == (uint32_t)((1ull << s->rhythm.needs) - 1);
}

/* May the anchor end a step here? It may be an extra call in the middle of one. */
static bool may_end(const struct stepper *s, uint64_t beats)
{
	const struct rhythm *r = &s->rhythm;

	if (s->anchors < r->every || beats * 2 < r->beats)
		return false;
	if (complete(s))
		return true;
	return beats * 4 >= r->beats * 3ull && (s->seen & r->work) &&
	       __builtin_popcount(s->seen) * 2 >= (int)r->needs;
}

static void at_anchor(struct stepper *s, uint64_t i, struct listener to)
{
	uint64_t beats = i - s->begin, start_ns = beat_at(s, i)->start_ns;
	struct step step;

	if (s->open) {
		s->anchors++;
		if (!may_end(s, beats))
			return;
		split_border(&s->split, start_ns, &step);
		if (complete(s) && beats * 2 <= s->rhythm.beats * 3ull)
			tell_regular(s, i, &step, to);
		else
			keep_odd(s, &step);
	} else {
		split_border(&s->split, start_ns, NULL);
	}
	s->open = true;
	s->begin = i;
	s->anchors = s->seen = 0;
}

static void follow(struct stepper *s, uint64_t i, struct listener to)
{
	const struct beat *b = beat_at(s, i);

	split_gap(&s->split, b);
	if (b->op == s->rhythm.anchor)
		at_anchor(s, i, to);
	for (uint32_t k = 0; k < s->rhythm.needs; k++) {
		if (s->rhythm.need[k] == b->op)
			s->seen |= 1u << k;
	}
	split_beat(&s->split, b);
	if (i - s->begin >= MEMORY)
		s->open = false; /* whatever this is, it is not one step */
}

/* Forget the step that is going on and whatever was kept back. */
static void close_step(struct stepper *s)
{
	s->open = s->too_odd = false;
	s->odds = 0;
	split_reset(&s->split);
}

static void adopt(struct stepper *s, const struct rhythm *r, uint64_t start, struct listener to)
{
	close_step(s);
	if (!s->locked || s->rhythm.anchor != r->anchor || s->rhythm.beats != r->beats)
		s->regular = 0;
	s->locked = true;
	s->astray = false;
	s->rhythm = *r;
	s->told = start = max_u64(start, s->told);
	for (uint64_t i = start; i < s->head; i++)
		follow(s, i, to);
}

static bool believe(const struct stepper *s, uint64_t start, const struct rhythm *r)
{
	uint64_t n = s->head - start, doubt = r->sure ? 1 : DOUBT;
	uint64_t span = beat_at(s, s->head - 1)->end_ns - beat_at(s, start)->start_ns;

	return n >= SURE_BEATS || n >= doubt * SURE_PERIODS * r->beats || span >= doubt * SURE_NS;
}

/* A rhythm in the window or, when there is none, in its younger half, and so on. */
static void look_for_new(struct stepper *s, const uint32_t ops[], uint64_t start,
			 struct listener to)
{
	uint64_t n = s->head - start;
	struct rhythm r;

	for (uint64_t len = n; len >= BEATS_MIN; len /= 2) {
		uint64_t at = s->head - len;

		if (period_find(ops + (n - len), (size_t)len, &r) && believe(s, at, &r)) {
			adopt(s, &r, at, to);
			return;
		}
	}
}

/* Is a rhythm that was found later, with more to look at, to be preferred? */
static bool better(const struct rhythm *now, const struct rhythm *found)
{
	uint32_t tenth = now->beats / 10;

	if (found->mark != now->mark)
		return found->mark < now->mark;
	return found->beats < now->beats - tenth || found->beats > now->beats + tenth;
}

/* We have one, but with more to look at it may turn out to be a part of a longer one. */
static void look_for_better(struct stepper *s, const uint32_t ops[], uint64_t start,
			    struct listener to)
{
	size_t n = (size_t)(s->head - start);
	struct rhythm r;

	if (!period_find(ops, n, &r) || !better(&s->rhythm, &r) || !believe(s, start, &r))
		return;
	if (r.sure || !period_holds(ops, n, &s->rhythm))
		adopt(s, &r, start, to);
}

static void look(struct stepper *s, struct listener to)
{
	uint64_t start = window_start(s), n = s->head - start;
	uint32_t ops[MEMORY];

	for (uint64_t i = 0; i < n; i++)
		ops[i] = beat_at(s, start + i)->op;
	if (s->locked && !s->astray)
		look_for_better(s, ops, start, to);
	else
		look_for_new(s, ops, start, to);
	s->look_at = s->head + max_u64(n, BEATS_MIN);
}

/* Out of step for long, another rhythm is looked for; until there is one, this one may go on. */
static void check_lock(struct stepper *s)
{
	uint64_t since = s->head - s->told;

	if (s->astray || since <= ASTRAY * (uint64_t)s->rhythm.beats)
		return;
	s->astray = true;
	s->look_at = min_u64(s->look_at, s->head + max_u64(since, BEATS_MIN));
}

/* Time goes forward, and a call does not last longer than its beat: then all sums are right. */
static struct beat sane(const struct stepper *s, const struct beat *b)
{
	struct beat ret = *b;

	if (s->head > s->from)
		ret.start_ns = max_u64(ret.start_ns, beat_at(s, s->head - 1)->end_ns);
	ret.end_ns = max_u64(ret.end_ns, ret.start_ns);
	return ret;
}

void stepper_add(struct stepper *s, const struct beat *beats, size_t n, step_fn fn, void *arg)
{
	struct listener to = { fn, arg };

	for (size_t k = 0; k < n; k++) {
		struct beat b = sane(s, &beats[k]);

		s->ring[s->head % MEMORY] = b;
		s->head++;
		if (s->locked) {
			follow(s, s->head - 1, to);
			check_lock(s);
		}
		if (s->head >= s->look_at)
			look(s, to);
	}
}

void stepper_break(struct stepper *s)
{
	close_step(s);
	s->astray = false;
	s->from = s->told = s->head;
	s->look_at = s->head + BEATS_MIN;
}

void stepper_blind(struct stepper *s, bool blind)
{
	s->split.blind = blind;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool stepper_period(const struct stepper *s, uint32_t *beats, uint64_t *median_ns)
{
	size_t n = (size_t)min_u64(s->regular, RECENT);
	uint64_t sorted[RECENT];

	if (!s->locked || !n || s->head - s->told > MEMORY)
		return false;
	memcpy(sorted, s->recent_ns, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	*beats = s->rhythm.beats;
	*median_ns = sorted[n / 2];
	return true;
}
