/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rhythm of a thread's calls, as runs of equal ones: from it user space finds the steps. */
#ifndef PROBE_TAPE_BPF_H
#define PROBE_TAPE_BPF_H

#include "probe/lib.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TAPES);
	__type(key, __u32);
	__type(value, struct tape);
} tapes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TAPES *BEATS);
	__type(key, __u32);
	__type(value, struct beat);
} beats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE); /* indexes of free tapes; user space puts them back */
	__uint(max_entries, TAPES);
	__type(value, __u32);
} free_tapes SEC(".maps");

static __noinline int tape_new(struct thread *t)
{
	struct tape *tape;
	__u32 i;

	if (!t)
		return 0;
	t->tape = NO_TAPE;
	if (bpf_map_pop_elem(&free_tapes, &i)) {
		count(loss[LOSS_no_tape]);
		return 0;
	}
	tape = bpf_map_lookup_elem(&tapes, &i);
	if (!tape)
		return 0;
	tape->head = 0;
	barrier();
	tape->serial = t->serial;
	t->tape = i + 1;
	return 0;
}

/* The stream of a call as a beat has it. */
struct work_on {
	__u32 stream, flags;
};

#define STREAM_LEGACY 1ull /* CUDA's names for default streams: this is the same as 0, */
#define STREAM_PER_THREAD 2ull /* ... this is another one in each thread */

static __always_inline struct work_on on_stream(__u64 stream)
{
	struct work_on w = {};

	if (stream == STREAM_PER_THREAD)
		w.flags = BEAT_MIXED;
	else if (stream != STREAM_LEGACY)
		w.stream = (__u32)stream * 2654435761u ^ (__u32)(stream >> 32);
	return w;
}

/*
 * Reading the stream costs a fifth of the whole probe, so in a run of launches every 31st is read: a
 * number that no pattern of a few streams divides.
 */
#define STREAM_EVERY 31

/* A call of `op` that began at start_ns and ends now, in_ns of it inside; 0: only counted. */
static __always_inline void beat(struct thread *t, __u32 op, __u64 start_ns, __u64 in_ns,
				 struct work_on work)
{
	struct tape *tape;
	struct beat *b;
	__u32 i;

	if (unlikely(!t->tape))
		tape_new(t);
	if (unlikely(t->tape == NO_TAPE))
		return;
	if (unlikely(!t->beat_head || t->beat_op != op)) {
		i = t->tape - 1;
		tape = bpf_map_lookup_elem(&tapes, &i);
		if (!tape)
			return;
		t->beat_op = op;
		i = (t->tape - 1) * BEATS + (t->beat_head & (BEATS - 1));
		b = bpf_map_lookup_elem(&beats, &i);
		if (!b)
			return;
		b->op = op;
		b->start_ns = start_ns;
		b->in_ns = in_ns;
		b->wait_ns = t->gap_wait_ns;
		b->end_ns = t->now.ns;
		b->count = 1;
		b->stream = work.stream;
		b->flags = work.flags;
		barrier();
		tape->head = ++t->beat_head;
		return;
	}
	i = (t->tape - 1) * BEATS + ((t->beat_head - 1) & (BEATS - 1));
	b = bpf_map_lookup_elem(&beats, &i);
	if (unlikely(!b))
		return;
	b->end_ns = t->now.ns;
	b->in_ns += in_ns;
	b->wait_ns += t->gap_wait_ns;
	b->count++;
	b->flags |= work.flags;
	if (unlikely(b->stream != work.stream))
		b->flags |= BEAT_MIXED;
}

/* The op of the last beat, so many times more, up to now; nothing was waited for in between. */
static __always_inline void beat_again(struct thread *t, __u64 n)
{
	__u32 i = (t->tape - 1) * BEATS + ((t->beat_head - 1) & (BEATS - 1));
	struct beat *b = bpf_map_lookup_elem(&beats, &i);

	if (!b)
		return;
	b->end_ns = t->now.ns;
	b->count += n;
}

#endif
