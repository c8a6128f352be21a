// SPDX-License-Identifier: Apache-2.0
/* History in, charged seconds out. */
#include "agent/waits.h"

#include <stdlib.h>
#include <string.h>

#include "agent/naming.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"

#define KEEP_NS (10 * 1000000000ull) /* of history: longer waits are charged as far as it reaches */
#define SPAN_MAX 32 /* chains of one span */
#define LOOKS_LATE_NS (2 * LOOK_REACH_NS) /* until the next look, which has a part of the time */
#define FOLLOW_NS 500000ull /* who ends a wait as long as this is worth following */
#define FOLLOW_AGAIN_NS (10 * 1000000000ull) /* new threads of such a process, exec, a reused pid */
#define FOLLOW_MAX 1024 /* processes, so that a chatty host is not followed as a whole */
#define FOLLOW_AT_ONCE 16
#define WAKERS_MAX 8192 /* then all are forgotten */

struct share_key {
	uint64_t chain;
	uint32_t serial;
	uint32_t op;
};

/* A chain of one hop before it has names: most are, and most come again and again. */
struct raw_key {
	uint64_t obj, obj2, stack;
	uint32_t serial, op, cpu_pid;
	int32_t nr;
	uint32_t flags;
	uint8_t state, by, complete, pad;
	int16_t irq;
	uint16_t pad2;
};

/* A thread that has ended; what it did may explain a wait that is still going on. */
struct gone {
	uint32_t serial;
	uint64_t at_ns;
};

/* Where a calling thread ran. */
struct run_key {
	uint64_t stack;
	uint32_t serial;
	uint16_t op, state;
};

struct run_sum {
	uint64_t samples, ns;
};

/* Who ended the last wait of a thread for the same thing. */
struct usual_key {
	uint64_t obj;
	uint32_t serial, state;
};

struct usual_waker {
	uint32_t waker, pid, serial;
	char comm[COMM_LEN];
};

struct waits {
	struct capture *capture;
	struct lines *lines;
	struct timeline *timeline;
	struct naming *naming;
	struct hash *shares; /* struct share_key -> struct share, of the present second */
	struct hash *known; /* struct raw_key -> struct share_key, likewise */
	struct hash *runs; /* struct run_key -> struct run_sum, likewise */
	struct hash *looked; /* serial of calling threads -> until when their running is in runs */
	struct hash *wakers; /* struct usual_key -> struct usual_waker */
	struct hash *followed; /* pid -> boot time of the last attempt */
	struct stop *pending; /* of calling threads, read but perhaps not complete yet */
	size_t pendings, pending_cap;
	uint32_t follow[FOLLOW_AT_ONCE];
	int follows;
	struct gone *gone; /* oldest first */
	size_t gones;
	uint64_t until;
	uint64_t lost; /* stops overwritten before they were read, so far */
	/* While reading: */
	const struct roster *roster;
	uint32_t serial;
};

struct waits *waits_new(struct capture *capture, struct lines *lines)
{
	struct waits *w = xcalloc(1, sizeof(*w));

	w->capture = capture;
	w->lines = lines;
	w->timeline = timeline_new();
	w->naming = naming_new(capture);
	w->shares = hash_new(sizeof(struct share_key), sizeof(struct share));
	w->known = hash_new(sizeof(struct raw_key), sizeof(struct share_key));
	w->runs = hash_new(sizeof(struct run_key), sizeof(struct run_sum));
	w->looked = hash_new(sizeof(uint32_t), sizeof(uint64_t));
	w->wakers = hash_new(sizeof(struct usual_key), sizeof(struct usual_waker));
	w->followed = hash_new(sizeof(uint32_t), sizeof(uint64_t));
	return w;
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	timeline_free(w->timeline);
	naming_free(w->naming);
	hash_free(w->shares);
	hash_free(w->known);
	hash_free(w->runs);
	hash_free(w->looked);
	hash_free(w->wakers);
	hash_free(w->followed);
	free(w->pending);
	free(w->gone);
	free(w);
}

uint64_t waits_until(const struct waits *w)
{
	return w->until;
}

size_t waits_held(const struct waits *w)
{
	return timeline_count(w->timeline);
}

void waits_thread(struct waits *w, uint32_t serial, const struct task_info *info)
{
	timeline_thread(w->timeline, serial, info);
	naming_thread(w->naming, info);
}

void waits_exit(struct waits *w, uint32_t serial)
{
	w->gone = xrealloc(w->gone, w->gones + 1, sizeof(*w->gone));
	w->gone[w->gones++] = (struct gone){ serial, clock_boot_ns() };
}

