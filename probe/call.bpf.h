/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every traced library call: one generic enter/return pair, told apart by the attach cookie.
 * Each call is counted in its thread's tally; slow ones also go through the ring, with the share
 * of each scheduler state and the names of those who had the CPU.
 */
#ifndef PROBE_CALL_BPF_H
#define PROBE_CALL_BPF_H

#include "probe/args.bpf.h"
#include "probe/cstack.bpf.h"
#include "probe/kernels.bpf.h"
#include "probe/memory.bpf.h"
#include "probe/nccl.bpf.h"
#include "probe/tally.bpf.h"
#include "probe/tape.bpf.h"
#include "probe/time.bpf.h"

/* Three ways to attach the same code, see src/capture/attach.c: user space loads what it needs. */
extern bool bpf_session_is_return(void) __ksym __weak;
extern __u64 *bpf_session_cookie(void) __ksym __weak; /* kept from the entry to the return */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* processes that map a libcuda, kept by user space */
	__uint(max_entries, TASKS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} with_driver SEC(".maps");

/* ---- sending ---- */

/*
 * Merge the thread's waits that ended after `start` into e->who, largest culprits kept. A global function
 * is verified once, by itself: for each way to come here it would be too much for older kernels.
 */
__noinline int pull_waits(struct thread *t, __u64 start, struct call_event *e)
{
	__u32 n = 0;

	if (!t || !e)
		return 0;
	for (__u32 i = 0; i < WAITS; i++) {
		struct wait *w = &t->wait[(t->wait_head - 1 - i) & (WAITS - 1)];
		bool merged = false;

		if (w->end <= start)
			break;
		for (__u32 j = 0; j < WHO_MAX; j++) {
			if (j < n && e->who[j].pid == w->who.pid && e->who[j].cpu == w->who.cpu) {
				e->who[j].ns += w->who.ns;
				merged = true;
				break;
			}
		}
		if (!merged && n < WHO_MAX) {
			e->who[n & (WHO_MAX - 1)] = w->who;
			n++;
		}
	}
	e->who_count = n;
	return 0;
}

/* A finished call or gap; it ends at t->now. */
struct span {
	__u32 op;
	__u32 depth;
	__s64 ret;
	const struct snap *from;
	const struct frame *frame; /* NULL: a gap, or an op that is only counted */
	__u64 aux; /* of a gap */
	__u64 usual_ns;
	bool blind; /* a gap that may hide launches: longer than those between two calls */
};

static __noinline int send(struct thread *t, const struct span *span, __u32 because)
{
	__u64 pid_tgid = t->settled ? t->settled : bpf_get_current_pid_tgid();
	__u64 stack = t->settled ? NO_STACK_not_looked : current_stack(WALK_CALL);
	__u64 begin = now_ns();
	struct call_event *e;

	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e)
		return -1;
	__builtin_memset(e, 0, sizeof(*e));
	e->size = sizeof(*e);
	e->op = span->op;
	e->serial = t->serial;
	e->pid = pid_tgid >> 32;
	e->tid = pid_tgid;
	e->ret = span->ret;
	e->because = because;
	e->depth = span->depth;
	e->start_ns = span->from->ns;
	e->dur_ns = t->now.ns - span->from->ns;
	e->aux = span->aux;
	e->stack = t->stack = stack;
	e->usual_ns = span->usual_ns;
	if (span->frame) {
		e->site = span->frame->site;
		e->bytes = span->frame->bytes;
		e->stream = span->frame->stream;
		e->aux = span->frame->aux;
		if (span->frame->out)
			bpf_probe_read_user(&e->out, sizeof(e->out), (void *)span->frame->out);
	}
	for (int i = 0; i < STATE_COUNT; i++)
		e->state_ns[i] = t->now.sum[i] - span->from->sum[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		e->counter[i] = t->now.counter[i] - span->from->counter[i];
	pull_waits(t, span->from->ns, e);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP); /* the reader polls: a wake-up costs the caller */
	spend(record_ns, begin);
	return 0;
}

/*
 * Where a program waits for the GPU is asked of each line that does: these calls are fewer than launches,
 * and a few seconds of them have to tell.
 */
#define SYNCS_SAMPLED 256

static __always_inline bool sampled(const struct tally *y, __u32 op)
{
	__u64 sync = op == OP_GAP ? CLASS_GAP ^ CLASS_SYNC : op_classes[SLOT(op)] ^ CLASS_SYNC,
	      mask = sample_every - 1;

	/* Without a branch: what follows would be verified for each of two. */
	sync = (sync - 1) >> 63; /* 1 or 0 */
	return !(y->done & (mask & ~(sync * ~(SYNCS_SAMPLED - 1ull))));
}

