/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A base-2 exponential histogram of durations, four buckets per octave: a bucket is at most a quarter
 * wider than its floor, so a quantile read from it is within 25 % of the true one, mostly far nearer.
 * 128 buckets cover 64 ns to 4.5 minutes. Both sides compile it.
 */
#ifndef WIRE_HIST_H
#define WIRE_HIST_H

#include <linux/types.h>

#define HIST_BUCKETS 128
#define HIST_MIN_LOG2 6

static inline __u32 hist_log2(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v > 1);
}

static inline __u32 hist_bucket(__u64 ns)
{
	__u32 log2, bucket;

	if (ns < (1ull << HIST_MIN_LOG2))
		return 0;
	log2 = hist_log2(ns);
	bucket = (log2 - HIST_MIN_LOG2) * 4 + (__u32)((ns >> (log2 - 2)) & 3);
	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

/* The smallest duration that falls into a bucket; of HIST_BUCKETS: where the last one ends. */
static inline __u64 hist_floor(__u32 bucket)
{
	return (4ull + (bucket & 3)) << (bucket / 4 + HIST_MIN_LOG2 - 2);
}

#endif
