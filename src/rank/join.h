/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barrier correlator: a collective is only queued by its call, and waited for in a synchronisation
 * that follows. Joins each with the one where its process waited for it. Pure: no I/O, no clock.
 */
#ifndef RANK_JOIN_H
#define RANK_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/nccl.h"

/*
 * Why that one. A wait for its own stream, or for the device, covers it for certain. The others are
 * the first wait that follows: PyTorch makes the stream that computes wait for NCCL's by an event, and
 * then waits for the former; that this was so is assumed.
 */
#define JOINS(X)                                                                                   \
	X(none, "nobody waited for it yet")                                                        \
	X(stream, "a wait for its own stream")                                                     \
	X(device, "a wait for the whole device")                                                   \
	X(event, "the first wait that followed, for an event")                                     \
	X(copy, "the first wait that followed, a blocking copy")                                   \
	X(other, "the first wait that followed, for another stream")

enum join {
#define X(id, text) JOIN_##id,
	JOINS(X)
#undef X
		JOIN_COUNT,
};
extern const char *const join_names[JOIN_COUNT];

struct collective {
	struct nccl_record call;
	int64_t process, thread; /* rows of the store */
	const struct op *sync; /* NULL: JOIN_none */
	uint64_t sync_start_ns, sync_end_ns;
	enum join join;
	bool last; /* of its communicator in front of that wait: what is behind it is not queued yet */
};

#define JOIN_PENDING                                                                               \
	4096 /* collectives of a process that wait for their join; then the oldest goes */
#define JOIN_PROCESSES 1024

struct joiner;
typedef void (*collective_fn)(const struct collective *c, void *arg);

/* fn hears of each collective once: when it is joined, or when that will not happen any more. */
struct joiner *joiner_new(collective_fn fn, void *arg);
void joiner_free(struct joiner *j); /* what waits is not told */

/* In the order in which they happened. `c` is copied. */
void joiner_call(struct joiner *j, const struct collective *c);
void joiner_sync(struct joiner *j, int64_t process, const struct nccl_record *sync);

/* What ended before this is told as it is. */
void joiner_flush(struct joiner *j, uint64_t before_ns);

#endif
