// SPDX-License-Identifier: Apache-2.0
/*
 * Why a thread stood still: what whoever ended its wait did meanwhile, and if he waited himself,
 * what the one who ended that did, and so on. The stops of one thread do not overlap, so each level
 * divides the interval anew: nothing is charged twice and nothing is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "chain/chain_int.h"

/* One more for what finds no room, and one for the wait for a CPU. */
#define PARTS_MAX (PIECES_MAX - 2)

/* How far a timed wait is followed, and what still counts as going straight back to it. */
#define AHEAD_STOPS 64
#define AHEAD_NS 1000000000ull
#define AHEAD_RUN_NS 100000ull
#define LOCK_SIZE 256 /* the words of one lock or condition variable are this close */

/* How parts of a stop become one. Each is tried only where the one before left too many. */
enum joining {
	JOIN_NEIGHBOURS, /* the same chain without a break */
	JOIN_CHAINS, /* the same chain */
	JOIN_OBJECTS, /* the same but for the objects: 200 files read one after the other */
	JOIN_SHAPES, /* ... and the lines of code */
};

struct part {
	uint64_t ns;
	struct chain chain;
};

struct walk {
	const struct timeline *t;
	piece_fn fn;
	void *arg;
	struct chain chain; /* as far as we are */
	/* The present stop, in the order of time until something is joined: */
	enum joining joining;
	uint64_t id[PARTS_MAX];
	struct part part[PARTS_MAX];
	int parts;
	uint64_t rest_ns;
};

/* ---- collecting the parts of one stop */

static uint64_t id_of(const struct walk *w, const struct chain *c)
{
	static const enum but but[] = { BUT_NOTHING, BUT_NOTHING, BUT_OBJECTS, BUT_BOTH };

	return chain_id_but(c, but[w->joining]);
}

static struct part *find_part(struct walk *w, uint64_t id)
{
	int first = w->joining == JOIN_NEIGHBOURS && w->parts ? w->parts - 1 : 0;

	for (int i = first; i < w->parts; i++)
		if (w->id[i] == id)
			return &w->part[i];
	return NULL;
}

/* Several objects are none in particular, and so are several stacks. */
static void join_part(struct part *p, const struct chain *c, uint64_t ns)
{
	p->ns += ns;
	for (int i = 0; i < c->hops; i++) {
		struct hop *h = &p->chain.hop[i];

		if (h->obj != c->hop[i].obj && state_has_object(h->state)) {
			h->obj = h->obj2 = 0;
			h->fd = -1;
		}
		if (h->stack != c->hop[i].stack)
			h->stack = 0;
	}
}

/* False: no room. */
static bool add_part(struct walk *w, const struct chain *c, uint64_t ns)
{
	uint64_t id = id_of(w, c);
	struct part *p = find_part(w, id);

	if (p) {
		join_part(p, c, ns);
		return true;
	}
	if (w->parts == PARTS_MAX)
		return false;
	w->id[w->parts] = id;
	w->part[w->parts].chain = *c;
	w->part[w->parts++].ns = ns;
	return true;
}

/* Add the parts again, which are never more than before: those that are now the same are one. */
static void join_more(struct walk *w)
{
	int parts = w->parts;

	w->joining++;
	w->parts = 0;
	for (int i = 0; i < parts; i++)
		(void)add_part(w, &w->part[i].chain, w->part[i].ns);
}

/* The time from..to goes to the chain as it is now. */
static void charge(struct walk *w, uint64_t from, uint64_t to, bool complete)
{
	if (from >= to)
		return;
	w->chain.complete = complete;
	while (!add_part(w, &w->chain, to - from)) {
		if (w->joining == JOIN_SHAPES) {
			w->rest_ns += to - from;
			return;
		}
		join_more(w);
	}
}

static struct hop *last_hop(struct chain *c)
{
	return &c->hop[c->hops - 1];
}

/* The last hop is the same thread in another state. */
static struct hop *turn(struct chain *c, enum state state)
{
	struct hop *h = last_hop(c);

	h->state = state;
	h->by = WAKER_nobody;
	h->nr = h->irq = h->fd = -1;
	h->flags = h->cpu = h->cpu_pid = 0;
	h->obj = h->obj2 = h->stack = 0;
	h->object = OBJECT_none;
	return h;
}

