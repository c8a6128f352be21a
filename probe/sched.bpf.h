/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exact time of every thread that we follow: which state it was in, and who had the CPU while it
 * waited for one. No event is sent; calls read the sums (call.bpf.c), user space reads the blame.
 */
#ifndef PROBE_SCHED_BPF_H
#define PROBE_SCHED_BPF_H

#include "probe/blame.bpf.h"
#include "probe/block.bpf.h"
#include "probe/python.bpf.h"
#include "probe/row.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* read without system calls */
	__uint(max_entries, 1); /* CPUs * history_size: set before load */
	__type(key, __u32);
	__type(value, struct stop);
} history SEC(".maps");

/* How many stops each CPU has written; a cache line each. */
struct history_head {
	__u64 count;
	__u64 writing; /* by somebody who was interrupted */
	__u64 pad[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct history_head);
} history_heads SEC(".maps");

/*
 * Add what happened since the last transition to the state that it was spent in. What interrupts and
 * the hypervisor took of it is theirs; `steal` was read before `now`, so that it lies inside.
 */
static __always_inline void advance(struct thread *t, const struct lane *lane, __u64 now,
				    __u64 steal)
{
	__u32 state = t->state;
	__u64 ns = now - t->since, part;

	if ((__s64)ns < 0) /* two CPUs' clocks */
		ns = 0;
	t->since += ns;
	if (state <= STATE_WAKE) {
		part = t->steal_base ? steal - t->steal_base : 0;
		if ((__s64)part < 0)
			part = 0;
		if (part > ns)
			part = ns;
		t->sum[STATE_STEAL] += part;
		ns -= part;
		t->steal_base = steal;
	}
	if (STATE_ON_CPU(state) && lane) {
		part = lane->irq_ns - t->irq_base;
		if (part > ns)
			part = ns;
		t->sum[STATE_IRQ] += part;
		ns -= part;
		t->irq_base = lane->irq_ns;
	}
	t->sum[state < STATE_COUNT ? state : STATE_UNKNOWN] += ns;
}

/* The stop is over: keep it where user space can read it. */
static __always_inline void keep_stop(struct thread *t, struct stop *stop, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct history_head *head;
	struct stop *slot;

	if (!(stop->flags & STOP_SAMPLE)) {
		if (now - stop->from_ns < STOP_MIN_NS && !t->timed_out)
			return;
		t->timed_out = stop->state == STATE_FUTEX && stop->by == WAKER_timer;
	}
	head = bpf_map_lookup_elem(&history_heads, &cpu);
	if (!head)
		return;
	if (head->writing) {
		count(loss[LOSS_history]);
		return;
	}
	at = cpu * history_size + (head->count & (history_size - 1));
	slot = bpf_map_lookup_elem(&history, &at);
	if (!slot)
		return;
	*(volatile __u64 *)&head->writing = 1;
	barrier();
	stop->run_ns = 0;
	stop->serial = t->serial;
	*slot = *stop;
	barrier();
	slot->run_ns = now;
	barrier();
	head->count++;
	*(volatile __u64 *)&head->writing = 0;
}

/* ---- switches that were not reported ---- */

/* When a running task got its CPU, by the scheduler's own note, on our clock; 0: not known. */
static __always_inline __u64 arrival(struct task_struct *task, __u64 now)
{
	__u64 clock, at;

	if (!bpf_core_field_exists(task->sched_info) || !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	clock = task->se.cfs_rq->rq->clock;
	at = task->sched_info.last_arrival;
	return clock && at && at <= clock ? now - (clock - at) : 0;
}

/*
 * The thread runs, but we hold it for waiting: its switch-in was not reported. What came before its
 * arrival stays what it was, if that can be; since then it has been running. The runqueue's clock
 * may be one tick old, so the arrival may be that much too late.
 */
static __always_inline void heal(struct thread *t, struct task_struct *task, struct lane *lane,
				 __u64 now)
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
		t->stop.flags |= STOP_HEALED;
		keep_stop(t, &t->stop, at);
	}
	advance(t, NULL, at, t->steal_base);
	t->irq_base = lane ? lane->irq_ns : 0;
	t->steal_base = steal_of(task);
	t->gen++;
	barrier();
	t->state = STATE_RUN;
}

