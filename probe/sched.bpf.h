/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exact time of every thread that we follow: which state it was in, and who had the CPU while it
 * waited for one. No event is sent; calls read the sums (call.bpf.c), user space reads the blame.
 */
#ifndef PROBE_SCHED_BPF_H
#define PROBE_SCHED_BPF_H

#include "probe/lib.bpf.h"

struct {
	__uint(type,
	       BPF_MAP_TYPE_ARRAY); /* not PERCPU: a migrating task reads its old CPU's lane */
	__uint(max_entries, 1); /* as many as there are CPUs: set before load */
	__type(key, __u32);
	__type(value, struct lane);
} lanes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: filled under the runqueue lock */
	__uint(max_entries, BLAMES);
	__type(key, struct blame_key);
	__type(value, struct blame);
} blames SEC(".maps");

/* Add what happened since the last transition to the state that it was spent in. */
static __always_inline void advance(struct thread *t, __u64 now)
{
	__u32 state = t->state;

	t->sum[state < STATE_COUNT ? state : STATE_UNKNOWN] += now - t->since;
	t->since = now;
}

/* ---- who had the CPU ---- */

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
	__u64 begin = s->start;

	if (!begin || c->to <= c->from) {
		c->done = c->to <= c->from;
		return 1;
	}
	if (begin < c->from)
		begin = c->from;
	if (begin < c->to) {
		blame(c->t, c->cpu, s, c->to - begin);
		remember(c->t, c->cpu, s, c->to, c->to - begin);
		c->to = begin;
	}
	if (s->start <= c->from)
		c->done = true;
	return c->done;
}

/* Charge the wait [from, to] of `t` to whoever ran on the CPU where it waited. */
static __always_inline void charge(struct thread *t, __u64 from, __u64 to)
{
	struct charge c = { .t = t, .from = from, .to = to, .cpu = t->cpu };

	c.lane = bpf_map_lookup_elem(&lanes, &c.cpu);
	if (!c.lane)
		return;
	c.head = c.lane->head;
	bpf_loop(SLICES, charge_slice, &c, 0);
	if (!c.done)
		count(loss[LOSS_short_history]);
}

/* ---- switches that were not reported ---- */

/* When a running task got its CPU, by the scheduler's own note, on our clock; 0: not known. */
static __always_inline __u64 arrival(struct task_struct *task, __u64 now)
{
	__u64 clock, at;

	if (!bpf_core_field_exists(task->sched_info) || !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	clock = BPF_CORE_READ(task, se.cfs_rq, rq, clock);
	at = BPF_CORE_READ(task, sched_info.last_arrival);
	return clock && at && at <= clock ? now - (clock - at) : 0;
}

/*
 * The thread runs, but we hold it for waiting: its switch-in was not reported. What came before its
 * arrival stays what it was, if that can be; since then it has been running. The runqueue's clock
 * may be one tick old, so the arrival may be that much too late.
 */
static __always_inline void heal(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 at = arrival(task, now);

	if (t->state == STATE_UNKNOWN) {
		at = t->since; /* adopted while it ran: nothing was missed */
	} else {
		count(loss[LOSS_lost_state]);
		if (!at || !STATE_RUNNABLE(t->state))
			t->state =
				STATE_UNKNOWN; /* nobody said when it was woken, or when it came */
		if (!at || at > now)
			at = now;
		if (at < t->since)
			at = t->since;
		if (STATE_RUNNABLE(t->state))
			charge(t, t->since, at);
	}
	advance(t, at);
	t->gen++;
	barrier();
	t->state = STATE_RUN;
}

/* ---- transitions ---- */

/* Did the scheduler take the CPU away because of a quota? */
static __always_inline bool throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return BPF_CORE_READ(task, throttled);
	return BPF_CORE_READ(task, se.cfs_rq, throttle_count);
}

static __always_inline __u32 state_after(struct task_struct *prev, bool preempt, __u32 prev_state)
{
	__u32 live;

	if (preempt || !prev_state)
		return throttled(prev) ? STATE_THROTTLED : STATE_PREEMPTED;
	/* A waker, or a pending signal, can come between deactivation and this event. */
	live = prev->__state;
	if (live == TASK_WAKING)
		return STATE_WAKE;
	return live ? STATE_BLOCKED : STATE_PREEMPTED;
}

