// SPDX-License-Identifier: Apache-2.0
/* Records of NCCL: bytes to facts, numbers to names. */
#include "decode/nccl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define RANKS_MAX (1 << 24) /* what is above is a wild argument, not a rank */

const struct nccl_args nccl_args[OP_SLOTS] = {
#define COLL NCCL_ARGS_COLL
#define COMM NCCL_ARGS_COMM
#define NCCL NCCL_ARGS_OTHER
#include "wire/nccl.def"
};

static const struct {
	const char *name;
	unsigned bytes;
} types[NCCL_TYPE_COUNT] = {
#define X(name, bytes) [NCCL_TYPE_##name] = { #name, bytes },
	NCCL_TYPES(X)
#undef X
};

static const char *const redops[NCCL_REDOP_COUNT] = {
#define X(name) [NCCL_REDOP_##name] = #name,
	NCCL_REDOPS(X)
#undef X
};

/* Numbers that have no name are shown as such: newer libraries have more of them. */
static void name_arguments(const struct nccl_event *e, struct nccl_record *ret)
{
	const struct nccl_args *a = &nccl_args[e->op];

	if (a->type && (uint32_t)e->type < NCCL_TYPE_COUNT)
		snprintf(ret->type, sizeof(ret->type), "%s", types[e->type].name);
	else if (a->type)
		snprintf(ret->type, sizeof(ret->type), "%" PRId32, e->type);
	if (a->redop && (uint32_t)e->redop < NCCL_REDOP_COUNT)
		snprintf(ret->redop, sizeof(ret->redop), "%s", redops[e->redop]);
	else if (a->redop)
		snprintf(ret->redop, sizeof(ret->redop), "%" PRId32, e->redop);
	ret->root = a->root ? e->root : -1;
	ret->bytes_known = (uint32_t)e->type < NCCL_TYPE_COUNT &&
			   !__builtin_mul_overflow(e->count, types[e->type].bytes, &ret->bytes);
	if (!ret->bytes_known)
		ret->bytes = 0;
}

static bool fits(const struct nccl_event *e)
{
	switch (e->kind) {
	case NCCL_EVENT_CALL:
		return e->op < OP_COUNT && nccl_args[e->op].kind == NCCL_COLL && e->number;
	case NCCL_EVENT_SYNC:
		return e->op < OP_COUNT &&
		       (op_table[e->op].class == CLASS_SYNC || op_table[e->op].class == CLASS_COPY);
	case NCCL_EVENT_MADE:
		return e->op < OP_COUNT && nccl_args[e->op].kind == NCCL_COMM;
	case NCCL_EVENT_GONE:
		return e->number && (e->op == OP_SLOTS ||
				     (e->op < OP_COUNT && nccl_args[e->op].kind == NCCL_COMM));
	default:
		return false;
	}
}

/* The arguments of the program: any number may be there. */
static void take_ranks(const struct nccl_event *e, struct nccl_record *ret)
{
	bool sane = e->nranks > 0 && e->nranks <= RANKS_MAX;

	ret->nranks = sane ? e->nranks : -1;
	ret->rank = e->rank >= 0 && e->rank < (sane ? e->nranks : RANKS_MAX) ? e->rank : -1;
}

int decode_nccl(const void *bytes, size_t len, struct nccl_record *ret)
{
	struct nccl_event e;

	if (len != sizeof(e))
		return fail(-EBADMSG, "NCCL record of %zu bytes, expected %zu", len, sizeof(e));
	memcpy(&e, bytes, sizeof(e));
	if (e.size != len)
		return fail(-EBADMSG, "NCCL record of %zu bytes claims %u", len, e.size);
	if (!fits(&e))
		return fail(-EBADMSG, "NCCL record of kind %u names op %u", e.kind, e.op);
	if (e.start_ns > e.end_ns)
		return fail(-EBADMSG, "NCCL record ends before it starts");
	*ret = (struct nccl_record){
		.kind = (enum nccl_event_kind)e.kind,
		.op = e.op < OP_COUNT ? &op_table[e.op] : NULL,
		.serial = e.serial,
		.pid = e.pid,
		.tid = e.tid,
		.number = e.number,
		.comm = e.comm,
		.hash = e.hash,
		.parent = e.parent,
		.color = e.color,
		.key = e.key,
		.ret = e.ret,
		.grouped = e.flags & NCCL_GROUPED,
		.seq = e.seq,
		.start_ns = e.start_ns,
		.end_ns = e.end_ns,
		.count = e.count,
		.stream = e.stream,
		.root = -1,
	};
	take_ranks(&e, ret);
	if (e.kind == NCCL_EVENT_CALL)
		name_arguments(&e, ret);
	if (e.kind == NCCL_EVENT_GONE) {
		ret->p2p = e.count;
		ret->bytes = e.bytes;
		ret->sent = e.stream;
	}
	return 0;
}
