/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The account of one op on one thread, and what is usual for it. */
#ifndef PROBE_TALLY_BPF_H
#define PROBE_TALLY_BPF_H

#include "probe/lib.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* user space reads it without system calls */
	__uint(max_entries, TALLIES);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE); /* indexes of free tallies; user space puts them back */
	__uint(max_entries, TALLIES);
	__type(value, __u32);
} free_tallies SEC(".maps");

/* ---- tallies ---- */

static __noinline __u32 tally_new(struct thread *t, __u32 op)
{
	struct tally *y;
	__u32 i;

	if (op >= OP_SLOTS || !t)
		return 0;
	if (bpf_map_pop_elem(&free_tallies, &i))
		return 0;
	y = bpf_map_lookup_elem(&tallies, &i);
	if (!y)
		return 0;
	for (int try = 0; try < 8; try++) {
		__u32 high = tallies_high;

		if (i < high || __sync_val_compare_and_swap(&tallies_high, high, i + 1) == high)
			break;
	}
	y->op = op;
	barrier();
	y->serial = t->serial;
	if (op == OP_GAP)
		t->gap_tally = i + 1;
	else
		t->tally[SLOT(op)] = i + 1;
	return i + 1;
}

static __always_inline struct tally *tally_at(struct thread *t, __u32 op, __u32 i)
{
	if (unlikely(!i))
		i = tally_new(t, op);
	if (unlikely(!i)) {
		count(loss[LOSS_no_tally]);
		return NULL;
	}
	i--;
	return bpf_map_lookup_elem(&tallies, &i);
}

static __always_inline struct tally *tally_of(struct thread *t, __u32 op)
{
	return tally_at(t, op, op == OP_GAP ? t->gap_tally : t->tally[SLOT(op)]);
}

/* The same op again and again: it is remembered beside what else a launch touches. */
static __always_inline struct tally *tally_of_counted(struct thread *t, __u32 op)
{
	struct tally *y;

	if (likely(t->counted_op == op && t->counted_tally))
		return tally_at(t, op, t->counted_tally);
	y = tally_of(t, op);
	t->counted_op = op;
	t->counted_tally = t->tally[SLOT(op)];
	return y;
}

static __always_inline void add_duration(struct tally *y, __u64 ns)
{
	y->total_ns += ns;
	if (ns > y->max_ns)
		y->max_ns = ns;
	y->hist[hist_bucket(ns) & (HIST_BUCKETS - 1)]++;
}

/* ---- what is usual ---- */

static __always_inline struct usual *usual_of(struct thread *t, __u32 op, __u64 bytes, __u64 site)
{
	__u32 size = bytes ? hist_log2(bytes) : 0;
	__u32 key = (op << 8 | size) * 2654435761u ^ (__u32)(site >> 2) * 40503u;
	__u32 slot = (key >> 16 ^ key) & (USUALS - 1);
	struct usual *u, *least = &t->usual[slot];

	for (__u32 way = 0; way < 4; way++) {
		u = &t->usual[(slot ^ way) & (USUALS - 1)];
		if (u->key == key)
			return u;
		if (u->n < least->n)
			least = u;
	}
	least->key = key; /* the newcomer takes the place of whom we know least of */
	least->n = 0;
	return least;
}

#define USUAL_MIN 8 /* before that nothing is known */

/* A running median: a step towards each new value, smaller steps later. */
static __always_inline void learn(struct usual *u, __u64 ns)
{
	__u64 step = u->ns >> (u->n < 32 ? 2 : 5);

	if (!u->n)
		u->ns = ns;
	else if (ns > u->ns)
		u->ns += step + 1;
	else if (ns < u->ns)
		u->ns -= step;
	if (u->n < ~0u)
		u->n++;
}

#define LEARN_EVERY 16

/*
 * Nearly all gaps are those inside a run of equal launches. Their usual length is learned from some of
 * them, which the clock draws: none is preferred, and the others need not look for it.
 */
static __always_inline bool clock_draws(__u64 ns)
{
	return !(ns & (LEARN_EVERY - 1));
}

#endif
