/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When the agent's probes look at a thread's Python stack: at calls, at stops, 49 times a second. */
#ifndef PROBE_PYTHON_BPF_H
#define PROBE_PYTHON_BPF_H

#include "probe/cost.bpf.h"
#include "probe/pywalk.bpf.h"

#define WALK_SHARE 128 /* looks at stops take no more than this part of the thread's time */

static __always_inline __u64 walk_counted(struct walk *w, const struct py_layout *l, __u64 state,
					  bool own)
{
	__u64 id = walk_state(w, l, state, own);

	if (id == NO_STACK_lost)
		count(loss[LOSS_no_news]);
	return id;
}

/* The Python stack of the current thread. */
static __always_inline __u64 current_stack(__u32 from)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct py_layout *l;
	struct walk *w;
	__u64 state, start;

	if (!stacks)
		return NO_STACK_not_looked;
	if (shed_stacks)
		return NO_STACK_over_budget;
	l = layout_of(task);
	if (!l)
		return NO_STACK_no_python;
	w = bpf_map_lookup_elem(&walks, &from);
	start = now_ns();
	state = thread_state(l, thread_pointer(task));
	if (!w || !state)
		return NO_STACK_no_thread;
	state = walk_counted(w, l, state, true);
	spend(stack_ns, start);
	return state;
}

/* Is its interpreter in the middle of a garbage collection? Whoever holds the lock does it. */
static __always_inline bool collects(struct task_struct *task)
{
	const struct py_layout *l = layout_of(task);
	__u32 collecting = 0;
	__u64 state;

	if (!l || !l->gc_collecting)
		return false;
	state = thread_state(l, thread_pointer(task));
	if (!state || user_u64(l->gil + GIL_LAST_HOLDER) != state)
		return false;
	bpf_probe_read_user(&collecting, sizeof(collecting),
			    (void *)(user_u64(state + PY_THREAD_INTERP) + l->gc_collecting));
	return collecting == 1;
}

/* The interpreter is about to free a code object: its address says nothing from here on. */
SEC("uprobe")
int code_freed(struct pt_regs *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct py_layout *l = bpf_map_lookup_elem(&pythons, &pid);

	count(code_frees);
	if (l)
		__sync_fetch_and_add(&l->frees, 1);
	return 0;
}

/* ---- at a stop ---- */

/*
 * The thread waits for the interpreter lock: who has it, and where is he? He may be running, so that
 * his frames can change under our eyes: what is read is where he was about now.
 */
static __always_inline void look_at_holder(struct stop *stop, struct walk *w,
					   const struct py_layout *l, __u64 own_state)
{
	__u64 holder = user_u64(l->gil + GIL_LAST_HOLDER);
	__u32 locked = 0;

	bpf_probe_read_user(&locked, sizeof(locked), (void *)(l->gil + GIL_LOCKED));
	if (locked != 1 || !holder || holder == own_state)
		return;
	stop->holder = user_u64(holder + l->ts_thread);
	stop->holder_stack = walk_counted(w, l, holder, false);
}

/* Where the current thread, which is about to leave the CPU, stops. */
static __noinline int look_at_stop(struct thread *t, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 from = WALK_SWITCH;
	const struct py_layout *l;
	struct walk *w;
	__u64 state;

	if (!t)
		return 0;
	l = layout_of(task);
	if (!l) {
		t->no_python = layouts + 1;
		return 0;
	}
	w = bpf_map_lookup_elem(&walks, &from);
	if (!w)
		return 0;
	if (shed_stacks || !may_look(&t->walks, now, WALK_SHARE, 0)) {
		t->stop.stack = NO_STACK_over_budget;
		return 0;
	}
	state = thread_state(l, thread_pointer(task));
	t->stop.stack = state ? walk_counted(w, l, state, true) : NO_STACK_no_thread;
	if (state && l->gil && t->stop.state == STATE_FUTEX && t->stop.obj - l->gil < l->gil_size)
		look_at_holder(&t->stop, w, l, state);
	looked(&t->walks, now_ns() - now);
	spend(stack_ns, now);
	return 0;
}

#endif
