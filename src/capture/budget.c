// SPDX-License-Identifier: Apache-2.0
/* When to give something up, how much of it, and when to try again. */
#include "capture/budget.h"

#include "base/util.h"

#define SECOND 1e9
#define SECOND_NS 1000000000ull

#define OVER_NS SECOND_NS /* over the limit without a break, however little */
#define DEBT_MAX 1.0 /* ... or by so many seconds' worth of the limit */
#define DEBT_CAP 4.0

#define MARGIN 0.5 /* of the room that is left is used: some things are on nobody's account */
#define CALM 0.7 /* of the limit: what would cost less can be taken back */
#define LEAST 0.25 /* of the limit is for launches, whatever else costs */
#define GAIN_MIN 0.1 /* of the limit: less is not worth giving up */
#define PART_MIN 0.5 /* of what is too much */

#define PERIOD_NS SECOND_NS /* of the windows in which launches are seen */
#define ON_MIN_NS 20000000ull /* shorter ones would be all coming and going */
#define ON_MAX_NS (2 * SECOND_NS)
#define OFF_MIN_NS 200000000ull
#define OFF_MAX_NS (20 * SECOND_NS)

#define PATIENCE_MIN 3
#define PATIENCE_MAX 60
#define RELAPSE_NS (10 * SECOND_NS) /* given up again so soon: that was too early */
#define STABLE_NS (60 * SECOND_NS)

#define SETTLE_NS (2 * SECOND_NS) /* after a change, before the next one */
#define WAIT_MIN_NS (30 * SECOND_NS)
#define WAIT_MAX_NS (600 * SECOND_NS)

#define REST_SMOOTH 2.0 /* seconds */
#define HOST_SMOOTH 30.0

void budget_init(struct budget *b, double limit)
{
	*b = (struct budget){ .limit = limit, .patience = PATIENCE_MIN };
	for (int i = 0; i < SHED_COUNT; i++) {
		b->step[i].wait_ns = WAIT_MIN_NS;
		b->step[i].since_ns = STABLE_NS; /* nothing was ever given up */
	}
}

static double smooth(double old, double now, uint64_t ns, double seconds)
{
	double part = (double)ns / (seconds * SECOND);

	return old + (now - old) * (part < 1 ? part : 1);
}

static void note(struct budget *b, const struct budget_sample *s)
{
	double rest = s->calls + s->stacks + s->detail, all = s->launches + s->returns + rest;
	double worth = b->limit * SECOND;

	b->rest = smooth(b->rest, rest, s->ns, REST_SMOOTH);
	b->stacks = smooth(b->stacks, s->stacks, s->ns, REST_SMOOTH);
	b->detail = smooth(b->detail, s->detail, s->ns, REST_SMOOTH);
	b->host = smooth(b->host, s->host, s->ns, HOST_SMOOTH);
	b->debt += (all - b->limit) * (double)s->ns;
	b->debt = b->debt < -worth             ? -worth
		  : b->debt > DEBT_CAP * worth ? DEBT_CAP * worth
					       : b->debt;
	b->over_ns = all > b->limit ? b->over_ns + s->ns : 0;
	for (int i = 0; i < SHED_COUNT; i++)
		b->step[i].since_ns += s->ns;
}

static void change(struct budget *b, enum shed what, bool shed)
{
	struct budget_step *step = &b->step[what];

	if (shed && step->since_ns < RELAPSE_NS) {
		step->wait_ns = min_u64(2 * step->wait_ns, WAIT_MAX_NS);
		b->patience = what == SHED_launches ? 2 * b->patience : b->patience;
		b->patience = b->patience > PATIENCE_MAX ? PATIENCE_MAX : b->patience;
	} else if (shed && step->since_ns >= STABLE_NS) {
		step->wait_ns = WAIT_MIN_NS;
		b->patience = what == SHED_launches ? PATIENCE_MIN : b->patience;
	}
	step->shed = shed;
	step->since_ns = 0;
	b->debt = 0;
	b->over_ns = 0;
	b->calm = 0;
}

static double room(const struct budget *b)
{
	double left = b->limit - b->rest;

	return left > LEAST * b->limit ? left : LEAST * b->limit;
}

/* ---- launches ---- */

