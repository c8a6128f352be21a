/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What kernel and user space agree on: the ring's records and the maps that both sides read. */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include "wire/hist.h"
#include "wire/ops.h"

#define COMM_LEN 16

/*
 * Where the time of a thread goes. Every transition uses one clock reading, so the sums over all
 * states equal wall time by construction.
 */
#define STATES(X)                                                                                  \
	X(RUN, run, "on CPU")                                                                      \
	X(PREEMPTED, preempted, "preempted, waiting for a CPU")                                    \
	X(WAKE, wake, "woken, waiting for a CPU")                                                  \
	X(THROTTLED, throttled, "stopped by its CPU quota")                                        \
	X(BLOCKED, blocked, "blocked in the kernel")                                               \
	X(UNKNOWN, unknown, "not seen")

enum state {
#define X(id, name, text) STATE_##id,
	STATES(X)
#undef X
		STATE_COUNT,
};

#define STATE_RUNNABLE(s) ((s) == STATE_PREEMPTED || (s) == STATE_WAKE)

/* Somebody who ran while a thread waited for the CPU. pid 0: the CPU was idle (wake-up latency). */
struct who {
	__u32 pid;
	__u32 cpu;
	__u64 ns;
	char comm[COMM_LEN];
};

#define WHO_MAX 4

/* Why a record was sent and not only counted. */
enum sent_because {
	BECAUSE_SLOW = 1, /* much longer than this thread's mean for this op */
	BECAUSE_FIRST = 2, /* the first of its kind on this thread */
	BECAUSE_SAMPLED = 4,
	BECAUSE_ALL = 8, /* --record-all */
	BECAUSE_FAILED = 16, /* it returned an error */
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
	__u64 state_ns[STATE_COUNT];
	struct who who[WHO_MAX]; /* waits in time order, newest first, merged by culprit */
};

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
	__u32 hist[HIST_BUCKETS]; /* of timed calls */
};

#define TALLIES 8192

/* One thread that we follow. */
struct task_info {
	__u32 pid, tid;
	__u32 ppid;
	__u32 leader; /* 1: the process itself */
	__u64 start_ns; /* boot time; with pid, the identity of the process: group leader's start */
	__u64 adopted_ns;
	__u64 exited_ns; /* 0: alive */
	char comm[COMM_LEN];
};

#define TASKS 65536

/* ns that `pid` ran on `cpu` while the thread `serial` waited for that CPU. Complete. */
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
	X(no_blame, "waits charged to nobody: blame table full")

enum loss {
#define X(id, text) LOSS_##id,
	LOSSES(X)
#undef X
		LOSS_COUNT,
};

/* Global counters; rare paths only, hence atomic. ring_full is summed from the tallies. */
struct stats {
	__u64 loss[LOSS_COUNT];
	__u64 foreign; /* hits of processes that were not asked for */
	__u64 adopted; /* threads followed so far */
	__u64 stepped; /* hits on single-stepped sites, for the cost */
};

/* The attach cookie: the op, and how its site was probed. */
#define COOKIE_OP 0xffffull
#define COOKIE_STEPPED 0x10000ull
#define COOKIE_IF_NO_DRIVER 0x20000ull /* a runtime launch: skip where libcuda sees it too */

/* No hidden padding: both compilers must agree, and stale bytes must not reach the store. */
_Static_assert(sizeof(struct who) == 32, "struct who");
_Static_assert(sizeof(struct call_event) == 32 + 6 * 8 + STATE_COUNT * 8 + WHO_MAX * 32, "call");
_Static_assert(sizeof(struct tally) == 8 + 9 * 8 + STATE_COUNT * 8 + HIST_BUCKETS * 4, "tally");
_Static_assert(sizeof(struct task_info) == 56, "struct task_info");
_Static_assert(sizeof(struct blame_key) == 12, "struct blame_key");

#endif
