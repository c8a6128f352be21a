// SPDX-License-Identifier: Apache-2.0
/*
 * The recent past of every followed thread, bounded: what is given up is the oldest, and from when
 * on the rest is complete is remembered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "chain/chain_int.h"

/* ---- one track */

size_t track_after(const struct track *track, uint64_t ns)
{
	size_t lo = 0, hi = track->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (track_at(track, mid)->run_ns > ns)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void slide(struct track *track)
{
	memmove(track->base, track->base + track->first, track->count * sizeof(struct stop *));
	track->first = 0;
}

static void resize(struct track *track, size_t room)
{
	if (track->base)
		slide(track);
	track->room = room;
	track->base = xrealloc(track->base, room, sizeof(struct stop *));
}

/* Sliding waits until as many were dropped as are kept: one step for each stop, on average. */
static void make_room(struct track *track)
{
	if (!track->base)
		resize(track, 16);
	else if (track->first + track->count < track->room)
		return;
	else if (track->first >= track->count)
		slide(track);
	else
		resize(track, 2 * track->room);
}

static void drop_oldest(struct track *track, size_t n)
{
	for (; n; n--, track->first++, track->count--)
		free(track->base[track->first]);
}

static void release(struct track *track)
{
	drop_oldest(track, track->count);
	free(track->base);
	*track = (struct track){ 0 };
}

/* Give back what a burst once needed. */
static void shrink(struct track *track)
{
	if (!track->count)
		release(track);
	else if (track->room > 4 * track->count + 64)
		resize(track, 2 * track->count);
}

static void put(struct track *track, size_t i, const struct stop *stop)
{
	struct stop **at, *copy = xcalloc(1, sizeof(*copy));

	*copy = *stop;
	make_room(track);
	at = track->base + track->first + i;
	memmove(at + 1, at, (track->count - i) * sizeof(struct stop *));
	*at = copy;
	track->count++;
}

/* ---- threads */

/* The tracks of a thread, to be treated alike. */
#define TRACKS 3

static struct track *track_of(struct thread *thread, int i)
{
	struct track *tracks[TRACKS] = { &thread->stops, &thread->overlays, &thread->looks };

	return tracks[i];
}

/* What pthread_self() is to one of the program's threads. */
struct pointer_key {
	uint64_t tp;
	uint32_t pid, pad;
};

struct timeline *timeline_new(void)
{
	struct timeline *t = xcalloc(1, sizeof(*t));

	t->threads = hash_new(sizeof(uint32_t), sizeof(struct thread *));
	t->tids = hash_new(sizeof(uint32_t), sizeof(uint32_t));
	t->pointers = hash_new(sizeof(struct pointer_key), sizeof(uint32_t));
	return t;
}

static void free_thread(struct timeline *t, struct thread *thread)
{
	for (int i = 0; i < TRACKS; i++) {
		t->count -= track_of(thread, i)->count;
		release(track_of(thread, i));
	}
	free(thread);
}

static bool free_each(const void *key, void *value, void *arg)
{
	(void)key;
	free_thread(arg, *(struct thread **)value);
	return true;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	hash_each(t->threads, free_each, t);
	hash_free(t->threads);
	hash_free(t->tids);
	hash_free(t->pointers);
	free(t);
}

static struct thread *find(const struct timeline *t, uint32_t serial)
{
	struct thread **slot = hash_get(t->threads, &serial);

	return slot ? *slot : NULL;
}

const struct thread *timeline_find(const struct timeline *t, uint32_t serial)
{
	return find(t, serial);
}

static struct thread *find_or_make(struct timeline *t, uint32_t serial, uint64_t since_ns)
{
	struct thread *thread = find(t, serial);

	if (!thread) {
		thread = xcalloc(1, sizeof(*thread));
		thread->serial = serial;
		thread->since_ns = since_ns;
		*(struct thread **)hash_put(t->threads, &serial) = thread;
	}
	return thread;
}

static void forget_name(struct hash *names, const void *key, uint32_t serial)
{
	const uint32_t *known = hash_get(names, key);

	if (known && *known == serial)
		hash_drop(names, key);
}

static void forget_names(struct timeline *t, const struct thread *thread)
{
	struct pointer_key key = { .tp = thread->tp, .pid = thread->pid };

	if (!thread->introduced)
		return;
	forget_name(t->tids, &thread->tid, thread->serial);
	forget_name(t->pointers, &key, thread->serial);
}

void timeline_thread(struct timeline *t, uint32_t serial, const struct task_info *info)
{
	struct pointer_key key = { .tp = info->tp, .pid = info->pid };
	struct thread *thread;

	if (!serial)
		return; /* stands for "not followed" */
	thread = find_or_make(t, serial, info->adopted_ns);
	forget_names(t, thread);
	thread->introduced = true;
	thread->pid = info->pid;
	thread->tid = info->tid;
	thread->tp = info->tp;
	thread->since_ns = info->adopted_ns;
	memcpy(thread->comm, info->comm, sizeof(thread->comm));
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	*(uint32_t *)hash_put(t->tids, &info->tid) = serial;
	if (info->tp)
		*(uint32_t *)hash_put(t->pointers, &key) = serial;
}

bool timeline_knows(const struct timeline *t, uint32_t serial)
{
	const struct thread *thread = find(t, serial);

	return thread && thread->introduced;
}

void timeline_forget(struct timeline *t, uint32_t serial)
{
	struct thread *thread = find(t, serial);

	if (!thread)
		return;
	forget_names(t, thread);
	hash_drop(t->threads, &serial);
	free_thread(t, thread);
}

uint64_t timeline_complete_from(const struct timeline *t, uint32_t serial)
{
	const struct thread *thread = find(t, serial);

	return thread ? timeline_known_from(t, thread) : UINT64_MAX;
}

void timeline_name(const struct timeline *t, uint32_t serial, struct hop *ret)
{
	const struct thread *thread = find(t, serial);

	ret->serial = serial;
	if (!thread || !thread->introduced)
		return;
	ret->pid = thread->pid;
	ret->tid = thread->tid;
	memcpy(ret->comm, thread->comm, sizeof(ret->comm));
}

const struct thread *timeline_waker(const struct timeline *t, const struct stop *stop)
{
	const struct thread *thread;
	const uint32_t *serial;

	if (stop->waker_serial)
		return find(t, stop->waker_serial);

	/* Not followed then, but perhaps since: the waking itself is often why. */
	serial = hash_get(t->tids, &stop->waker);
	thread = serial ? find(t, *serial) : NULL;
	if (!thread || thread->pid != stop->waker_pid || thread->since_ns >= stop->wake_ns)
		return NULL;
	return thread;
}

const struct thread *timeline_holder(const struct timeline *t, const struct stop *stop)
{
	const struct thread *waiter = find(t, stop->serial), *holder;
	struct pointer_key key = { .tp = stop->holder };
	const uint32_t *serial;

	if (!stop->holder || !waiter || !waiter->introduced)
		return NULL;
	key.pid = waiter->pid;
	serial = hash_get(t->pointers, &key);
	holder = serial ? find(t, *serial) : NULL;
	/* A thread that began since has the memory of one that is gone. */
	return holder && holder != waiter && holder->since_ns < stop->wake_ns ? holder : NULL;
}

bool timeline_knows_holder(const struct timeline *t, const struct stop *stop)
{
	return !stop->holder || timeline_holder(t, stop);
}

uint64_t timeline_known_from(const struct timeline *t, const struct thread *thread)
{
	return max_u64(max_u64(thread->since_ns, thread->lost_ns), t->lost_ns);
}

/* ---- giving up the oldest */

void timeline_gap(struct timeline *t, uint64_t ns)
{
	t->lost_ns = max_u64(t->lost_ns, ns);
}

struct cut {
	struct timeline *t;
	uint64_t before_ns;
	bool strangers; /* drop those of whom nothing is left, not even a name */
};

static bool cut_each(const void *key, void *value, void *arg)
{
	struct thread *thread = *(struct thread **)value;
	struct cut *cut = arg;
	size_t left = 0;

	(void)key;
	for (int i = 0; i < TRACKS; i++) {
		struct track *track = track_of(thread, i);
		size_t n = track_after(track, cut->before_ns);

		drop_oldest(track, n);
		cut->t->count -= n;
		shrink(track);
		left += track->count;
	}
	if (!cut->strangers || thread->introduced || left)
		return false;
	free_thread(cut->t, thread);
	return true;
}

void timeline_prune(struct timeline *t, uint64_t before_ns)
{
	struct cut cut = { .t = t, .before_ns = before_ns, .strangers = true };

	hash_each(t->threads, cut_each, &cut);
	timeline_gap(t, before_ns);
}

struct ends {
	uint64_t *ns;
	size_t count;
};

static bool list_ends(const void *key, void *value, void *arg)
{
	struct thread *thread = *(struct thread **)value;
	struct ends *ends = arg;

	(void)key;
	for (int k = 0; k < TRACKS; k++) {
		const struct track *track = track_of(thread, k);

		for (size_t i = 0; i < track->count; i++)
			ends->ns[ends->count++] = track_at(track, i)->run_ns;
	}
	return false;
}

static int by_time(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Full: the oldest eighth goes at once, so that looking for it is rare. */
static void make_space(struct timeline *t)
{
	struct ends ends = { .ns = xcalloc(t->count, sizeof(uint64_t)) };
	struct cut cut = { .t = t };

	hash_each(t->threads, list_ends, &ends);
	qsort(ends.ns, ends.count, sizeof(ends.ns[0]), by_time);
	cut.before_ns = ends.ns[ends.count / 8];
	free(ends.ns);
	hash_each(t->threads, cut_each, &cut);
	timeline_gap(t, cut.before_ns);
}

size_t timeline_count(const struct timeline *t)
{
	return t->count;
}

/* ---- adding */

bool stop_clean(const struct stop *from, struct stop *ret)
{
	*ret = *from;
	ret->waker_comm[COMM_LEN - 1] = '\0';
	if (!ret->serial || ret->from_ns >= ret->run_ns || ret->flags & STOP_SAMPLE)
		return false;
	if (ret->by >= WAKER_COUNT)
		ret->by = WAKER_other;
	if (ret->state != STATE_FUTEX)
		ret->holder = ret->holder_stack = 0;
	if (ret->flags & STOP_OVERLAY) {
		ret->wake_ns = ret->run_ns;
		return STATE_ON_CPU(ret->state) && ret->state != STATE_RUN;
	}
	if (ret->state >= STATE_COUNT || STATE_ON_CPU(ret->state))
		ret->state = STATE_UNKNOWN;
	ret->wake_ns = min_u64(max_u64(ret->wake_ns, ret->from_ns), ret->run_ns);
	if (STATE_RUNNABLE(ret->state))
		ret->wake_ns = ret->from_ns;
	if (STATE_RUNNABLE(ret->state) || ret->state == STATE_THROTTLED)
		ret->by = WAKER_nobody;
	if (ret->state == STATE_UNKNOWN && ret->wake_ns == ret->from_ns)
		ret->wake_ns = ret->run_ns; /* nobody saw it: no reason to say that it was ready */
	return true;
}

/* One that fits between its neighbours, in front of the i-th. */
static void insert(struct timeline *t, struct thread *thread, struct track *track, size_t i,
		   const struct stop *stop)
{
	if (track->count == THREAD_STOPS_MAX) {
		uint64_t oldest = i ? track_at(track, 0)->run_ns : stop->run_ns;

		thread->lost_ns = max_u64(thread->lost_ns, oldest);
		if (!i)
			return;
		drop_oldest(track, 1);
		t->count--;
		i--;
	}
	put(track, i, stop);
	t->count++;
}

/* Of two at the same moment the first stays. Where there are too many the oldest goes. */
static void add_look(struct timeline *t, const struct stop *from)
{
	struct stop look = *from;
	struct thread *thread;
	size_t i;

	if (!look.serial || !look.from_ns)
		return;
	look.wake_ns = look.run_ns = look.from_ns;
	if (t->count >= STOPS_MAX)
		make_space(t);
	thread = find_or_make(t, look.serial, look.from_ns);
	i = track_after(&thread->looks, look.from_ns);
	if (i && track_at(&thread->looks, i - 1)->run_ns == look.run_ns)
		return;
	if (thread->looks.count == THREAD_STOPS_MAX) {
		if (!i)
			return;
		drop_oldest(&thread->looks, 1);
		t->count--;
		i--;
	}
	put(&thread->looks, i, &look);
	t->count++;
}

/*
 * What is known already stays. Stops do not overlap, so one that comes twice adds nothing; of two
 * overlays the inner one ends and comes first, and the outer one gets what is around it.
 */
void timeline_add(struct timeline *t, const struct stop *stop)
{
	struct thread *thread;
	struct track *track;
	struct stop s;
	uint64_t from, wake, to;

	if (stop->flags & STOP_SAMPLE) {
		add_look(t, stop);
		return;
	}
	if (!stop_clean(stop, &s))
		return;
	wake = s.wake_ns;
	to = s.run_ns;
	thread = find_or_make(t, s.serial, s.from_ns);
	track = s.flags & STOP_OVERLAY ? &thread->overlays : &thread->stops;
	for (from = s.from_ns; from < to; from = s.run_ns) {
		const struct stop *next = NULL;
		size_t i;

		if (t->count >= STOPS_MAX)
			make_space(t);
		i = track_after(track, from);
		if (i < track->count)
			next = track_at(track, i);
		if (next && next->from_ns <= from) {
			s.run_ns = next->run_ns;
			continue;
		}
		s.from_ns = from;
		s.run_ns = next ? min_u64(to, next->from_ns) : to;
		s.wake_ns = min_u64(max_u64(wake, from), s.run_ns);
		insert(t, thread, track, i, &s);
	}
}
