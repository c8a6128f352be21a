/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What kernel and user space agree on: the ring's records and the maps that both sides read. */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include "wire/hist.h"
#include "wire/ops.h"

#define COMM_LEN 16

/*
 * Where the time of a thread goes. Every transition uses one clock reading, so the sums over all
 * states equal wall time by construction. The order matters: STATE_BLOCKED() and others are ranges.
 */
#define STATES(X)                                                                                  \
	X(RUN, run, "on CPU")                                                                      \
	X(GC, gc, "on CPU, collecting Python's garbage")                                           \
	X(RECLAIM, reclaim, "on CPU, freeing memory for itself")                                   \
	X(IRQ, irq, "interrupted by a device")                                                     \
	X(STEAL, steal, "the hypervisor ran something else")                                       \
	X(PREEMPTED, preempted, "preempted, waiting for a CPU")                                    \
	X(WAKE, wake, "woken, waiting for a CPU")                                                  \
	X(THROTTLED, throttled, "stopped by its CPU quota")                                        \
	X(FUTEX, futex, "waiting for a lock or another thread")                                    \
	X(PIPE, pipe, "waiting on a pipe")                                                         \
	X(SOCKET, socket, "waiting on a socket")                                                   \
	X(POLL, poll, "waiting for one of several events")                                         \
	X(READ, read, "reading a file")                                                            \
	X(WRITE, write, "writing a file")                                                          \
	X(FSYNC, fsync, "flushing a file to its disk")                                             \
	X(PATH, path, "looking up a file")                                                         \
	X(FAULT, fault, "waiting in a page fault")                                                 \
	X(RECLAIM_WAIT, reclaim_wait, "waiting while it frees memory for itself")                  \
	X(SLEEP, sleep, "sleeping by itself")                                                      \
	X(GPU, gpu, "waiting in the GPU's driver")                                                 \
	X(CHILD, child, "waiting for a child process")                                             \
	X(DEVICE, device, "waiting on another device")                                             \
	X(URING, uring, "waiting on an io_uring")                                                  \
	X(MMAP, mmap, "changing its address space")                                                \
	X(STOPPED, stopped, "stopped by a signal or debugger")                                     \
	X(SYSCALL, syscall, "waiting in another system call")                                      \
	X(UNKNOWN, unknown, "not seen")

enum state {
#define X(id, name, text) STATE_##id,
	STATES(X)
#undef X
		STATE_COUNT,
};

#define STATE_ON_CPU(s) ((s) <= STATE_STEAL) /* steal: it had the CPU, the CPU had no time */
#define STATE_RUNNABLE(s) ((s) == STATE_PREEMPTED || (s) == STATE_WAKE)
#define STATE_BLOCKED(s) ((s) >= STATE_FUTEX && (s) < STATE_UNKNOWN)

/*
 * Somebody who ran while a thread waited for the CPU. pid 0: the CPU was idle (wake-up latency);
 * PID_IRQ: nobody, it served interrupts.
 */
#define PID_IRQ 0xffffffffu

struct who {
	__u32 pid;
	__u32 cpu;
	__u64 ns;
	char comm[COMM_LEN];
};

#define WHO_MAX 4

/* Why a record was sent and not only counted. */
enum sent_because {
	BECAUSE_SLOW = 1, /* much longer than is usual for this op, call site and size */
	BECAUSE_FIRST = 2, /* the first of its kind on this thread */
	BECAUSE_SAMPLED = 4,
	BECAUSE_ALL = 8, /* --record-all */
	BECAUSE_FAILED = 16, /* it returned an error */
	BECAUSE_COLD = 32, /* long, but too early to know what is usual */
	BECAUSE_OPEN = 64, /* not over when the trace ended: it lasts at least that long */
};

/* What the kernel counts for a thread anyway; a span of time has its share of each. */
#define COUNTERS(X)                                                                                \
	X(minor, "page faults served from memory")                                                 \
	X(major, "page faults that needed a device, or swap")                                      \
	X(kernel_ns, "time in the kernel, sampled at the clock tick")

enum counter {
#define X(id, text) COUNTER_##id,
	COUNTERS(X)
#undef X
		COUNTER_COUNT,
};

/* One call, or one gap between calls (op == OP_GAP, aux = the op that ended it). */
struct call_event {
	__u32 size; /* of this struct: the ring carries nothing else */
	__u32 op; /* enum op_id or OP_GAP */
	__u32 serial; /* key of `tasks` */
	__u32 pid, tid;
	__s32 ret;
	__u16 because; /* enum sent_because */
	__u16 depth; /* 0: not inside another traced call */
	__u32 who_count;
	__u64 start_ns; /* boot time */
	__u64 dur_ns;
	__u64 bytes, stream, aux, out;
	__u64 usual_ns; /* the median of its kind so far; 0: not known yet */
	__u64 site; /* where it was called from: the return address; 0: not read */
	__u64 stack; /* the Python stack, or enum no_stack: see wire/python.h */
	__u64 state_ns[STATE_COUNT];
	__u64 counter[COUNTER_COUNT];
	struct who who[WHO_MAX]; /* waits in time order, newest first, merged by culprit */
};

