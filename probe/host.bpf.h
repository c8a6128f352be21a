/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens on the host and may explain a wait: memory ran out, packets were lost, programs came. */
#ifndef PROBE_HOST_BPF_H
#define PROBE_HOST_BPF_H

#include "probe/block.bpf.h"
#include "probe/python.bpf.h"
#include "probe/row.bpf.h"

#define DISK_SLOW_NS                                                                               \
	(10 * 1000000000ll) /* no disk at work takes that long: it timed out, or is stuck */

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
	flight.start_ns = now_ns();
	flight.key.event = HOST_block_io;
	flight.key.pid = task->tgid;
	flight.key.obj = BPF_CORE_READ(rq, part, bd_dev);
	copy_comm(flight.comm, task);
	bpf_map_update_elem(&flights, &key, &flight, BPF_ANY);
	return 0;
}

/* Whoever issued it: a disk that is stuck is stuck for everybody. */
static __always_inline void disk_event(__u32 event, struct request *rq, __u64 ns)
{
	struct host_key key = { .event = event };
	struct host_count fresh = { .ns = ns };

	key.obj = BPF_CORE_READ(rq, part, bd_dev);
	add_host_event(&key, &fresh);
}

static __always_inline void look_for_slow(struct request *rq)
{
	__u64 start, ns;

	if (!bpf_core_field_exists(rq->start_time_ns))
		return;
	start = BPF_CORE_READ(rq, start_time_ns); /* 0: nobody counts the requests of this disk */
	ns = bpf_ktime_get_ns() - start;
	if (start && (__s64)ns >= DISK_SLOW_NS)
		disk_event(HOST_disk_slow, rq, ns);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_done, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct flight *flight = active ? bpf_map_lookup_elem(&flights, &key) : NULL;
	struct host_count fresh = {};

	if (!active)
		return 0;
	look_for_slow(rq);
	if (!flight)
		return 0;
	fresh.ns = now_ns() - flight->start_ns;
	__builtin_memcpy(fresh.comm, flight->comm, COMM_LEN);
	add_host_event(&flight->key, &fresh);
	bpf_map_delete_elem(&flights, &key);
	return 0;
}

SEC("tp_btf/block_rq_error")
int BPF_PROG(block_error, struct request *rq)
{
	if (active)
		disk_event(HOST_disk_error, rq, 0);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_requeue, struct request *rq)
{
	if (active)
		disk_event(HOST_disk_requeue, rq, 0);
	return 0;
}

static __always_inline void device_event(__u32 event, struct device *dev, __u64 value)
{
	struct host_key key = { .event = event };
	struct host_count fresh = { .value = value };
	const char *name = BPF_CORE_READ(dev, init_name);
	__u64 *half = (__u64 *)fresh.comm;

	if (!name)
		name = BPF_CORE_READ(dev, kobj.name);
	bpf_probe_read_kernel_str(fresh.comm, sizeof(fresh.comm), name);
	key.obj = half[0] * 0x9e3779b97f4a7c15ull ^ half[1];
	add_host_event(&key, &fresh);
}

SEC("tp_btf/swiotlb_bounced")
int BPF_PROG(bounced, struct device *dev, __u64 address, __u64 size)
{
	if (active)
		device_event(HOST_bounce, dev, size);
	return 0;
}

SEC("tp_btf/io_page_fault")
int BPF_PROG(iommu_fault, struct device *dev, unsigned long address)
{
	if (active)
		device_event(HOST_iommu_fault, dev, address);
	return 0;
}

SEC("tp_btf/mark_victim")
int BPF_PROG(oom_kill, struct task_struct *task)
{
	if (active)
		host_event(HOST_oom_kill, task, task->pid, 0);
	return 0;
}

/* By a timer, whoever runs just then: the socket knows where it belongs, the task does not. */
SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmit, struct sock *sk)
{
	struct host_key key = { .event = HOST_retransmit };
	struct host_count fresh = {};

	if (!active)
		return 0;
	key.obj = socket_key(sk);
	if (bpf_core_field_exists(struct sock_cgroup_data, cgroup))
		fresh.cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
	add_host_event(&key, &fresh);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	struct thread *t = active ? thread_of(task) : NULL;

	if (t) {
		forget_row(t);
		forget_python(task);
		nccl_forget(task->tgid);
		host_event(HOST_exec, task, task->pid, 0);
	}
	return 0;
}

#endif
