/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Launches in a row: the same op again and again, with nothing in between. What such a launch needs of its
 * thread lies on two cache lines, this and its CPU's, and both are found without a call of the kernel; the
 * thread itself hears of all of them when the row is over. See count_in_row().
 */
#ifndef PROBE_ROW_BPF_H
#define PROBE_ROW_BPF_H

#include "probe/sched.bpf.h"

struct row {
	__u64 cookie; /* of the launches */
	__u64 ns; /* when the last one began: so far the thread's time is known */
	__u64 run_ns; /* of that, not in the thread's own sums yet: it has been running */
	__u64 irq_read; /* of its CPU: no interrupt came since the row began */
	__u32 serial; /* of the thread */
	__u32 era; /* launch_era */
	__u32 beat; /* index into `beats` */
	__u16 skipped; /* thread.beat_skipped */
	__u16 gap_tally, tally; /* as in the thread */
	__u16 pad[5];
};

_Static_assert(sizeof(struct row) == 64, "one cache line");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by tape: a thread without one has no rows */
	__uint(map_flags, BPF_F_MMAPABLE); /* only because that is aligned */
	__uint(max_entries, TAPES);
	__type(key, __u32);
	__type(value, struct row);
} rows SEC(".maps");

static __always_inline struct row *row_of(const struct thread *t)
{
	__u32 i = t->tape - 1; /* no tape: beyond the end */

	return bpf_map_lookup_elem(&rows, &i);
}

/* Something else comes: the thread takes over what its row has counted. */
static __noinline int leave_row(struct thread *t)
{
	struct lane *lane = this_lane();
	struct row *r;

	if (!t)
		return 0;
	t->in_row = 0;
	if (lane)
		lane->row_task = 0;
	r = row_of(t);
	if (!r || r->serial != t->serial)
		return 0;
	t->now.ns = t->gap.ns = r->ns;
	t->now.sum[STATE_RUN] += r->run_ns;
	t->gap.sum[STATE_RUN] += r->run_ns;
	t->seen_run += r->run_ns;
	t->beat_skipped = r->skipped;
	r->run_ns = 0;
	return 0;
}

#endif
