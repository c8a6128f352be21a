/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who waited for a request. It is completed on one CPU between two tracepoints: whoever is woken there
 * meanwhile had waited for it; and so had those who are woken by work that is queued there meanwhile.
 */
#ifndef PROBE_LINEAGE_WAIT_BPF_H
#define PROBE_LINEAGE_WAIT_BPF_H

#include "probe/lineage_line.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u64);
} works SEC(".maps"); /* queued work -> the request that queued it */

SEC("tp_btf/block_io_done")
int BPF_PROG(lineage_io_done)
{
	struct lineage_cpu *c = lineage_cpu();

	if (c)
		c->waking = 0;
	return 0;
}

/* `since_ns`: of the sleep that the request ended. */
static __always_inline void tell_wake(const struct sleeper *s, struct task_struct *task,
				      const struct woken *by, __u64 since_ns)
{
	struct lineage_wake *e = bpf_ringbuf_reserve(&lineage_ring, sizeof(*e), 0);

	if (!e)
		return;
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = LINEAGE_WAKE;
	e->pid = task->tgid;
	e->tid = task->pid;
	e->deferred = by->deferred;
	e->id = by->id;
	e->wait_ns = by->at_ns > since_ns ? by->at_ns - since_ns : 0;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), task->comm);
	e->stack = s->stack;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(lineage_switch, bool preempt, struct task_struct *prev)
{
	struct sleeper *s;
	__u64 now;

	if (preempt || !prev->__state || prev->flags & PF_KTHREAD)
		return 0;
	if (!(prev->__state & TASK_UNINTERRUPTIBLE) && !BPF_CORE_READ_BITFIELD(prev, in_iowait))
		return 0;
	s = bpf_task_storage_get(&sleepers, prev, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return 0;
	now = bpf_ktime_get_ns();
	/* Before the count, with which a waker would take an old time for that of this sleep. */
	__sync_lock_test_and_set(&s->since_ns, SLEEP_noting);
	s->sleeps = prev->nvcsw;
	if (lineage_lines)
		s->stack = line_here(s, WALK_SWITCH, 0);
	if (__sync_val_compare_and_swap(&s->since_ns, SLEEP_noting, now) == SLEEP_woken) {
		tell_wake(s, prev, &s->woken, now);
		s->since_ns = SLEEP_none;
	}
	return 0;
}

/* Wakers of one task come one by one, and it does not sleep again before they have gone. */
static __always_inline void woken_by(struct task_struct *task, __u64 id, bool deferred)
{
	struct sleeper *s = bpf_task_storage_get(&sleepers, task, 0, 0);
	__u64 since;

	/* What else ended that sleep is not looked at, and by now it may sleep for another reason. */
	if (!s || s->sleeps != task->nvcsw)
		return;
	since = s->since_ns;
	if (since == SLEEP_none || since == SLEEP_woken)
		return;
	s->woken = (struct woken){ id, bpf_ktime_get_ns(), deferred };
	if (since == SLEEP_noting)
		since = __sync_val_compare_and_swap(&s->since_ns, SLEEP_noting, SLEEP_woken);
	if (since < SLEEP_END)
		return; /* its CPU tells */
	tell_wake(s, task, &s->woken, since);
	s->since_ns = SLEEP_none;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(lineage_waking, struct task_struct *task)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct lineage_cpu *c = lineage_cpu();
	struct sleeper *worker;
	__u64 id = c ? c->waking : 0;

	if (id) {
		woken_by(task, id, false);
	} else if (self->flags & PF_WQ_WORKER) {
		worker = bpf_task_storage_get(&sleepers, self, 0, 0);
		if (worker && worker->work)
			woken_by(task, worker->work, true);
	}
	return 0;
}

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(lineage_queue_work, int cpu, void *pool, void *work)
{
	struct lineage_cpu *c = lineage_cpu();
	__u64 key = (__u64)work, id = c ? c->waking : 0;

	if (id)
		bpf_map_update_elem(&works, &key, &id, BPF_ANY);
	return 0;
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(lineage_work_start, void *work)
{
	__u64 key = (__u64)work, *id = bpf_map_lookup_elem(&works, &key);
	struct sleeper *s;

	if (!id)
		return 0;
	s = bpf_task_storage_get(&sleepers, bpf_get_current_task_btf(), 0,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (s)
		s->work = *id;
	bpf_map_delete_elem(&works, &key);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(lineage_work_end)
{
	struct sleeper *s = bpf_task_storage_get(&sleepers, bpf_get_current_task_btf(), 0, 0);

	if (s)
		s->work = 0;
	return 0;
}

#endif
