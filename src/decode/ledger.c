// SPDX-License-Identifier: Apache-2.0
/* Tallies only grow; the ledger turns them into what happened between two looks. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "decode/decode.h"

struct ledger {
	struct tally *seen[TALLIES]; /* NULL: not yet */
};

struct ledger *ledger_new(void)
{
	return xcalloc(1, sizeof(struct ledger));
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < TALLIES; i++)
		free(l->seen[i]);
	free(l);
}

void ledger_forget(struct ledger *l, uint32_t index)
{
	free(l->seen[index]);
	l->seen[index] = NULL;
}

int ledger_take(struct ledger *l, uint32_t index, const struct tally *live, struct op_delta *ret)
{
	struct tally now, *was;

	if (index >= TALLIES || live->op >= OP_SLOTS)
		return 0;
	if (!l->seen[index])
		l->seen[index] = xcalloc(1, sizeof(struct tally));
	was = l->seen[index];
	if (__atomic_load_n(&live->calls, __ATOMIC_RELAXED) == was->calls &&
	    __atomic_load_n(&live->done, __ATOMIC_RELAXED) == was->done)
		return 0;
	/*
	 * The thread goes on writing; what it adds comes next time. Read once: a number that is read again
	 * for the difference is older or newer than the one that is kept, and calls get lost between.
	 */
	memcpy(&now, live, sizeof(now));
	__asm__ volatile("" : : "r"(&now) : "memory");
	*ret = (struct op_delta){
		.serial = now.serial,
		.op = &op_table[now.op],
		.calls = now.calls - was->calls,
		.done = now.done - was->done,
		.sent = now.sent - was->sent,
		.summed = now.summed - was->summed,
		.dropped = now.dropped - was->dropped,
		.errors = now.errors - was->errors,
		.bytes = now.bytes - was->bytes,
		.nested = now.nested - was->nested,
		.nested_bytes = now.nested_bytes - was->nested_bytes,
		.total_ns = now.total_ns - was->total_ns,
		.max_ns = now.max_ns,
	};
	for (int i = 0; i < STATE_COUNT; i++)
		ret->state_ns[i] = now.state_ns[i] - was->state_ns[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		ret->counter[i] = now.counter[i] - was->counter[i];
	for (int i = 0; i < HIST_BUCKETS; i++)
		ret->hist[i] = now.hist[i] - was->hist[i];
	*was = now;
	return 1;
}
