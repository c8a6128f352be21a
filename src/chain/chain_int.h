/* SPDX-License-Identifier: Apache-2.0 */
/* What timeline.c keeps of the past, and walk.c reads. */
#ifndef CHAIN_CHAIN_INT_H
#define CHAIN_CHAIN_INT_H

#include "chain/chain.h"

#define THREAD_STOPS_MAX 8192 /* and as many overlays */
#define STOPS_MAX 131072 /* of all threads, overlays too */

/* Stops in the order of time; none overlaps another, none is empty. */
struct track {
	struct stop **base; /* pointers: one that comes late moves all that are later */
	size_t first, count, room; /* base[first] is the oldest */
};

struct thread {
	uint32_t serial, pid, tid;
	bool introduced; /* by timeline_thread(): pid, tid and comm are known */
	char comm[COMM_LEN];
	uint64_t since_ns; /* followed from here on */
	uint64_t lost_ns; /* what was before this was given up */
	struct track stops, overlays;
};

struct hash;

struct timeline {
	struct hash *threads; /* serial -> struct thread * */
	struct hash *tids; /* tid -> serial, the latest */
	size_t count;
	uint64_t lost_ns; /* as in struct thread, for all */
};

static inline const struct stop *track_at(const struct track *track, size_t i)
{
	return track->base[track->first + i];
}

/* The first that ends after ns; track->count: none does. */
size_t track_after(const struct track *track, uint64_t ns);

/* NULL: nothing is known of it. Borrowed until the timeline changes. */
const struct thread *timeline_find(const struct timeline *t, uint32_t serial);

/* Who ended this stop; NULL: was not followed at that time. */
const struct thread *timeline_waker(const struct timeline *t, const struct stop *stop);

/* From here on the thread ran wherever no stop is held. */
uint64_t timeline_known_from(const struct timeline *t, const struct thread *thread);

/* What came from the kernel with its values in range and its times in order; false: no use. */
bool stop_clean(const struct stop *from, struct stop *ret);

/* chain_id(), whatever the objects are. */
uint64_t chain_shape(const struct chain *c);

/* Does the state wait on something that `obj` tells from others of its kind? */
bool state_has_object(enum state state);

#endif
