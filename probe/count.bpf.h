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

/*
 * On which stream? n: of the argument that says it; 0: the config does. Out of line: the stack of a launch is used to its
 * limit where one is sent.
 */
static __noinline __u64 launched_with(struct pt_regs *ctx, __u32 n)
{
	__u64 reg[8] = REG_ARGS(ctx), stream = STREAM_PER_THREAD;

	if (n)
		stream = argument(reg, REG_SP(ctx), n);
	else if (bpf_probe_read_user(&stream, sizeof(stream), (void *)(reg[1] + CONFIG_STREAM)))
		stream = STREAM_PER_THREAD; /* not known */
	return stream;
}

static __always_inline struct work_on launched_in_run(struct thread *t, struct pt_regs *ctx,
						      __u32 op)
{
	struct work_on work = { .stream = t->beat_stream };

	if (likely(t->beat_op == op && ++t->beat_skipped < STREAM_EVERY))
		return work;
	work = on_stream(launched_with(ctx, op_args[SLOT(op)].stream));
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

/* ---- in a row ---- */

#define FILL_BYTES 3 /* the argument that says how many, where one alone says it */

static __always_inline __u64 filled(const struct pt_regs *ctx)
{
	__u64 reg[8] = REG_ARGS(ctx);

	return reg[FILL_BYTES];
}

/* The switch away from this CPU takes it back: looked at after the clock, and after cpu_row.busy. */
static __always_inline bool has_row(const struct cpu_row *here, const struct pt_regs *ctx)
{
	return likely(*(volatile __u64 *)&here->regs == (__u64)ctx);
}

static __always_inline struct launch_row *row_at(const struct cpu_row *here)
{
	struct launch_row *r = &rows[here->row & (ROWS - 1)];

	asm volatile("" : "+r"(r)); /* or else clang finds it anew wherever it is used */
	return r;
}

/* Which of its functions is it? ROW_FUNCTIONS: none. */
static __always_inline __u32 function_in_row(const struct launch_row *r, __u64 ip)
{
	for (__u32 i = 0; i < ROW_FUNCTIONS; i++)
		if (r->function[i].ip == ip)
			return i;
	return ROW_FUNCTIONS;
}

static __always_inline void put(struct launch_row *r, __u64 now, __u32 how)
{
	__u64 n = r->n;

	if (unlikely(n >= ROW_MAX))
		return;
	r->launch[n].gap_ns = now - r->ns;
	r->launch[n].how = how;
	r->ns = now;
	r->n = n + 1;
}

enum look { LOOK_ALONE, LOOK_CLOSER, LOOK_LAUNCH, LOOK_PUT };

/* When it came before it was on the stream of the row: mostly it is again. */
static __always_inline bool is_as_before(const struct pt_regs *ctx, const struct launch_row *r,
					 struct row_function *f)
{
	if (f->ip != REG_IP(ctx) || f->stream != r->stream || f->unread >= STREAM_EVERY - 1)
		return false;
	f->unread++;
	return true;
}

/* It is the other function that launches, or one that fills. Most launches do not come here: out of line. */
static __noinline int other_function(const struct pt_regs *ctx, struct launch_row *r, __u64 now)
{
	struct row_function *f;
	__u32 which;

	if (!r)
		return LOOK_ALONE;
	which = ~r->which & (ROW_LAUNCHES - 1);
	f = &r->function[which];
	if (is_as_before(ctx, r, f)) {
		r->ip = f->ip;
		r->which = which;
		r->second = f->second;
		return LOOK_LAUNCH;
	}
	for (which = ROW_LAUNCHES; which < ROW_FUNCTIONS; which++) {
		f = &r->function[which];
		if (!is_as_before(ctx, r, f))
			continue;
		f->bytes += filled(ctx);
		put(r, now, which);
		return LOOK_PUT;
	}
	return LOOK_CLOSER;
}

/*
 * It is none of these functions, or it is time to look at the stream: may it be put down all the same? LOOK_PUT: it
 * is, as what is filled.
 */
static __noinline int look_closer(struct pt_regs *ctx, struct launch_row *r, __u64 now)
{
	struct row_function *f;
	struct work_on work;
	__u32 which;

	if (!r || (r->n >= r->last && !renew_row(r)))
		return LOOK_ALONE;
	which = function_in_row(r, REG_IP(ctx));
	if (which >= ROW_FUNCTIONS)
		return LOOK_ALONE;
	f = &r->function[which & (ROW_FUNCTIONS - 1)];
	work = on_stream(launched_with(ctx, f->stream_arg));
	if (work.flags || work.stream != r->stream)
		return LOOK_ALONE;
	f->stream = r->stream;
	f->unread = 0;
	if (which >= ROW_LAUNCHES) {
		f->bytes += filled(ctx);
		put(r, now, which);
		return LOOK_PUT;
	}
	r->ip = REG_IP(ctx);
	r->which = which;
	r->second = f->second;
	stream_read(r, r->n + 1);
	return LOOK_LAUNCH;
}

/* Not counted in its row yet: its account wants to know from where it is launched. False: of no thread of ours. */
static __noinline int meet_kernel(struct pt_regs *ctx, struct launch_row *r, __u64 kernel)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	struct kernel_cell *c;
	struct kernel_set *set;

	if (!r || !t)
		return false;
	c = kernel_cell_of(t, kernel);
	if (c) {
		c->site = return_address(ctx);
		c->flags = 0;
	}
	set = kernels_like(r, kernel);
	for (int i = 0; i < ROW_WAYS; i++) {
		if (set->count[i])
			continue;
		set->handle[i] = kernel;
		set->count[i] = 1;
		return true;
	}
	if (c) /* no room: many kernels, which no row can count */
		c->count++;
	else
		count(loss[LOSS_no_kernel]);
	return true;
}

