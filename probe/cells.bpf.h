/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Launches by kernel: see wire/kernels.h. */
#ifndef PROBE_CELLS_BPF_H
#define PROBE_CELLS_BPF_H

#include "probe/lib.bpf.h"
#include "wire/kernels.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KERNEL_CELLS);
	__type(key, __u32);
	__type(value, struct kernel_cell);
} kernel_cells SEC(".maps");

static __always_inline __u32 kernel_hash(__u32 serial, __u64 handle)
{
	__u32 mixed = (__u32)(handle >> 4) * 2654435761u ^ (__u32)(handle >> 32) ^ serial * 40503u;

	return mixed >> 16 ^ mixed;
}

/* The cells of a thread lie together, as far as there is room: every page that is touched has to be found first. */
static __always_inline __u32 kernel_near(__u32 serial, __u32 hash)
{
	return (serial * KERNEL_NEAR | (hash & (KERNEL_NEAR - 1))) & (KERNEL_CELLS - 1);
}

/* Where it is looked for: so many cells near, then as many where other threads have theirs, twice. */
static __always_inline __u32 kernel_place(__u32 serial, __u32 hash, __u32 try)
{
	__u32 away = try / KERNEL_WAYS;

	if (away)
		away = 1 + ((hash >> 18) + 7 * away) % (KERNEL_CELLS / KERNEL_NEAR - 1);
	return kernel_near(serial + away, away ? hash >> 9 : hash) ^ (try % KERNEL_WAYS);
}

/* A cell other than the first choice, or a new one. */
static __noinline struct kernel_cell *kernel_find(struct thread *t, __u64 handle)
{
	struct kernel_cell *c;
	__u32 hash, i;

	if (!t)
		return NULL;
	hash = kernel_hash(t->serial, handle);
	for (__u32 try = 0; try < 3 * KERNEL_WAYS; try++) {
		i = kernel_place(t->serial, hash, try);
		c = bpf_map_lookup_elem(&kernel_cells, &i);
		if (c && c->serial == t->serial && c->handle == handle)
			return c;
	}
	for (__u32 try = 0; try < 3 * KERNEL_WAYS; try++) {
		i = kernel_place(t->serial, hash, try);
		c = bpf_map_lookup_elem(&kernel_cells, &i);
		if (!c || c->serial || __sync_val_compare_and_swap(&c->serial, 0, t->serial))
			continue;
		c->handle = handle;
		return c;
	}
	return NULL;
}

/* The cell where it is looked for first, if it is that one: mostly. */
static __always_inline struct kernel_cell *kernel_known(__u32 serial, __u64 handle)
{
	__u32 place = kernel_near(serial, kernel_hash(serial, handle));
	struct kernel_cell *c = bpf_map_lookup_elem(&kernel_cells, &place);

	return c && c->serial == serial && c->handle == handle ? c : NULL;
}

static __always_inline struct kernel_cell *kernel_cell_of(struct thread *t, __u64 handle)
{
	struct kernel_cell *c = kernel_known(t->serial, handle);

	return likely(c) ? c : kernel_find(t, handle);
}

static __always_inline bool kernel_asks_for_site(const struct kernel_cell *c)
{
	return !(c->count & (SITE_EVERY - 1)) || !c->site;
}

#endif
