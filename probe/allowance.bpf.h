/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A share of a thread's own time that looks at it may take: what is not used is kept, up to a limit. */
#ifndef PROBE_ALLOWANCE_BPF_H
#define PROBE_ALLOWANCE_BPF_H

#include "probe/base.bpf.h"

#define LOOK_BURST_NS 2000000 /* so much at once */
#define LOOK_MAX_NS 250000 /* what was longer was not ours: the host had the CPU, or an interrupt */

struct allowance {
	__u64 at_ns; /* when this was so much: */
	__s64 credit; /* in ns */
};

/* Is there more than `leave` of it? */
static __always_inline bool may_look(struct allowance *a, __u64 now, __u32 share, __s64 leave)
{
	__s64 credit = a->credit + (now - a->at_ns) / share;

	a->credit = credit > LOOK_BURST_NS ? LOOK_BURST_NS : credit;
	a->at_ns = now;
	return a->credit > leave;
}

static __always_inline void looked(struct allowance *a, __u64 ns)
{
	a->credit -= ns > LOOK_MAX_NS ? LOOK_MAX_NS : ns;
}

#endif
