/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Storage lineage: what the probes of block requests and user space agree on. */
#ifndef WIRE_LINEAGE_H
#define WIRE_LINEAGE_H

#include "wire/hist.h"

#define LINEAGE_COMM 16

/* What a request carries, by the function that its bio ends with and the folios behind it. */
#define LINEAGE_CLASSES(X)                                                                         \
	X(unknown, "not seen when it was queued")                                                  \
	X(file, "data of a file, through the page cache")                                          \
	X(direct, "data of a file, direct I/O")                                                    \
	X(metadata, "the file system's own blocks")                                                \
	X(journal, "the file system's journal or log")                                             \
	X(swap, "memory swapped out or in")                                                        \
	X(raw, "the device itself, opened by a program")                                           \
	X(flush, "a flush of the device's cache")                                                  \
	X(other, "none of these")

enum lineage_class {
#define X(id, text) LINEAGE_##id,
	LINEAGE_CLASSES(X)
#undef X
		LINEAGE_CLASS_COUNT,
};

/* How its owner is known. */
#define LINEAGE_OWNERS(X)                                                                          \
	X(none, "not known")                                                                       \
	X(submitter, "the task that asked for it")                                                 \
	X(dirtier, "the task that wrote it into the page cache")                                   \
	X(shared, "several tasks wrote it: not told apart")                                        \
	X(fsync, "the task whose fsync it serves")

enum lineage_owner {
#define X(id, text) LINEAGE_OWNER_##id,
	LINEAGE_OWNERS(X)
#undef X
		LINEAGE_OWNER_COUNT,
};

#define LINEAGE_READAHEAD 1 /* nobody had asked for it yet */
#define LINEAGE_FOLDED 2 /* more files than the table holds: this is the rest of them */

/* What counts are kept for. No padding: keys are compared as bytes. */
struct lineage_key {
	__u64 ino; /* 0: no file */
	__u64 tag; /* what the work is for, as somebody named it; 0: nobody did */
	__u32 dev; /* the disk, or the part of one, as the kernel numbers it */
	__u32 fs_dev; /* the file system */
	__u32 gen; /* of the inode: its number is used again */
	__u32 pid; /* of the owner; 0: not known, or shared */
	__u8 op; /* of the block layer: 0 read, 1 write, 2 flush, 3 discard, ... */
	__u8 class; /* enum lineage_class */
	__u8 owner; /* enum lineage_owner */
	__u8 flags;
	__u32 pad;
};

_Static_assert(sizeof(struct lineage_key) == 40, "compared word by word");

enum lineage_state { FLOW_FREE, FLOW_TAKEN, FLOW_LIVE, FLOW_RETIRING };

/*
 * The complete account of one key, in memory that both sides share: the kernel adds, user space takes
 * the difference to the last look, and retires those at rest.
 */
struct lineage_flow {
	__u32 state; /* enum lineage_state */
	__u32 serial; /* of this use of the place: a request under way knows its own */
	struct lineage_key key;
	__u64 cgroup; /* of the owner, in the unified hierarchy; 0: not known */
	__u32 tid; /* one thread of the owner */
	__u32 sharer[2]; /* of LINEAGE_OWNER_shared: two of the processes */
	char comm[LINEAGE_COMM];
	__u32 pad;
	__u64 line[5]; /* what follows changes with each request: cache lines of its own */
	__u64 requests; /* that begin with this; user space's, from the two below and hist */
	__u64 untimed; /* requests without a known latency, of both kinds, */
	__u64 merged; /* ... and those that have this further on, of all */
	__u64 bytes;
	__u64 total_ns; /* from queued to completed, of those in hist */
	__u64 device_ns; /* of these: from issued to completed, where that is known */
	__u64 max_ns;
	__u64 slow, errors, requeues;
	__u64 line2[6];
	__u32 hist[HIST_BUCKETS]; /* of those with a known latency */
};

_Static_assert(sizeof(struct lineage_flow) % 64 == 0, "whole cache lines");

#define LINEAGE_FLOWS 4096 /* a power of two */

/*
 * What making an account's requests reachable for the device took, in an array beside that of the accounts:
 * only a host with NVMe has it.
 */
struct lineage_maps {
	__u64 ns, max_ns; /* of those in hist: from the command's set-up to its issue */
	__u64 bounced; /* bytes that were copied, as the device cannot reach their memory */
	__u64 iommu; /* mappings that the IOMMU was given */
	__u64 failed; /* requests whose memory could not be mapped at first, or at all */
	__u64 unmapped; /* requests whose IOMMU mapping was seen to be taken back, */
	__u64 unmap_ns, unmap_max_ns; /* ... and from then to their completion */
	__u32 hist[HIST_BUCKETS];
};

