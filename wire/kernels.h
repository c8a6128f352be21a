/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which kernels are launched, how often, from where, and what they are called. */
#ifndef WIRE_KERNELS_H
#define WIRE_KERNELS_H

#include <linux/types.h>

/*
 * All launches of one kernel by one thread; every launch is counted here. One writer, the thread, so
 * plain additions are exact. Cells are found by hashing thread and kernel; a cell of a thread that is gone
 * is emptied by user space.
 */
struct kernel_cell {
	__u32 serial; /* of the thread; 0: free */
	__u32 flags; /* CELL_* */
	__u64 handle; /* CUfunction or CUkernel; of a runtime launch: the function in the program */
	__u64 count;
	__u64 site; /* where it was launched from: the return address, read at every 64th launch */
};

#define CELL_STUB 1 /* handle is an address of the program, whose symbol is the kernel's */

#define KERNEL_CELLS 16384 /* a power of two */
#define KERNEL_NEAR 512 /* where a thread has most of its own, beside some others; a power of two */
#define KERNEL_WAYS 4 /* a power of two */
#define SITE_EVERY 64 /* a power of two */

/* A launch of the runtime was seen to contain a launch of the driver: they are of the same kernel. */
struct kernel_pair_key {
	__u64 handle;
	__u32 pid, pad;
};

struct kernel_pair {
	__u64 stub; /* what the runtime was asked to launch, */
	__u64 site; /* ... and by whom */
	__u64 conflicts; /* it was another one before: then nothing is known */
};

#define KERNEL_PAIRS 4096

/* The driver was asked for a kernel by its name. The name ends with the record. */
struct kernel_name {
	__u32 pid, op;
	__u64 handle;
	__u32 len; /* of the name; without a NUL */
	__u32 cut; /* 1: it is longer than that */
	char name[];
};

#define KERNEL_NAME_SHORT 296 /* most are; so that many fit the ring */
#define KERNEL_NAME_LONG 2024

_Static_assert(sizeof(struct kernel_cell) == 32, "struct kernel_cell");
_Static_assert(sizeof(struct kernel_pair_key) == 16, "struct kernel_pair_key");
_Static_assert(sizeof(struct kernel_name) == 24, "struct kernel_name");

#endif