/* u: NULL if it is short enough not to be asked for. */
static __always_inline __u32 worth_sending(const struct tally *y, __u32 op, const struct usual *u,
					   __u64 dur, __s64 ret)
{
	__u32 because = 0;

	if (record_all)
		because |= BECAUSE_ALL;
	if (u && dur >= slow_ns && u->n < USUAL_MIN)
		because |= BECAUSE_COLD;
	else if (u && dur >= slow_ns && dur >= 3 * u->ns)
		because |= BECAUSE_SLOW;
	if (y->done == 1 && op != OP_GAP)
		because |= BECAUSE_FIRST;
	if (sampled(y, op))
		because |= BECAUSE_SAMPLED;
	if (ret && y->errors < 64)
		because |= BECAUSE_FAILED;
	return because;
}

/* Was it sent? */
static __always_inline bool settle(struct thread *t, struct tally *y, const struct span *span,
				   __u32 because)
{
	if (likely(!because)) {
		y->summed++;
		return false;
	}
	if (send(t, span, because)) {
		y->dropped++;
		return false;
	}
	y->sent++;
	return true;
}

/* Of the time since `from`: on no CPU. */
static __always_inline __u64 waited(const struct thread *t, const struct snap *from)
{
	__u64 ns = t->now.ns - from->ns;

	for (int i = 0; i <= STATE_STEAL; i++)
		ns -= t->now.sum[i] - from->sum[i];
	return ns;
}

#define LEARN_EVERY 8

/*
 * Nearly all gaps are those inside a run of equal launches. Their usual length is learned from some of
 * them, which the clock draws: none is preferred, and the others need not look for it.
 */
static __always_inline bool drawn(const struct thread *t, const struct span *span)
{
	return span->frame || t->gap_after != span->aux || span->blind ||
	       !(t->now.ns & (LEARN_EVERY - 1));
}

/* A timed span is over: count all of it, send it if it deserves a row of its own. Was it sent? */
static __always_inline bool finish(struct thread *t, struct tally *y, struct span *span)
{
	const struct snap *from = span->from;
	__u64 dur = t->now.ns - from->ns, slow;
	struct usual *u = NULL;
	__u32 because;

	y->done++;
	y->total_ns += dur;
	if (dur > y->max_ns)
		y->max_ns = dur;
	if (!span->blind)
		y->hist[hist_bucket(dur) & (HIST_BUCKETS - 1)]++;
	if (span->ret)
		y->errors++;
	if (!span->depth) {
		__u64 run = t->now.sum[STATE_RUN] - from->sum[STATE_RUN];
		int last = from->gen == t->now.gen ? STATE_STEAL + 1 : STATE_COUNT;

		y->state_ns[STATE_RUN] += run;
		if (unlikely(run != dur))
			for (int i = STATE_RUN + 1; i < STATE_COUNT && i < last; i++)
				y->state_ns[i] += t->now.sum[i] - from->sum[i];
		for (int i = 0; from->looks != t->now.looks && i < COUNTER_COUNT; i++)
			y->counter[i] += t->now.counter[i] - from->counter[i];
	}
	if (span->frame)
		u = usual_of(t, span->op, span->frame->bytes, span->frame->site);
	else if (dur >= slow_ns || drawn(t, span))
		u = usual_of(t, span->op, span->blind ? 2 : 0, /* a kind of its own */
			     (__u64)t->gap_after << 16 | span->aux);
	/* Where launches may be hidden, nobody knows what a thread that ran has done: waiting is told. */
	slow = span->blind ? waited(t, from) : dur;
	because = worth_sending(y, span->op, u, slow, span->ret);
	/* Where launches are hidden to the end, nobody knows whether it made any. */
	if (t->settled && dur >= slow_ns && !(span->blind && launches_hidden()))
		because |= BECAUSE_OPEN;
	span->usual_ns = u && u->n >= USUAL_MIN ? u->ns : 0;
	if (u && drawn(t, span))
		learn(u, slow);
	return settle(t, y, span, because);
}

/* ---- events ---- */