_Static_assert(sizeof(struct lineage_maps) % 64 == 0, "whole cache lines");

/* What the ring carries. */
enum lineage_kind { LINEAGE_EVENT = 1, LINEAGE_WAKE = 2, LINEAGE_NAME = 3, LINEAGE_ASK = 4 };

#define LINEAGE_BECAUSE_SLOW 1
#define LINEAGE_BECAUSE_FAILED 2 /* with an error, or given to the device again */
#define LINEAGE_BECAUSE_ALL 4 /* there was room to tell of it */

/* One request, or one of its bios where those belong to different files or owners. */
struct lineage_event {
	__u32 kind;
	__u16 part; /* 0: it begins the request; others follow */
	__u16 because;
	__u64 id; /* of the request: wake-ups refer to it */
	__u64 done_ns; /* boot time */
	__u64 queue_ns; /* from queued to issued, or to completed where device_ns is 0 */
	__u64 device_ns; /* from issued to completed; 0: not known */
	__u64 sector;
	__u64 offset; /* in the file */
	__u64 cgroup;
	struct lineage_key key;
	__u32 bytes; /* of this part */
	__u32 rq_bytes; /* of the request */
	__u32 rq_flags; /* of the block layer */
	__s32 rq_tag; /* the driver's number of the request; -1: none */
	__u32 queue; /* of the hardware */
	__u32 requeues;
	__u32 error; /* block layer status; 0: fine */
	__u32 tid; /* of the owner; 0: several threads of it */
	__u32 sub_pid, sub_tid; /* who submitted it: often the flusher */
	__u32 sharer[2];
	__u32 map_ns; /* of the request: mapping it for DMA took at most that; 0: not known */
	__u32 bounced; /* bytes of this part */
	__u32 iommu; /* mappings that the IOMMU was given for the request */
	__u16 nvme_status; /* what the drive said of a request that failed; 0: nothing */
	__u16 nvme_retries;
	char comm[LINEAGE_COMM];
	__u64 stack; /* Python's, of who submitted it or whose fsync it serves; or enum no_stack */
	__u64 iova; /* of the request: where the device saw its data when it was first mapped, */
	__u32 iova_bytes; /* ... as far as that is in one piece; 0: no IOMMU, or not known */
	__u32 unmap_ns; /* of the request: giving that back took at most that; 0: not known */
};

/* Somebody woke up because that request was done. */
struct lineage_wake {
	__u32 kind;
	__u32 pid, tid;
	__u32 deferred; /* 1: not by the completion itself but by work that it started */
	__u64 id;
	__u64 wait_ns; /* how long it had slept */
	__u64 stack; /* Python's, where it fell asleep; or enum no_stack */
	char comm[LINEAGE_COMM];
};

/* This process waits for disks: has it an interpreter whose frames can be walked? */
struct lineage_ask {
	__u32 kind;
	__u32 pid;
};

#define LINEAGE_PARTS 10 /* of a path, from its end */
#define LINEAGE_PART 64
#define LINEAGE_DELETED 1
#define LINEAGE_CUT 2 /* more parts than these */

/* A file's name inside its file system, told once for each new key. */
struct lineage_name {
	__u32 kind;
	__u32 fs_dev;
	__u64 ino;
	__u32 gen;
	__u32 parts;
	__u32 flags; /* LINEAGE_DELETED, LINEAGE_CUT */
	__u32 magic; /* of the file system */
	char last[256];
	char part[LINEAGE_PARTS][LINEAGE_PART]; /* its folders, innermost first */
};

/* What went wrong; anything but zero is shown with the answer. */
#define LINEAGE_LOSSES(X)                                                                          \
	X(ring_full, "requests not told one by one: the ring was full")                            \
	X(no_slot, "requests not known when they completed: too many under way at once")           \
	X(unseen, "requests not seen when they were queued")                                       \
	X(recycled, "requests that took longer than their file was remembered")                    \
	X(folded, "requests of files without a place of their own in the table")                   \
	X(no_flow, "requests not counted: no place in the table at all")                           \
	X(forgotten, "writers of files forgotten: too many files with unwritten data")             \
	X(cut, "requests made of more pieces than are looked at")                                  \
	X(no_symbol, "requests not classified: this kernel hides its symbols")

enum lineage_loss {
#define X(id, text) LINEAGE_LOSS_##id,
	LINEAGE_LOSSES(X)
#undef X
		LINEAGE_LOSS_COUNT,
};

struct lineage_stats {
	__u64 bios; /* queued */
	__u64 requests; /* completed */
	__u64 told; /* sent to the ring */
	__u64 cost_ns; /* of all of these to those who made them: one of 64 is timed */
	__u64 loss[LINEAGE_LOSS_COUNT];
};

#endif
