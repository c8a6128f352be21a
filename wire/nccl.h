/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NCCL: its arguments, its communicators, and what the probes tell of collectives. */
#ifndef WIRE_NCCL_H
#define WIRE_NCCL_H

#include "wire/event.h"

enum nccl_kind {
	NCCL_NONE, /* not of NCCL */
	NCCL_COLL, /* an operation on a communicator */
	NCCL_COMM, /* makes one */
	NCCL_LEAVE,
	NCCL_GROUP_START,
	NCCL_GROUP_END,
	NCCL_OTHER,
};

/* How a communicator comes to be, which says what names it in all of its ranks. */
enum nccl_how { NCCL_HOW_ID, NCCL_HOW_IDS, NCCL_HOW_ALL, NCCL_HOW_SPLIT };

struct nccl_args {
	unsigned char kind; /* enum nccl_kind */
	unsigned char type, redop, root; /* of NCCL_COLL */
	unsigned char how, nranks, rank; /* of NCCL_COMM */
};

/* For a table of OP_SLOTS of these. */
#define NCCL_ARGS_COLL(sym, type_, redop_, root_)                                                  \
	[OP_##sym] = { .kind = NCCL_COLL, .type = type_, .redop = redop_, .root = root_ },
#define NCCL_ARGS_COMM(sym, how_, nranks_, rank_)                                                  \
	[OP_##sym] = {                                                                             \
		.kind = NCCL_COMM, .how = NCCL_HOW_##how_, .nranks = nranks_, .rank = rank_        \
	},
#define NCCL_ARGS_OTHER(sym, kind_) [OP_##sym] = { .kind = NCCL_##kind_ },

/* ncclDataType_t, by number; bytes of one element. */
#define NCCL_TYPES(X)                                                                              \
	X(int8, 1)                                                                                 \
	X(uint8, 1)                                                                                \
	X(int32, 4)                                                                                \
	X(uint32, 4)                                                                               \
	X(int64, 8)                                                                                \
	X(uint64, 8)                                                                               \
	X(float16, 2)                                                                              \
	X(float32, 4)                                                                              \
	X(float64, 8)                                                                              \
	X(bfloat16, 2)                                                                             \
	X(float8e4m3, 1)                                                                           \
	X(float8e5m2, 1)

enum nccl_type {
#define X(name, bytes) NCCL_TYPE_##name,
	NCCL_TYPES(X)
#undef X
		NCCL_TYPE_COUNT,
};

/* ncclRedOp_t, by number; beyond these are those that a program made itself. */
#define NCCL_REDOPS(X)                                                                             \
	X(sum)                                                                                     \
	X(prod)                                                                                    \
	X(max)                                                                                     \
	X(min)                                                                                     \
	X(avg)

enum nccl_redop {
#define X(name) NCCL_REDOP_##name,
	NCCL_REDOPS(X)
#undef X
		NCCL_REDOP_COUNT,
};

#define NCCL_IN_PROGRESS 7 /* as good as success: the communicator is there, and not ready yet */
#define NCCL_NO_COLOR (-1) /* of a split: this rank will not be part of any */
#define NCCL_ID_WORDS 16 /* an ncclUniqueId: 128 bytes */
#define NCCL_IDS_MAX 8 /* of several ids so many are hashed */
#define NCCL_ALL_MAX 16 /* ranks of one process that are told apart */

/* The next word of a hash. Never 0 at the end: that is "not known". */
static inline __attribute__((always_inline)) unsigned long long nccl_mix(unsigned long long hash,
									 unsigned long long word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}
#define NCCL_HASH_SEED 0x6e63636c2d696400ull

/* A communicator of one process, by its handle. Counted for all of its operations, sent or not. */
struct nccl_key {
	__u64 comm; /* ncclComm_t */
	__u32 pid, pad;
};

struct nccl_comm {
	__u64 epoch; /* of its process: a program that was replaced leaves none behind */
	__u64 hash, parent; /* 0: not known; parent: of the one that it was split from */
	__u64 made_ns; /* 0: before we looked */
	__u64 calls, p2p; /* begun: the last of them is the sequence number */
	__u64 splits;
	__u64 bytes, sent; /* of both; sent: those with a record */
	__u32 number; /* never used twice */
	__s32 rank, nranks; /* -1: not known */
	__s32 color, key; /* of a split */
	__u32 op; /* that made it; OP_SLOTS: before we looked */
};

#define NCCL_COMMS 4096

/* A process that uses NCCL. */
struct nccl_process {
	__u64 epoch; /* when it was first seen */
	__u64 second; /* of the clock, */
	__u32 told; /* ... and so many of its calls were told in it */
	__u32 waiting; /* a collective was queued that no synchronisation has covered yet */
	__u64 stream; /* of the last one */
	__u32 other_told, pad; /* since then: a synchronisation of another stream was told */
};

#define NCCL_PROCESSES 1024
#define NCCL_PER_SECOND 256 /* calls of a process that are told one by one; the rest is counted */

enum nccl_event_kind {
	NCCL_EVENT_CALL = 1, /* an operation was queued */
	NCCL_EVENT_SYNC, /* a synchronisation that may have waited for it */
	NCCL_EVENT_MADE, /* a communicator */
	NCCL_EVENT_GONE,
	NCCL_EVENT_KINDS,
};

#define NCCL_GROUPED 1 /* between ncclGroupStart and End: it is queued at the end */

struct nccl_event {
	__u32 size; /* of this struct */
	__u16 kind; /* enum nccl_event_kind */
	__u16 flags;
	__u32 serial; /* key of `tasks` */
	__u32 pid, tid;
	__u32 op; /* the call; of a communicator: which made it */
	__s32 ret;
	__u32 number; /* of the communicator */
	__u64 comm, hash, parent;
	__s32 rank, nranks;
	/*
	 * Of the communicator's collectives, or of its sends and receives, from 1. Of one that is made:
	 * which split of its parent. Of one that is gone: its collectives; count: sends and receives,
	 * bytes, and stream: how many had records.
	 */
	__u64 seq;
	__u64 start_ns, end_ns; /* boot time */
	__u64 count, bytes, stream;
	__s32 type, redop, root; /* as passed; -1: no such argument */
	__s32 color, key;
	__u32 pad;
};

_Static_assert(sizeof(struct nccl_event) == 32 + 3 * 8 + 8 + 6 * 8 + 6 * 4, "struct nccl_event");
_Static_assert(sizeof(struct nccl_key) == 16, "struct nccl_key");
_Static_assert(sizeof(struct nccl_comm) == 9 * 8 + 6 * 4, "struct nccl_comm");
_Static_assert(sizeof(struct nccl_process) == 2 * 8 + 8 + 8 + 8, "struct nccl_process");

#endif