static __always_inline void leave(struct thread *t, struct task_struct *task, __u64 now, __u32 cpu,
				  __u32 state)
{
	if (t->state != STATE_RUN)
		heal(t, task, now);
	advance(t, now);
	t->gen++;
	t->cpu = cpu;
	barrier();
	t->state = state; /* last: a waker on another CPU looks at it */
}

static __always_inline void arrive(struct thread *t, __u64 now)
{
	__u32 state = t->state;

	if (state == STATE_RUN) { /* its switch-out was not reported */
		count(loss[LOSS_lost_state]);
		t->state = state = STATE_UNKNOWN;
	} else if (state == STATE_BLOCKED && t->early) {
		t->state = state = STATE_WAKE; /* the wake-up overtook the switch-out */
	}
	if (STATE_RUNNABLE(state))
		charge(t, t->since, now);
	advance(t, now);
	t->gen++;
	t->early = 0;
	barrier();
	t->state = STATE_RUN;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lane *lane;
	struct thread *t;
	struct slice *s;
	__u64 now;

	if (!active)
		return 0;
	lane = bpf_map_lookup_elem(&lanes, &cpu);
	if (!lane)
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (lane->last_next != (__u64)prev && lane->last_next)
		count(loss[LOSS_missed_switch]);
	lane->last_next = (__u64)next;

	t = thread_of(prev);
	if (t)
		leave(t, prev, now, cpu, state_after(prev, preempt, prev_state));
	t = thread_of(next);
	if (t)
		arrive(t, now);

	s = &lane->slice[lane->head & (SLICES - 1)];
	s->start = now;
	s->pid = next->tgid;
	s->tid = next->pid;
	copy_comm(s->comm, next);
	lane->head++;
	return 0;
}

/* sched_waking, not sched_wakeup: that one comes late, on the target's CPU. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct thread *t;
	__u64 now;

	if (!active)
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (t->state == STATE_RUN) {
		t->early = now;
		return 0;
	}
	if (t->state == STATE_BLOCKED || t->state == STATE_UNKNOWN) {
		advance(t, now);
		t->cpu = task->wake_cpu;
		barrier();
		t->state = STATE_WAKE;
	}
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate, struct task_struct *task, int dest_cpu)
{
	struct thread *t;
	__u64 now;

	if (!active)
		return 0;
	t = thread_of(task);
	if (!t || t->state == STATE_RUN)
		return 0;
	/* Inside a wake-up (not on a queue yet) only the CPU changes. */
	if (t->state == STATE_PREEMPTED || (t->state == STATE_WAKE && task->on_rq)) {
		now = bpf_ktime_get_boot_ns();
		charge(t, t->since, now);
		advance(t, now);
	}
	t->cpu = dest_cpu;
	return 0;
}

/* ---- which threads ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_fork, struct task_struct *parent, struct task_struct *child)
{
	if (active && thread_of(parent))
		thread_adopt(child, STATE_WAKE);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_new, struct task_struct *task)
{
	struct thread *t;

	if (!active)
		return 0;
	t = thread_of(task);
	if (t) {
		t->since = bpf_ktime_get_boot_ns();
		t->cpu = task->wake_cpu;
	}
	return 0;
}

static __always_inline void note_exit(struct thread *t, struct task_struct *task)
{
	struct task_info *info = bpf_map_lookup_elem(&tasks, &t->serial);

	if (info) {
		copy_comm(info->comm, task); /* its last name: after exec and renames */
		info->exited_ns = bpf_ktime_get_boot_ns();
	}
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_exit, struct task_struct *task)
{
	struct thread *t = active ? thread_of(task) : NULL;

	if (t)
		note_exit(t, task);
	return 0;
}

/* Threads that existed before their process made its first call. */
__u32 adopt_pid;

SEC("iter/task")
int adopt_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task || (__u32)task->tgid != adopt_pid || task->flags & PF_EXITING || thread_of(task))
		return 0;
	t = thread_adopt(task, STATE_UNKNOWN);
	/* It may have passed its exit event while we looked: then nobody else would note it. */
	if (t && task->flags & PF_EXITING)
		note_exit(t, task);
	return 0;
}

#endif
