/* SPDX-License-Identifier: Apache-2.0 */
/* What pack.c and unpack.c agree on: the format of a block. */
#ifndef STORE_PACK_INT_H
#define STORE_PACK_INT_H

#include "store/pack.h"

/*
 * kinds: number of ops, their ids in 8 bytes each; then for each kind the number of its op, of its
 * next op plus one, its stack, calls, ns.
 * data: for each call the number of its kind, bits of what follows, start after the last one's start,
 * duration, and the fields with their bit, in this order. Numbers are varints; DELTA: the signed
 * difference from the last call of the kind; VALUE: how long ago the block told it, or 0 and that.
 * Without SPLIT the call ran all the time and counted nothing.
 */
#define PACKED_FIELDS(X)                                                                           \
	X(BYTES, bytes, DELTA)                                                                     \
	X(USUAL, usual_ns, DELTA)                                                                  \
	X(AUX, aux, VALUE)                                                                         \
	X(STREAM, stream, VALUE)                                                                   \
	X(OUT, out, DELTA)                                                                         \
	X(SITE, site, VALUE)                                                                       \
	X(RET, ret, DELTA)                                                                         \
	X(DEPTH, depth, DELTA)                                                                     \
	X(BECAUSE, because, DELTA)

enum packed_bit {
	PACKED_SPLIT = 1,
	PACKED_BYTES = 2,
	PACKED_USUAL = 4,
	PACKED_AUX = 8,
	PACKED_STREAM = 16,
	PACKED_OUT = 32,
	PACKED_SITE = 64, /* those up to here fit in one byte */
	PACKED_RET = 128,
	PACKED_DEPTH = 256,
	PACKED_BECAUSE = 512,
	PACKED_END = 1024, /* no bit from here on */
};

/* The last call of a kind; before there is one: */
struct packed_last {
	uint64_t bytes, usual_ns, aux, stream, out, site, depth, because;
	int64_t ret;
};

static const struct packed_last packed_first = { .because = BECAUSE_ALL };

/* The values told last; both sides keep the same. */
#define PACKED_DICT 256u

struct packed_dict {
	uint64_t value[PACKED_DICT];
	uint32_t count; /* ever */
};

static inline void packed_dict_add(struct packed_dict *d, uint64_t value)
{
	d->value[d->count++ % PACKED_DICT] = value;
}

#endif
