/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every probe uses: knobs, maps, counters, and the state kept for a thread. */
#ifndef PROBE_LIB_BPF_H
#define PROBE_LIB_BPF_H

#include "probe/allowance.bpf.h"
#include "wire/event.h"
#include "wire/nccl.h"
#include "wire/row.h"

#define SLICES 256 /* per CPU; 32 are too few under an I/O load, 128 beside a fork loop */
#define NAME_MIN_NS 10000 /* a shorter wait is not worth the name of its waker */
#define CHARGE_MIN_NS 3000 /* a shorter wait for a CPU is charged to nobody */
#define WAITS 16 /* remembered per thread; a slow call pulls its share of them */
#define DEPTH 6 /* traced calls inside each other: graph launch > runtime > driver leaves room */

/* Set before load. */
const volatile __u64 slow_ns = 1000000; /* shorter than this is never "slow" */
const volatile __u32 sample_every = 4096; /* one record in so many is sent; a power of two */
const volatile bool record_all = false;
const volatile bool no_rows = false; /* more CPUs than ROW_CPUS */
const volatile __u32 history_size = 1024; /* stops kept per CPU; a power of two */

struct stats stats = {};
__u32 only_pid = 0; /* 0: every process that maps a traced library; set after the calibration */
__u32 tallies_high = 0; /* so many have ever been in use: user space looks no further */
bool active = false; /* set by user space when there is something to follow */

/*
 * Boot time. The kernel's own function for it costs a tenth more than the one for the clock that stands still
 * while the host sleeps; what lies between them, user space writes here, and again after such a sleep.
 */
__u64 slept_ns = 0;
bool stopped = false; /* set at the end: detaching takes a while, counting stops at once */

static __always_inline __u64 now_ns(void)
{
	return bpf_ktime_get_ns() + slept_ns;
}

/* Launches in a row: see row.bpf.h. By tape, and by CPU. */
struct launch_row rows[ROWS] __attribute__((aligned(4096)));
struct cpu_row cpu_rows[ROW_CPUS] __attribute__((aligned(64)));

static __always_inline struct cpu_row *this_cpu_row(void)
{
	return &cpu_rows[bpf_get_smp_processor_id() & (ROW_CPUS - 1)];
}

#define count(field) __sync_fetch_and_add(&stats.field, 1)

/*
 * An index where it is used. Verifiers before 6.13 forget what was checked when the number comes back from
 * the stack or in another register, and the compiler leaves out what it knows.
 */
static __always_inline __u64 index_below(__u64 i, __u64 limit)
{
	asm volatile("" : "+r"(i));
	return i < limit ? i : 0;
}

#define SLOT(op) index_below(op, OP_SLOTS)

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
	/* Interrupts, see irq.bpf.h. Numbers are + 1, so that 0 is none. */
	__u64 irq_ns; /* spent in interrupts, cumulated */
	__u64 device_ns; /* of these: not raised by the task that ran, or by ksoftirqd */
	__u64 irq_start, irq_end; /* of the outermost one that runs; of the last of device_ns */
	__u64 timer; /* the high-resolution timer's function that runs; 0: none */
	__u32 irq, irq_last;
	__u32 irq_depth;
	__u32 softirq;
	__u32 untimed[SWITCH_KINDS]; /* switches since one was timed: see cost.bpf.h */
	__u32 soft_own; /* this softirq was not raised by an interrupt but by the task itself */
	__u64 line[5];
	struct slice slice[SLICES];
};

_Static_assert(sizeof(struct lane) % 64 == 0, "whole cache lines");

/* A piece of time that a thread waited for a CPU, and who had that CPU. */
struct wait {
	__u64 end;
	struct who who;
};

/* A thread's clock and sums at one moment; two of them give what a span of time was made of. */
struct snap {
	__u64 ns;
	__u64 gen; /* of the thread: other sums than those of running have moved since another one, */
	__u64 looks; /* ... and the counters, which a launch seldom looks at */
	__u64 sum[STATE_COUNT];
	__u64 counter[COUNTER_COUNT];
};

