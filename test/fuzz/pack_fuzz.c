// SPDX-License-Identifier: Apache-2.0
/* A block of any bytes: what is read of it is packed again, and then it is read the same. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void need(bool cond)
{
	if (!cond)
		abort();
}

static int count(const struct packed_kind *kind, void *arg)
{
	(void)kind;
	++*(int *)arg;
	return 0;
}

static void again(const struct packed_call *calls, uint32_t n)
{
	struct packer *p = packer_new();
	struct packed_block block;
	struct packed_call got;
	struct unpacker *u;
	uint32_t taken = 0;

	while (taken < n && packer_add(p, &calls[taken]))
		taken++;
	packer_take(p, &block);
	need(block.calls == taken);
	need(!n || taken);
	u = unpacker_new(block.kinds, block.kinds_len, block.data, block.data_len);
	need(u);
	for (uint32_t i = 0; i < taken; i++)
		need(unpacker_next(u, &got) == 1 && !memcmp(&got, &calls[i], sizeof(got)));
	need(unpacker_next(u, &got) == 0);
	unpacker_free(u);
	packer_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct packed_call calls[PACK_CALLS];
	size_t split = len ? data[0] : 0;
	uint8_t *kinds, *rest;
	struct unpacker *u;
	int got = 0, seen = 0;
	uint32_t n = 0;

	if (len < 1 + split)
		return 0;
	kinds = malloc(split ? split : 1); /* exact, so that a byte too far is seen */
	rest = malloc(len - split);
	memcpy(kinds, data + 1, split);
	memcpy(rest, data + 1 + split, len - 1 - split);
	need(packed_kinds(kinds, split, count, &seen) == 0 || seen <= PACK_KINDS);
	u = unpacker_new(kinds, split, rest, len - 1 - split);
	while (u && (got = unpacker_next(u, &calls[n])) == 1)
		need(++n <= PACK_CALLS);
	need(got == 0 || got == -EBADMSG);
	need(!u || unpacker_next(u, &calls[0]) == 0 || got == 0);
	unpacker_free(u);
	free(kinds);
	free(rest);
	if (got == 0)
		again(calls, n);
	return 0;
}
