/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interrupts and the hypervisor: how much of a CPU's time they took, and who is at work when a
 * thread is woken. The task that was interrupted is never the waker.
 */
#ifndef PROBE_IRQ_BPF_H
#define PROBE_IRQ_BPF_H

#include "probe/lib.bpf.h"

/*
 * Per-CPU variables relative to `runqueues`, from the kernel's BTF: a task leads to its runqueue, and
 * so to all of them. 0: this kernel does not have it.
 */
const volatile __s64 preempt_count_offset = 0;
const volatile __s64 steal_offset = 0;

/* A softirq that begins this soon after an interrupt was raised by it. */
#define SOFT_AFTER_NS 3000

enum { SOFT_TIMER = 1, SOFT_NET_TX = 2, SOFT_NET_RX = 3, SOFT_BLOCK = 4, SOFT_HRTIMER = 8 };

struct {
	__uint(type,
	       BPF_MAP_TYPE_ARRAY); /* not PERCPU: a migrating task reads its old CPU's lane */
	__uint(max_entries, 1); /* as many as there are CPUs: set before load */
	__type(key, __u32);
	__type(value, struct lane);
} lanes SEC(".maps");

static __always_inline struct lane *this_lane(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&lanes, &cpu);
}

/* ns since boot in which the hypervisor kept the CPU of `task` from running. */
static __always_inline __u64 steal_of(struct task_struct *task)
{
	__u64 ns = 0;

	if (steal_offset)
		bpf_probe_read_kernel(&ns, sizeof(ns), (void *)task->se.cfs_rq->rq + steal_offset);
	return ns;
}

/* ---- what runs on this CPU ---- */

enum context { IN_TASK, IN_SOFTIRQ, IN_HARDIRQ };

static __always_inline enum context context(struct task_struct *current, const struct lane *lane)
{
	__u32 count = 0;

	if (!preempt_count_offset) /* less sure: interrupts without an event are not seen */
		return lane->irq ? IN_HARDIRQ : lane->softirq ? IN_SOFTIRQ : IN_TASK;
	bpf_probe_read_kernel(&count, sizeof(count),
			      (void *)current->se.cfs_rq->rq + preempt_count_offset);
	if (count & 0xff0000)
		return IN_HARDIRQ;
	return count & 0x100 ? IN_SOFTIRQ : IN_TASK; /* 0x200 is only local_bh_disable() */
}

/* Who wakes somebody on this CPU right now? *irq: the device's number, or -1. */
static __always_inline enum waker waker_of(struct task_struct *current, const struct lane *lane,
					   __s16 *irq)
{
	bool kthread = current->flags & PF_KTHREAD;
	__u32 soft = lane->softirq;

	*irq = -1;
	switch (context(current, lane)) {
	case IN_HARDIRQ:
		if (lane->timer)
			return WAKER_timer;
		*irq = (__s16)lane->irq - 1;
		return lane->irq ? WAKER_irq : WAKER_other;
	case IN_SOFTIRQ:
		if (lane->timer || soft == SOFT_TIMER + 1 || soft == SOFT_HRTIMER + 1)
			return WAKER_timer;
		if (!lane->soft_own) /* else who raised it is not known */
			*irq = (__s16)lane->irq_last - 1;
		if (soft == SOFT_BLOCK + 1)
			return WAKER_block;
		if (soft != SOFT_NET_RX + 1 && soft != SOFT_NET_TX + 1)
			return WAKER_other;
		/* Loopback: the sender does the receiver's work. */
		return lane->soft_own && !kthread ? WAKER_task : WAKER_net;
	default:
		return kthread ? WAKER_kthread : WAKER_task;
	}
}

/* ---- their time ---- */

static __always_inline void irq_enter(struct lane *lane)
{
	if (!lane->irq_depth++)
		lane->irq_start = now_ns();
}

/* The row on this CPU is to know between which of its launches that was. */
static __always_inline void tell_row(const struct lane *lane)
{
	struct cpu_row *here = this_cpu_row();
	struct launch_row *r = &rows[here->row & (ROWS - 1)];

	if (!here->regs || r->irq_n == r->n)
		return;
	r->irq_n = r->n;
	r->irq_before = lane->irq_ns;
}

static __always_inline void irq_leave(struct lane *lane)
{
	bool own = lane->softirq && lane->soft_own;
	__u64 now;

	if (!lane->irq_depth) /* entered before we were attached */
		return;
	if (--lane->irq_depth)
		return;
	now = now_ns();
	tell_row(lane);
	lane->irq_ns += now - lane->irq_start;
	if (own)
		return;
	lane->device_ns += now - lane->irq_start;
	lane->irq_end = now;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_entry, int irq)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane) {
		irq_enter(lane);
		lane->irq = lane->irq_last = irq + 1;
	}
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_exit, int irq)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane) {
		irq_leave(lane);
		lane->irq = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(soft_entry, unsigned int vec)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane) {
		irq_enter(lane);
		lane->soft_own = lane->irq_start - lane->irq_end > SOFT_AFTER_NS;
		lane->softirq = vec + 1;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(soft_exit, unsigned int vec)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane) {
		irq_leave(lane);
		lane->softirq = 0;
	}
	return 0;
}

/* The clock tick is no device: it has events of its own (x86). */
SEC("tp_btf/local_timer_entry")
int BPF_PROG(clock_entry, int vec)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane) {
		irq_enter(lane);
		lane->irq_last = 0;
	}
	return 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(clock_exit, int vec)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane)
		irq_leave(lane);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(timer_entry, void *timer)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane)
		lane->timer = (__u64)timer;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(timer_exit)
{
	struct lane *lane = active ? this_lane() : NULL;

	if (lane)
		lane->timer = 0;
	return 0;
}

#endif
