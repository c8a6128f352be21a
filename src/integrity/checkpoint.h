/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen of a file that is checked, from its first write to its digest. Pure: events in, a record
 * out; src/agent feeds it, src/store keeps it, judge.h judges it.
 */
#ifndef INTEGRITY_CHECKPOINT_H
#define INTEGRITY_CHECKPOINT_H

#include <stdbool.h>

#include "integrity/digest.h"
#include "wire/tag.h"

/* Times are boot time in the agent, wall clock in the store; 0: it has not happened. */
struct checkpoint {
	struct tag_file file;
	uint32_t generation;
	bool from_start; /* it was empty when it was first seen */
	bool dense, has_size; /* what its attributes say */
	bool lost; /* events of it, or of any file at that time, were lost */
	bool unseen; /* it changed in a way that was not seen */
	uint64_t tag;
	uint64_t declared; /* the size it must have */
	uint64_t began_ns, last_ns; /* writes */
	uint64_t closed_ns; /* the last time that a writer closed it */
	uint64_t bytes, writes, stretches;
	uint64_t gaps, gap_bytes; /* holes between what was written, up to its end */
	uint64_t overwritten; /* bytes written more than once */
	uint64_t shared; /* ... by different processes */
	uint64_t mapped; /* pages written to through a mapping */
	uint64_t failed; /* writes */
	uint64_t size; /* at its close */
	uint64_t synced_ns; /* when the last fsync began that went well */
	uint64_t renamed_ns;
	uint64_t name_synced_ns; /* when its name was last made durable */
	uint32_t writers; /* processes */
	uint32_t writer; /* the last of them */
	int32_t sync_error; /* errno of an fsync that failed; it is never told again, so it stays */
	int32_t signal; /* that ended a writer before it closed the file by itself */
	bool renamed_dirty; /* it got its name before its data was durable */
	struct digest digest;
	uint64_t hashed_ns;
	uint64_t changed_ns; /* when somebody else wrote to it after its digest was made */
	uint32_t changer; /* who */
};

/* Is some of its data not known to be durable? */
static inline bool checkpoint_dirty(const struct checkpoint *c)
{
	return c->last_ns && c->synced_ns < c->last_ns;
}

/* ... or its name? */
static inline bool checkpoint_name_dirty(const struct checkpoint *c)
{
	return c->renamed_ns && c->name_synced_ns < c->renamed_ns && c->synced_ns < c->renamed_ns;
}

/* Follows one file. Ranges that were written are kept, at most RANGES_MAX of them. */
#define RANGES_MAX 4096
struct follow;

struct follow *follow_new(const struct tag_file *file, uint32_t generation);
void follow_free(struct follow *f);
struct checkpoint *follow_checkpoint(struct follow *f);

/*
 * The next event of this file, or one that concerns all of them (TAG_EVENT_EXIT, TAG_EVENT_SYNC_ALL).
 * False: it changed nothing. See follow_ended() for writes to a file that has its digest.
 */
bool follow_event(struct follow *f, const struct checked_event *e);

/* A writer closed it, and it has this size. */
void follow_closed(struct follow *f, uint64_t at, uint64_t size);

/* Find the gaps of one that is closed; once all events are there. */
void follow_gaps(struct follow *f);

/*
 * Is a write that comes after the digest the beginning of another checkpoint (true), which the caller then
 * begins with follow_again()? One from an empty file is. By a process that wrote it before it goes on, and the
 * digest is void. By anybody else it changes what was finished, which is kept as it was.
 */
bool follow_ended(struct follow *f, const struct checked_event *e);

/* Begin a new checkpoint of the same file, which is not empty unless an event says so. */
void follow_again(struct follow *f);

#endif
