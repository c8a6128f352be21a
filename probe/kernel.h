/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types that we read, with just the fields that we read. CO-RE relocates every
 * access to the running kernel's layout, so order and size here mean nothing. The exception is
 * pt_regs: a uprobe's context is laid out as the architecture's ABI says, so that one is complete.
 */
#ifndef PROBE_KERNEL_H
#define PROBE_KERNEL_H

#define __VMLINUX_H__ /* bpf_tracing.h: use the kernel's names of registers */

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};
#else
struct user_pt_regs; /* aarch64: written, not run; see doc/design.md */
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
	unsigned long long clock;
};

struct cfs_rq {
	int throttle_count;
	struct rq *rq;
};

struct sched_info {
	unsigned long long last_arrival;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_rq;
	int wake_cpu;
	int pid, tgid;
	unsigned long long start_boottime;
	struct task_struct *group_leader, *real_parent;
	struct sched_entity se;
	struct sched_info sched_info;
	bool throttled; /* 6.18: quota is enforced per task */
	char comm[16];
};

struct bpf_iter_meta {
	void *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#define TASK_WAKING 0x200
#define PF_EXITING 0x4

#endif
