/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from the kernel to facts. Pure: no I/O, no state but the ledger's. */
#ifndef DECODE_DECODE_H
#define DECODE_DECODE_H

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

#endif