/* Who ended a wait. In interrupt context it is the device, never the task that was interrupted. */
#define WAKERS(X)                                                                                  \
	X(nobody, "nobody: it was ready to run")                                                   \
	X(task, "a thread")                                                                        \
	X(kthread, "a kernel thread")                                                              \
	X(irq, "a device's interrupt")                                                             \
	X(block, "a finished disk request")                                                        \
	X(net, "a received packet")                                                                \
	X(timer, "a timer")                                                                        \
	X(other, "an interrupt that cannot be named")

enum waker {
#define X(id, text) WAKER_##id,
	WAKERS(X)
#undef X
		WAKER_COUNT,
};

#define STOP_HEALED 1 /* rebuilt after a switch that was not reported */
#define STOP_OVERLAY 2 /* no stop: on the CPU all the time, in `state` (reclaim, gc) */
#define STOP_PACKET_LOSS 4 /* packets of the awaited stream came out of order meanwhile */
#define STOP_IOWAIT 8
/* No stop: a look at it while it was running, at from_ns. state is RUN; GC where it collects garbage and
 * nothing else has told so; FAULT where it is in a page fault. */
#define STOP_SAMPLE 16
#define STOP_OPEN 32 /* not over when the trace ended, which is run_ns */

/*
 * One stop of a thread that we follow: from leaving the CPU until it ran again, with the reason and
 * with who ended it. Written when it is over, into a bounded memory per CPU that user space reads;
 * with all stops of a thread, the rest of its time is running. Stops below STOP_MIN_NS are only in
 * the sums.
 */
struct stop {
	__u64 run_ns; /* ran again. Written last; 0 while the others are being written */
	__u64 from_ns; /* left the CPU */
	__u64 wake_ns; /* became ready to run; from_ns where it never blocked */
	__u32 serial; /* who */
	__u32 waker, waker_pid; /* thread and process; only for WAKER_task and WAKER_kthread */
	__u32 waker_serial; /* 0: not followed */
	__u8 state; /* of the blocked part; PREEMPTED or THROTTLED where it never blocked */
	__u8 by; /* enum waker */
	__s16 irq; /* of WAKER_irq, block, net, if known; else -1 */
	__s16 nr; /* system call; -1: none */
	__u16 op; /* the outermost traced call that it was in, OP_GAP between two, OP_SLOTS: neither */
	__u64 obj; /* futex word, inode, device number, faulting instruction: by state */
	__u64 obj2; /* socket: remote v4 address << 32 | remote port << 16 | own port; file: device */
	__s32 fd; /* -1: none, or not known */
	__u32 flags;
	__u32 cpu; /* where it waited for a CPU */
	__u32 cpu_pid; /* who had that CPU longest meanwhile; 0: idle; PID_IRQ */
	__u64 cpu_ns; /* ... and how long */
	__u64 stack; /* where in its Python code it stopped, or enum no_stack: see wire/python.h */
	/* Of a wait for Python's interpreter lock, when it began: */
	__u64 holder; /* thread pointer of who had it, as task_info.tp; 0: nobody, or no such wait */
	__u64 holder_stack;
	char waker_comm[COMM_LEN];
};

#define STOP_MIN_NS 20000ull

/* A run of equal calls of one thread: the rhythm from which steps are found. */
struct beat {
	__u64 start_ns, end_ns; /* first entry, last exit (of entry-only ops: last entry) */
	__u64 in_ns; /* inside these calls, where they are timed */
	__u64 wait_ns; /* not running in the gaps before each of them */
	__u32 op; /* | direction of a copy << 16 */
	__u32 count;
	__u32 stream; /* of those with one: a number for each */
	__u32 flags; /* BEAT_* */
};

#define BEAT_MIXED 1 /* calls on several streams, or on one that could not be read */

#define BEAT_OP(b) ((b)&0xffff)
#define TAPES 48 /* threads whose rhythm is kept */
#define BEATS 2048 /* per tape, a power of two */

struct tape {
	__u32 serial; /* 0: free */
	__u32 pad;
	__u64 head; /* beats begun: the one before it may still grow */
};

