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

/*
 * Without a branch: which bit it is differs from call to call, and a processor that guesses wrong loses
 * more than this takes. (BPF has no instruction for it.)
 */
static inline __u32 hist_log2(__u64 v)
{
#ifdef __bpf__
	static const __u8 place[64] __attribute__((aligned(64))) = {
		0,  58, 1,  59, 47, 53, 2,  60, 39, 48, 27, 54, 33, 42, 3,  61,
		51, 37, 40, 49, 18, 28, 20, 55, 30, 34, 11, 43, 14, 22, 4,  62,
		57, 46, 52, 38, 26, 32, 41, 50, 36, 17, 19, 29, 10, 13, 21, 56,
		45, 25, 31, 35, 16, 9,  12, 44, 24, 15, 8,  23, 7,  6,  5,  63,
	};

	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	return place[v * 0x03f6eaf2cd271461ull >> 58];
#else
	return v ? 63 - (__u32)__builtin_clzll(v) : 0;
#endif
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