/* The thread that called, followed from now on if it was not. NULL: not to be counted. */
static __always_inline struct thread *caller(__u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct lane *lane;

	if (unlikely(stopped))
		return NULL;
	if (unlikely(cookie & COOKIE_STEPPED))
		count(stepped);
	if (unlikely(cookie & COOKIE_IF_NO_DRIVER)) {
		__u32 pid = task->tgid;

		if (bpf_map_lookup_elem(&with_driver, &pid))
			return NULL;
	}
	if (unlikely(!wanted(task))) { /* even if it is followed, as the child of one that is */
		count(foreign);
		return NULL;
	}
	if (likely(t))
		return t;
	t = thread_adopt(task, STATE_RUN, false);
	lane = this_lane();
	if (t && lane) { /* what its CPU has counted so far is not its own */
		t->irq_base = lane->irq_ns;
		t->steal_base = steal_of(task);
	}
	return t;
}

/* The time since the last call of this thread, now that the next one begins. */
static __always_inline void close_gap(struct thread *t, __u32 next_op)
{
	struct span span = { .op = OP_GAP, .from = &t->gap, .aux = next_op };
	struct tally *y;

	t->gap_wait_ns = 0;
	if (unlikely(!t->in_gap))
		return;
	if (unlikely(t->gap.gen != t->now.gen))
		t->gap_wait_ns = waited(t, &t->gap);
	span.blind = t->gap_era != launch_era || launches_hidden();
	y = tally_of(t, OP_GAP);
	if (y) {
		y->calls++;
		finish(t, y, &span);
	}
	t->in_gap = 0;
}

static __always_inline void open_gap(struct thread *t, __u32 op)
{
	t->gap_after = op;
	t->gap_era = launch_era;
	copy_now(t, &t->gap);
	t->in_gap = 1;
}

/* Calls left by longjmp never return; the stack pointer tells. */
static __always_inline void drop_dead_frames(struct thread *t, __u64 sp)
{
	for (int i = 0; i < DEPTH; i++) {
		__u32 top = t->depth - 1;

		if (!t->depth || top >= DEPTH || t->frame[index_below(top, DEPTH)].sp > sp)
			return;
		t->depth = top;
		count(loss[LOSS_no_return]);
	}
}

#define CONFIG_STREAM 32 /* in CUlaunchConfig and cudaLaunchConfig_t, which the first argument is */

static __always_inline struct work_on launched_on(struct pt_regs *ctx, __u32 op)
{
	__u64 reg[8] = REG_ARGS(ctx), stream = STREAM_PER_THREAD;

	if (op >= OP_SLOTS)
		return on_stream(stream);
	if (op_args[SLOT(op)].stream)
		stream = argument(reg, REG_SP(ctx), op_args[SLOT(op)].stream);
	else if (bpf_probe_read_user(&stream, sizeof(stream), (void *)(reg[1] + CONFIG_STREAM)))
		stream = STREAM_PER_THREAD; /* not known */
	return on_stream(stream);
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
	work = launched_on(ctx, op);
	t->beat_stream = work.stream;
	t->beat_skipped = 0;
	return work;
}

/* Out of line: the stack of a launch is used to its limit where one is sent. */
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

/* What an op that is only counted leaves for its return, if that is looked at: whose account, and when. */
#define TICKET_NS_BITS 50

static __always_inline __u64 ticket_of(const struct thread *t)
{
	return (__u64)t->counted_tally << TICKET_NS_BITS |
	       (t->now.ns & ((1ull << TICKET_NS_BITS) - 1));
}

/* An op that is only counted: its duration belongs to the gap that follows. 0: it is not counted. */
static __always_inline __u64 on_count(struct pt_regs *ctx)
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
	tick_launch(t);
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
		__u64 reg[8] = REG_ARGS(ctx), sp = REG_SP(ctx);
		struct frame *frame = &t->counted;
		struct span span = { .op = op, .depth = t->depth, .frame = frame, .from = &t->now };

		if (COOKIE_CLASS(cookie) != CLASS_FILL)
			frame->bytes = 0;
		frame->stream = argument(reg, sp, op_args[SLOT(op)].stream);
		frame->aux = argument(reg, sp, op_args[SLOT(op)].aux);
		frame->site = return_address(ctx);
		if (settle(t, y, &span, because))
			tell_c_stack(ctx, op, frame->site, t->stack, true);
	} else {
		y->summed++;
	}
	return ticket_of(t);
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