/* Something that happened on the host, aggregated where it may be frequent. */
#define HOST_EVENTS(X)                                                                             \
	X(exec, "a followed process started a program")                                            \
	X(exit, "a followed process ended")                                                        \
	X(fork, "a followed process made a child")                                                 \
	X(oom_kill, "the kernel killed a process for want of memory")                              \
	X(retransmit, "TCP sent again what was not acknowledged")                                  \
	X(reclaim, "a followed thread had to free memory for itself")                              \
	X(compaction, "a followed thread had to move memory for itself")                           \
	X(block_io, "disk requests of followed threads, from issue to completion")                 \
	X(disk_slow, "disk requests that took ten seconds or more")                                \
	X(disk_error, "disk requests that failed")                                                 \
	X(disk_requeue, "disk requests that had to be given to the disk again")                    \
	X(bounce, "data copied on its way to or from a device that cannot reach it")               \
	X(iommu_fault, "a device was refused the memory that it asked for")                        \
	X(disk_timeout, "a disk did not answer a request in time")                                 \
	X(disk_reset, "a disk's controller was reset")                                             \
	X(pci_error, "a device's link reported an error")

enum host_event {
#define X(id, text) HOST_##id,
	HOST_EVENTS(X)
#undef X
		HOST_COUNT,
};

/* Counted per key, with the first and the last time: never one record per packet. */
struct host_key {
	__u32 event; /* enum host_event */
	__u32 pid; /* whose; 0: unknown */
	/*
	 * retransmit: as stop.obj2, seen from the sender; fork: the child; disk requests: the disk;
	 * bounce, iommu_fault: one number for each device, whose name is in comm. In the store the fault of a
	 * drive has a row for the disk and each partition, with its number; only that of the disk counts.
	 */
	__u64 obj;
};

/* What the name of a device ends with in the store, where its kind is known. */
#define DEVICE_GPU "(GPU)"
#define DEVICE_DISK "(disk)"

struct host_count {
	__u64 first_ns, last_ns, count, ns; /* ns: of those with a length */
	__u64 value; /* bounce, disk_timeout: bytes; iommu_fault: the first address */
	__u64 cgroup; /* whose, in the unified hierarchy; 0: not known */
	char comm[COMM_LEN];
};

#define HOST_KEYS 4096

/* An error that a GPU's driver reported, as its tracepoint has it. */
struct xid_event {
	__u64 at_ns;
	__u32 code, pad;
	char bus_id[16]; /* "0000:1b:00.0" */
	char text[160];
};

#define XID_EVENTS 64 /* between two looks of user space */

/* A file that somebody waited for: its name, kept once. */
struct file_key {
	__u64 ino;
	__u64 dev;
};

struct file_name {
	char name[40], parent[24]; /* last two parts of the path, as much as fits */
};

#define FILES 4096

/*
 * The complete account of one op on one thread: nothing is sampled here. One writer, the thread
 * itself, so plain additions are exact. done == sent + summed + dropped, always.
 */
struct tally {
	/* One cache line holds what the common call touches. */
	__u32 serial; /* 0: free */
	__u32 op;
	__u64 calls; /* entered */
	__u64 done; /* returned; for entry-only ops the same as calls */
	__u64 summed; /* of these: only counted here */
	__u64 total_ns, max_ns; /* of timed calls */
	__u64 state_ns[STATE_COUNT]; /* outermost only: tallies of a thread add up to its time */
	__u64 sent, dropped; /* to the ring / ring full */
	__u64 errors; /* returned non-zero */
	__u64 bytes;
	__u64 nested, nested_bytes; /* of calls and bytes: inside another traced call */
	__u64 counter[COUNTER_COUNT]; /* outermost only, as the states */
	__u64 line[6];
	__u32 hist[HIST_BUCKETS]; /* of timed calls */
};

_Static_assert(sizeof(struct tally) % 64 == 0, "whole cache lines");

#define TALLIES 8192

/* One thread that we follow. */
struct task_info {
	__u32 pid, tid;
	__u32 ppid;
	__u16 leader; /* 1: the process itself */
	__u16 related; /* 1: makes no traced calls, but was seen to wake one that does */
	__u64 start_ns; /* boot time; with pid, the identity of the process: group leader's start */
	__u64 adopted_ns;
	__u64 exited_ns; /* 0: alive */
	__u64 tp; /* thread pointer: what pthread_self() is to the program */
	char comm[COMM_LEN];
};

#define TASKS 65536

/* ns that `pid` (or PID_IRQ) had `cpu` while the thread `serial` waited for that CPU. Complete. */
struct blame_key {
	__u32 serial;
	__u32 pid;
	__u32 cpu;
};

struct blame {
	__u64 ns;
	char comm[COMM_LEN];
};

#define BLAMES 16384

