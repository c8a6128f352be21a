/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Launches in a row: one or two functions again and again, with nothing in between. Such a launch is only put
 * down, on a few cache lines of its thread; the accounts, which are spread over a dozen others and one for each
 * kernel, hear of all of them when something else comes. See put_down().
 *
 * Only the thread itself puts down, and only on the CPU whose lane names it. What ends the row is the thread's
 * next event of another kind, or the switch away from that CPU; lane.in_row tells the switch that it came
 * in the middle of a launch, and then it is left to the event.
 */
#ifndef PROBE_ROW_BPF_H
#define PROBE_ROW_BPF_H

#include "probe/cells.bpf.h"
#include "probe/irq.bpf.h"
#include "probe/tally.bpf.h"
#include "probe/tape.bpf.h"
#include "wire/row.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by tape: a thread without one has no rows */
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TAPES);
	__type(key, __u32);
	__type(value, struct launch_row);
} rows SEC(".maps");

static __always_inline struct launch_row *row_of(const struct thread *t)
{
	__u32 i = t->tape - 1; /* no tape: beyond the end */

	return bpf_map_lookup_elem(&rows, &i);
}

static __always_inline struct tally *tally_in_row(__u32 i)
{
	i--;
	return bpf_map_lookup_elem(&tallies, &i);
}

/* One of them, as on_count() would have counted it. t->now is at its entry. */
static __always_inline void account(struct thread *t, struct launch_row *r, struct tally *gap,
				    const struct put_down *p)
{
	struct work_on work = { .stream = r->stream };
	__u64 which = p->which & 1, op = r->cookie[which] & COOKIE_OP, ns = p->gap_ns;
	struct tally *y = tally_in_row(r->tally[which]);
	struct kernel_cell *c = kernel_cell_of(t, p->kernel);

	add_duration(gap, ns);
	if (t->gap_after != op || clock_draws(t->now.ns))
		learn(usual_of(t, OP_GAP, 0, (__u64)t->gap_after << 16 | op), ns);
	t->gap_after = op;
	beat(t, op, t->now.ns, 0, work);
	if (c) {
		c->count++;
		if (kernel_asks_for_site(c))
			r->asked = p->kernel;
	}
	if (!y)
		return;
	y->calls++;
	y->done++;
	y->summed++;
	if (p->in_ns)
		add_duration(y, p->in_ns);
}

static __always_inline void account_all(struct thread *t, struct launch_row *r)
{
	struct tally *gap = tally_in_row(t->gap_tally);
	__u64 n = r->n, began = t->now.ns, ns;

	r->n = 0;
	if (!gap)
		return;
	t->gap_wait_ns = 0;
	/* 64 bits: verifiers know them on the stack, too. */
	for (__u64 i = 0; i < ROW_MAX && i < n; i++) {
		t->now.ns += r->launch[i].gap_ns;
		account(t, r, gap, &r->launch[i]);
	}
	t->beat_skipped = r->unread;
	ns = t->now.ns - began;
	gap->calls += n;
	gap->done += n;
	gap->summed += n;
	gap->state_ns[STATE_RUN] += ns;
	t->gap.ns = t->now.ns;
	t->now.sum[STATE_RUN] += ns;
	t->gap.sum[STATE_RUN] += ns;
	t->seen_run += ns;
}

/*
 * The thread takes over what its row has put down. Once: its exit and the end of the trace may both be here.
 * A global function is verified by itself, not for each way to come here.
 */
__noinline int leave_row(struct thread *t)
{
	struct launch_row *r;

	if (!t || !__sync_val_compare_and_swap(&t->in_row, 1, 0))
		return 0;
	r = row_of(t);
	if (r && r->serial == t->serial && r->n)
		account_all(t, r);
	return 0;
}

/* ... and looks at what comes now by itself. */
static __always_inline void end_row(struct thread *t)
{
	struct lane *lane = this_lane();

	if (likely(!t->in_row))
		return;
	if (lane)
		lane->row_task = 0;
	leave_row(t);
}

/* So many more before one has its turn to be sent. */
static __always_inline __u32 before_sample(const struct tally *y)
{
	return sample_every - 1 - (y->done & (sample_every - 1));
}

static __always_inline __u32 room_in(const struct launch_row *r, const struct tally *gap)
{
	const struct tally *a = tally_in_row(r->tally[0]), *b = tally_in_row(r->tally[1]);
	__u32 room = ROW_MAX;

	if (room > before_sample(gap))
		room = before_sample(gap);
	if (a && room > before_sample(a))
		room = before_sample(a);
	if (b && room > before_sample(b))
		room = before_sample(b);
	return room;
}

/*
 * Nothing is open but the gap that has just begun: what comes now may be put down, until the lane forgets this thread.
 * t->now is at the beginning of that gap.
 */
__noinline int arm_row(struct thread *t)
{
	struct lane *lane = this_lane();
	struct launch_row *r;
	struct tally *gap;

	if (!t || !lane || t->run_as != STATE_RUN || t->stub || record_all || t->gap_era & 1)
		return 0;
	r = row_of(t);
	gap = tally_in_row(t->gap_tally);
	if (!r || !gap)
		return 0;
	r->ns = t->now.ns;
	r->irq_read = t->irq_read;
	r->era = t->gap_era;
	r->stream = t->beat_stream;
	r->unread = t->beat_skipped;
	r->room = room_in(r, gap);
	r->n = 0;
	t->in_row = 1;
	lane->row = t->tape - 1;
	barrier();
	*(volatile __u64 *)&lane->row_task = (__u64)bpf_get_current_task_btf();
	if (t->now.gen != *(volatile __u64 *)&t->gen) /* it was away meanwhile */
		lane->row_task = 0;
	return 0;
}

/* The switch away from a CPU takes it back from the task that had it. */
static __always_inline void switch_row(struct lane *lane, struct task_struct *prev,
				       struct thread *leaves)
{
	bool ended = lane->row_task == (__u64)prev && !lane->in_row;

	if (likely(!lane->row_task))
		return;
	lane->row_task = 0;
	if (ended && leaves)
		leave_row(leaves);
}

#endif
