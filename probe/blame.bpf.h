/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who had the CPU while a thread waited for it: other tasks, interrupts, or nobody. */
#ifndef PROBE_BLAME_BPF_H
#define PROBE_BLAME_BPF_H

#include "probe/irq.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: filled under the runqueue lock */
	__uint(max_entries, BLAMES);
	__type(key, struct blame_key);
	__type(value, struct blame);
} blames SEC(".maps");

static __always_inline void blame(struct thread *t, __u32 cpu, const struct slice *s, __u64 ns)
{
	struct blame_key key = { .serial = t->serial, .pid = s->pid, .cpu = cpu };
	struct blame *b = bpf_map_lookup_elem(&blames, &key);

	if (b) {
		b->ns += ns; /* one victim runs on one CPU at a time: no other writer */
		__builtin_memcpy(b->comm, s->comm, COMM_LEN); /* exec and prctl change names */
	} else {
		struct blame fresh = { .ns = ns };

		__builtin_memcpy(fresh.comm, s->comm, COMM_LEN);
		if (bpf_map_update_elem(&blames, &key, &fresh, BPF_NOEXIST))
			count(loss[LOSS_no_blame]);
	}
}

static __always_inline void remember(struct thread *t, __u32 cpu, const struct slice *s, __u64 end,
				     __u64 ns)
{
	struct wait *w = &t->wait[t->wait_head & (WAITS - 1)];

	w->end = end;
	w->who.pid = s->pid;
	w->who.cpu = cpu;
	w->who.ns = ns;
	__builtin_memcpy(w->who.comm, s->comm, COMM_LEN);
	t->wait_head++;
}

/* The one who had the CPU longest is named with the stop. */
static __always_inline void name_longest(struct stop *stop, const struct slice *s, __u64 ns)
{
	if (s->pid == stop->cpu_pid && stop->cpu_ns) {
		stop->cpu_ns += ns;
	} else if (ns > stop->cpu_ns) {
		stop->cpu_pid = s->pid;
		stop->cpu_ns = ns;
	}
}

struct charge {
	struct thread *t;
	struct lane *lane;
	__u64 from, to;
	__u32 head, cpu;
	bool done;
};

/* bpf_loop(), not a for loop: 128 rounds inlined three times are too many verifier steps. */
static long charge_slice(__u32 i, struct charge *c)
{
	struct slice *s = &c->lane->slice[(c->head - 1 - i) & (SLICES - 1)];
	__u64 begin = s->start, ns, irq;

	if (!begin || c->to <= c->from) {
		c->done = c->to <= c->from;
		return 1;
	}
	if (begin < c->from)
		begin = c->from;
	if (begin < c->to) {
		ns = c->to - begin;
		irq = ns * c->t->irq_part >> 16;
		blame(c->t, c->cpu, s, ns - irq);
		remember(c->t, c->cpu, s, c->to, ns - irq);
		name_longest(&c->t->stop, s, ns - irq);
		c->t->irq_taken += irq;
		c->to = begin;
	}
	if (s->start <= c->from)
		c->done = true;
	return c->done;
}

/*
 * What of the wait that is `ns` long was spent in interrupts, in 1/65536. Slices know nothing of
 * them, so that a switch costs no more; where several had the CPU, each gives its share.
 */
static __always_inline __u64 irq_part(const struct thread *t, const struct lane *lane, __u64 ns)
{
	__u64 irq = t->device_base ? lane->device_ns - t->device_base : 0;

	if ((__s64)irq <= 0)
		return 0;
	return irq < ns ? (irq << 16) / ns : 1 << 16;
}

/* Waits for this CPU from now on. What the interrupt that woke it did before that is not counted. */
static __always_inline void wait_for(struct thread *t, __u32 cpu, __u64 now)
{
	struct lane *lane = bpf_map_lookup_elem(&lanes, &cpu);

	t->stop.cpu = t->cpu = cpu;
	t->device_base = 0;
	if (!lane)
		return;
	t->device_base = lane->device_ns;
	if (lane->irq_depth)
		t->device_base += now - lane->irq_start;
}

static __always_inline void charge_irq(struct charge *c, __u64 end)
{
	struct slice irq = { .pid = PID_IRQ, .comm = "irq" };

	if (!c->t->irq_taken)
		return;
	blame(c->t, c->cpu, &irq, c->t->irq_taken);
	remember(c->t, c->cpu, &irq, end, c->t->irq_taken);
	name_longest(&c->t->stop, &irq, c->t->irq_taken);
}

/* Charge the wait [from, to] of `t` to whoever ran on the CPU where it waited. */
static __always_inline void charge(struct thread *t, __u64 from, __u64 to)
{
	struct charge c = { .t = t, .from = from, .to = to, .cpu = t->cpu };

	if (to - from < CHARGE_MIN_NS)
		return; /* a hand-over, no contention */
	c.lane = bpf_map_lookup_elem(&lanes, &c.cpu);
	if (!c.lane)
		return;
	c.head = c.lane->head;
	/* In the thread's memory, not on the stack: the verifier would follow every value. */
	t->irq_part = irq_part(t, c.lane, to - from);
	t->irq_taken = 0;
	bpf_loop(SLICES, charge_slice, &c, 0);
	charge_irq(&c, to);
	if (!c.done)
		count(loss[LOSS_short_history]);
}

#endif
