/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happens to files that are checked: what was written where and in which order, what failed, what was
 * made durable and when, and when they were given another name. All from tracepoints that fire when a
 * filesystem works, none from system calls: one of those costs every call on the host. They are attached
 * only while something is checked.
 *
 * Writes that follow each other become one stretch: it is told when another begins, or when it matters.
 */
#ifndef PROBE_INTEGRITY_BPF_H
#define PROBE_INTEGRITY_BPF_H

#include "probe/tag.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kiocb___tag {
	struct file *ki_filp;
	long long ki_pos;
	int ki_flags;
};

struct address_space___tag {
	struct inode___tag *host;
};

struct folio___tag {
	unsigned long index;
};

struct pt_regs___tag {
	int syscallno; /* aarch64 */
};

#pragma clang attribute pop

#define S_IFDIR 0040000
#define IOCB_WRITE (1 << 18)
#define PAGE_SHIFT 12

/* System calls that give a file another name. */
#ifdef __TARGET_ARCH_x86
#define NR_RENAME 82
#define NR_RENAMEAT 264
#define NR_RENAMEAT2 316
#else
#define NR_RENAME 0xffff /* there is none */
#define NR_RENAMEAT 38
#define NR_RENAMEAT2 276
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} tag_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CHECKPOINTS);
	__type(key, struct tag_file);
	__type(value, struct checked_file);
} checked_files SEC(".maps");

/* Processes that wrote to any of these: their end is told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} checked_writers SEC(".maps");

/* ---- telling ---- */

static __always_inline struct checked_event *event_new(struct tag_gate *gate, __u32 event,
						       const struct tag_file *file)
{
	struct checked_event *e = bpf_ringbuf_reserve(&tag_ring, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&gate->lost, 1);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->event = event;
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->tid = bpf_get_current_pid_tgid();
	e->at = bpf_ktime_get_boot_ns();
	if (file)
		e->file = *file;
	return e;
}

static __always_inline void tell_event(struct tag_gate *gate, __u32 event,
				       const struct tag_file *file, const struct checked_file *c,
				       __u64 a, __u64 b)
{
	struct checked_event *e = event_new(gate, event, file);

	if (!e)
		return;
	if (c) {
		e->generation = c->generation;
		e->flags = c->flags;
		e->tag = c->tag;
	}
	e->a = a;
	e->b = b;
	e->task_tag = tag_of_task(bpf_get_current_task_btf());
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
}

/* The stretch that has grown so far, and a write that never came back. */
static __noinline int tell_stretch(const struct tag_file *file, struct checked_file *c)
{
	struct tag_gate *gate = tag_gate();
	struct checked_event *e;

	if (!gate || !file || !c)
		return 0;
	if (c->from != c->to) {
		e = event_new(gate, TAG_EVENT_WRITE, file);
		if (e) {
			e->generation = c->generation;
			e->flags = c->flags;
			e->tag = c->tag;
			e->task_tag = c->task_tag;
			e->pid = c->pid;
			e->count = c->count;
			e->a = c->from;
			e->b = c->to;
			e->since = c->since;
			e->at = c->at;
			__builtin_memcpy(e->comm, c->comm, sizeof(e->comm));
			bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP); /* what matters comes after it */
		}
		c->from = c->to = c->count = 0;
	}
	if (c->pending != c->pending_to) {
		tell_event(gate, TAG_EVENT_WRITE_FAILED, file, c, c->pending, c->pending_to);
		c->pending = c->pending_to = 0;
	}
	return 0;
}

/* ---- which file ---- */

static __always_inline void file_of(const struct inode___tag *inode, struct tag_file *ret)
{
	ret->dev = inode->i_sb->s_dev;
	ret->pad = 0;
	ret->ino = inode->i_ino;
}

/* Is anything tagged on its filesystem? */
static __always_inline bool is_near(const struct inode___tag *inode)
{
	struct tag_gate *gate = tag_gate();
	__u32 dev = inode->i_sb->s_dev;

	return gate && !gate->stopped && (gate->files | gate->dirs) &&
	       bpf_map_lookup_elem(&tag_devices, &dev);
}

