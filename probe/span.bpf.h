/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A piece of a thread's time, a call or the gap between two, is over: all of it is counted in its tally, and
 * sent through the ring if it deserves a row of its own, with the share of each scheduler state and the names
 * of those who had the CPU.
 */
#ifndef PROBE_SPAN_BPF_H
#define PROBE_SPAN_BPF_H

#include "probe/cstack.bpf.h"
#include "probe/tally.bpf.h"
#include "probe/time.bpf.h"

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

static __always_inline bool drawn(const struct thread *t, const struct span *span)
{
	return span->frame || t->gap_after != span->aux || span->blind || clock_draws(t->now.ns);
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

#endif