/* ---- transitions ---- */

/* Did the scheduler take the CPU away because of a quota? */
static __always_inline bool throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	return task->se.cfs_rq->throttle_count;
}

/* The group's own account of the time that it was stopped; 0: this kernel keeps none. */
static __always_inline __u64 throttled_time(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct cfs_rq, throttled_clock_self_time))
		return 0;
	return task->se.cfs_rq->throttled_clock_self_time;
}

static __always_inline __u32 state_after(struct thread *t, struct task_struct *prev, bool preempt,
					 __u32 prev_state)
{
	__u32 live;

	if (preempt || !prev_state)
		return throttled(prev) ? STATE_THROTTLED : STATE_PREEMPTED;
	/* A waker, or a pending signal, can come between deactivation and this event. */
	live = prev->__state;
	if (live == TASK_WAKING)
		return STATE_WAKE;
	return live ? blocked_on(t, prev, prev_state) : STATE_PREEMPTED;
}

/* The traced call that the thread is in, or the gap between two. */
static __always_inline __u16 place_of(const struct thread *t)
{
	return t->depth ? t->frame[0].op : t->in_gap ? OP_GAP : OP_SLOTS;
}

static __always_inline void begin_stop(struct thread *t, __u64 now)
{
	struct stop *stop = &t->stop;

	stop->from_ns = stop->wake_ns = now;
	stop->waker = stop->waker_pid = stop->waker_serial = 0;
	stop->by = WAKER_nobody;
	stop->irq = stop->nr = -1;
	stop->op = place_of(t);
	stop->obj = stop->obj2 = 0;
	stop->fd = -1;
	stop->flags = 0;
	stop->stack = stop->holder = stop->holder_stack = 0;
	stop->cpu_pid = 0;
	stop->cpu_ns = 0;
	t->epoll = t->sock = 0;
}

/* One moment on one CPU: all transitions of a switch use the same clock reading. */
struct moment {
	struct lane *lane;
	__u64 now, steal;
};

static __always_inline void leave(struct thread *t, struct task_struct *task,
				  const struct moment *at, bool preempt, __u32 prev_state)
{
	struct lane *lane = at->lane;
	__u64 now = at->now;
	__u32 state;

	if (t->state != STATE_RUN)
		heal(t, task, lane, now);
	advance(t, lane, now, at->steal);
	begin_stop(t, now);
	state = state_after(t, task, preempt, prev_state);
	t->gen++;
	t->cpu = t->stop.cpu = bpf_get_smp_processor_id();
	t->device_base = lane->device_ns;
	t->stop.state = state;
	if (state == STATE_THROTTLED)
		t->throttled_base = throttled_time(task);
	if (stacks) {
		t->stop.stack = NO_STACK_no_python;
		if (t->no_python != layouts + 1)
			look_at_stop(t, now);
	}
	barrier();
	t->state = state; /* last: a waker on another CPU looks at it */
}

/* Of the time since a quota stopped it, what the group was not stopped for is queueing. */
static __always_inline void end_throttle(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 stopped = throttled_time(task) - t->throttled_base, ns = now - t->since;

	if (!t->throttled_base || !stopped || stopped >= ns)
		return;
	t->sum[STATE_THROTTLED] += stopped;
	t->since += stopped;
	t->stop.wake_ns = t->since;
	t->state = STATE_PREEMPTED;
	t->steal_base = t->device_base = 0; /* are from before */
}