#define PAUSE_NS 500000 /* after more a launch is looked at by itself */

/*
 * It comes after a longer pause: may it be put down all the same? Not if the hypervisor may have taken some of it, or the
 * task's counters have moved: that belongs to this gap.
 */
static __noinline int pauses(const struct launch_row *r, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return r && now - r->ns < PAUSE_NS && now - r->ns < slow_ns && steal_of(task) == r->steal &&
	       task->min_flt + task->maj_flt + task->stime == r->counters;
}

/*
 * A launch after one like it, on the same CPU, and not long after it: that is most of them. False: it is none of
 * these, or its turn to be looked at, and nothing was counted yet.
 */
static __always_inline bool put_down(struct pt_regs *ctx, struct launch_row *r, __u64 now)
{
	int look = LOOK_LAUNCH;
	__u64 kernel;

	if (unlikely(r->closed || (now - r->ns >= SHORT_NS && !pauses(r, now))))
		return false;
	if (unlikely(r->n >= r->room))
		look = LOOK_CLOSER;
	else if (unlikely(r->ip != REG_IP(ctx)))
		look = other_function(ctx, r, now);
	if (unlikely(look == LOOK_CLOSER))
		look = look_closer(ctx, r, now);
	if (unlikely(look != LOOK_LAUNCH))
		return look == LOOK_PUT;
	kernel = launched(ctx, r->second);
	if (unlikely(!count_in_row(r, kernel)) && !meet_kernel(ctx, r, kernel))
		return false;
	put(r, now, r->which);
	return true;
}

/* The last one of its row returns, and was not accounted for yet: that will be, together with it. */
static __always_inline bool put_end_down(struct pt_regs *ctx, struct launch_row *r, __u64 now)
{
	__u64 dur = now - r->ns, i = r->n - 1ull;

	if (unlikely(r->sp != REG_SP(ctx) - RETURN_POPS || dur >= ROW_IN_MAX || i >= ROW_MAX))
		return false;
	r->launch[i].how |= dur << ROW_IN_SHIFT;
	r->sp = 0;
	return true;
}

/* The row of a thread that had none: another's may have been there. */
static __noinline int clear_row(struct launch_row *r, __u32 serial)
{
	if (!r)
		return 0;
	for (int i = 0; i < ROW_FUNCTIONS; i++)
		r->function[i].ip = r->function[i].tally = r->function[i].bytes = 0;
	for (int i = 0; i < ROW_SETS; i++)
		for (int way = 0; way < ROW_WAYS; way++)
			r->kernels[i].handle[way] = r->kernels[i].count[way] = 0;
	r->serial = serial;
	return 0;
}

