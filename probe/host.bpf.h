/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens on the host and may explain a wait: memory ran out, packets were lost, programs came. */
#ifndef PROBE_HOST_BPF_H
#define PROBE_HOST_BPF_H

#include "probe/block.bpf.h"

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
	if (active && thread_of(task))
		host_event(HOST_exec, task, task->pid, 0);
	return 0;
}

#endif
