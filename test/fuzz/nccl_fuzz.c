// SPDX-License-Identifier: Apache-2.0
/* Fuzz what is heard of NCCL: any record, then any order of records into the correlator. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "rank/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t calls, told;

static void on_told(const struct collective *c, void *arg)
{
	(void)arg;
	told++;
	if (c->join >= JOIN_COUNT || (c->join == JOIN_none) != !c->sync)
		abort();
	if (c->join != JOIN_none &&
	    (c->sync_start_ns < c->call.end_ns || c->sync_end_ns < c->sync_start_ns))
		abort(); /* a wait covers what was queued before it */
	if (c->last && (c->join == JOIN_none || c->call.op->class != CLASS_COLL))
		abort();
}

static void check(const struct nccl_record *r)
{
	if (strnlen(r->type, sizeof(r->type)) == sizeof(r->type) ||
	    strnlen(r->redop, sizeof(r->redop)) == sizeof(r->redop))
		abort();
	if (r->rank >= 0 && r->nranks >= 0 && r->rank >= r->nranks)
		abort();
	if (!r->op && r->kind != NCCL_EVENT_GONE)
		abort();
}

/* Make it likely that it is one: its first bytes choose the kind and a small world. */
static struct nccl_event shape(const uint8_t *bytes)
{
	static const uint32_t ops[] = { OP_ncclAllReduce,         OP_ncclSend,
					OP_cudaStreamSynchronize, OP_cudaDeviceSynchronize,
					OP_cudaEventSynchronize,  OP_cudaMemcpy };
	struct nccl_event e;

	memcpy(&e, bytes, sizeof(e));
	if (e.size & 1)
		return e;
	e.op = ops[e.op % ARRAY_LEN(ops)];
	e.kind = op_table[e.op].lib == LIB_NCCL ? NCCL_EVENT_CALL : NCCL_EVENT_SYNC;
	e.number = e.number % 4 + 1;
	e.stream %= 4;
	e.start_ns %= 1000;
	e.end_ns = e.start_ns + e.end_ns % 100;
	e.size = sizeof(e);
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct joiner *j = joiner_new(on_told, NULL);
	struct nccl_record r;

	calls = told = 0;
	if (!decode_nccl(data, size, &r))
		check(&r);
	for (; size >= sizeof(struct nccl_event);
	     data += sizeof(struct nccl_event), size -= sizeof(struct nccl_event)) {
		struct nccl_event e = shape(data);
		struct collective c = { .process = e.pid % 3 };

		if (decode_nccl(&e, sizeof(e), &r))
			continue;
		check(&r);
		c.call = r;
		if (r.kind == NCCL_EVENT_CALL) {
			joiner_call(j, &c);
			calls++;
		} else if (r.kind == NCCL_EVENT_SYNC) {
			joiner_sync(j, e.pid % 3, &r);
		}
		if (e.flags & 2)
			joiner_flush(j, e.start_ns);
	}
	joiner_flush(j, UINT64_MAX);
	if (told != calls)
		abort(); /* each is told once */
	joiner_free(j);
	return 0;
}
