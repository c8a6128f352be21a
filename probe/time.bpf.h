/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time of a thread as it sees it itself, at its calls: exact to the clock reading. */
#ifndef PROBE_TIME_BPF_H
#define PROBE_TIME_BPF_H

#include "probe/sched.bpf.h"

#define SHORT_NS 50000 /* in so little time the hypervisor takes nothing worth asking for */

static __always_inline void count_now(struct thread *t, struct task_struct *task)
{
	t->now.looks++;
	t->now.counter[COUNTER_minor] = task->min_flt;
	t->now.counter[COUNTER_major] = task->maj_flt;
	t->now.counter[COUNTER_kernel_ns] = task->stime;
}

/*
 * The parts of the time on a CPU, as sums since the thread is followed. Interrupts and the hypervisor
 * tell theirs at moments of their own, so between two looks a part may seem to shrink: then it stays,
 * and the others give. What is added is exactly the time that went by.
 */
static __always_inline void add_parts(struct thread *t, __s64 run, __s64 irq, __s64 steal)
{
	__s64 missing = 0;

	run -= t->seen_run;
	irq -= t->seen_irq;
	steal -= t->seen_steal;
	if (run < 0 || irq < 0 || steal < 0) {
		count(loss[LOSS_late_steal]);
		missing = (run < 0 ? -run : 0) + (irq < 0 ? -irq : 0) + (steal < 0 ? -steal : 0);
		run = run < 0 ? 0 : run;
		irq = irq < 0 ? 0 : irq;
		steal = steal < 0 ? 0 : steal;
		if (run >= missing)
			run -= missing;
		else if (steal >= missing)
			steal -= missing;
		else if (irq >= missing)
			irq -= missing;
		else
			run = steal = irq = 0; /* cannot be: they add up to the time that went by */
	}
	t->seen_run += run;
	t->seen_irq += irq;
	t->seen_steal += steal;
	t->now.sum[t->run_as <= STATE_RECLAIM ? t->run_as : STATE_RUN] += run;
	t->now.sum[STATE_IRQ] += irq;
	t->now.sum[STATE_STEAL] += steal;
}

/* Switches came in between: read the scheduler's sums again, and again if one comes meanwhile. */
static __noinline int retake(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 gen = 0, ns = 0, run = 0, irq = 0, steal = 0, irq_now = 0, steal_now = 0;
	struct lane *lane = this_lane();

	if (!lane || !t)
		return 0;
	if (t->state != STATE_RUN) /* but we run: see there */
		heal(t, task, lane, now_ns());
	for (int try = 0; try < 3; try++) {
		gen = *(volatile __u64 *)&t->gen;
		irq_now = lane->irq_ns;
		steal_now = steal_of(task);
		barrier();
		ns = now_ns();
		for (int i = STATE_PREEMPTED; i < STATE_COUNT; i++)
			t->now.sum[i] = t->sum[i];
		run = ns - t->since;
		/* In the order of advance(). */
		steal = t->steal_base ? steal_now - t->steal_base : 0;
		steal = (__s64)steal < 0 ? 0 : steal > run ? run : steal;
		run -= steal;
		irq = irq_now - t->irq_base;
		irq = irq > run ? run : irq;
		run += t->sum[STATE_RUN] - irq;
		irq += t->sum[STATE_IRQ];
		steal += t->sum[STATE_STEAL];
		if (gen == *(volatile __u64 *)&t->gen)
			break;
	}
	add_parts(t, run, irq, steal);
	t->irq_read = irq_now;
	t->steal_read = steal_now;
	t->now.gen = gen;
	t->now.ns = ns;
	return 0;
}

/*
 * Advance t->now to the present. A uprobe program can be preempted, so it never writes what the
 * scheduler probes write: it reads, and reads again when a switch came in between. Mostly none
 * did since the last event, and then all of the time was spent running.
 */
static __always_inline void advance_now(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 ns = now - t->now.ns, part, steal;
	struct lane *lane = this_lane();

	if (unlikely(!lane || t->now.gen != *(volatile __u64 *)&t->gen || t->state != STATE_RUN)) {
		retake(t);
		return;
	}
	if (unlikely(ns >= SHORT_NS && steal_offset)) {
		steal = steal_of(task);
		part = steal - t->steal_read;
		part = (__s64)part < 0 ? 0 : part > ns ? ns : part;
		t->now.sum[STATE_STEAL] += part;
		t->seen_steal += part;
		t->steal_read = steal;
		ns -= part;
	}
	part = lane->irq_ns - t->irq_read;
	if (unlikely(part)) {
		part = part > ns ? ns : part;
		t->now.sum[STATE_IRQ] += part;
		t->seen_irq += part;
		t->irq_read = lane->irq_ns;
		ns -= part;
	}
	t->now.sum[t->run_as <= STATE_RECLAIM ? t->run_as : STATE_RUN] += ns;
	t->seen_run += ns;
	t->now.ns = now;
}

static __always_inline void tick(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();

	end_row(t);
	count_now(t, task);
	advance_now(t, task, now_ns());
}

/*
 * At a launch that is not in a row. The task's own counters are on cache lines of their own: what they have moved by in a
 * short while is told with the next longer one, or the next call of another kind.
 */
static __always_inline void tick_launch(struct thread *t, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();

	end_row(t);
	if (unlikely(now - t->now.ns >= SHORT_NS))
		count_now(t, task);
	advance_now(t, task, now);
}

/* Without a switch since `to` was taken only these have moved: spare the cache lines. */
static __always_inline void copy_now(struct thread *t, struct snap *to)
{
	if (unlikely(to->gen != t->now.gen)) {
		*to = t->now;
		return;
	}
	to->ns = t->now.ns;
	for (int i = 0; i <= STATE_STEAL; i++)
		to->sum[i] = t->now.sum[i];
	if (likely(to->looks == t->now.looks))
		return;
	to->looks = t->now.looks;
	for (int i = 0; i < COUNTER_COUNT; i++)
		to->counter[i] = t->now.counter[i];
}

#endif
