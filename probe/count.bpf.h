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
#define TICKET_NS ((1ull << TICKET_NS_BITS) - 1)

static __always_inline __u64 ticket_of(__u16 tally, __u64 ns)
{
	return (__u64)tally << TICKET_NS_BITS | (ns & TICKET_NS);
}

/* ---- in a row ---- */

static __always_inline struct launch_row *row_here(const struct lane *lane)
{
	__u32 i = lane->row;

	/* The switch away from this CPU takes it back: looked at after the clock, and after lane.in_row. */
	if (*(volatile __u64 *)&lane->row_task != (__u64)bpf_get_current_task_btf())
		return NULL;
	return bpf_map_lookup_elem(&rows, &i);
}

static __always_inline __u64 *known_word(struct launch_row *r, __u64 kernel, __u64 *bits)
{
	__u32 mixed = (__u32)(kernel >> 4) * 2654435761u ^ (__u32)(kernel >> 32) * 40503u;

	*bits = 1ull << (mixed >> 26) | 1ull << (mixed >> 20 & 63);
	return &r->known[mixed >> 15 & (ROW_WORDS - 1)];
}

/* Was it launched before? Else its caller is to be found out. Seldom wrong, and then that comes later. */
static __always_inline bool is_known(struct launch_row *r, __u64 kernel)
{
	__u64 bits, *word = known_word(r, kernel, &bits);

	return (*word & bits) == bits && kernel != r->asked;
}

static __noinline int reads_stream(struct pt_regs *ctx, struct launch_row *r, __u32 op)
{
	struct work_on work = on_stream(launched_on(ctx, op));

	if (!r || work.flags || work.stream != r->stream)
		return 0;
	r->unread = 0;
	return 1;
}

/*
 * A launch after one like it, on the same CPU, of a kernel that is known, and not long after it: that is
 * most of them. 0: it is none of these, or its turn to be looked at, and nothing was counted yet.
 */
static __always_inline __u64 put_down(struct pt_regs *ctx, const struct lane *lane, __u64 cookie,
				      __u64 now)
{
	struct launch_row *r = row_here(lane);
	__u64 ns, n, which, kernel = launched(ctx, cookie);

	if (!r)
		return 0;
	n = r->n;
	ns = now - r->ns;
	if (n >= r->room || n >= ROW_MAX || ns >= SHORT_NS)
		return 0;
	if (r->irq_read != lane->irq_ns || stopped || r->era != launch_era)
		return 0;
	which = r->cookie[0] != cookie;
	if (r->cookie[which] != cookie || !is_known(r, kernel))
		return 0;
	r->unread++;
	if ((which != r->which || r->unread >= STREAM_EVERY) &&
	    !reads_stream(ctx, r, cookie & COOKIE_OP))
		return 0;
	r->ns = now;
	r->which = which;
	r->launch[n].kernel = kernel;
	r->launch[n].in_ns = 0;
	r->launch[n].gap_ns = ns;
	r->launch[n].which = which;
	r->n = n + 1;
	return ticket_of(r->tally[which], now);
}

static __always_inline __u64 count_in_row(struct pt_regs *ctx, __u64 cookie, __u64 now)
{
	struct lane *lane = this_lane();
	__u64 ticket;

	if (!lane)
		return 0;
	lane->in_row = 1;
	barrier();
	ticket = put_down(ctx, lane, cookie, now);
	barrier();
	lane->in_row = 0;
	return ticket;
}

/* The last one of its row returns, and was not accounted for yet: that will be, together with it. */
static __always_inline bool put_end_down(__u64 ticket_ns, __u64 dur)
{
	struct lane *lane = this_lane();
	struct launch_row *r;
	bool put = false;
	__u64 i;

	if (!lane || dur >> 32)
		return false;
	lane->in_row = 1;
	barrier();
	r = row_here(lane);
	i = r ? r->n - 1ull : ROW_MAX;
	if (r && i < ROW_MAX && (r->ns & TICKET_NS) == ticket_ns) {
		r->launch[i].in_ns = dur;
		put = true;
	}
	barrier();
	lane->in_row = 0;
	return put;
}

/* The row of a thread that had none: another's may have been there. */
static __noinline int clear_row(struct launch_row *r, __u32 serial)
{
	if (!r)
		return 0;
	r->asked = 0;
	r->newer = 1; /* the first one gets the other place */
	r->cookie[0] = r->cookie[1] = 0;
	r->tally[0] = r->tally[1] = 0;
	for (int i = 0; i < ROW_WORDS; i++)
		r->known[i] = 0;
	r->serial = serial;
	return 0;
}

/* It is one of the two functions from now on. */
static __always_inline void join_row(struct launch_row *r, const struct thread *t, __u64 cookie)
{
	__u64 which = r->cookie[0] != cookie;

	if (r->cookie[which] != cookie) /* neither: it takes the place of the older one */
		r->newer = which = ~r->newer & 1;
	r->which = which;
	r->cookie[which] = cookie;
	r->tally[which] = t->counted_tally;
}

/* More like it may come. */
static __always_inline void begin_row(struct thread *t, struct pt_regs *ctx, __u64 cookie)
{
	struct launch_row *r = row_of(t);
	__u64 kernel = launched(ctx, cookie), bits, *word;

	if (!r || cookie & (COOKIE_STEPPED | COOKIE_IF_NO_DRIVER))
		return;
	if (unlikely(r->serial != t->serial))
		clear_row(r, t->serial);
	word = known_word(r, kernel, &bits);
	*word |= bits;
	if (r->asked == kernel)
		r->asked = 0;
	join_row(r, t, cookie);
	arm_row(t);
}

/* Another call is over, and launches like those before it may come. */
static __always_inline void resume_row(struct thread *t)
{
	struct launch_row *r = row_of(t);

	if (!r || r->serial != t->serial || !r->cookie[0])
		return;
	r->which = ROW_OTHER;
	arm_row(t);
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
	if (likely(!t->depth && COOKIE_CLASS(cookie) == CLASS_LAUNCH))
		begin_row(t, ctx, cookie);
	else if (!t->depth && COOKIE_CLASS(cookie) == CLASS_FILL)
		resume_row(t);
	return ticket_of(t->counted_tally, t->now.ns);
}

/*
 * It returns, and the user wants to know how long it took. That is part of the gap that follows all the same:
 * the accounts of a thread's time do not depend on it.
 */
static __always_inline int on_counted(__u64 ticket)
{
	__u64 dur = (now_ns() - ticket) & TICKET_NS;
	__u32 i = (ticket >> TICKET_NS_BITS) - 1;
	struct tally *y;

	if (likely(put_end_down(ticket & TICKET_NS, dur)))
		return 0;
	y = bpf_map_lookup_elem(&tallies, &i);
	if (y)
		add_duration(y, dur);
	return 0;
}

#endif