/* How many parts from the i-th on are one wait that went through several lines. */
static int lines_of(const struct walk *w, int i, uint64_t *ret_ns)
{
	uint64_t bare = w->parts - i > 1 ? chain_bare_id(&w->part[i].chain) : 0;
	int n = 1;

	*ret_ns = w->part[i].ns;
	for (; i + n < w->parts && chain_bare_id(&w->part[i + n].chain) == bare; n++)
		*ret_ns += w->part[i + n].ns;
	return n;
}

/* Hand over the parts; they fill the time since at_ns without a hole. */
static void flush(struct walk *w, uint16_t op, uint64_t at_ns)
{
	struct piece piece = { .to_ns = at_ns, .op = op };

	for (int i = 0, lines = 0; i < w->parts; i++, lines--) {
		piece.goes_on = lines > 0;
		if (!piece.goes_on)
			lines = lines_of(w, i, &piece.whole_ns);
		piece.from_ns = piece.to_ns;
		piece.to_ns += w->part[i].ns;
		piece.chain = w->part[i].chain;
		w->fn(&piece, w->arg);
	}
	if (w->rest_ns) { /* all parts have the same first two threads */
		piece.from_ns = piece.to_ns;
		piece.to_ns += w->rest_ns;
		piece.whole_ns = w->rest_ns;
		piece.goes_on = false;
		piece.chain.hops = 2;
		piece.chain.complete = false;
		turn(&piece.chain, STATE_UNKNOWN);
		w->fn(&piece, w->arg);
	}
	w->joining = JOIN_NEIGHBOURS;
	w->parts = 0;
	w->rest_ns = 0;
}

/* ---- from hop to hop */

static void push(struct walk *w, uint32_t serial, const struct thread *thread)
{
	struct hop *h = &w->chain.hop[w->chain.hops++];

	memset(h, 0, sizeof(*h));
	h->serial = serial;
	if (thread && thread->introduced) {
		h->pid = thread->pid;
		h->tid = thread->tid;
		memcpy(h->comm, thread->comm, sizeof(h->comm));
	}
}

/* As the one that he woke knew him, if he was never introduced. */
static void push_waker(struct walk *w, const struct stop *stop, const struct thread *waker)
{
	struct hop *h;

	push(w, waker ? waker->serial : stop->waker_serial, waker);
	if (waker && waker->introduced)
		return;
	h = last_hop(&w->chain);
	h->pid = stop->waker_pid;
	h->tid = stop->waker;
	memcpy(h->comm, stop->waker_comm, sizeof(h->comm));
}

static bool on_chain(const struct walk *w, uint32_t serial)
{
	for (int i = 0; i < w->chain.hops; i++)
		if (serial && w->chain.hop[i].serial == serial)
			return true;
	return false;
}

/* Running, by the looks at it; `stack` where these say nothing. */
static void charge_looks(struct walk *w, const struct thread *thread, uint64_t from, uint64_t to,
			 uint64_t stack)
{
	struct stretch s = stretch_at(thread, from);
	uint64_t until;

	for (; from < to; from = until) {
		const struct stop *look = stretch_look(&s, from, &until);
		bool better = look && (is_stack(look->stack) || !is_stack(stack));

		until = min_u64(until, to);
		turn(&w->chain, look && look->state == STATE_GC ? STATE_GC : STATE_RUN)->stack =
			better ? look->stack : stack;
		charge(w, from, until, true);
	}
}

/* Where it was begun, or the first look that was taken in it. */
static uint64_t overlay_stack(const struct thread *thread, const struct stop *o)
{
	size_t i;

	if (is_stack(o->stack) || !thread)
		return o->stack;
	i = track_after(&thread->looks, o->from_ns - 1);
	if (i < thread->looks.count && track_at(&thread->looks, i)->run_ns < o->run_ns)
		return track_at(&thread->looks, i)->stack;
	return o->stack;
}

static void turn_overlay(struct walk *w, const struct thread *thread, const struct stop *o)
{
	struct hop *h = turn(&w->chain, o->state);

	h->flags = o->flags;
	h->stack = overlay_stack(thread, o);
}

/* Running is what is left between stops; before we saw all of them it is not known. */
static void charge_run(struct walk *w, const struct thread *thread, uint64_t from, uint64_t to,
		       uint64_t stack)
{
	const struct track *overlays = &thread->overlays;
	uint64_t known = min_u64(timeline_known_from(w->t, thread), to);

	turn(&w->chain, STATE_UNKNOWN);
	charge(w, from, known, false);
	from = max_u64(from, known);
	for (size_t i = track_after(overlays, from); i < overlays->count; i++) {
		const struct stop *o = track_at(overlays, i);
		uint64_t start = max_u64(o->from_ns, from), end = min_u64(o->run_ns, to);

		if (start >= to)
			break;
		charge_looks(w, thread, from, start, stack);
		turn_overlay(w, thread, o);
		charge(w, start, end, true);
		from = end;
	}
	charge_looks(w, thread, from, to, stack);
}

