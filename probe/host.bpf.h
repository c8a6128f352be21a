/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens on the host and may explain a wait: memory ran out, packets were lost, programs came. */
#ifndef PROBE_HOST_BPF_H
#define PROBE_HOST_BPF_H

#include "probe/block.bpf.h"
#include "probe/python.bpf.h"

/* A disk request under way that a followed thread issued itself. */
struct flight {
	__u64 start_ns;
	struct host_key key;
	char comm[COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH); /* requests that never end (a reset) make room */
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct flight);
} flights SEC(".maps");

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct flight flight = {};
	__u64 key = (__u64)rq;

	if (!active || !thread_of(task))
		return 0;
	flight.start_ns = bpf_ktime_get_boot_ns();
	flight.key.event = HOST_block_io;
	flight.key.pid = task->tgid;
	flight.key.obj = BPF_CORE_READ(rq, part, bd_dev);
	copy_comm(flight.comm, task);
	bpf_map_update_elem(&flights, &key, &flight, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_done, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct flight *flight = active ? bpf_map_lookup_elem(&flights, &key) : NULL;

	if (!flight)
		return 0;
	add_host_event(&flight->key, flight->comm, bpf_ktime_get_boot_ns() - flight->start_ns);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

SEC("tp_btf/mark_victim")
int BPF_PROG(oom_kill, struct task_struct *task)
{
	if (active)
		host_event(HOST_oom_kill, task, task->pid, 0);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmit, struct sock *sk)
{
	if (active)
		host_event(HOST_retransmit, NULL, socket_key(sk), 0);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	if (active && thread_of(task)) {
		forget_python(task);
		host_event(HOST_exec, task, task->pid, 0);
	}
	return 0;
}

#endif
