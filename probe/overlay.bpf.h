/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Running, but not for itself: Python's garbage collector, and freeing memory before one gets any. */
#ifndef PROBE_OVERLAY_BPF_H
#define PROBE_OVERLAY_BPF_H

#include "probe/time.bpf.h"

/*
 * Between these two the thread runs, but not for itself: it collects garbage or frees memory. That
 * time gets its own state, and its own entry in the history, where it may explain another's wait.
 */
static __always_inline void begin_overlay(__u32 state)
{
	struct thread *t = active ? thread_of(bpf_get_current_task_btf()) : NULL;

	if (!t || t->overlays++)
		return;
	tick(t);
	t->run_as = state;
	t->overlay_ns = t->now.ns;
}

static __always_inline void end_overlay(__u32 state, __u32 event)
{
	struct thread *t = active ? thread_of(bpf_get_current_task_btf()) : NULL;
	struct stop span = { .state = state, .flags = STOP_OVERLAY, .irq = -1, .nr = -1, .fd = -1 };

	if (!t || !t->overlays || --t->overlays)
		return;
	tick(t);
	t->run_as = STATE_RUN;
	span.from_ns = span.wake_ns = t->overlay_ns;
	span.op = place_of(t);
	if (t->now.ns - t->overlay_ns >= STOP_MIN_NS)
		span.stack = current_stack(WALK_CALL);
	keep_stop(t, &span, t->now.ns);
	if (event < HOST_COUNT)
		host_event(event, bpf_get_current_task_btf(), 0, t->now.ns - t->overlay_ns);
}

SEC("uprobe")
int gc_start(struct pt_regs *ctx)
{
	begin_overlay(STATE_GC);
	return 0;
}

SEC("uprobe")
int gc_done(struct pt_regs *ctx)
{
	end_overlay(STATE_GC, HOST_COUNT);
	return 0;
}

/* What the kernel does for memory has a begin and an end, each a tracepoint. */
#define RECLAIM_PAIR(name, tracepoint, event)                                                      \
	SEC("tp_btf/" tracepoint "_begin")                                                         \
	int BPF_PROG(name##_begin)                                                                 \
	{                                                                                          \
		begin_overlay(STATE_RECLAIM);                                                      \
		return 0;                                                                          \
	}                                                                                          \
	SEC("tp_btf/" tracepoint "_end")                                                           \
	int BPF_PROG(name##_end)                                                                   \
	{                                                                                          \
		end_overlay(STATE_RECLAIM, event);                                                 \
		return 0;                                                                          \
	}

RECLAIM_PAIR(reclaim, "mm_vmscan_direct_reclaim", HOST_reclaim)
RECLAIM_PAIR(memcg_reclaim, "mm_vmscan_memcg_reclaim", HOST_reclaim)
RECLAIM_PAIR(compact, "mm_compaction", HOST_compaction)

#endif