static void forget_gone(struct waits *w, uint64_t now)
{
	size_t old = 0;

	while (old < w->gones && w->gone[old].at_ns + KEEP_NS < now) {
		hash_drop(w->looked, &w->gone[old].serial);
		timeline_forget(w->timeline, w->gone[old++].serial);
	}
	w->gones -= old;
	if (old)
		memmove(w->gone, w->gone + old, w->gones * sizeof(*w->gone));
}

const char *waits_process(struct waits *w, uint32_t pid, const char *fallback)
{
	return naming_process(w->naming, pid, fallback);
}

/* ---- reading ---- */

static void want_process(struct waits *w, uint32_t pid, uint64_t now)
{
	const uint64_t *tried = hash_get(w->followed, &pid);

	if (!pid || w->follows == FOLLOW_AT_ONCE ||
	    (tried ? now < *tried + FOLLOW_AGAIN_NS : hash_count(w->followed) >= FOLLOW_MAX))
		return;
	for (int i = 0; i < w->follows; i++)
		if (w->follow[i] == pid)
			return;
	w->follow[w->follows++] = pid;
}

static void want_to_follow(struct waits *w, const struct stop *stop)
{
	struct task_info info;

	if (stop->wake_ns - stop->from_ns < FOLLOW_NS)
		return;
	if (stop->by == WAKER_task && !stop->waker_serial)
		want_process(w, stop->waker_pid, stop->wake_ns);
	if (!timeline_knows_holder(w->timeline, stop) && /* a thread that makes no calls */
	    !capture_find_task(w->capture, stop->serial, &info))
		want_process(w, info.pid, stop->wake_ns);
}

/* The running around it is summed up once the next look has come. */
static void on_look(struct waits *w, const struct stop *look)
{
	uint64_t *until;

	if (look->op >= OP_SLOTS || !roster_find(w->roster, look->serial))
		return;
	until = hash_put(w->looked, &look->serial);
	if (!*until)
		*until = look->from_ns - min_u64(LOOK_REACH_NS, look->from_ns);
}

