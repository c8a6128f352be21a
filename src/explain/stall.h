/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on one slow call or gap, from its own split and chains: what `trace` prints live. */
#ifndef EXPLAIN_STALL_H
#define EXPLAIN_STALL_H

#include "decode/record.h"
#include "explain/explain.h"

struct stall {
	int64_t call; /* row of `call`; this and the next three are the caller's to fill in */
	uint32_t pid, tid;
	char comm[COMM_LEN];
	enum cause_id cause; /* CAUSE_none: it waited for the GPU, or had nothing to do */
	struct culprit culprit; /* pid 0: nobody, or nobody known */
	struct thing object;
	uint64_t start_ns, dur_ns, usual_ns; /* as in the record; usual 0: not known */
	uint64_t ns; /* of dur_ns: charged to this cause */
	uint64_t
		stack; /* where it was, as struct hop's; of a gap without waits: where that ended */
	uint64_t culprit_stack; /* where the culprit was; 0: he has no line of his own */
	char op[64]; /* "cudaMemcpyAsync", "before cuLaunchKernel" */
	char where[160], culprit_where[160]; /* as stall_tell() was told */
	char text
		[800]; /* "stalled 153 ms before cudaMemcpyAsync (usually 0.2 ms): disk-read: ..." */
};

/* chains[i] is charged ns[i]. Pure; names are made harmless. */
void stall_judge(const struct record *rec, const struct chain *chains, const uint64_t *ns, int n,
		 struct stall *ret);

/* The text anew, with lines of code: "forward() at train.py:142", or "" where it is not known. */
void stall_tell(struct stall *s, const char *where, const char *culprit_where);

#endif
