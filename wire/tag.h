/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tags: what a file or a task works on, as a label ("checkpoint_write/run42/step80000/shard17") and its
 * 64-bit hash. And what happens to files that opted in to be checked. Kernel and user space agree on this.
 */
#ifndef WIRE_TAG_H
#define WIRE_TAG_H

#include <linux/types.h>

#define TAG_LABEL_MAX 128 /* bytes of a label, with its NUL */
#define TAG_FILES 65536
#define TAG_DIRS 4096
#define TAG_TASKS 65536
#define TAG_DEVICES 64
#define CHECKPOINTS 16384

/*
 * How a thread says what it works on, without privileges, without a library and from any container: it
 * calls itself a few names and then what it was called before (PR_SET_NAME). Each is TAG_SIGN, one letter
 * of these and up to TAG_PIECE bytes.
 */
#define TAG_SIGN "ai"
#define TAG_PIECE 12
#define TAG_BEGIN ':' /* a label begins with these bytes ... */
#define TAG_MORE '+' /* ... and goes on with these */
#define TAG_THREAD '=' /* it is what this thread works on; none was told: no more */
#define TAG_PROCESS '*' /* ... or its whole process */
#define TAG_FILE '@' /* ... or the file behind this descriptor, in decimal */
#define TAG_CHECKED '!' /* ... which is to be checked as well */

/* A file, whatever it is called. */
struct tag_file {
	__u32 dev; /* of the superblock: major << 20 | minor */
	__u32 pad;
	__u64 ino;
};

enum {
	MARK_CHECKED = 1, /* wants to be checked: see integrity */
	MARK_NONE = 2, /* looked at, and it has no tag */
};

/* What is known of a file. */
struct tag_mark {
	__u64 tag;
	__u32 generation; /* of the inode: numbers are used again; 0: not known */
	__u32 flags;
	__u32 epoch; /* of tag_gate, when it was found out by its folder */
	__u32 pad;
};

/* What there is at all: where nothing is tagged, nothing is looked up. */
struct tag_gate {
	__u32 files, dirs, tasks; /* 0: none */
	__u32 epoch; /* raised when a folder is tagged anew */
	__u32 stopped;
	__u32 pad;
	__u64 lost; /* records, because the ring was full */
	__u64 full; /* tags and files not kept, because a table was full */
};

enum tag_event {
	TAG_EVENT_TASK, /* struct tag_told: a thread or process has a tag now */
	TAG_EVENT_FILE, /* struct tag_told: a file has one */
	TAG_EVENT_WRITE, /* all others struct checked_event: a stretch was written; a = from, b = to */
	TAG_EVENT_WRITE_FAILED, /* a = from, b = to */
	TAG_EVENT_MAPPED, /* a page was written to through a mapping; a = from, b = to */
	TAG_EVENT_TRUNCATE, /* a = the size now */
	TAG_EVENT_SYNC, /* a = 0 or a negative errno, b = when it began, boot time */
	TAG_EVENT_SYNC_DIR, /* likewise; the file is a folder */
	TAG_EVENT_SYNC_ALL, /* all of the device; a = 0 */
	TAG_EVENT_RENAME, /* about to be called something else */
	TAG_EVENT_EXIT, /* a process that wrote ended; a = exit code as wait() has it */
	TAG_EVENT_SYNC_BEGUN, /* never stored: it goes on; a = 1: a folder, b = when, count = system call */
	TAG_EVENT_COUNT,
};

struct tag_told {
	__u32 event;
	__u32 by; /* TAG_THREAD, TAG_PROCESS, TAG_FILE, TAG_CHECKED; 'e': CULPRIT_TAG */
	__u64 tag; /* 0: no more */
	__u64 at; /* boot time */
	__u32 pid, tid;
	__u32 uid;
	__u32 generation;
	struct tag_file file;
	char label[TAG_LABEL_MAX];
};

struct checked_event {
	__u32 event;
	__u32 pid;
	__u64 at; /* boot time, when it was over */
	struct tag_file file;
	__u32 generation;
	__u32 count; /* of writes: how many made up this stretch */
	__u64 a, b;
	__u64 tag; /* of the file */
	__u64 task_tag; /* of who did it; 0: none */
	__u64 since; /* of writes: when the first of them was over */
	__u32 flags; /* CHECKED_EMPTY */
	__u32 tid; /* of who told it: the last of a stretch's writers */
	char comm[16];
};

#define CHECKED_EMPTY 1 /* the file had no bytes when it was first seen */

/* What the probes keep of a file that is checked, while it is written to. */
struct checked_file {
	__u64 tag;
	__u64 from, to; /* the stretch that grows; from == to: none */
	__u64 since, at;
	__u64 pending, pending_to; /* a write that has begun; equal: none */
	__u64 sync_began;
	__u64 task_tag;
	__u32 count, pid;
	__u32 generation;
	__u32 flags; /* as in struct checked_event */
	char comm[16];
};

_Static_assert(sizeof(struct tag_file) == 16, "part of keys: no hidden padding");
_Static_assert(sizeof(struct tag_mark) == 24, "read by both sides");
_Static_assert(sizeof(struct tag_told) == 56 + TAG_LABEL_MAX, "read by both sides");
_Static_assert(sizeof(struct checked_event) == 104, "read by both sides");
_Static_assert(sizeof(struct checked_file) == 104, "read by both sides");

#define TAG_HASH_START 0xcbf29ce484222325ull
#define TAG_HASH_PRIME 0x100000001b3ull

/* FNV-1a, one byte: short, the same in every language, and computed on both sides. */
static inline __u64 tag_hash_byte(__u64 hash, unsigned char byte)
{
	return (hash ^ byte) * TAG_HASH_PRIME;
}

#endif
