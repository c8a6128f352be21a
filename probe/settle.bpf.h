/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of a trace: what goes on at that moment is accounted for, too. Runs when every other
 * program is detached, so nobody else writes what it writes.
 */
#ifndef PROBE_SETTLE_BPF_H
#define PROBE_SETTLE_BPF_H

#include "probe/call.bpf.h"

__u64 settle_ns; /* counting stopped then */

/* t->now at `now`, seen from outside: as retake() would leave it. */
static __always_inline void look_at(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 ns = now - t->since, run = t->sum[STATE_RUN], irq = t->sum[STATE_IRQ];
	__u64 steal = t->sum[STATE_STEAL], more;
	__u32 state = t->state;

	for (int i = STATE_PREEMPTED; i < STATE_COUNT; i++)
		t->now.sum[i] = t->sum[i];
	if (state == STATE_RUN) { /* some of it was told apart already */
		run += ns;
		more = t->seen_irq > irq ? t->seen_irq - irq : 0;
		irq += more;
		run -= more;
		more = t->seen_steal > steal ? t->seen_steal - steal : 0;
		steal += more;
		run -= more;
	}
	add_parts(t, run, irq, steal);
	if (state != STATE_RUN)
		t->now.sum[state < STATE_COUNT ? state : STATE_UNKNOWN] += ns;
	count_now(t, task);
	t->now.gen = t->gen;
	t->now.ns = now;
}

/* A stop that nobody has ended. */
static __always_inline void settle_stop(struct thread *t, __u64 now)
{
	__u32 state = t->state;

	if (state <= STATE_STEAL || state >= STATE_UNKNOWN)
		return;
	if (STATE_RUNNABLE(state))
		charge(t, t->since, now);
	else
		t->stop.wake_ns = now;
	if (STATE_BLOCKED(state))
		t->stop.by = WAKER_nobody;
	t->stop.flags |= STOP_OPEN;
	keep_stop(t, &t->stop, now);
}

/* The call that has not returned, or the gap that no call has ended. */
static __always_inline void settle_span(struct thread *t, struct task_struct *task)
{
	struct span span = { .op = OP_GAP, .from = &t->gap, .aux = OP_SLOTS };
	struct tally *y;

	if (t->depth) {
		span.op = t->frame[0].op;
		span.from = &t->frame[0].at;
		span.frame = &t->frame[0];
		span.aux = 0;
	} else if (!t->in_gap) {
		return;
	} else {
		span.blind = t->gap_era != launch_era || launches_hidden();
	}
	if (span.op >= OP_SLOTS || t->now.ns <= span.from->ns)
		return;
	t->settled = (__u64)task->tgid << 32 | (__u32)task->pid;
	y = tally_of(t, span.op);
	if (!y)
		return;
	if (!t->depth)
		y->calls++;
	finish(t, y, &span);
	t->depth = t->in_gap = 0;
}

SEC("iter/task")
int settle_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;
	__u64 now = settle_ns;

	if (!task || task->flags & PF_EXITING)
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	leave_row(t);
	tell_kernels(t);
	/* The last thing that was seen of it may have come a little later. */
	if (now < t->since)
		now = t->since;
	if (now < t->now.ns)
		now = t->now.ns;
	settle_stop(t, now);
	if (!t->related) {
		look_at(t, task, now);
		settle_span(t, task);
	}
	return 0;
}

#endif
