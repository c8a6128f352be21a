/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time of a thread as it sees it itself, at its calls: exact to the clock reading. */
#ifndef PROBE_TIME_BPF_H
#define PROBE_TIME_BPF_H

#include "probe/sched.bpf.h"

#define SHORT_NS 20000 /* in so little time the hypervisor takes nothing worth asking for */

static __always_inline void count_now(struct thread *t, struct task_struct *task)
{
	t->now.counter[COUNTER_minor] = task->min_flt;
	t->now.counter[COUNTER_major] = task->maj_flt;
	t->now.counter[COUNTER_kernel_ns] = task->stime;
}

/* Switches came in between: read the scheduler's sums again, and again if one comes meanwhile. */
static __noinline int retake(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 gen = 0, ns = 0, run = 0, irq = 0, steal = 0, part;
	struct lane *lane = this_lane();

	if (!lane || !t)
		return 0;
	if (t->state != STATE_RUN) /* but we run: see there */
		heal(t, task, lane, bpf_ktime_get_boot_ns());
	for (int try = 0; try < 3; try++) {
		gen = *(volatile __u64 *)&t->gen;
		irq = lane->irq_ns;
		steal = steal_of(task);
		barrier();
		ns = bpf_ktime_get_boot_ns();
		for (int i = STATE_IRQ; i < STATE_COUNT; i++)
			t->now.sum[i] = t->sum[i];
		run = ns - t->since;
		part = steal - t->steal_base; /* in the order of advance() */
		part = (__s64)part < 0 ? 0 : part > run ? run : part;
		t->now.sum[STATE_STEAL] += part;
		run -= part;
		part = irq - t->irq_base;
		part = part > run ? run : part;
		t->now.sum[STATE_IRQ] += part;
		run += t->sum[STATE_RUN] - part;
		if (gen == *(volatile __u64 *)&t->gen)
			break;
	}
	if (run >= t->run_seen) {
		t->now.sum[t->run_as <= STATE_RECLAIM ? t->run_as : STATE_RUN] += run - t->run_seen;
		t->run_seen = run;
	} else { /* told late that some of what we took for running was not */
		t->now.sum[STATE_STEAL] -= t->run_seen - run;
		count(loss[LOSS_late_steal]);
	}
	t->irq_seen = irq;
	t->steal_seen = steal;
	t->now.gen = gen;
	t->now.ns = ns;
	return 0;
}

/*
 * Advance t->now to the present. A uprobe program can be preempted, so it never writes what the
 * scheduler probes write: it reads, and reads again when a switch came in between. Mostly none
 * did since the last event, and then all of the time was spent running.
 */
static __always_inline void tick(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_boot_ns(), ns = now - t->now.ns, part, steal;
	struct lane *lane = this_lane();

	count_now(t, task);
	if (!lane || t->now.gen != *(volatile __u64 *)&t->gen || t->state != STATE_RUN) {
		retake(t);
		return;
	}
	if (ns >= SHORT_NS && steal_offset) {
		steal = steal_of(task);
		part = steal - t->steal_seen;
		part = (__s64)part < 0 ? 0 : part > ns ? ns : part;
		t->now.sum[STATE_STEAL] += part;
		t->steal_seen = steal;
		ns -= part;
	}
	part = lane->irq_ns - t->irq_seen;
	if (part) {
		part = part > ns ? ns : part;
		t->now.sum[STATE_IRQ] += part;
		t->irq_seen = lane->irq_ns;
		ns -= part;
	}
	t->now.sum[t->run_as <= STATE_RECLAIM ? t->run_as : STATE_RUN] += ns;
	t->run_seen += ns;
	t->now.ns = now;
}

/* Without a switch since `to` was taken only these have moved: spare the cache lines. */
static __always_inline void copy_now(struct thread *t, struct snap *to)
{
	if (to->gen != t->now.gen) {
		*to = t->now;
		return;
	}
	to->ns = t->now.ns;
	for (int i = 0; i <= STATE_STEAL; i++)
		to->sum[i] = t->now.sum[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		to->counter[i] = t->now.counter[i];
}

#endif
