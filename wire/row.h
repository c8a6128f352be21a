/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Launches that the accounts of their thread have not heard of yet: see probe/row.bpf.h. */
#ifndef WIRE_ROW_H
#define WIRE_ROW_H

#include <linux/types.h>

#define ROWS 64 /* at least TAPES; a power of two */
#define ROW_MAX 80
#define ROW_NO_IRQ (ROW_MAX + 1)
#define ROW_CPUS 1024 /* hosts with more do without rows */

#define ROW_SETS 32 /* of kernels; a power of two */
#define ROW_WAYS 4
#define ROW_LAUNCHES 2 /* functions that launch, which a row may be made of, */
#define ROW_FUNCTIONS 4 /* ... and with them those that fill; a power of two */
#define ROW_IN_SHIFT 2
#define ROW_IN_MAX (1u << (32 - ROW_IN_SHIFT))

struct put_down {
	__u32 gap_ns; /* since the one before began */
	/* Which of the functions; from ROW_IN_SHIFT on how long it took in ns, 0: it is not over, or its end goes unseen. */
	__u32 how;
};

/* Kernels whose handles have one hash, and how often each was launched that no account has heard of; 0: free. */
struct kernel_set {
	__u64 handle[ROW_WAYS];
	__u32 count[ROW_WAYS];
	__u32 pad[4];
};

struct row_function {
	__u64 ip; /* where it begins; 0: none */
	__u64 bytes; /* filled by it in this row */
	__u32 stream; /* as read last, as in a beat */
	__u16 op, tally; /* tally: as in the thread */
	__u8 second; /* what it launches is its second argument, not its first */
	__u8 unread; /* so often it came after another one since its stream was read */
	__u8 stream_arg; /* that says on which stream; 0: none, it is in a struct */
	__u8 pad[5];
};

/* By tape. What each launch looks at is on the first cache line, on that of its entry and that of its kernel, on one page. */
struct launch_row {
	__u64 ip; /* of the function that was launched with last */
	__u64 sp; /* of the last one, as long as it has not returned; 0: it has */
	__u64 ns; /* when it began, by the clock that stands still while the host sleeps */
	__u16 n, room; /* so many are put down; from so many on something is to be looked at: */
	__u16 last; /* ... from so many on the accounts */
	__s16 read_at; /* ... and else the stream, which was read when so many were put down */
	__u8 which, second; /* of that function */
	__u8 alone; /* returns are left alone */
	__u8 closed; /* user space says: nothing may be put down */
	__u32 serial; /* of the thread */
	__u32 stream; /* as in a beat; that of all of them */
	__u32 cpu; /* where the row is */
	__u64 told_ns; /* when the accounts of kernels have last heard of them */
	__u64 steal; /* when the row began: see pauses() */
	struct kernel_set kernels[ROW_SETS]; /* launched in this row, and in rows before */
	struct put_down launch[ROW_MAX];
	struct row_function function[ROW_FUNCTIONS];
	/* Interrupts after so many launches, and none since; before them its CPU had spent so much in others. */
	__u64 irq_n, irq_before;
	__u64 counters; /* when the row began, likewise */
	__u8 newer
		[2]; /* of the functions that launch, and of those that fill: which was taken in last */
	__u8 pad[6];
	__u64 line[148];
};

_Static_assert(sizeof(struct put_down) == 8, "struct put_down");
_Static_assert(sizeof(struct row_function) == 32, "struct row_function");
_Static_assert(ROW_FUNCTIONS == 1 << ROW_IN_SHIFT, "put_down.how");
_Static_assert(sizeof(struct kernel_set) == 64, "a cache line");
_Static_assert(__builtin_offsetof(struct launch_row, kernels) == 64, "a cache line");
_Static_assert(sizeof(struct launch_row) == 4096, "a page");

/* By CPU: whose launches may be put down. */
struct cpu_row {
	/* Who has a row, and has not left this CPU since: where its registers are; 0: nobody. */
	__u64 regs;
	__u32 row; /* of `rows` */
	__u32 busy; /* a program of a launch may be writing there */
	__u64 task; /* whose it is */
	/* Not of rows, but by CPU, too: which CPUs are worth a look at what runs there? */
	__u32 followed; /* a thread that we follow is on it */
	__u32 arrivals; /* of such threads */
	__u64 line[4];
};

_Static_assert(sizeof(struct cpu_row) == 64, "a cache line");

#endif