/* After a wait, and after a quota let it go on, for a CPU. */
static void charge_runnable(struct walk *w, const struct stop *stop, uint64_t from, uint64_t to)
{
	enum state state = stop->state;
	struct hop *h;

	if (STATE_BLOCKED(state) || state == STATE_UNKNOWN)
		state = STATE_WAKE;
	else if (state == STATE_THROTTLED && stop->wake_ns > stop->from_ns)
		state = STATE_PREEMPTED;
	h = turn(&w->chain, state);
	h->flags = stop->flags;
	h->cpu = stop->cpu;
	h->cpu_pid = stop->cpu_pid;
	h->stack = stop->stack;
	charge(w, from, to, true);
}

static bool same_futex(const struct stop *a, const struct stop *b)
{
	uint64_t apart = a->obj > b->obj ? a->obj - b->obj : b->obj - a->obj;

	return a->state == b->state && apart <= LOCK_SIZE;
}

/*
 * A wait that ran out of time is part of a longer one if the thread went straight back to it: who
 * wants Python's lock asks for it every 5 ms. Whoever ended the last of them ended the wait.
 * Returns the stop that says who did, which is this one if nobody did.
 */
static const struct stop *end_of_wait(const struct thread *thread, const struct stop *stop)
{
	const struct track *stops = thread ? &thread->stops : NULL;
	uint64_t ran_ns = 0, at_ns = stop->run_ns;
	size_t first, last;

	if (!stops || stop->state != STATE_FUTEX || stop->by != WAKER_timer)
		return stop;
	first = track_after(stops, stop->run_ns);
	last = min_u64(stops->count, first + AHEAD_STOPS);
	for (size_t i = first; i < last; i++) {
		const struct stop *next = track_at(stops, i);

		ran_ns += next->from_ns > at_ns ? next->from_ns - at_ns : 0;
		at_ns = next->run_ns;
		if (ran_ns >= AHEAD_RUN_NS || at_ns - stop->run_ns > AHEAD_NS)
			break;
		if (next->wake_ns == next->from_ns || next->state == STATE_THROTTLED)
			continue; /* no wait, it was only kept from running */
		if (!same_futex(stop, next))
			break;
		if (next->by != WAKER_timer)
			return next->by == WAKER_task ? next : stop;
		ran_ns = 0;
	}
	return stop;
}

static void charge_waker(struct walk *w, const struct thread *waker, uint64_t from, uint64_t to,
			 uint64_t stack);

/* The last hop waited for the next, `waker`, who is on no timeline where that is NULL. */
static void charge_to(struct walk *w, const struct stop *end, const struct thread *waker,
		      uint64_t from, uint64_t to, uint64_t stack)
{
	if (w->chain.hops == HOPS_MAX || on_chain(w, waker ? waker->serial : end->waker_serial)) {
		charge(w, from, to, false);
		return;
	}
	push_waker(w, end, waker);
	if (waker) {
		charge_waker(w, waker, from, to, stack);
	} else {
		turn(&w->chain, STATE_UNKNOWN)->stack = stack;
		charge(w, from, to, false);
	}
	w->chain.hops--;
}

/*
 * Who had Python's lock when the wait for it began is charged for it, however it ended: who asks for
 * it is woken by a timer again and again. Returns false where the stop does not say.
 */
static bool charge_holder(struct walk *w, const struct stop *stop, const struct stop *end,
			  uint64_t from, uint64_t to)
{
	const struct thread *holder = timeline_holder(w->t, stop);
	struct stop stranger = { .waker_pid = last_hop(&w->chain)->pid };

	if (!holder && (!is_stack(stop->holder_stack) || end->by == WAKER_task))
		return false; /* whoever ended it has a name at least */
	last_hop(&w->chain)->by = WAKER_task;
	charge_to(w, &stranger, holder, from, to, stop->holder_stack);
	return true;
}

