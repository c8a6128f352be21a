/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose fsync a journal's request serves. ext4: the commit has a number, and so has every fsync that
 * waits for it. xfs: its log is written while the fsync of a file of the same file system runs.
 */
#ifndef PROBE_LINEAGE_FSYNC_BPF_H
#define PROBE_LINEAGE_FSYNC_BPF_H

#include "probe/lineage_line.bpf.h"

#define FSYNC_NEAR_NS 100000000ull /* xfs does not say when an fsync is over */

struct fsync_key {
	__u32 dev;
	__u32 commit; /* 0: of xfs, the last one */
};

struct fsync_by {
	struct lineage_who who;
	__u64 ino, at_ns;
	__u64 stack; /* Python's */
	__u32 gen, others;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct fsync_key);
	__type(value, struct fsync_by);
} fsyncs SEC(".maps");

/* The commit that a journal's thread is at, by its thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct fsync_key);
} commits SEC(".maps");

static __always_inline void note_fsync(struct inode *inode, const struct fsync_key *key)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fsync_by by = {}, *known = bpf_map_lookup_elem(&fsyncs, key);

	who_is(&by.who, task, lineage_tag_of(inode, task));
	by.ino = BPF_CORE_READ(inode, i_ino);
	by.gen = BPF_CORE_READ(inode, i_generation);
	by.at_ns = bpf_ktime_get_ns();
	if (lineage_lines)
		by.stack = line_of_current();
	if (known && known->who.pid != by.who.pid &&
	    (key->commit || by.at_ns - known->at_ns < FSYNC_NEAR_NS))
		by.others = known->others + 1;
	bpf_map_update_elem(&fsyncs, key, &by, BPF_ANY);
}

SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(lineage_ext4_fsync, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct ext4_inode_info *info =
		(void *)inode - bpf_core_field_offset(struct ext4_inode_info, vfs_inode);
	struct fsync_key key = {};

	key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key.commit = BPF_CORE_READ(info, i_sync_tid);
	if (key.commit)
		note_fsync(inode, &key);
	return 0;
}

SEC("tp_btf/xfs_file_fsync")
int BPF_PROG(lineage_xfs_fsync, struct xfs_inode *file)
{
	struct inode *inode = (void *)file + bpf_core_field_offset(struct xfs_inode, i_vnode);
	struct fsync_key key = {};

	key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	note_fsync(inode, &key);
	return 0;
}

SEC("tp_btf/jbd2_start_commit")
int BPF_PROG(lineage_commit, struct journal_s *journal, struct transaction_s *commit)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct fsync_key key = {};

	key.dev = BPF_CORE_READ(journal, j_fs_dev, bd_dev);
	key.commit = BPF_CORE_READ(commit, t_tid);
	bpf_map_update_elem(&commits, &tid, &key, BPF_ANY);
	return 0;
}

SEC("tp_btf/jbd2_end_commit")
int BPF_PROG(lineage_commit_end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid;

	bpf_map_delete_elem(&commits, &tid);
	return 0;
}

/* The fsync that the journal's bio which is being queued serves; NULL: none, or not known. */
static __always_inline struct fsync_by *fsync_behind(struct task_struct *task, __u32 dev)
{
	__u32 tid = task->pid;
	struct fsync_key *commit = bpf_map_lookup_elem(&commits, &tid), last = { .dev = dev };
	struct fsync_by *by;

	if (commit)
		return bpf_map_lookup_elem(&fsyncs, commit);
	by = bpf_map_lookup_elem(&fsyncs, &last);
	return by && bpf_ktime_get_ns() - by->at_ns < FSYNC_NEAR_NS ? by : NULL;
}

#endif