static bool drop(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

/* A wait that is not over at the end is put down to who ended the one before it. */
static void guess_waker(struct waits *w, struct stop *stop)
{
	struct usual_key key = { .obj = stop->obj, .serial = stop->serial, .state = stop->state };
	struct usual_waker *usual;

	if (!STATE_BLOCKED(stop->state) || stop->wake_ns == stop->from_ns)
		return;
	if (stop->flags & STOP_OPEN) {
		usual = hash_get(w->wakers, &key);
		if (!usual)
			return;
		stop->by = WAKER_task;
		stop->waker = usual->waker;
		stop->waker_pid = usual->pid;
		stop->waker_serial = usual->serial;
		memcpy(stop->waker_comm, usual->comm, sizeof(stop->waker_comm));
	} else if (stop->by == WAKER_task) {
		if (hash_count(w->wakers) > WAKERS_MAX)
			hash_each(w->wakers, drop, NULL);
		usual = hash_put(w->wakers, &key);
		usual->waker = stop->waker;
		usual->pid = stop->waker_pid;
		usual->serial = stop->waker_serial;
		memcpy(usual->comm, stop->waker_comm, sizeof(usual->comm));
	}
}

/* Where it collected garbage or freed memory: timed, so that no look is needed. */
static void add_overlay(struct waits *w, const struct stop *stop)
{
	struct run_key key = {
		.stack = stop->stack, .serial = stop->serial, .op = stop->op, .state = stop->state
	};
	struct run_sum *sum = hash_put(w->runs, &key);

	sum->ns += stop->run_ns - stop->from_ns;
}

static void on_stop(const struct stop *raw, void *arg)
{
	struct waits *w = arg;
	struct task_info info;
	struct stop s = *raw, *stop = &s;

	if (stop->state >= STATE_COUNT || stop->by >= WAKER_COUNT)
		return;
	if (!(stop->flags & STOP_SAMPLE) &&
	    (stop->from_ns > stop->wake_ns || stop->wake_ns > stop->run_ns))
		return;
	s.stack = lines_stack(w->lines, raw->stack, 0);
	s.holder_stack = lines_stack(w->lines, raw->holder_stack, 0);
	if (!timeline_knows(w->timeline, stop->serial) &&
	    !capture_find_task(w->capture, stop->serial, &info))
		waits_thread(w, stop->serial, &info);
	guess_waker(w, stop);
	timeline_add(w->timeline, stop);
	if (stop->flags & STOP_SAMPLE) {
		on_look(w, stop);
		return;
	}
	want_to_follow(w, stop);
	if (stop->op >= OP_SLOTS || !roster_find(w->roster, stop->serial))
		return;
	if (stop->flags & STOP_OVERLAY) {
		add_overlay(w, stop);
		return;
	}
	if (w->pendings == w->pending_cap) {
		w->pending_cap = w->pending_cap ? 2 * w->pending_cap : 1024;
		w->pending = xrealloc(w->pending, w->pending_cap, sizeof(*w->pending));
	}
	w->pending[w->pendings++] = *stop;
}

static void follow_wakers(struct waits *w, uint64_t now)
{
	for (int i = 0; i < w->follows; i++) {
		*(uint64_t *)hash_put(w->followed, &w->follow[i]) = now;
		capture_follow(w->capture, w->follow[i]);
	}
	w->follows = 0;
}

/* ---- charging ---- */

/* A wait that went through several lines counts once, with its whole length. */
static void add_to(struct share *share, const struct piece *piece)
{
	share->ns += piece->to_ns - piece->from_ns;
	share->count += !piece->goes_on;
	share->max_ns = max_u64(share->max_ns, piece->whole_ns);
}

static struct raw_key raw_key(uint32_t serial, const struct piece *piece)
{
	const struct hop *hop = &piece->chain.hop[0];

	return (struct raw_key){
		.obj = hop->obj,
		.obj2 = hop->obj2,
		.stack = hop->stack,
		.serial = serial,
		.op = piece->op,
		.cpu_pid = hop->cpu_pid,
		.nr = hop->nr,
		.flags = hop->flags,
		.state = (uint8_t)hop->state,
		.by = (uint8_t)hop->by,
		.complete = piece->chain.complete,
		.irq = (int16_t)hop->irq,
	};
}

static void on_piece(const struct piece *piece, void *arg)
{
	struct waits *w = arg;
	struct share_key key = { .serial = w->serial, .op = piece->op };
	struct raw_key raw = raw_key(w->serial, piece);
	bool single = piece->chain.hops == 1;
	const struct share_key *known = single ? hash_get(w->known, &raw) : NULL;
	struct share *share = known ? hash_get(w->shares, known) : NULL;
	struct chain named;

	if (!share) {
		named = piece->chain;
		naming_fill(w->naming, &named, w->roster);
		key.chain = chain_id(&named);
		share = hash_put(w->shares, &key);
		if (!share->ns)
			share->chain = named;
		if (single)
			*(struct share_key *)hash_put(w->known, &raw) = key;
	}
	add_to(share, piece);
}

static void on_run(const struct run *run, void *arg)
{
	struct waits *w = arg;
	struct run_key key = { .stack = run->stack,
			       .serial = w->serial,
			       .op = run->op,
			       .state = (uint16_t)run->state };
	struct run_sum *sum;

	if (run->op >= OP_SLOTS)
		return;
	sum = hash_put(w->runs, &key);
	sum->samples += run->look;
	sum->ns += run->to_ns - run->from_ns;
}

static bool sum_runs(const void *key, void *value, void *arg)
{
	struct waits *w = arg;
	uint64_t *until = value, to = w->until - min_u64(LOOKS_LATE_NS, w->until);

	if (to <= *until)
		return false;
	w->serial = *(const uint32_t *)key;
	chain_runs(w->timeline, w->serial, *until, to, on_run, w);
	*until = to;
	return false;
}

/* What needs the history that was lost is not complete, and its evidence is lower. */
static void note_loss(struct waits *w, uint64_t now)
{
	struct stats stats;

	capture_stats(w->capture, &stats);
	if (stats.loss[LOSS_history] != w->lost)
		timeline_gap(w->timeline, now);
	w->lost = stats.loss[LOSS_history];
}

void waits_read(struct waits *w, const struct roster *roster)
{
	uint64_t begin = clock_boot_ns();
	size_t kept = 0;

	w->roster = roster;
	capture_each_stop(w->capture, on_stop, w);
	note_loss(w, begin);
	/*
	 * The rings were read one after the other: only what ended before the first was read is
	 * complete, because whoever ended it had left his own traces before that.
	 */
	for (size_t i = 0; i < w->pendings; i++) {
		if (w->pending[i].run_ns >= begin) {
			w->pending[kept++] = w->pending[i];
			continue;
		}
		w->serial = w->pending[i].serial;
		chain_of_stop(w->timeline, &w->pending[i], on_piece, w);
	}
	w->pendings = kept;
	w->until = begin;
	hash_each(w->looked, sum_runs, w);
	follow_wakers(w, begin);
	forget_gone(w, begin);
	timeline_prune(w->timeline, begin > KEEP_NS ? begin - KEEP_NS : 0);
}

/* ---- handing over ---- */

struct storing {
	struct waits *w;
	const struct roster *roster;
	struct blamed *blamed;
	struct store *store;
	uint64_t now;
	int err;
};

static bool store_share(const void *key, void *value, void *arg)
{
	const struct share_key *k = key;
	struct share *share = value;
	struct storing *s = arg;
	const struct person *p = roster_find(s->roster, k->serial);
	struct wait_row row = { .op = &op_table[k->op],
				.ns = share->ns,
				.count = share->count,
				.max_ns = share->max_ns };
	int err;

	if (!p)
		return true;
	err = lines_store_chain(s->w->lines, s->store, &share->chain, &row.chain);
	if (!err)
		err = store_wait_second(s->store, p->thread, s->now, &row);
	if (!err)
		err = blamed_chain(s->blamed, s->store, &share->chain, s->now);
	if (err && !s->err)
		s->err = err;
	return true;
}

static bool store_run_sum(const void *key, void *value, void *arg)
{
	const struct run_key *k = key;
	const struct run_sum *sum = value;
	struct storing *s = arg;
	const struct person *p = roster_find(s->roster, k->serial);
	struct sample_row row = {
		.op = &op_table[k->op],
		.stack = k->stack,
		.state = (enum state)k->state,
		.samples = sum->samples,
		.ns = sum->ns,
	};
	int err;

	if (!p)
		return true;
	err = lines_store(s->w->lines, s->store, &row.stack);
	if (!err)
		err = store_sample_second(s->store, p->thread, s->now, &row);
	if (err && !s->err)
		s->err = err;
	return true;
}

int waits_store(struct waits *w, const struct roster *roster, struct blamed *blamed,
		struct store *store, uint64_t now)
{
	struct storing s = {
		.w = w, .roster = roster, .blamed = blamed, .store = store, .now = now
	};

	hash_each(w->shares, store_share, &s);
	hash_each(w->runs, store_run_sum, &s);
	hash_each(w->known, drop, NULL);
	return s.err;
}

/* ---- one span ---- */

struct spanning {
	struct waits *w;
	struct share *ret;
	uint64_t id[SPAN_MAX]; /* of ret[i].chain */
	size_t n, cap;
};

static void on_span_piece(const struct piece *piece, void *arg)
{
	struct spanning *s = arg;
	struct piece named = *piece;
	struct share fresh = { 0 };
	uint64_t id;
	size_t least = 0;

	naming_fill(s->w->naming, &named.chain, s->w->roster);
	id = chain_id(&named.chain);
	for (size_t i = 0; i < s->n; i++) {
		if (s->id[i] == id) {
			add_to(&s->ret[i], piece);
			return;
		}
		if (s->ret[i].ns < s->ret[least].ns)
			least = i;
	}
	add_to(&fresh, piece);
	fresh.chain = named.chain;
	if (s->n < s->cap)
		least = s->n++;
	else if (s->ret[least].ns >= fresh.ns)
		return; /* many small ones: the sums per second have them */
	s->ret[least] = fresh;
	s->id[least] = id;
}

static int by_ns(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

size_t waits_of_span(struct waits *w, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		     struct share *ret, size_t cap)
{
	struct spanning s = { .w = w, .ret = ret, .cap = min_u64(cap, SPAN_MAX) };

	chain_walk(w->timeline, serial, from_ns, to_ns, on_span_piece, &s);
	if (s.n)
		qsort(ret, s.n, sizeof(*ret), by_ns);
	return s.n;
}

/* ---- all of a span ---- */

struct walking {
	struct waits *w;
	walk_fn fn;
	void *arg;
	uint64_t told_ns;
};

static void tell_piece(struct walking *k, const struct chain *chain, uint64_t ns)
{
	struct chain named = *chain;

	if (!ns)
		return;
	naming_fill(k->w->naming, &named, k->w->roster);
	k->told_ns += ns;
	k->fn(&named, ns, k->arg);
}

static void on_walk_piece(const struct piece *piece, void *arg)
{
	tell_piece(arg, &piece->chain, piece->to_ns - piece->from_ns);
}

void waits_walk(struct waits *w, uint32_t serial, uint64_t from_ns, uint64_t to_ns, walk_fn fn,
		void *arg)
{
	struct walking k = { .w = w, .fn = fn, .arg = arg };
	struct chain own = { .hops = 1 };
	uint64_t known_ns = min_u64(timeline_complete_from(w->timeline, serial), to_ns);

	if (from_ns >= to_ns)
		return;
	timeline_name(w->timeline, serial, &own.hop[0]);
	own.hop[0].nr = own.hop[0].irq = own.hop[0].fd = -1;
	own.hop[0].state = STATE_UNKNOWN;
	if (known_ns > from_ns) {
		tell_piece(&k, &own, known_ns - from_ns);
		from_ns = known_ns;
	}
	k.told_ns = 0;
	chain_walk(w->timeline, serial, from_ns, to_ns, on_walk_piece, &k);
	own.hop[0].state = STATE_RUN;
	own.complete = true;
	tell_piece(&k, &own, to_ns - from_ns - min_u64(k.told_ns, to_ns - from_ns));
}
