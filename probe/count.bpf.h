/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ops that are only counted, launches before all: their entries are seen, their returns if asked for. */
#ifndef PROBE_COUNT_BPF_H
#define PROBE_COUNT_BPF_H

#include "probe/args.bpf.h"
#include "probe/kernels.bpf.h"
#include "probe/row.bpf.h"
#include "probe/span.bpf.h"
#include "probe/tape.bpf.h"

#define CONFIG_STREAM 32 /* in CUlaunchConfig and cudaLaunchConfig_t, which the first argument is */

/* Out of line: the stack of a launch is used to its limit where one is sent. */
static __noinline __u64 launched_on(struct pt_regs *ctx, __u32 op)
{
	__u64 reg[8] = REG_ARGS(ctx), stream = STREAM_PER_THREAD;

	if (op >= OP_SLOTS)
		return stream;
	if (op_args[SLOT(op)].stream)
		stream = argument(reg, REG_SP(ctx), op_args[SLOT(op)].stream);
	else if (bpf_probe_read_user(&stream, sizeof(stream), (void *)(reg[1] + CONFIG_STREAM)))
		stream = STREAM_PER_THREAD; /* not known */
	return stream;
}

/*
 * Reading the stream costs a fifth of the whole probe, so in a run of launches every 13th is read: a
 * number that no pattern of a few streams divides.
 */
#define STREAM_EVERY 13

static __always_inline struct work_on launched_in_run(struct thread *t, struct pt_regs *ctx,
						      __u32 op)
{
	struct work_on work = { .stream = t->beat_stream };

	if (likely(t->beat_op == op && ++t->beat_skipped < STREAM_EVERY))
		return work;
	work = on_stream(launched_on(ctx, op));
	t->beat_stream = work.stream;
	t->beat_skipped = 0;
	return work;
}

static __noinline int add_bytes(struct thread *t, struct pt_regs *ctx, __u64 op, struct tally *y)
{
	__u64 reg[8] = REG_ARGS(ctx);
	struct frame *f;

	if (!t || !y || op >= OP_SLOTS)
		return 0;
	f = &t->counted;
	f->bytes = argument(reg, REG_SP(ctx), op_args[SLOT(op)].size);
	if (shapes[SLOT(op)].unit)
		take_shape(ctx, op, f);
	y->bytes += f->bytes;
	if (t->depth)
		y->nested_bytes += f->bytes;
	return 0;
}

/* What it was called with, for one that is sent; bytes were taken where there are any. */
static __noinline int take_arguments(struct thread *t, struct pt_regs *ctx, __u64 cookie)
{
	__u64 reg[8] = REG_ARGS(ctx), sp = REG_SP(ctx), op = cookie & COOKIE_OP;

	if (!t || op >= OP_SLOTS)
		return 0;
	if (COOKIE_CLASS(cookie) != CLASS_FILL)
		t->counted.bytes = 0;
	t->counted.stream = argument(reg, sp, op_args[SLOT(op)].stream);
	t->counted.aux = argument(reg, sp, op_args[SLOT(op)].aux);
	t->counted.site = return_address(ctx);
	return 0;
}

/* What an op that is only counted leaves for its return, if that is looked at: whose account, and when. */
#define TICKET_NS_BITS 50

static __always_inline __u64 ticket_of(__u16 tally, __u64 ns)
{
	return (__u64)tally << TICKET_NS_BITS | (ns & ((1ull << TICKET_NS_BITS) - 1));
}

/* ---- in a row ---- */

static __always_inline struct tally *tally_in_row(__u32 i)
{
	i--;
	return bpf_map_lookup_elem(&tallies, &i);
}

/* Its turn to be sent comes with this one. */
static __always_inline bool next_is_sampled(const struct tally *y)
{
	return !((y->done + 1) & (sample_every - 1));
}

/*
 * A launch after one of the same function, on the same CPU, of a kernel that is known, and not long after it:
 * that is most of them. It leaves what on_count() would leave, and touches as little as can be. 0: it is none
 * of these, or its turn to be looked at, and nothing was counted yet.
 */