/* A traced call that has not returned. */
struct frame {
	__u64 sp; /* of the caller: tells a dead frame (longjmp) and pairs the return */
	__u32 op;
	__u32 pad; /* of a free: what it frees, see memory.bpf.h */
	__u64 bytes, stream, aux, out, site;
	struct snap at;
};

/* The call of NCCL that a thread is in: see nccl.bpf.h. */
struct nccl_call {
	__u64 sp; /* its frame's: calls of NCCL inside it are not counted */
	__u64 hash, parent, seq, count;
	__u32 number, group; /* group: so many are open */
	__s32 type, redop, root, rank, nranks, color, key;
	__u32 process; /* of `nccl_generation`: << 1 | does its process use NCCL? */
};

/*
 * What is usual for one op, call site and size, or for a gap between two ops: a running median, which
 * outliers do not move.
 */
struct usual {
	__u32 key, n;
	__u64 ns;
};

#define USUALS 64 /* per thread; a power of two */

/* What we keep for a thread that we follow, in its task storage. */
struct thread {
	__u64 since; /* when the present state began */
	__u32 state; /* enum state */
	__u32 serial; /* 0: not followed (yet) */
	__u64 gen; /* +1 at each switch, so that a reader notices one */
	__u64 irq_base, steal_base; /* of its CPU, when the present state began */
	__u64 device_base; /* lane.device_ns of the CPU that it waits for; 0: not known */
	__u64 irq_part, irq_taken; /* while a wait is charged: see blame.bpf.h */
	__u64 sum[STATE_COUNT]; /* up to `since` */
	__u64 early; /* woken before its own switch-out was seen */
	__u64 throttled_base; /* the group's own account, at switch-out */
	/* The file that it waited on last, to know it again without asking for everything: */
	__u64 file, inode, file_obj;
	__u32 file_state;
	__u32 timed_out; /* its last stop was a timed wait for a lock: the next tells who had it */
	__u64 epoll, sock; /* what it waits on, to be looked at again when it is woken */
	__u32 out_of_order; /* packets, when it began to wait on that socket */
	__u32 cpu; /* where it waits while runnable */
	__u32 wait_head;
	__u32 related; /* makes no traced calls: its children are not followed */
	struct stop stop; /* the present one, or the last */
	__u32 no_python; /* `layouts` + 1 when its process was last seen to have no interpreter */
	__u32 pad2;
	struct allowance walks; /* of looks at its Python stack */
	/*
	 * Above: written by the scheduler probes. Below: by the call probes, on the thread itself; what a
	 * launch touches comes first, on as few cache lines as can be. (The kernel puts us 8 bytes behind
	 * the beginning of one.)
	 */
	__u32 depth;
	__u16 in_gap; /* a gap is open: it began at `gap` */
	__u16 run_as; /* STATE_RUN, or what running means at the moment: STATE_GC, STATE_RECLAIM */
	__u32 in_row; /* ... and others may have been since, see row.bpf.h */
	__u32 tape; /* index into `tapes` + 1; 0: none yet, NO_TAPE: none to be had */
	__u64 beat_head; /* beats begun */
	__u32 beat_op;
	__u32 beat_stream; /* of the run, as read last, */
	__u16 beat_skipped; /* ... and how many launches were not looked at since */
	__u16 counted_op,
		counted_tally; /* of the last op that was only counted; tally: as in `tally` */
	__u16 gap_tally;
	__u32 gap_after; /* the op that the present gap follows */
	__u32 gap_era; /* launch_era when it began */
	__u64 gap_wait_ns; /* not running in the gap that was closed last */
	__u64 stub; /* the runtime's launch that was seen last: see kernels.bpf.h */
	__u64 settled; /* at the end of the trace: process and thread, as not it but we write this */
	__u64 stack; /* Python's, at the call that was sent last */
	__u64 irq_read, steal_read; /* the CPU's counters, at `now` */
	__u64 seen_run, seen_irq, seen_steal; /* the scheduler's sums, as far as in `now` */
	struct snap now; /* advanced at each call event */
	__u64 stub_sp, stub_site;
	__u64 failed_bytes; /* of its last allocation that failed; 0: none, or it went well since */
	__u32 failed_frees; /* ... and what it has freed since */
	__u32 device; /* that it chose last, + 1; 0: not seen */
	__u64 overlays; /* collections or reclaims inside each other */
	__u64 overlay_ns; /* when the outermost one began */
	__u64 line; /* what a launch touches of the next one begins a cache line, too */
	struct snap gap;
	__u16 tally[OP_SLOTS]; /* index into `tallies` + 1; 0: none yet */
	struct usual usual[USUALS];
	struct frame frame[DEPTH];
	struct frame counted; /* of an op without a return probe, while it is sent */
	struct nccl_call nccl;
	struct wait wait[WAITS]; /* the scheduler's again */
};