static void charge_blocked(struct walk *w, const struct thread *thread, const struct stop *stop,
			   uint64_t from, uint64_t to)
{
	const struct stop *end;
	struct hop *h;

	if (from >= to)
		return;
	end = end_of_wait(thread, stop);
	h = turn(&w->chain, stop->state);
	h->by = end->by;
	h->stack = stop->stack;
	h->object = stop->holder ? OBJECT_gil : OBJECT_none;
	h->nr = stop->nr;
	h->irq = stop->irq;
	h->fd = stop->fd;
	h->flags = stop->flags;
	h->obj = stop->obj;
	h->obj2 = stop->obj2;
	if (stop->holder && charge_holder(w, stop, end, from, to))
		return;
	if (end->by == WAKER_task)
		charge_to(w, end, timeline_waker(w->t, end), from, to, 0);
	else
		charge(w, from, to, stop->state != STATE_UNKNOWN);
}

/* What the last hop did meanwhile. `stack`: where it ran, unless somebody looked. */
static void charge_waker(struct walk *w, const struct thread *waker, uint64_t from, uint64_t to,
			 uint64_t stack)
{
	const struct track *stops = &waker->stops;

	for (size_t i = track_after(stops, from); i < stops->count; i++) {
		const struct stop *s = track_at(stops, i);
		uint64_t start = max_u64(s->from_ns, from), end = min_u64(s->run_ns, to);

		if (start >= to)
			break;
		charge_run(w, waker, from, start, stack);
		charge_blocked(w, waker, s, start, min_u64(s->wake_ns, end));
		charge_runnable(w, s, max_u64(s->wake_ns, start), end);
		from = end;
	}
	charge_run(w, waker, from, to, stack);
}

/* ---- whose time it is */

static struct walk *walk_new(const struct timeline *t, piece_fn fn, void *arg)
{
	struct walk *w = xrealloc(NULL, 1, sizeof(*w)); /* large, and most of it is never used */

	w->t = t;
	w->fn = fn;
	w->arg = arg;
	w->joining = JOIN_NEIGHBOURS;
	w->parts = 0;
	w->rest_ns = 0;
	memset(&w->chain, 0, sizeof(w->chain));
	return w;
}

static void walk_stop(struct walk *w, const struct thread *thread, const struct stop *s,
		      uint64_t from, uint64_t to)
{
	uint64_t ready = min_u64(max_u64(s->wake_ns, from), to);

	charge_blocked(w, thread, s, from, ready);
	flush(w, s->op, from);
	charge_runnable(w, s, ready, to);
	flush(w, s->op, ready);
}

static void walk_overlay(struct walk *w, const struct thread *thread, const struct stop *o,
			 uint64_t from, uint64_t to)
{
	turn_overlay(w, thread, o);
	charge(w, from, to, true);
	flush(w, o->op, from);
}

/* Running needs no explanation; what it was wasted on does. */
static void walk_run(struct walk *w, const struct thread *thread, uint64_t from, uint64_t to)
{
	const struct track *overlays = &thread->overlays;

	from = max_u64(from, timeline_known_from(w->t, thread));
	for (size_t i = track_after(overlays, from); i < overlays->count; i++) {
		const struct stop *o = track_at(overlays, i);

		if (o->from_ns >= to)
			break;
		walk_overlay(w, thread, o, max_u64(o->from_ns, from), min_u64(o->run_ns, to));
	}
}

void chain_walk(const struct timeline *t, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		piece_fn fn, void *arg)
{
	const struct thread *thread = timeline_find(t, serial);
	struct walk *w;

	if (!thread)
		return;
	w = walk_new(t, fn, arg);
	push(w, serial, thread);
	for (size_t i = track_after(&thread->stops, from_ns); i < thread->stops.count; i++) {
		const struct stop *s = track_at(&thread->stops, i);
		uint64_t start = max_u64(s->from_ns, from_ns), end = min_u64(s->run_ns, to_ns);

		if (start >= to_ns)
			break;
		walk_run(w, thread, from_ns, start);
		walk_stop(w, thread, s, start, end);
		from_ns = end;
	}
	walk_run(w, thread, from_ns, to_ns);
	free(w);
}

void chain_of_stop(const struct timeline *t, const struct stop *stop, piece_fn fn, void *arg)
{
	const struct thread *thread;
	struct stop s;
	struct walk *w;

	if (!stop_clean(stop, &s))
		return;
	thread = timeline_find(t, s.serial);
	w = walk_new(t, fn, arg);
	push(w, s.serial, thread);
	if (s.flags & STOP_OVERLAY)
		walk_overlay(w, thread, &s, s.from_ns, s.run_ns);
	else
		walk_stop(w, thread, &s, s.from_ns, s.run_ns);
	free(w);
}