static __always_inline __u64 count_in_row(struct pt_regs *ctx, __u64 cookie, __u64 now)
{
	struct lane *lane = this_lane();
	struct tally *gap, *y;
	struct kernel_cell *c;
	struct beat *b;
	struct row *r;
	__u64 ns;
	__u32 i;

	/* The switch away from this CPU takes it back: looked at after the clock. */
	if (!lane || *(volatile __u64 *)&lane->row_task != (__u64)bpf_get_current_task_btf())
		return 0;
	i = lane->row;
	r = bpf_map_lookup_elem(&rows, &i);
	if (!r || r->cookie != cookie || r->irq_read != lane->irq_ns)
		return 0;
	ns = now - r->ns;
	if (ns >= SHORT_NS || clock_draws(now) || r->skipped >= STREAM_EVERY - 1)
		return 0;
	if (stopped || r->era != launch_era)
		return 0;
	i = r->beat;
	b = bpf_map_lookup_elem(&beats, &i);
	gap = tally_in_row(r->gap_tally);
	y = tally_in_row(r->tally);
	if (!b || !gap || !y || next_is_sampled(gap) || next_is_sampled(y))
		return 0;
	c = kernel_known(r->serial, launched(ctx, cookie));
	if (!c || kernel_asks_for_site(c))
		return 0;
	r->ns = now;
	r->run_ns += ns;
	r->skipped++;
	c->count++;
	b->end_ns = now;
	b->count++;
	y->calls++;
	y->done++;
	y->summed++;
	gap->calls++;
	gap->done++;
	gap->summed++;
	gap->total_ns += ns;
	gap->state_ns[STATE_RUN] += ns;
	if (ns > gap->max_ns)
		gap->max_ns = ns;
	gap->hist[hist_bucket(ns) & (HIST_BUCKETS - 1)]++;
	return ticket_of(r->tally, now);
}

/* The second launch of the same function: more may come. */
static __always_inline void begin_row(struct thread *t, __u64 cookie)
{
	struct lane *lane = this_lane();
	struct row *r = row_of(t);

	if (!lane || !r || t->run_as != STATE_RUN || record_all ||
	    cookie & (COOKIE_STEPPED | COOKIE_IF_NO_DRIVER))
		return;
	r->cookie = cookie;
	r->ns = t->now.ns;
	r->run_ns = 0;
	r->irq_read = t->irq_read;
	r->serial = t->serial;
	r->era = t->gap_era;
	r->beat = (t->tape - 1) * BEATS + ((t->beat_head - 1) & (BEATS - 1));
	r->skipped = t->beat_skipped;
	r->gap_tally = t->gap_tally;
	r->tally = t->counted_tally;
	t->in_row = 1;
	lane->row = t->tape - 1;
	barrier();
	*(volatile __u64 *)&lane->row_task = (__u64)bpf_get_current_task_btf();
	if (t->now.gen != *(volatile __u64 *)&t->gen) /* it was away meanwhile */
		lane->row_task = 0;
}

/* ---- any other ---- */

/* An op that is only counted: its duration belongs to the gap that follows. 0: it is not counted. */
static __always_inline __u64 on_count(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	__u64 now = now_ns(), ticket = count_in_row(ctx, cookie, now);
	struct thread *t;
	__u32 because;
	struct tally *y;

	if (likely(ticket))
		return ticket;
	t = caller(cookie);
	if (unlikely(!t || op >= OP_SLOTS))
		return 0;
	if (unlikely(
		    launches_hidden())) { /* the breakpoints are on their way out, or not all there yet */
		count(late);
		return 0;
	}
	tick_launch(t, now);
	if (unlikely(t->depth))
		drop_dead_frames(t, REG_SP(ctx));
	if (likely(!t->depth && COOKIE_CLASS(cookie) != CLASS_EVENT)) {
		t->again = t->beat_op == op;
		close_gap(t, op);
		open_gap(t, op);
		beat(t, op, t->now.ns, 0, launched_in_run(t, ctx, op));
	}
	y = tally_of_counted(t, op);
	if (unlikely(!y))
		return 0;
	y->calls++;
	y->done++;
	if (unlikely(t->depth))
		y->nested++;
	if (likely(COOKIE_CLASS(cookie) == CLASS_LAUNCH))
		count_kernel(t, ctx, cookie);
	else if (COOKIE_CLASS(cookie) == CLASS_FILL)
		add_bytes(t, ctx, op, y);
	because = (record_all ? BECAUSE_ALL : 0) | (y->done == 1 ? BECAUSE_FIRST : 0) |
		  (y->done & (sample_every - 1) ? 0 : BECAUSE_SAMPLED);
	if (unlikely(because)) {
		struct span span = {
			.op = op, .depth = t->depth, .frame = &t->counted, .from = &t->now
		};

		take_arguments(t, ctx, cookie);
		if (settle(t, y, &span, because))
			tell_c_stack(ctx, op, t->counted.site, t->stack, true);
	} else {
		y->summed++;
	}
	if (likely(t->again && !t->depth && COOKIE_CLASS(cookie) == CLASS_LAUNCH))
		begin_row(t, cookie);
	return ticket_of(t->counted_tally, t->now.ns);
}

/*
 * It returns, and the user wants to know how long it took. That is part of the gap that follows all the same:
 * the accounts of a thread's time do not depend on it.
 */
static __always_inline int on_counted(__u64 ticket)
{
	__u64 dur = now_ns() - ticket;
	__u32 i = (ticket >> TICKET_NS_BITS) - 1;
	struct tally *y = bpf_map_lookup_elem(&tallies, &i);

	if (!y)
		return 0;
	dur &= (1ull << TICKET_NS_BITS) - 1;
	y->total_ns += dur;
	if (dur > y->max_ns)
		y->max_ns = dur;
	y->hist[hist_bucket(dur) & (HIST_BUCKETS - 1)]++;
	return 0;
}

#endif