#define NO_TAPE 0xffffffffu

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
	struct thread *t;

	/* Most tasks of a host have nothing stored: one load tells, and spares the call. */
	if (bpf_core_field_exists(task->bpf_storage) && unlikely(!task->bpf_storage))
		return NULL;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	return t && t->serial ? t : NULL;
}

static __always_inline void copy_comm(char *dst, const struct task_struct *task)
{
	/* Two loads instead of a helper call: this runs at every context switch. */
	const __u64 *src = (const __u64 *)__builtin_preserve_access_index(&task->comm);

	((__u64 *)dst)[0] = src[0];
	((__u64 *)dst)[1] = src[1];
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated: filled where nothing may be allocated */
	__uint(max_entries, HOST_KEYS);
	__type(key, struct host_key);
	__type(value, struct host_count);
} host_events SEC(".maps");

/* Something happened: counted by what, who and on which object. */
static __always_inline void add_host_event(const struct host_key *key, struct host_count *fresh)
{
	struct host_count *c = bpf_map_lookup_elem(&host_events, key);

	fresh->count = 1;
	fresh->first_ns = fresh->last_ns = now_ns();
	if (c) {
		c->last_ns = fresh->last_ns;
		__sync_fetch_and_add(&c->count, 1);
		__sync_fetch_and_add(&c->ns, fresh->ns);
		if (key->event == HOST_bounce)
			__sync_fetch_and_add(&c->value, fresh->value);
	} else if (bpf_map_update_elem(&host_events, key, fresh, BPF_NOEXIST)) {
		count(loss[LOSS_no_host_event]);
	}
}

static __always_inline void host_event(__u32 event, struct task_struct *task, __u64 obj, __u64 ns)
{
	struct host_key key = { .event = event, .pid = task->tgid, .obj = obj };
	struct host_count fresh = { .ns = ns };

	copy_comm(fresh.comm, task);
	add_host_event(&key, &fresh);
}

static __always_inline bool wanted(struct task_struct *task)
{
	return !only_pid || (__u32)task->tgid == only_pid;
}

/* Begin to follow a task that is now in `state`. NULL: no room, which is counted. */
static __always_inline struct thread *thread_adopt(struct task_struct *task, __u32 state,
						   bool related)
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
	info.related = related;
	info.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	info.adopted_ns = now_ns();
	info.tp = thread_pointer(task);
	copy_comm(info.comm, task);
	if (bpf_map_update_elem(&tasks, &serial, &info, BPF_ANY)) {
		count(loss[LOSS_no_task]);
		return NULL;
	}
	if (!active)
		active =
			true; /* its exit must be noticed, even if user space has not heard of it */
	t->since = info.adopted_ns;
	t->related = related;
	t->state = state;
	t->now.gen = t->gap.gen = ~0ull; /* no snapshot yet */
	t->stop.from_ns = info.adopted_ns;
	t->stop.state = state;
	/* The thread itself and the agent's iterator may both be here; one of them wins. */
	if (__sync_val_compare_and_swap(&t->serial, 0, serial))
		bpf_map_delete_elem(&tasks, &serial);
	return t;
}

#endif