/* As checked(), where its number is known; `inode` may be any number. */
static __always_inline struct checked_file *checked_at(struct tag_file *file, __u32 generation,
						       __u64 size, const void *inode)
{
	struct checked_file *c, fresh = {};
	struct tag_gate *gate = tag_gate();
	struct tag_mark mark = {};

	if (!gate || !bpf_map_lookup_elem(&tag_devices, &file->dev))
		return NULL;
	if (!tag_mark_of(file, generation, inode, &mark) || !(mark.flags & MARK_CHECKED))
		return NULL;
	c = bpf_map_lookup_elem(&checked_files, file);
	if (c && c->generation == generation) {
		c->tag = mark.tag;
		return c;
	}
	fresh.tag = mark.tag;
	fresh.generation = generation;
	fresh.flags = size ? 0 : CHECKED_EMPTY;
	if (bpf_map_update_elem(&checked_files, file, &fresh, BPF_ANY))
		__sync_fetch_and_add(&gate->full, 1);
	return bpf_map_lookup_elem(&checked_files, file);
}

/* NULL: it is not checked, as nearly all are. */
static __always_inline struct checked_file *checked(const struct inode___tag *inode,
						    struct tag_file *file)
{
	struct tag_gate *gate = tag_gate();

	if (!gate || gate->stopped || !(gate->files | gate->dirs))
		return NULL;
	file_of(inode, file);
	return checked_at(file, inode->i_generation, inode->i_size, inode);
}

/* ---- writing ---- */

static __noinline int written(struct tag_file *file, struct checked_file *c, __u64 from, __u64 len)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32, one = 1;
	__u64 now = bpf_ktime_get_boot_ns();

	if (!file || !c)
		return 0;
	c->pending = c->pending_to = 0;
	if (!len)
		return 0;
	if (c->from == c->to || c->to != from || c->pid != pid) {
		tell_stretch(file, c);
		c->from = from;
		c->since = now;
		c->pid = pid;
		c->task_tag = tag_of_task(bpf_get_current_task_btf());
		bpf_get_current_comm(c->comm, sizeof(c->comm));
		bpf_map_update_elem(&checked_writers, &pid, &one, BPF_ANY);
	}
	c->to = from + len;
	c->at = now;
	c->count++;
	return 0;
}

static __always_inline void begin(const struct inode___tag *inode, __s64 pos, __u32 len)
{
	struct tag_file file;
	struct checked_file *c = checked(inode, &file);

	if (!c)
		return;
	if (c->pending != c->pending_to && c->pending != (__u64)pos)
		tell_stretch(&file, c); /* the one before never came back */
	c->pending = pos;
	c->pending_to = pos + len;
}

static __always_inline void end(const struct inode___tag *inode, __s64 pos, __u32 copied)
{
	struct tag_file file;
	struct checked_file *c = checked(inode, &file);

	if (c)
		written(&file, c, pos, copied);
}

SEC("tp_btf/ext4_da_write_begin")
int BPF_PROG(ext4_begin_later, struct inode___tag *inode, __s64 pos, __u32 len)
{
	begin(inode, pos, len);
	return 0;
}

SEC("tp_btf/ext4_write_begin")
int BPF_PROG(ext4_begin, struct inode___tag *inode, __s64 pos, __u32 len)
{
	begin(inode, pos, len);
	return 0;
}

SEC("tp_btf/ext4_da_write_end")
int BPF_PROG(ext4_end_later, struct inode___tag *inode, __s64 pos, __u32 len, __u32 copied)
{
	end(inode, pos, copied);
	return 0;
}

SEC("tp_btf/ext4_write_end")
int BPF_PROG(ext4_end, struct inode___tag *inode, __s64 pos, __u32 len, __u32 copied)
{
	end(inode, pos, copied);
	return 0;
}

SEC("tp_btf/ext4_journalled_write_end")
int BPF_PROG(ext4_end_journal, struct inode___tag *inode, __s64 pos, __u32 len, __u32 copied)
{
	end(inode, pos, copied);
	return 0;
}

SEC("tp_btf/iomap_dio_complete")
int BPF_PROG(direct_done, struct kiocb___tag *iocb, int error, __s64 ret)
{
	struct inode___tag *inode;
	struct checked_file *c;
	struct tag_gate *gate;
	struct tag_file file;

	if (!(iocb->ki_flags & IOCB_WRITE))
		return 0;
	inode = (struct inode___tag *)iocb->ki_filp->f_inode;
	c = checked(inode, &file);
	gate = tag_gate();
	if (!c || !gate)
		return 0;
	if (ret > 0)
		written(&file, c, iocb->ki_pos - ret, ret);
	else if (error || ret < 0)
		tell_event(gate, TAG_EVENT_WRITE_FAILED, &file, c, iocb->ki_pos, iocb->ki_pos);
	return 0;
}