static __always_inline void arrive(struct thread *t, struct task_struct *task,
				   const struct moment *at)
{
	__u32 state = t->state;
	__u64 now = at->now;

	if (state == STATE_RUN) { /* its switch-out was not reported */
		count(loss[LOSS_lost_state]);
		t->state = STATE_UNKNOWN;
		t->stop.from_ns = t->stop.wake_ns = t->since;
		t->stop.state = STATE_UNKNOWN;
		t->stop.flags |= STOP_HEALED;
	} else if (STATE_BLOCKED(state)) {
		if (t->early) { /* the wake-up overtook the switch-out */
			t->state = STATE_WAKE;
			t->stop.state = STATE_PREEMPTED;
			t->steal_base = 0; /* is from before */
		} else {
			t->stop.wake_ns = now;
		}
	} else if (state == STATE_THROTTLED) {
		end_throttle(t, task, now);
	}
	if (STATE_RUNNABLE(t->state))
		charge(t, t->since, now);
	advance(t, NULL, now, at->steal);
	keep_stop(t, &t->stop, now);
	t->irq_base = at->lane->irq_ns;
	t->steal_base = at->steal;
	t->gen++;
	t->early = 0;
	barrier();
	t->state = STATE_RUN;
}

/* User space has CPUs looked at only where it pays: see capture_tune_sampling(). */
static __always_inline void note_followed(const struct thread *comes)
{
	struct cpu_row *here = this_cpu_row();

	if (comes) {
		here->followed = 1;
		here->arrivals++;
	} else if (here->followed) {
		here->followed = 0;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct thread *leaves, *comes;
	struct moment at = {};
	__u32 kind = SWITCH_other;
	bool followed;
	struct lane *lane;
	struct slice *s;

	if (!active)
		return 0;
	lane = this_lane();
	if (!lane)
		return 0;
	if (lane->last_next != (__u64)prev && lane->last_next)
		count(loss[LOSS_missed_switch]);
	lane->last_next = (__u64)next;

	leaves = thread_of(prev);
	switch_row(prev, leaves);
	comes = thread_of(next);
	if (leaves && !in_detail(leaves))
		leaves = NULL;
	if (comes && !in_detail(comes))
		comes = NULL;
	at.lane = lane;
	followed = leaves;
	if (comes) /* not ||: clang would OR the pointers, which the verifier refuses */
		followed = true;
	if (followed)
		at.steal = steal_of(next);
	at.now = now_ns();
	if (leaves)
		leave(leaves, prev, &at, preempt, prev_state);
	if (comes)
		arrive(comes, next, &at);
	note_followed(comes);

	s = &lane->slice[lane->head & (SLICES - 1)];
	s->start = at.now;
	s->pid = next->tgid;
	s->tid = next->pid;
	copy_comm(s->comm, next);
	lane->head++;
	if (followed)
		kind = (leaves && !leaves->related) || (comes && !comes->related) ? SWITCH_followed
										  : SWITCH_related;
	spend_switch(lane, kind, leaves && leaves->walks.at_ns == at.now, at.now);
	return 0;
}

static __always_inline void name_waker(struct thread *t, struct lane *lane)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct stop *stop = &t->stop;
	struct thread *waker;

	stop->by = waker_of(current, lane, &stop->irq);
	if (stop->by != WAKER_task && stop->by != WAKER_kthread)
		return;
	stop->waker = current->pid;
	stop->waker_pid = current->tgid;
	copy_comm(stop->waker_comm, current);
	waker = thread_of(current);
	stop->waker_serial = waker ? waker->serial : 0;
}

