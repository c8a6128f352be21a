/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many calls of one thread in few bytes. A block is two blobs: the kinds of its calls (op, next op,
 * stack) with their sums, and the calls, each told by what differs from the last one of its kind.
 * No SQL in here, and no memory but the packer's own.
 */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

/* Integers as a database holds them; ids, addresses and the like as their bits. */
struct packed_call {
	uint64_t op, next, stack; /* next: 0 is none */
	uint64_t start_ns, dur_ns;
	uint64_t because, depth, bytes, stream, aux, out, usual_ns, site;
	int64_t ret;
	uint64_t state_ns[STATE_COUNT];
	uint64_t counter[COUNTER_COUNT];
};

/* Calls of one kind, summed up. */
struct packed_kind {
	uint64_t op, next, stack;
	uint64_t calls, ns;
};

#define PACK_CALLS 4096 /* most in a block */
#define PACK_KINDS 256
#define PACK_BYTES 32768 /* of calls, about: a block is full above this */

/* The longest that one call, and the kinds of a block, can become. */
#define PACK_CALL_MAX ((5 + 11 + STATE_COUNT + COUNTER_COUNT) * 10)
#define PACK_KINDS_MAX (PACK_KINDS * 50ul)

struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *p);

/* False: the block is full; take it and add the call again. */
bool packer_add(struct packer *p, const struct packed_call *call);

/* What was added: start of the first and of the last to start, how many, and the bytes. */
struct packed_block {
	uint64_t first_ns, last_ns;
	uint32_t calls;
	const uint8_t *kinds, *data;
	size_t kinds_len, data_len;
};

/* Borrowed until the next packer_add(), with which the next block begins. */
void packer_take(struct packer *p, struct packed_block *ret);

/* ---- reading; the bytes come from a file, which may come from anybody ---- */

/* Call fn for each kind. -EBADMSG: damaged; non-zero from fn stops and is returned. */
int packed_kinds(const uint8_t *kinds, size_t len, int (*fn)(const struct packed_kind *, void *),
		 void *arg);

struct unpacker;

/* Both blobs stay the caller's, and must outlive it. NULL: damaged, or no memory. */
struct unpacker *unpacker_new(const uint8_t *kinds, size_t kinds_len, const uint8_t *data,
			      size_t data_len);
void unpacker_free(struct unpacker *u);

/* 1: *ret is the next call; 0: that was all; -EBADMSG: damaged from here on. */
int unpacker_next(struct unpacker *u, struct packed_call *ret);

#endif
