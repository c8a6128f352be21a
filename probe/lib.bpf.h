/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every probe uses: knobs, maps, counters, and the state kept for a thread. */
#ifndef PROBE_LIB_BPF_H
#define PROBE_LIB_BPF_H

#include "probe/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/event.h"

#define SLICES 256 /* per CPU; 32 are too few under an I/O load, 128 beside a fork loop */
#define WAITS 16 /* remembered per thread; a slow call pulls its share of them */
#define DEPTH 6 /* traced calls inside each other: graph launch > runtime > driver leaves room */

/* Set before load. */
const volatile __u64 slow_ns = 1000000; /* shorter than this is never "slow" */
const volatile __u32 sample_every = 4096; /* one record in so many is sent; a power of two */
const volatile bool record_all = false;

struct stats stats = {};
__u32 only_pid = 0; /* 0: every process that maps a traced library; set after the calibration */
__u32 tallies_high = 0; /* so many have ever been in use: user space looks no further */
bool active = false; /* set by user space when there is something to follow */
bool stopped = false; /* ... and at the end: detaching takes a while, counting stops at once */

#define count(field) __sync_fetch_and_add(&stats.field, 1)

/* Who had a CPU from `start` on. */
struct slice {
	__u64 start;
	__u32 pid, tid;
	char comm[COMM_LEN];
};

/* One CPU's recent history. Written by its own CPU; read by others under their runqueue lock. */
struct lane {
	__u64 last_next; /* to notice a switch that was not reported */
	__u32 head; /* next slice to write */
	__u32 pad;
	struct slice slice[SLICES];
};

/* A piece of time that a thread waited for a CPU, and who had that CPU. */
struct wait {
	__u64 end;
	struct who who;
};

/* A thread's clock and sums at one moment; two of them give what a span of time was made of. */
struct snap {
	__u64 ns;
	__u64 gen;
	__u64 sum[STATE_COUNT];
};

/* A traced call that has not returned. */
struct frame {
	__u64 sp; /* of the caller: tells a dead frame (longjmp) and pairs the return */
	__u32 op, pad;
	__u64 bytes, stream, aux, out;
	struct snap at;
};

/* What we keep for a thread that we follow, in its task storage. */
struct thread {
	__u64 since; /* when the present state began */
	__u32 state; /* enum state */
	__u32 serial; /* 0: not followed (yet) */
	__u64 gen; /* +1 at each switch, so that a reader notices one */
	__u64 sum[STATE_COUNT]; /* up to `since` */
	__u64 early; /* woken before its own switch-out was seen */
	__u32 cpu; /* where it waits while runnable */
	__u32 wait_head;
	/* Above: written by the scheduler probes. Below: by the call probes, on the thread itself. */
	__u32 depth;
	__u32 in_gap; /* a gap is open: it began at `gap` */
	struct snap now; /* advanced at each call event */
	struct snap gap;
	__u16 tally[OP_SLOTS]; /* index into `tallies` + 1; 0: none yet */
	struct frame frame[DEPTH];
	struct wait wait[WAITS]; /* the scheduler's again */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TASKS);
	__type(key, __u32);
	__type(value, struct task_info);
} tasks SEC(".maps");

static __always_inline struct thread *thread_of(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);

	return t && t->serial ? t : NULL;
}

static __always_inline void copy_comm(char *dst, const struct task_struct *task)
{
	/* Two loads instead of a helper call: this runs at every context switch. */
	const __u64 *src = (const __u64 *)__builtin_preserve_access_index(&task->comm);

	((__u64 *)dst)[0] = src[0];
	((__u64 *)dst)[1] = src[1];
}

static __always_inline bool wanted(struct task_struct *task)
{
	return !only_pid || (__u32)task->tgid == only_pid;
}

/* Begin to follow a task that is now in `state`. NULL: no room, which is counted. */
static __always_inline struct thread *thread_adopt(struct task_struct *task, __u32 state)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct task_info info = {};
	__u32 serial;

	if (!t) {
		count(loss[LOSS_no_task]);
		return NULL;
	}
	if (t->serial)
		return t;
	serial = __sync_fetch_and_add(&stats.adopted, 1) + 1;
	info.pid = task->tgid;
	info.tid = task->pid;
	info.ppid = BPF_CORE_READ(task, real_parent, tgid);
	info.leader = task->tgid == task->pid;
	info.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	info.adopted_ns = bpf_ktime_get_boot_ns();
	copy_comm(info.comm, task);
	if (bpf_map_update_elem(&tasks, &serial, &info, BPF_ANY)) {
		count(loss[LOSS_no_task]);
		return NULL;
	}
	if (!active)
		active =
			true; /* its exit must be noticed, even if user space has not heard of it */
	t->since = info.adopted_ns;
	t->state = state;
	t->now.gen = t->gap.gen = ~0ull; /* no snapshot yet */
	/* The thread itself and the agent's iterator may both be here; one of them wins. */
	if (__sync_val_compare_and_swap(&t->serial, 0, serial))
		bpf_map_delete_elem(&tasks, &serial);
	return t;
}

#endif
