/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * At which line of Python a thread waits for a disk, queues a request, or calls fsync. Whether a request will
 * be shown is known when it is done, and its line only before: so threads of Python are looked at within a
 * share of their time. A wait comes first; what only queues gets what is left over.
 */
#ifndef PROBE_LINEAGE_LINE_BPF_H
#define PROBE_LINEAGE_LINE_BPF_H

#include "probe/allowance.bpf.h"
#include "probe/lineage_lib.bpf.h"
#include "probe/pywalk.bpf.h"

#define LINE_SHARE 32 /* looks take no more than this part of the thread's time; */
#define LINE_WAITS_NS 1000000 /* ... of what is left over, so much is kept for waits */

const volatile bool lineage_lines = false; /* set before load */

/* In the place of a time. It may be woken while its stack is read, and its CPU tells of that when it knows both. */
enum sleep { SLEEP_none, SLEEP_noting, SLEEP_woken, SLEEP_END };

/* What a thread was woken by. */
struct woken {
	__u64 id; /* the request */
	__u64 at_ns;
	__u64 deferred; /* by work that was queued when the request was done */
};

/* What is kept for a thread that has waited or queued. */
struct sleeper {
	__u64 since_ns; /* it fell asleep in the kernel; or an `enum sleep` */
	__u64 sleeps; /* ... which was its so many-th sleep, of whatever kind */
	struct woken woken; /* SLEEP_woken: by this */
	__u64 work; /* the request whose work this thread does; 0: none */
	__u64 stack; /* Python's, when it fell asleep */
	struct allowance looks;
	__u32 no_python; /* `layouts` + 1 when its process was last seen to have no interpreter */
	__u32 asked; /* user space was asked whether it has */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sleeper);
} sleepers SEC(".maps");

static __always_inline void ask_for_python(struct sleeper *s, struct task_struct *task)
{
	struct lineage_ask *e;

	s->no_python = layouts + 1;
	if (s->asked)
		return;
	e = bpf_ringbuf_reserve(&lineage_ring, sizeof(*e), 0);
	if (!e)
		return;
	e->kind = LINEAGE_ASK;
	e->pid = task->tgid;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	s->asked = 1;
}

/* The stack of the current thread, or the reason for none. `leave`: so much of its credit must remain. */
static __noinline __u64 line_here(struct sleeper *s, __u32 from, __s64 leave)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct py_layout *l;
	__u64 now, state, id;
	struct walk *w;

	/* A worker of io_uring has the thread pointer of another, which runs. */
	if (!s || task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return NO_STACK_not_looked;
	if (s->no_python == layouts + 1)
		return NO_STACK_no_python;
	l = layout_of(task);
	if (!l) {
		ask_for_python(s, task);
		return NO_STACK_no_python;
	}
	now = bpf_ktime_get_ns();
	if (!may_look(&s->looks, now, LINE_SHARE, leave))
		return NO_STACK_over_budget;
	w = bpf_map_lookup_elem(&walks, &from);
	state = thread_state(l, thread_pointer(task));
	if (!w || !state)
		return NO_STACK_no_thread;
	id = walk_state(w, l, state, true);
	looked(&s->looks, bpf_ktime_get_ns() - now);
	return id;
}

/* Of a task that queues something. Off the scheduler's path: a storage may be made. */
static __always_inline __u64 line_of_current(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sleeper *s;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return NO_STACK_not_looked;
	s = bpf_task_storage_get(&sleepers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return line_here(s, WALK_CALL, LINE_WAITS_NS);
}

/* ---- of bios under way: by address, beside their places ---- */

struct lineage_line {
	__u64 bio, stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct lineage_line);
} lineage_bio_lines SEC(".maps");

static __always_inline struct lineage_line *line_at(__u64 bio)
{
	__u32 i = (bio * 0x9e3779b97f4a7c15ull) >> 49;

	return bpf_map_lookup_elem(&lineage_bio_lines, &i);
}

static __always_inline void keep_line(__u64 bio, __u64 stack)
{
	struct lineage_line *line = line_at(bio);

	if (!line)
		return;
	line->bio = bio;
	line->stack = stack;
}

static __always_inline __u64 line_of(__u64 bio)
{
	struct lineage_line *line = line_at(bio);

	return line && line->bio == bio ? line->stack : NO_STACK_not_looked;
}

/* ---- processes come and go ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(lineage_fork, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid == child->tgid)
		inherit_python(parent, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(lineage_exec, struct task_struct *task)
{
	struct sleeper *s = bpf_task_storage_get(&sleepers, task, 0, 0);

	forget_python(task);
	if (s)
		s->no_python = s->asked = 0;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(lineage_exit, struct task_struct *task)
{
	if (task->pid == task->tgid)
		forget_python(task);
	return 0;
}

#endif
