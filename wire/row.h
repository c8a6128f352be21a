/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Launches that the accounts of their thread have not heard of yet: see probe/row.bpf.h. */
#ifndef WIRE_ROW_H
#define WIRE_ROW_H

#include <linux/types.h>

#define ROW_MAX 20
#define ROW_WORDS 32 /* a power of two */
#define ROW_OTHER 2 /* the last call was another one */

struct put_down {
	__u64 kernel; /* its handle */
	__u32 in_ns; /* how long it took; 0: it is not over, or its end goes unseen */
	__u16 gap_ns; /* since the one before began */
	__u16 which; /* of the two functions */
};

/* By tape. What each launch looks at is on the first cache line, and on that of its own entry. */
struct launch_row {
	__u64 ns; /* when the last one began: so far the thread's time is known */
	__u64 irq_read; /* of its CPU: no interrupt came since the row began */
	__u64 asked; /* where this kernel is launched from is to be found out; 0: none */
	__u32 cookie[2]; /* the two functions that it may be made of; 0: none */
	__u16 tally[2]; /* of each, as in the thread */
	__u32 serial; /* of the thread */
	__u32 era; /* launch_era */
	__u32 stream; /* as in a beat; that of all of them */
	__u16 n, room; /* so many are put down; no more than so many may be */
	__u16 which; /* the function of the last one, or ROW_OTHER */
	__u16 unread; /* launches since that stream was read */
	__u16 newer; /* of the two functions: which was taken in last */
	__u16 pad[3];
	struct put_down launch[ROW_MAX];
	__u64 known[ROW_WORDS]; /* kernels that were met before, two bits each: a Bloom filter */
};

_Static_assert(sizeof(struct put_down) == 16, "struct put_down");
_Static_assert(sizeof(struct launch_row) == 640, "whole cache lines");

#endif
