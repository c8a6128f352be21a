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

SEC("tp_btf/sched_switch")
int BPF_PROG(lineage_switch, bool preempt, struct task_struct *prev)
{
	struct sleeper *s;

	if (preempt || !prev->__state || prev->flags & PF_KTHREAD)
		return 0;
	if (!(prev->__state & TASK_UNINTERRUPTIBLE) && !BPF_CORE_READ_BITFIELD(prev, in_iowait))
		return 0;
	s = bpf_task_storage_get(&sleepers, prev, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return 0;
	s->since_ns = bpf_ktime_get_ns();
	s->sleeps = prev->nvcsw;
	if (lineage_lines)
		s->stack = line_here(s, WALK_SWITCH, 0);
	return 0;
}

/* Is it still in that sleep? What else ended it is not looked at, and by now it may sleep for another reason. */
static __always_inline bool still_asleep(const struct sleeper *s, const struct task_struct *task)
{
	return s->since_ns && s->sleeps == task->nvcsw;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(lineage_waking, struct task_struct *task)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct lineage_cpu *c = lineage_cpu();
	struct lineage_wake *e;
	struct sleeper *s, *worker;
	__u64 id = c ? c->waking : 0;
	bool deferred = false;

	if (!id && self->flags & PF_WQ_WORKER) {
		worker = bpf_task_storage_get(&sleepers, self, 0, 0);
		id = worker ? worker->work : 0;
		deferred = true;
	}
	if (!id)
		return 0;
	s = bpf_task_storage_get(&sleepers, task, 0, 0);
	if (!s || !still_asleep(s, task))
		return 0;
	e = bpf_ringbuf_reserve(&lineage_ring, sizeof(*e), 0);
	if (!e)
		return 0;
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = LINEAGE_WAKE;
	e->pid = task->tgid;
	e->tid = task->pid;
	e->deferred = deferred;
	e->id = id;
	e->wait_ns = bpf_ktime_get_ns() - s->since_ns;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), task->comm);
	e->stack = s->stack;
	s->since_ns = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
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
