/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the probes take of the threads' time, as far as hits alone do not tell; and what is shed. */
#ifndef PROBE_COST_BPF_H
#define PROBE_COST_BPF_H

#include "probe/lib.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* read without system calls */
	__uint(max_entries, 1); /* CPUs: set before load */
	__type(key, __u32);
	__type(value, struct cpu_cost);
} costs SEC(".maps");

static __always_inline struct cpu_cost *this_cost(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&costs, &cpu);
}

/* Uprobe programs can be preempted and come back on another CPU: rare enough, so atomic. */
#define spend(field, from_ns)                                                                      \
	do {                                                                                       \
		struct cpu_cost *cost_ = this_cost();                                              \
                                                                                                   \
		if (cost_)                                                                         \
			__sync_fetch_and_add(&cost_->field, now_ns() - (from_ns));                 \
	} while (0)

#define SWITCHES_TIMED 64 /* one of so many is timed, and stands for all since the last */

/*
 * A switch that was looked at from `from_ns` on. One with a walk in it is not typical, and its walk
 * has an account of its own: another one is taken.
 */
static __always_inline void spend_switch(struct lane *lane, __u32 kind, bool walked, __u64 from_ns)
{
	struct cpu_cost *cost;
	__u32 n;

	if (kind >= SWITCH_KINDS)
		return;
	n = ++lane->untimed[kind];
	if (n < SWITCHES_TIMED || walked)
		return;
	lane->untimed[kind] = 0;
	cost = this_cost();
	if (!cost)
		return;
	cost->switches[kind] += n;
	cost->switch_ns[kind] += (now_ns() - from_ns) * n;
}

/* ---- what user space has taken away to save time ---- */

/* Odd while launches are not seen: see src/capture/throttle.c. A change tells a span that saw both. */
__u32 launch_era = 0;
bool shed_returns = false; /* launches are counted only, although their times were asked for */
bool shed_stacks = false; /* nobody looks at Python's stacks */
bool shed_detail = false; /* processes that make no calls are not followed */

#define launches_hidden() (*(volatile __u32 *)&launch_era & 1)

/* A thread that is followed at the moment. */
static __always_inline bool in_detail(const struct thread *t)
{
	return !shed_detail || !t->related;
}

#endif
