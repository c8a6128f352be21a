/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tag a file or a task has: what other probes ask. The maps belong to probe/tags.bpf.c; an object that
 * includes this file gets the same ones (tags_share() in src/capture/tags.h, before it is loaded).
 */
#ifndef PROBE_TAG_BPF_H
#define PROBE_TAG_BPF_H

#include "probe/kernel.h" /* first: it stands in for a generated header */

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/tag.h"

/* Fields that only tags need. What follows ___ is no part of the kernel's name. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node___tag {
	struct hlist_node___tag *next;
};

struct hlist_head___tag {
	struct hlist_node___tag *first;
};

struct super_block___tag {
	unsigned int s_dev;
};

struct kuid___tag {
	unsigned int val;
};

struct inode___tag {
	unsigned short i_mode;
	struct kuid___tag i_uid;
	struct super_block___tag *i_sb;
	unsigned long i_ino;
	unsigned int i_generation;
	unsigned int i_nlink;
	long long i_size;
	struct hlist_head___tag i_dentry;
};

struct dentry___tag {
	struct dentry___tag *d_parent;
	struct inode___tag *d_inode;
	union {
		struct hlist_node___tag d_alias;
	} d_u;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tag_gate);
} tag_gates SEC(".maps");

/* Files that have one of their own. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TAG_FILES);
	__type(key, struct tag_file);
	__type(value, struct tag_mark);
} tag_files SEC(".maps");

/* Folders: files in them have theirs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TAG_DIRS);
	__type(key, struct tag_file);
	__type(value, struct tag_mark);
} tag_dirs SEC(".maps");

/* What was found out by their folder, none included. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TAG_FILES);
	__type(key, struct tag_file);
	__type(value, struct tag_mark);
} tag_found SEC(".maps");

/* Filesystems that have any of these. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TAG_DEVICES);
	__type(key, __u32);
	__type(value, __u32);
} tag_devices SEC(".maps");

/* By thread id, and by process id with TAG_OF_PROCESS: those of io workers are read from memory, for which there is no
 * task storage. */
#define TAG_OF_PROCESS 0x80000000u
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TAG_TASKS);
	__type(key, __u32);
	__type(value, __u64);
} tag_tasks SEC(".maps");

static __always_inline struct tag_gate *tag_gate(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&tag_gates, &zero);
}

/* The folder that a file is in, by any of its names. False: it has none. */
static __always_inline bool tag_dir_of(const void *inode, struct tag_file *ret)
{
	const struct inode___tag *node = inode, *dir;
	const struct hlist_node___tag *alias = BPF_CORE_READ(node, i_dentry.first);
	const struct dentry___tag *dentry;

	if (!alias)
		return false;
	dentry = (const void *)alias - bpf_core_field_offset(struct dentry___tag, d_u.d_alias);
	dir = BPF_CORE_READ(dentry, d_parent, d_inode);
	if (!dir || dir == node)
		return false;
	ret->ino = BPF_CORE_READ(dir, i_ino);
	return true;
}

static __noinline int tag_look_up(const struct tag_file *file, const void *inode,
				  struct tag_mark *ret)
{
	struct tag_file dir = {};
	struct tag_mark *mark;

	if (!file || !ret)
		return 0;
	dir.dev = file->dev;
	mark = tag_dir_of(inode, &dir) ? bpf_map_lookup_elem(&tag_dirs, &dir) : NULL;
	ret->tag = mark ? mark->tag : 0;
	ret->flags = mark ? mark->flags : MARK_NONE;
	bpf_map_update_elem(&tag_found, file, ret, BPF_ANY);
	return 0;
}

/*
 * The mark of a file, or false. `generation` and `file` are of `inode`, which may be any number: it is only
 * read as foreign memory.
 */
static __always_inline bool tag_mark_of(const struct tag_file *file, __u32 generation,
					const void *inode, struct tag_mark *ret)
{
	struct tag_gate *gate = tag_gate();
	struct tag_mark *mark;

	if (!gate || !(gate->files | gate->dirs))
		return false;
	mark = gate->files ? bpf_map_lookup_elem(&tag_files, file) : NULL;
	if (mark && (!mark->generation || mark->generation == generation)) {
		*ret = *mark;
		return true;
	}
	if (!gate->dirs || !bpf_map_lookup_elem(&tag_devices, &file->dev))
		return false;
	mark = bpf_map_lookup_elem(&tag_found, file);
	if (mark && mark->epoch == gate->epoch && mark->generation == generation) {
		*ret = *mark;
	} else {
		ret->generation = generation;
		ret->epoch = gate->epoch;
		ret->pad = 0;
		tag_look_up(file, inode, ret);
	}
	return !(ret->flags & MARK_NONE);
}

/* For whoever knows which file it is. 0: none. */
static __always_inline __u64 tag_of_file(const struct tag_file *file, __u32 generation,
					 const void *inode)
{
	struct tag_mark mark = {};

	return tag_mark_of(file, generation, inode, &mark) ? mark.tag : 0;
}

/* `inode` may be any number. 0: none. */
static __always_inline __u64 tag_of_inode(const struct inode *inode)
{
	const struct inode___tag *node = (const void *)inode;
	struct tag_gate *gate = tag_gate();
	struct tag_file file = {};

	if (!gate || !(gate->files | gate->dirs))
		return 0;
	file.dev = BPF_CORE_READ(node, i_sb, s_dev);
	file.ino = BPF_CORE_READ(node, i_ino);
	return tag_of_file(&file, BPF_CORE_READ(node, i_generation), inode);
}

/*
 * Of a thread: its own, else that of its process. 0: none. `task` may be any number, so that each look at it is a
 * call: none where nobody has a tag.
 */
static __always_inline __u64 tag_of_task(const struct task_struct *task)
{
	struct tag_gate *gate = tag_gate();
	__u32 tid, process;
	__u64 *tag;

	if (!gate || !gate->tasks)
		return 0;
	tid = BPF_CORE_READ(task, pid);
	process = BPF_CORE_READ(task, tgid) | TAG_OF_PROCESS;
	tag = bpf_map_lookup_elem(&tag_tasks, &tid);
	if (!tag)
		tag = bpf_map_lookup_elem(&tag_tasks, &process);
	return tag ? *tag : 0;
}

#endif
