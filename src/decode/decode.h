/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from the kernel to facts. Pure: no I/O, no state but the ledger's. */
#ifndef DECODE_DECODE_H
#define DECODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/record.h"

/* Check and translate one ring record. Anything off is -EBADMSG, and the caller counts it. */
int decode(const void *bytes, size_t len, struct record *ret);

/* The value below which a share q (0..1) of the counts lie; 0 when there are none. */
uint64_t hist_quantile(const uint32_t hist[HIST_BUCKETS], double q);

/* Remembers the tallies as last seen, so that each look yields what is new. */
struct ledger;
struct ledger *ledger_new(void);
void ledger_free(struct ledger *l);

/* Compare with the last look; false: nothing new. */
int ledger_take(struct ledger *l, uint32_t index, const struct tally *live, struct op_delta *ret);

/* The tally goes to somebody else. */
void ledger_forget(struct ledger *l, uint32_t index);

/* A kernel that the driver was asked for by its name, as the ring has it. */
struct kernel_named {
	uint32_t pid;
	const struct op *op;
	uint64_t handle;
	bool cut; /* the name goes on */
	char name[2048]; /* as in the object file, not empty */
};

/* 0, or -EBADMSG for bytes that make no sense; then *ret is untouched. */
int decode_kernel_name(const void *bytes, size_t len, struct kernel_named *ret);

#endif
