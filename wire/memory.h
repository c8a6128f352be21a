/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much memory each process has from CUDA: every allocation until it is freed. */
#ifndef WIRE_MEMORY_H
#define WIRE_MEMORY_H

#include <linux/types.h>

#define MEMORY_KINDS(X)                                                                            \
	X(device, "device memory")                                                                 \
	X(pool, "device memory from pools")                                                        \
	X(managed, "managed memory")                                                               \
	X(mapped, "device memory mapped by the program")                                           \
	X(pinned, "pinned host memory")                                                            \
	X(registered, "host memory pinned by the program")

enum memory_kind {
#define X(id, text) KIND_##id,
	MEMORY_KINDS(X)
#undef X
		KIND_COUNT,
};

/* A process, whoever has its number next, and whatever it becomes. */
struct memory_owner {
	__u32 pid;
	__u32 birth; /* of its start and of how often it became another program */
};

struct alloc_key {
	struct memory_owner owner;
	__u64 ptr;
};

struct alloc {
	__u64 size;
	__u64 stamp; /* when the outermost call that made it began */
	__s32 device;
	__u32 kind; /* enum memory_kind */
};

#define ALLOCS 65536

struct memory_key {
	struct memory_owner owner;
	__s32 device; /* -1: not known, or the host's */
	__u32 kind;
};

/* Since the process is traced. Written by all of its threads. */
struct memory_count {
	__u64 current, high; /* bytes */
	__u64 allocs, frees;
	__u64 failed; /* allocations; the last of them was for so much: */
	__u64 failed_bytes;
	__u64 retried; /* failed, and went well later, after the same thread had freed something */
	__u64 strangers; /* frees of what was allocated before we looked */
	__u32 serial, pad; /* a thread of it */
};

#define MEMORIES 1024

_Static_assert(sizeof(struct alloc_key) == 16, "struct alloc_key");
_Static_assert(sizeof(struct alloc) == 24, "struct alloc");
_Static_assert(sizeof(struct memory_key) == 16, "struct memory_key");
_Static_assert(sizeof(struct memory_count) == 72, "struct memory_count");

#endif
