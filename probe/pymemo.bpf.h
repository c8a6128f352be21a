/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code objects that earlier walks have met. From 3.12 on each has a number, and a look at it is enough.
 * Before, its address may be another one's by now, and to be sure takes three reads. But if the process
 * has freed no code object since (user space has put a probe there, see src/capture/frees.c), then what
 * was at an address is there still.
 *
 * What makes that true: the number of frees is read before anything else of a walk, and raised before an
 * object is freed. Only what is alive is kept, with references and of the right type: while an
 * interpreter leaves a function, its frame may still point at code that is gone. And only from frames
 * that stand still: another thread's may be overwritten meanwhile.
 */
#ifndef PROBE_PYMEMO_BPF_H
#define PROBE_PYMEMO_BPF_H

#include "probe/pycode.bpf.h"

#define MEMO_BITS 13
#define REFERENCES_MAX (1ull << 31) /* what is freed has an address there */

struct memo {
	__u64 code;
	__u64 when; /* generation of the process, and its frees */
	__u64 fp; /* as in struct met, */
	__u64 traceable;
	__u64 check; /* of these: where two write at once nobody believes what comes out */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << MEMO_BITS);
	__type(key, __u32);
	__type(value, struct memo);
} memos SEC(".maps");

static __always_inline __u64 memo_time(const struct py_layout *l)
{
	if (l->watched != PY_WATCHED)
		return 0;
	return (__u64)l->generation << 32 | *(const volatile __u32 *)&l->frees;
}

static __always_inline struct memo *memo_of(const struct walk *w, __u64 code)
{
	__u32 i;

	if (!w->when)
		return NULL;
	i = mix(code, w->when >> 32) >> (64 - MEMO_BITS);
	return bpf_map_lookup_elem(&memos, &i);
}

static __always_inline __u64 memo_check(const struct walk *w, const struct met *m)
{
	return mix(mix(mix(mix(m->code, w->when), m->fp), m->traceable), w->epoch);
}

/* What is known of m->code, into the rest of it. */
static __always_inline bool recall_code(struct walk *w, struct met *m)
{
	const volatile struct memo *known = memo_of(w, m->code);

	if (!known || known->code != m->code || known->when != w->when)
		return false;
	m->fp = known->fp;
	m->traceable = known->traceable;
	if (known->check != memo_check(w, m))
		return false;
	w->recalled++;
	return true;
}

/* What was just read into the scratch, unless somebody else took that meanwhile: he is asked last. */
static __always_inline void keep_code(struct walk *w, const struct py_layout *l, __u32 owner,
				      const struct met *m)
{
	volatile struct memo *kept = memo_of(w, m->code);
	__u64 references = *(__u64 *)w->code, type = *(__u64 *)(w->code + 8);
	__u64 code = m->code, fp = m->fp, traceable = m->traceable;
	__u64 when = w->when, check = memo_check(w, m);

	barrier();
	if (!kept || !w->keep || !references || references >= REFERENCES_MAX ||
	    type != l->code_type || *(volatile __u32 *)&w->owner != owner)
		return;
	kept->code = code;
	kept->when = when;
	kept->fp = fp;
	kept->traceable = traceable;
	kept->check = check;
}

static __always_inline void forget_code(struct walk *w, __u64 code)
{
	struct memo *m = memo_of(w, code);

	if (m)
		m->check = 0;
}

#endif