/* What went wrong, counted; anything non-zero is shown with the answer. */
#define LOSSES(X)                                                                                  \
	X(ring_full, "records lost: the ring was full")                                            \
	X(no_task, "calls not counted: no room for another thread")                                \
	X(no_tally, "calls not counted: no room for another op")                                   \
	X(too_deep, "calls not timed: nested too deeply")                                          \
	X(no_entry, "returns without a seen entry")                                                \
	X(no_return, "calls that never returned (longjmp, thread end)")                            \
	X(missed_switch, "context switches the kernel did not report")                             \
	X(lost_state, "waits whose end was rebuilt after a missed switch")                         \
	X(short_history, "waits longer than the CPU's history of slices")                          \
	X(no_blame, "waits charged to nobody: blame table full")                                   \
	X(no_host_event, "host events not counted: table full")                                    \
	X(history, "stops overwritten before they were read")                                      \
	X(beats, "beats overwritten before they were read")                                        \
	X(no_tape, "threads whose rhythm is not kept: too many")                                   \
	X(no_news, "stacks not told or stored: too many at once")                                  \
	X(late_steal, "spans in which the hypervisor's time was told late")                        \
	X(no_verdict, "stalls not judged one by one: too many at once")                            \
	X(no_comm, "NCCL calls without their communicator: too many of these")                     \
	X(no_collective, "NCCL calls counted but not told: the ring was full")                     \
	X(no_alloc, "allocations not followed: too many at once")                                  \
	X(no_kernel, "launches not told by kernel: too many kernels")                              \
	X(no_kernel_name, "names of kernels lost: too many at once")                               \
	X(no_tenant, "processes whose control group was not found out in time")

enum loss {
#define X(id, text) LOSS_##id,
	LOSSES(X)
#undef X
		LOSS_COUNT,
};

/* What is given up when tracing costs too much, in this order: see src/capture/budget.h. */
#define SHEDS(X)                                                                                   \
	X(returns, "times of launches")                                                            \
	X(launches, "launches")                                                                    \
	X(stacks, "stacks")                                                                        \
	X(detail, "scheduling of processes that make no calls")

enum shed {
#define X(id, text) SHED_##id,
	SHEDS(X)
#undef X
		SHED_COUNT,
};

/* Whose switch it is. */
enum switched { SWITCH_other, SWITCH_followed, SWITCH_related, SWITCH_KINDS };

/* Time that the probes took on one CPU, beside the hits that tallies count. One cache line. */
struct cpu_cost {
	__u64 switches[SWITCH_KINDS];
	__u64 switch_ns[SWITCH_KINDS]; /* without what calling a program costs */
	__u64 stack_ns; /* looking at stacks */
	__u64 record_ns; /* sending records */
};

/* Global counters; rare paths only, hence atomic. ring_full is summed from the tallies. */
struct stats {
	__u64 loss[LOSS_COUNT];
	__u64 foreign; /* hits of processes that were not asked for */
	__u64 adopted; /* threads followed so far */
	__u64 stepped; /* hits on single-stepped sites, for the cost */
	__u64 late; /* launches that came while the probes were being taken off: not counted */
	__u64 stubs; /* hits on launches of the runtime to learn their kernels, for the cost */
	__u64 code_frees; /* code objects that Pythons freed under our eyes, for the cost */
};

/* The attach cookie: the op, and how its site was probed. */
#define COOKIE_OP 0xffffull
#define COOKIE_STEPPED 0x10000ull
#define COOKIE_IF_NO_DRIVER 0x20000ull /* a runtime launch: skip where libcuda sees it too */
#define COOKIE_SECOND 0x40000ull /* what it launches is its second argument, not its first */
#define COOKIE_OF_CLASS(class) ((__u64)(class) << 20)
#define COOKIE_CLASS(cookie) ((cookie) >> 20 & 0xf)

_Static_assert(CLASS_COUNT <= 16, "four bits of a cookie");

/* No hidden padding: both compilers must agree, and stale bytes must not reach the store. */
_Static_assert(sizeof(struct who) == 32, "struct who");
_Static_assert(sizeof(struct call_event) ==
		       32 + 9 * 8 + STATE_COUNT * 8 + COUNTER_COUNT * 8 + WHO_MAX * 32,
	       "call");
_Static_assert(sizeof(struct cpu_cost) == 64, "struct cpu_cost");
_Static_assert(sizeof(struct stop) == 128, "struct stop");
_Static_assert(sizeof(struct beat) == 48, "struct beat");
_Static_assert(sizeof(struct task_info) == 64, "struct task_info");
_Static_assert(sizeof(struct xid_event) == 192, "struct xid_event");
_Static_assert(sizeof(struct blame_key) == 12, "struct blame_key");

#endif
