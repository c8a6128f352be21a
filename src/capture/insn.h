/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe on a function's first instruction costs, judged before one is placed there. */
#ifndef CAPTURE_INSN_H
#define CAPTURE_INSN_H

#include <stdint.h>

enum insn_class {
	INSN_EMULATED, /* the kernel does the instruction's work itself: one trap per hit */
	INSN_STEPPED, /* run out of line under single step: two traps, several times the cost */
	INSN_REFUSED, /* attaching fails or would be wrong: never try */
};

struct insn_site {
	uint64_t offset; /* where to probe: the function, or just behind its endbr64 */
	enum insn_class class;
	uint8_t bytes[16]; /* at that offset; zeros where the file ends */
};

/* Judge the instruction at a file offset. A file of another machine is judged as its own. */
int insn_site(int fd, uint64_t offset, struct insn_site *ret);

/* "emulated", "single-stepped" or "refused". */
const char *insn_class_name(enum insn_class c);

#endif
