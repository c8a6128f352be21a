/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are checked on xfs, which tells other things than ext4. Buffered writes: from the steps of iomap,
 * each of which says how far the one before came. Of an fsync it tells the beginning only, and errors are told
 * apart from it: user space looks when the thread is through. Of a rename it tells the names only: the file is
 * that of the dentry which has this very name.
 */
#ifndef PROBE_INTEGRITY_XFS_BPF_H
#define PROBE_INTEGRITY_XFS_BPF_H

#include "probe/integrity.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct iomap___tag {
	__u64 length;
};

struct iomap_iter___tag {
	struct inode___tag *inode;
	long long pos;
	__u64 len;
	long long iter_start_pos; /* from 6.15 on */
	unsigned int flags;
	struct iomap___tag iomap;
};

struct iomap_iter___old {
	long long processed;
};

struct xfs_inode___tag {
	struct inode___tag i_vnode;
};

struct xfs_name___tag {
	const unsigned char *name;
};

struct xfs_mount___tag {
	struct super_block___tag *m_super;
};

struct file___tag {
	struct inode___tag *f_inode;
	unsigned int f_wb_err;
};

struct qstr___tag {
	const unsigned char *name;
};

union shortname_store___tag {
	unsigned char string[1];
};

struct dentry___name {
	struct dentry___name *d_parent;
	struct qstr___tag d_name;
	struct inode___tag *d_inode;
	union shortname_store___tag d_shortname; /* from 6.14 on */
	struct hlist_node___tag d_sib; /* from 6.8 on, */
	struct hlist_head___tag d_children;
};

struct list_head___tag {
	struct list_head___tag *next;
};

struct dentry___old {
	unsigned char d_iname[1];
	struct list_head___tag d_child, d_subdirs;
};

#pragma clang attribute pop

#define IOMAP_WRITE (1 << 0)
#define IOMAP_FAULT (1 << 3)
#define IOMAP_DIRECT (1 << 4)
#define IOMAP_UNSHARE (1 << 7)
#define MAX_ERRNO 4095
#define CHILDREN_MAX 8192 /* of a folder, looked at; the newest come first */

/* System calls that cut a file. xfs cuts what it had taken in advance as well, when it likes. */
#ifdef __TARGET_ARCH_x86
#define CUTS(nr) ((nr) == 76 || (nr) == 77 || (nr) == 2 || (nr) == 85 || (nr) == 257 || (nr) == 437)
#else
#define CUTS(nr) ((nr) == 45 || (nr) == 46 || (nr) == 56 || (nr) == 437)
#endif

/* ---- writing ---- */

SEC("tp_btf/iomap_iter")
int BPF_PROG(iomap_step, struct iomap_iter___tag *iter)
{
	struct checked_file *c;
	struct tag_file file;
	__u64 pos, len, done = 0;

	if ((iter->flags & (IOMAP_WRITE | IOMAP_FAULT | IOMAP_DIRECT | IOMAP_UNSHARE)) !=
	    IOMAP_WRITE)
		return 0;
	c = checked(iter->inode, &file);
	if (!c)
		return 0;
	pos = iter->pos;
	len = iter->len;
	if (iter->iomap.length) { /* a step was made */
		if (bpf_core_field_exists(iter->iter_start_pos)) {
			done = pos - iter->iter_start_pos;
			pos -= done;
			len += done;
		} else {
			__s64 n = ((struct iomap_iter___old *)iter)->processed;

			done = n > 0 ? n : 0;
		}
		if (!done)
			return 0; /* it failed, and is pending */
		written(&file, c, pos, done);
	} else if (c->pending != c->pending_to && c->pending != pos) {
		tell_stretch(&file, c); /* the one before never came back */
	}
	if (done < len) {
		c->pending = pos + done;
		c->pending_to = pos + len;
	}
	return 0;
}

SEC("tp_btf/xfs_itruncate_extents_start")
int BPF_PROG(xfs_cut, struct xfs_inode___tag *ip, __s64 size)
{
	struct tag_gate *gate = tag_gate();
	struct inode___tag *inode = &ip->i_vnode;
	struct task_struct *task = bpf_get_current_task_btf();
	struct checked_file *c;
	struct tag_file file;
	long nr;

	if (!gate || task->flags & PF_KTHREAD || !inode->i_nlink)
		return 0;
	nr = system_call();
	c = CUTS(nr) ? checked(inode, &file) : NULL;
	if (!c)
		return 0;
	tell_stretch(&file, c);
	tell_event(gate, TAG_EVENT_TRUNCATE, &file, c, size, 0);
	return 0;
}

/* ---- making durable ---- */

/* Not by a worker, of which nobody can tell when it is through. */
static __always_inline bool is_call(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER));
}

static __always_inline void tell_begun(struct tag_gate *gate, const struct tag_file *file,
				       const struct checked_file *c, __u64 folder, __u64 began)
{
	struct checked_event *e = event_new(gate, TAG_EVENT_SYNC_BEGUN, file);

	if (!e)
		return;
	if (c) {
		e->generation = c->generation;
		e->flags = c->flags;
		e->tag = c->tag;
	}
	e->a = folder;
	e->b = began;
	e->count = system_call();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
}

SEC("tp_btf/xfs_file_fsync")
int BPF_PROG(xfs_sync_begins, struct xfs_inode___tag *ip)
{
	struct tag_gate *gate = tag_gate();
	struct checked_file *c;
	struct tag_file file;

	if (!gate || !is_call())
		return 0;
	c = checked(&ip->i_vnode, &file);
	if (!c)
		return 0;
	tell_stretch(&file, c);
	c->sync_began = bpf_ktime_get_boot_ns();
	tell_begun(gate, &file, c, 0, c->sync_began);
	return 0;
}

