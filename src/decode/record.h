/* SPDX-License-Identifier: Apache-2.0 */
/* One call or gap as user space handles it: checked, with names; a value without pointers to heap. */
#ifndef DECODE_RECORD_H
#define DECODE_RECORD_H

#include <stdint.h>

#include "wire/event.h"

struct record {
	const struct op *op; /* static */
	const struct op *next; /* of a gap: the call that ended it; else NULL */
	uint32_t serial, pid, tid;
	int32_t ret;
	uint32_t because, depth;
	uint64_t start_ns, dur_ns; /* boot time */
	uint64_t bytes, stream, aux, out;
	uint64_t usual_ns; /* 0: not known */
	uint64_t site;
	uint64_t stack; /* as the probes name it until somebody translates it, or enum no_stack */
	uint64_t state_ns[STATE_COUNT];
	uint64_t counter[COUNTER_COUNT];
	uint32_t who_count;
	struct who who[WHO_MAX]; /* comm is terminated */
};

/* What one op did on one thread since the last look. */
struct op_delta {
	uint32_t serial;
	const struct op *op;
	uint64_t calls, done, sent, summed, dropped, errors, bytes;
	uint64_t nested, nested_bytes; /* of calls and bytes: inside another traced call */
	uint64_t total_ns;
	uint64_t max_ns; /* the longest so far, not of this delta */
	uint64_t state_ns[STATE_COUNT];
	uint64_t counter[COUNTER_COUNT];
	uint32_t hist[HIST_BUCKETS];
};

extern const char *const loss_names[LOSS_COUNT]; /* as in the store: "ring_full" */
extern const char *const loss_texts[LOSS_COUNT]; /* as people read it */

/* What the store calls `name`, as people read it; of whatever part of us. NULL: not one of ours. */
const char *loss_text(const char *name);

extern const char *const shed_names[SHED_COUNT];
extern const char *const shed_texts[SHED_COUNT];
extern const char *const host_event_names[HOST_COUNT];

#endif