/* sched_waking, not sched_wakeup: that one comes late, on the target's CPU. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct lane *lane;
	struct thread *t;
	__u64 steal, now;

	if (!active)
		return 0;
	t = thread_of(task);
	if (!t || !in_detail(t))
		return 0;
	steal = steal_of(task);
	now = now_ns();
	if (t->state == STATE_RUN) {
		t->early = now;
		return 0;
	}
	lane = this_lane();
	if (lane && (STATE_BLOCKED(t->state) || t->state == STATE_UNKNOWN)) {
		advance(t, NULL, now, steal);
		t->steal_base = steal;
		t->stop.wake_ns = t->since;
		wait_for(t, task->wake_cpu, t->since);
		if (now - t->stop.from_ns >= NAME_MIN_NS || t->timed_out) { /* else nobody asks */
			name_waker(t, lane);
			look_again(t);
		}
		barrier();
		t->state = STATE_WAKE;
	}
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate, struct task_struct *task, int dest_cpu)
{
	struct thread *t;
	__u64 steal, now;

	if (!active)
		return 0;
	t = thread_of(task);
	if (!t || t->state == STATE_RUN || !in_detail(t))
		return 0;
	steal = steal_of(task); /* still the old CPU's: it has not moved yet */
	now = now_ns();
	/* Inside a wake-up (not on a queue yet) only the CPU changes. */
	if (t->state == STATE_PREEMPTED || (t->state == STATE_WAKE && task->on_rq)) {
		charge(t, t->since, now);
		advance(t, NULL, now, steal);
	}
	t->steal_base = 0; /* another CPU, another account */
	wait_for(t, dest_cpu, now);
	return 0;
}

/* ---- what a thread does while it runs ---- */

/* The clock met it in the kernel, which it did not enter by a system call. */
static __always_inline bool in_exception(struct bpf_perf_event_data *ctx)
{
#ifdef __TARGET_ARCH_x86
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);

	return !(ctx->regs.cs & 3) && (long)regs->orig_ax < 0;
#else
	return false; /* not run there; see doc/design.md */
#endif
}

/* By a clock on each CPU. The walk is in the thread's own context, wherever it was interrupted. */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct thread *t = active && !stopped ? thread_of(bpf_get_current_task_btf()) : NULL;
	struct stop look = {
		.state = STATE_RUN, .flags = STOP_SAMPLE, .irq = -1, .nr = -1, .fd = -1
	};
	__u64 now;

	if (!t || t->state != STATE_RUN)
		return 0;
	this_cpu_row()->followed = 1; /* it may have come before we were attached */
	look.stack = current_stack(WALK_SAMPLE);
	if (look.stack < STACK_REASONS)
		return 0;
	now = now_ns();
	look.from_ns = look.wake_ns = now;
	look.op = place_of(t);
	if (t->run_as != STATE_GC && collects(bpf_get_current_task_btf()))
		look.state = STATE_GC;
	else if (in_exception(ctx))
		look.state = STATE_FAULT;
	keep_stop(t, &look, now);
	return 0;
}

/* ---- which threads ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *t = active ? thread_of(parent) : NULL;

	if (t && !t->related) {
		thread_adopt(child, STATE_WAKE, false);
		if (child->pid == child->tgid) {
			inherit_python(parent, child);
			host_event(HOST_fork, parent, child->pid, 0);
		}
	}
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
		t->since = now_ns();
		begin_stop(t, t->since);
		t->stop.state = STATE_PREEMPTED;
		wait_for(t, task->wake_cpu, t->since);
	}
	return 0;
}

static __always_inline void note_exit(struct thread *t, struct task_struct *task)
{
	struct task_info *info = bpf_map_lookup_elem(&tasks, &t->serial);

	if (info) {
		copy_comm(info->comm, task); /* its last name: after exec and renames */
		info->exited_ns = now_ns();
	}
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_exit, struct task_struct *task)
{
	struct thread *t = active ? thread_of(task) : NULL;

	if (t) { /* first: its accounts are read when its end is known */
		leave_row(t);
		tell_kernels(t);
	}
	if (t && !stopped) {
		note_exit(t, task);
		if (task->pid == task->tgid) {
			forget_python(task);
			if (!t->related)
				host_event(HOST_exit, task, 0, 0);
		}
	}
	return 0;
}

/* Threads that existed before their process made its first call. */
__u32 adopt_pid;
bool adopt_related; /* they make no calls themselves */

SEC("iter/task")
int adopt_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task || (__u32)task->tgid != adopt_pid || task->flags & PF_EXITING || thread_of(task))
		return 0;
	t = thread_adopt(task, STATE_UNKNOWN, adopt_related);
	/* It may have passed its exit event while we looked: then nobody else would note it. */
	if (t && task->flags & PF_EXITING)
		note_exit(t, task);
	return 0;
}

#endif