SEC("tp_btf/xfs_dir_fsync")
int BPF_PROG(xfs_dir_sync_begins, struct xfs_inode___tag *ip)
{
	struct tag_gate *gate = tag_gate();
	struct tag_file file;

	if (!gate || !is_call() || !is_near(&ip->i_vnode))
		return 0;
	file_of(&ip->i_vnode, &file);
	tell_begun(gate, &file, NULL, 1, bpf_ktime_get_boot_ns());
	return 0;
}

/* An fsync finds out that data was not written. */
SEC("tp_btf/file_check_and_advance_wb_err")
int BPF_PROG(sync_failed, struct file___tag *f)
{
	struct tag_gate *gate = tag_gate();
	struct checked_file *c;
	struct tag_file file;
	__s64 err = f->f_wb_err & MAX_ERRNO;

	c = gate && err ? checked(f->f_inode, &file) : NULL;
	if (c)
		tell_event(gate, TAG_EVENT_SYNC, &file, c, (__u64)-err, c->sync_began);
	return 0;
}

/* Who has made the first of two passes, in which nothing is waited for. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, __u8);
} xfs_passes SEC(".maps");

SEC("tp_btf/xfs_fs_sync_fs")
int BPF_PROG(xfs_sync_all, struct xfs_mount___tag *mp)
{
	struct tag_gate *gate = tag_gate();
	struct tag_file file = {};
	__u8 one = 1;
	__u64 who;

	if (!mp) /* the verifier knows that it may be */
		return 0;
	file.dev = mp->m_super->s_dev;
	who = (__u64)file.dev << 32 | (__u32)bpf_get_current_pid_tgid();
	if (!gate || gate->stopped || !bpf_map_lookup_elem(&tag_devices, &file.dev))
		return 0;
	if (!bpf_map_lookup_elem(&xfs_passes, &who)) {
		bpf_map_update_elem(&xfs_passes, &who, &one, BPF_ANY);
		return 0;
	}
	bpf_map_delete_elem(&xfs_passes, &who);
	tell_event(gate, TAG_EVENT_SYNC_ALL, &file, NULL, 0, 0);
	return 0;
}

/* ---- other names ---- */

struct looking {
	__u64 name; /* the address of it */
	__u64 dentry; /* the next one; then the one that has it */
	bool found;
};

static __always_inline bool has_name(__u64 dentry, __u64 name)
{
	return (__u64)BPF_CORE_READ((struct dentry___name *)dentry, d_name.name) == name;
}

static long look_at_child(__u32 i, struct looking *k)
{
	__u64 node, here = k->dentry; /* a member of ours would be looked for in the kernel's */

	if (!here)
		return 1;
	if (has_name(here, k->name)) {
		k->found = true;
		return 1;
	}
	if (bpf_core_field_exists(((struct dentry___name *)0)->d_sib)) {
		node = (__u64)BPF_CORE_READ((struct dentry___name *)here, d_sib.next);
		k->dentry = node ? node - bpf_core_field_offset(struct dentry___name, d_sib) : 0;
	} else {
		node = (__u64)BPF_CORE_READ((struct dentry___old *)here, d_child.next);
		k->dentry = node ? node - bpf_core_field_offset(struct dentry___old, d_child) : 0;
	}
	return 0;
}

/* The dentry of a folder whose name is at this address. Short names are in the dentry itself. */
static __always_inline __u64 dentry_of_name(__u64 name, struct inode___tag *dir)
{
	struct looking k = { .name = name };
	__u64 at, node;

	if (bpf_core_field_exists(((struct dentry___name *)0)->d_shortname))
		at = name - bpf_core_field_offset(struct dentry___name, d_shortname);
	else
		at = name - bpf_core_field_offset(struct dentry___old, d_iname);
	if (has_name(at, name) &&
	    (__u64)BPF_CORE_READ((struct dentry___name *)at, d_parent, d_inode) == (__u64)dir)
		return at;
	node = (__u64)BPF_CORE_READ(dir, i_dentry.first);
	if (!node)
		return 0;
	at = node - bpf_core_field_offset(struct dentry___tag, d_u.d_alias);
	if (bpf_core_field_exists(((struct dentry___name *)0)->d_sib)) {
		node = (__u64)BPF_CORE_READ((struct dentry___name *)at, d_children.first);
		k.dentry = node ? node - bpf_core_field_offset(struct dentry___name, d_sib) : 0;
	} else {
		node = (__u64)BPF_CORE_READ((struct dentry___old *)at, d_subdirs.next);
		k.dentry = node ? node - bpf_core_field_offset(struct dentry___old, d_child) : 0;
	}
	bpf_loop(CHILDREN_MAX, look_at_child, &k, 0);
	return k.found ? k.dentry : 0;
}

SEC("tp_btf/xfs_rename")
int BPF_PROG(xfs_renames, struct xfs_inode___tag *from, struct xfs_inode___tag *to,
	     struct xfs_name___tag *name)
{
	struct tag_gate *gate = tag_gate();
	struct inode___tag *inode;
	struct checked_file *c;
	struct tag_file file;
	__u64 dentry;

	if (!gate || !is_near(&from->i_vnode))
		return 0;
	dentry = dentry_of_name((__u64)name->name, &from->i_vnode);
	inode = dentry ? BPF_CORE_READ((struct dentry___name *)dentry, d_inode) : NULL;
	if (!inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	file_of(&from->i_vnode, &file);
	file.ino = BPF_CORE_READ(inode, i_ino);
	c = checked_at(&file, BPF_CORE_READ(inode, i_generation), BPF_CORE_READ(inode, i_size),
		       inode);
	if (!c)
		return 0;
	tell_stretch(&file, c);
	tell_event(gate, TAG_EVENT_RENAME, &file, c, 0, 0);
	return 0;
}

#endif