/* After so long an address may be another function's: no library is closed and another one opened in less. */
#define STALE_NS 20000000

static __always_inline bool is_stale(const struct launch_row *r, const struct thread *t)
{
	return unlikely(t->now.ns - slept_ns - r->ns > STALE_NS);
}

/* It is one of the functions from now on. */
static __always_inline void join_row(struct launch_row *r, const struct thread *t,
				     struct pt_regs *ctx, __u64 cookie)
{
	__u32 fills = COOKIE_CLASS(cookie) == CLASS_FILL, which;
	struct row_function *f;

	if (unlikely(r->serial != t->serial))
		clear_row(r, t->serial);
	if (is_stale(r, t))
		for (int i = 0; i < ROW_FUNCTIONS; i++)
			r->function[i].ip = 0;
	which = function_in_row(r, REG_IP(ctx));
	if (which >= ROW_FUNCTIONS) { /* it takes the place of the older one */
		r->newer[fills] = ~r->newer[fills] & 1;
		which = r->newer[fills] + fills * ROW_LAUNCHES;
	}
	f = &r->function[which & (ROW_FUNCTIONS - 1)];
	f->ip = REG_IP(ctx);
	f->op = cookie & COOKIE_OP;
	f->tally = t->counted_tally;
	f->second = cookie & COOKIE_SECOND ? 1 : 0;
	f->stream_arg = op_args[SLOT(f->op)].stream;
	f->stream = t->beat_stream;
	f->unread = t->beat_skipped;
	if (!fills) {
		r->ip = f->ip;
		r->which = which;
		r->second = f->second;
	}
}

/* More like it may come. */
static __always_inline void begin_row(struct thread *t, struct pt_regs *ctx, __u64 cookie)
{
	struct launch_row *r = row_of(t);

	if (!r || cookie & (COOKIE_STEPPED | COOKIE_IF_NO_DRIVER))
		return;
	join_row(r, t, ctx, cookie);
	arm_row(t, ctx);
}

/* Another call is over, and launches like those before it may come; their stream is read first. */
static __always_inline void resume_row(struct thread *t, struct pt_regs *ctx)
{
	struct launch_row *r = row_of(t);

	if (r && r->serial == t->serial && !is_stale(r, t) && arm_row(t, ctx))
		r->room = 0;
}

/* What is filled is put down, too, if its size and its stream are arguments in registers. */
static __always_inline void resume_filled(struct thread *t, struct pt_regs *ctx, __u64 cookie)
{
	__u64 op = cookie & COOKIE_OP;
	struct launch_row *r = row_of(t);

	if (op >= OP_SLOTS || !r)
		return;
	if (!shapes[SLOT(op)].unit && op_args[SLOT(op)].size == FILL_BYTES &&
	    !(cookie & (COOKIE_STEPPED | COOKIE_IF_NO_DRIVER)) && !is_stale(r, t))
		join_row(r, t, ctx, cookie);
	resume_row(t, ctx);
}

/* ---- any other ---- */

/*
 * An op that is only counted: its duration belongs to the gap that follows. 0: it is not counted. A function of its
 * own, so that what a launch in a row needs lies together. raw_ns: as in a row.
 */
static __noinline int on_count(struct pt_regs *ctx, __u64 raw_ns)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	struct thread *t = caller(cookie);
	__u32 because;
	struct tally *y;

	if (unlikely(!t || op >= OP_SLOTS))
		return 0;
	if (unlikely(
		    launches_hidden())) { /* the breakpoints are on their way out, or not all there yet */
		count(late);
		return 0;
	}
	tick_launch(t, raw_ns + slept_ns);
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
		resume_filled(t, ctx, cookie);
	return 1;
}

/*
 * It returns, and the user wants to know how long it took. That is part of the gap that follows all the same:
 * the accounts of a thread's time do not depend on it.
 */
static __noinline int on_counted(struct pt_regs *ctx, __u64 dur)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	__u64 op = bpf_get_attach_cookie(ctx) & COOKIE_OP;
	struct tally *y;

	if (!t || op >= OP_SLOTS)
		return 0;
	y = tally_in_row(t->tally[SLOT(op)]);
	if (y)
		add_duration(y, dur);
	return 0;
}

#endif