static __always_inline int on_enter(struct pt_regs *ctx)
{
	/* 64 bits: the verifier loses the bound of a narrower one */
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	struct thread *t = caller(cookie);
	__u64 reg[8] = REG_ARGS(ctx), sp = REG_SP(ctx);
	struct tally *y;
	struct frame *f;
	__u32 depth;

	if (!t || op >= OP_SLOTS)
		return 0;
	tick(t);
	if (t->depth)
		drop_dead_frames(t, sp);
	depth = t->depth;
	if (!depth)
		close_gap(t, op);
	y = tally_of(t, op);
	if (!y)
		return 0;
	y->calls++;
	if (depth >= DEPTH) {
		y->nested++;
		count(loss[LOSS_too_deep]);
		return 0;
	}
	f = &t->frame[depth];
	f->sp = sp;
	f->op = op;
	f->bytes = argument(reg, sp, op_args[SLOT(op)].size);
	f->stream = argument(reg, sp, op_args[SLOT(op)].stream);
	f->aux = argument(reg, sp, op_args[SLOT(op)].aux);
	f->out = argument(reg, sp, op_args[SLOT(op)].out);
	if (shapes[SLOT(op)].unit)
		take_shape(ctx, op, f);
	if (memory_role[SLOT(op)] & ROLE_FREES)
		memory_freed(t, f);
	if (nccl_args[SLOT(op)].kind)
		nccl_enter(t, f, reg);
	y->bytes += f->bytes;
	if (depth) {
		y->nested++;
		y->nested_bytes += f->bytes;
	}
	copy_now(t, &f->at);
	t->depth = depth + 1;
	return 0;
}

static __always_inline int on_return(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	struct thread *t = thread_of(bpf_get_current_task_btf());
	__u64 sp = REG_SP(ctx) - RETURN_POPS;
	struct span span = {};
	struct tally *y;
	__u32 depth;

	if (!t || op >= OP_SLOTS)
		return 0;
	tick(t);
	drop_dead_frames(t, sp - 1); /* those deeper than the one that returns */
	depth = t->depth - 1;
	if (depth >= DEPTH || t->frame[depth].op != op || t->frame[depth].sp != sp) {
		/*
		 * Entered before we attached or after we stopped, or a forked child's copy; or one that
		 * is looked at in the driver.
		 */
		if (!stopped && !(cookie & COOKIE_IF_NO_DRIVER))
			count(loss[LOSS_no_entry]);
		return 0;
	}
	t->depth = depth;
	t->frame[depth].site = REG_IP(ctx); /* where it returns to: free here, dear at entry */
	span.op = op;
	span.depth = depth;
	span.ret = (__s32)REG_RET(ctx);
	span.frame = &t->frame[depth];
	span.from = &t->frame[depth].at;
	y = tally_of(t, op);
	memory_return(t, span.frame, op, span.ret);
	if (names_kernel(op) && !span.ret)
		tell_kernel_name(span.frame, op);
	if (y && finish(t, y, &span))
		tell_c_stack(ctx, op, span.frame->site, t->stack, false);
	if (nccl_args[SLOT(op)].kind)
		nccl_return(t, &t->frame[depth], span.ret);
	else if (nccl_active && !depth && waits_for_device(op))
		nccl_sync(t, &t->frame[depth]);
	if (!depth) {
		__u32 way = op_classes[SLOT(op)] == CLASS_COPY ? span.frame->aux & 7 : 0;

		open_gap(t, op);
		if (op_classes[SLOT(op)] == CLASS_HANDLE)
			return 0;
		if (launches_hidden() && op_classes[SLOT(op)] == CLASS_SYNC)
			t->beat_op = OP_SLOTS; /* one is told from the next by what is hidden */
		beat(t, op | way << 16, span.from->ns, t->now.ns - span.from->ns,
		     on_stream(span.frame->stream));
	}
	return 0;
}

SEC("uprobe")
int call_count(struct pt_regs *ctx)
{
	on_count(ctx);
	return 0;
}

SEC("uprobe")
int call_enter(struct pt_regs *ctx)
{
	return on_enter(ctx);
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx)
{
	return on_return(ctx);
}

SEC("uprobe")
int count_session(struct pt_regs *ctx)
{
	__u64 *ticket = bpf_session_cookie(), alone = shed_returns;

	if (*ticket) /* 0 at entry: that spares asking which it is */
		return on_counted(*ticket);
	*ticket = on_count(ctx);
	if (unlikely(!*ticket))
		return 1; /* its return is left alone */
	asm volatile("%0 &= 1" : "+r"(alone)); /* clang knows, the verifier does not */
	return alone;
}

SEC("uprobe")
int call_session(struct pt_regs *ctx)
{
	return bpf_session_is_return() ? on_return(ctx) : on_enter(ctx);
}

#endif