/* A window tells what they would cost: up at once, down over some windows. */
static void look(struct budget *b, const struct budget_sample *s)
{
	double full;

	if (s->sighted_ns * 4 < ON_MIN_NS) {
		b->tail_now += s->launches * (double)s->ns;
		b->tail = b->tail_now > b->tail ? b->tail_now : b->tail;
		return;
	}
	b->tail = b->tail_now > 0 ? (b->tail + b->tail_now) / 2 : b->tail;
	b->tail_now = 0;
	full = s->launches * (double)s->ns / (double)s->sighted_ns;
	b->full = full > b->full || !b->step[SHED_launches].shed ? full : (b->full + full) / 2;
	if (b->step[SHED_launches].shed)
		b->calm = full <= CALM * room(b) ? b->calm + 1 : 0;
}

static void windows(const struct budget *b, struct budget_plan *ret)
{
	double duty = b->full > 0 ? MARGIN * room(b) / b->full : 1, on, off;

	duty = duty > 0.9 ? 0.9 : duty;
	on = duty * (double)PERIOD_NS;
	on = on < (double)ON_MIN_NS ? (double)ON_MIN_NS : on;
	off = (b->full * on + b->tail) / (MARGIN * room(b)) - on;
	if (off < (double)OFF_MIN_NS) {
		off = (double)OFF_MIN_NS;
		on = off * duty / (1 - duty);
	}
	if (b->calm && off > (double)PERIOD_NS) /* the storm seems to be over */
		off = (double)PERIOD_NS;
	on = on > (double)ON_MAX_NS ? (double)ON_MAX_NS : on;
	ret->on_ns = (uint64_t)on;
	ret->off_ns = min_u64((uint64_t)off, OFF_MAX_NS);
}

/* ---- the order ---- */

/*
 * Would it help to give this up, too? Not where something else costs the most by far: then it would be
 * lost for nothing.
 */
static bool gains(const struct budget *b, const struct budget_sample *s, enum shed what)
{
	double part[SHED_COUNT] = { s->returns, s->launches, b->stacks, b->detail };
	double over = what <= SHED_launches ? 0 : b->rest - b->limit;

	return part[what] >= GAIN_MIN * b->limit && part[what] >= PART_MIN * over;
}

static bool settled(const struct budget *b)
{
	for (int i = 0; i < SHED_COUNT; i++)
		if (b->step[i].since_ns < SETTLE_NS)
			return false;
	return true;
}

/* The workload pays too much. Launches are what a storm is made of: they go at once, their times first. */
static void give_up(struct budget *b, const struct budget_sample *s)
{
	bool dear = b->debt > DEBT_MAX * b->limit * SECOND || b->over_ns >= OVER_NS;

	for (enum shed i = SHED_returns; dear && i <= SHED_launches; i++) {
		if (b->step[i].shed || !gains(b, s, i))
			continue;
		b->step[i].cost = s->launches + s->returns + b->rest;
		change(b, i, true);
		return;
	}
	/* The host counts what is over it for long: there is no hurry. */
	if (!settled(b) || (b->rest <= b->limit && b->host <= b->limit))
		return;
	for (enum shed i = SHED_stacks; i < SHED_COUNT; i++) {
		if (b->step[i].shed || (!gains(b, s, i) && b->host <= b->limit))
			continue;
		b->step[i].cost = b->rest > b->limit ? b->rest : b->host;
		change(b, i, true);
		b->host = 0; /* it takes as long again before the next one goes for that */
		return;
	}
}

/* The last that was given up is the first to be tried again. */
static void take_back(struct budget *b)
{
	enum shed last = SHED_COUNT - 1;
	double cost;

	while (last > 0 && !b->step[last].shed)
		last--;
	if (!b->step[last].shed)
		return;
	/* To look at returns, too, costs as much again as the launches do. */
	cost = last == SHED_returns ? b->rest + 2 * b->full : b->rest;
	if (last == SHED_launches ? b->calm >= b->patience
				  : b->step[last].since_ns >= b->step[last].wait_ns &&
					    cost <= CALM * b->limit && b->host <= CALM * b->limit)
		change(b, last, false);
}

void budget_step(struct budget *b, const struct budget_sample *s, struct budget_plan *ret)
{
	*ret = (struct budget_plan){ 0 };
	if (b->limit <= 0)
		return;
	if (s->ns) {
		note(b, s);
		look(b, s);
		give_up(b, s);
		take_back(b);
	}
	for (int i = 0; i < SHED_COUNT; i++)
		ret->shed[i] = b->step[i].shed;
	if (ret->shed[SHED_launches])
		windows(b, ret);
}
