/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all objects use that run in the kernel. */
#ifndef PROBE_BASE_BPF_H
#define PROBE_BASE_BPF_H

#include "probe/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * What hardly ever happens is laid out behind the rest: a launch comes after thousands of other instructions,
 * and each cache line of the program is fetched anew.
 */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* What pthread_self() is to the program. */
static __always_inline __u64 thread_pointer(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	return BPF_CORE_READ(task, thread.fsbase);
#else
	return BPF_CORE_READ(task, thread.uw.tp_value);
#endif
}

#endif
