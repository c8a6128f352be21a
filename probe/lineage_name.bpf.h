/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name of a file inside its file system, from the kernel's own tree of names. */
#ifndef PROBE_LINEAGE_NAME_BPF_H
#define PROBE_LINEAGE_NAME_BPF_H

#include "probe/lineage_lib.bpf.h"

/* One of its names: a file may have several, and none of them need be in memory. */
static __noinline int tell_name(struct lineage_key *key, __u64 address)
{
	struct inode *inode = (struct inode *)address;
	struct lineage_name *e;
	struct hlist_node *alias;
	struct dentry *d, *up;

	if (!key)
		return 0;
	e = bpf_ringbuf_reserve(&lineage_ring, sizeof(*e), 0);
	if (!e)
		return 0;
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = LINEAGE_NAME;
	e->fs_dev = key->fs_dev;
	e->ino = key->ino;
	e->gen = key->gen;
	e->magic = BPF_CORE_READ(inode, i_sb, s_magic);
	alias = BPF_CORE_READ(inode, i_dentry.first);
	if (alias) {
		d = (void *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
		if (!BPF_CORE_READ(d, d_hash.pprev) && !BPF_CORE_READ(inode, i_nlink))
			e->flags |= LINEAGE_DELETED;
		bpf_probe_read_kernel_str(e->last, sizeof(e->last), BPF_CORE_READ(d, d_name.name));
		d = BPF_CORE_READ(d, d_parent);
		for (int i = 0; i < LINEAGE_PARTS; i++) {
			up = BPF_CORE_READ(d, d_parent);
			if (up == d)
				break; /* the file system's root: where it is mounted is not told here */
			bpf_probe_read_kernel_str(e->part[i], sizeof(e->part[i]),
						  BPF_CORE_READ(d, d_name.name));
			e->parts = i + 1;
			d = up;
		}
		if (BPF_CORE_READ(d, d_parent) != d)
			e->flags |= LINEAGE_CUT;
	}
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
