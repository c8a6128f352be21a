/* SPDX-License-Identifier: Apache-2.0 */
/* What timeline.c keeps of the past, and walk.c reads. */
#ifndef CHAIN_CHAIN_INT_H
#define CHAIN_CHAIN_INT_H

#include "chain/chain.h"

#define THREAD_STOPS_MAX 8192 /* and as many overlays and looks */
#define STOPS_MAX 131072 /* of all threads, overlays and looks too */

/* Stops in the order of time; none overlaps another, none but a look is empty. */
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
	uint64_t tp; /* 0: not known */
	struct track stops, overlays;
	struct track looks; /* run_ns is when */
};

struct hash;

struct timeline {
	struct hash *threads; /* serial -> struct thread * */
	struct hash *tids; /* tid -> serial, the latest */
	struct hash *pointers; /* struct pointer_key -> serial, the latest */
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

/* Who had Python's lock when this wait began; NULL: nobody, or was not followed at that time. */
const struct thread *timeline_holder(const struct timeline *t, const struct stop *stop);

/* From here on the thread ran wherever no stop is held. */
uint64_t timeline_known_from(const struct timeline *t, const struct thread *thread);

/* What came from the kernel with its values in range and its times in order; false: no use. */
bool stop_clean(const struct stop *from, struct stop *ret);

/* What a chain's identity leaves out. */
enum but { BUT_NOTHING, BUT_OBJECTS, BUT_STACKS, BUT_BOTH };
uint64_t chain_id_but(const struct chain *c, enum but but);

/* A stretch of running without a stop in it, and the looks that were taken in it. */
struct stretch {
	const struct track *looks;
	uint64_t from_ns, to_ns;
};

/* The one around `at`, which is in no stop. */
struct stretch stretch_at(const struct thread *thread, uint64_t at);

/* The look that stands for the moment `at`, and until when it does; NULL: none does until then. */
const struct stop *stretch_look(const struct stretch *s, uint64_t at, uint64_t *ret_until);

/* A stack, and not a reason for having none. */
static inline bool is_stack(uint64_t stack)
{
	return stack >= STACK_REASONS;
}

/* Does the state wait on something that `obj` tells from others of its kind? */
bool state_has_object(enum state state);

#endif