static __always_inline long system_call(void)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_x86
	return BPF_CORE_READ(regs, orig_ax);
#else
	return BPF_CORE_READ((struct pt_regs___tag *)regs, syscallno);
#endif
}

/* Pages that are written to through a mapping: dirty without a system call. */
SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(mapped_store, struct folio___tag *folio, struct address_space___tag *mapping)
{
	struct checked_file *c;
	struct tag_gate *gate;
	struct tag_file file;
	__u64 from;

	if (!mapping || !is_near(mapping->host) || system_call() >= 0)
		return 0;
	c = checked(mapping->host, &file);
	gate = tag_gate();
	if (!c || !gate)
		return 0;
	from = (__u64)folio->index << PAGE_SHIFT;
	tell_event(gate, TAG_EVENT_MAPPED, &file, c, from, from + (1 << PAGE_SHIFT));
	return 0;
}

SEC("tp_btf/ext4_truncate_enter")
int BPF_PROG(ext4_cut, struct inode___tag *inode)
{
	struct tag_gate *gate = tag_gate();
	struct checked_file *c;
	struct tag_file file;

	/* What has no name any more is cut as well, when it is given back. */
	c = gate && inode->i_nlink ? checked(inode, &file) : NULL;
	if (!c)
		return 0;
	tell_stretch(&file, c);
	tell_event(gate, TAG_EVENT_TRUNCATE, &file, c, inode->i_size, 0);
	return 0;
}

/* ---- making durable ---- */

SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(ext4_sync_begins, struct file *f)
{
	struct inode___tag *inode = (struct inode___tag *)f->f_inode;
	struct checked_file *c;
	struct tag_file file;

	c = checked(inode, &file);
	if (!c)
		return 0;
	tell_stretch(&file, c);
	c->sync_began = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("tp_btf/ext4_sync_file_exit")
int BPF_PROG(ext4_sync_ends, struct inode___tag *inode, int ret)
{
	struct tag_gate *gate = tag_gate();
	struct checked_file *c;
	struct tag_file file;

	if (!gate || gate->stopped || !(gate->files | gate->dirs))
		return 0;
	if ((inode->i_mode & S_IFMT) == S_IFDIR) {
		file_of(inode, &file);
		if (bpf_map_lookup_elem(&tag_devices, &file.dev))
			tell_event(gate, TAG_EVENT_SYNC_DIR, &file, NULL, (__s64)ret, 0);
		return 0;
	}
	c = checked(inode, &file);
	if (c)
		tell_event(gate, TAG_EVENT_SYNC, &file, c, (__s64)ret, c->sync_began);
	return 0;
}

SEC("tp_btf/ext4_sync_fs")
int BPF_PROG(ext4_sync_all, struct super_block___tag *sb, int wait)
{
	struct tag_file file = { .dev = sb->s_dev };
	struct tag_gate *gate = tag_gate();

	if (gate && wait && !gate->stopped && bpf_map_lookup_elem(&tag_devices, &file.dev))
		tell_event(gate, TAG_EVENT_SYNC_ALL, &file, NULL, 0, 0);
	return 0;
}

/* ---- other names ---- */

/* ext4 has no event of its own for this; the inode is written to when its name changes. */
SEC("tp_btf/ext4_mark_inode_dirty")
int BPF_PROG(ext4_touched, struct inode___tag *inode)
{
	struct tag_gate *gate = tag_gate();
	struct checked_file *c;
	struct tag_file file;
	long nr;

	if (!gate || !is_near(inode))
		return 0;
	nr = system_call();
	if (nr != NR_RENAME && nr != NR_RENAMEAT && nr != NR_RENAMEAT2)
		return 0;
	if ((inode->i_mode & S_IFMT) != S_IFREG)
		return 0;
	c = checked(inode, &file);
	if (!c)
		return 0;
	tell_stretch(&file, c);
	tell_event(gate, TAG_EVENT_RENAME, &file, c, 0, 0);
	return 0;
}

/* ---- ends ---- */

static __always_inline void writer_ends(struct tag_gate *gate, __u32 pid, int code)
{
	if (!bpf_map_lookup_elem(&checked_writers, &pid))
		return;
	bpf_map_delete_elem(&checked_writers, &pid);
	tell_event(gate, TAG_EVENT_EXIT, NULL, NULL, (__u32)code, 0);
}

#endif
