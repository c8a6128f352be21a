/* SPDX-License-Identifier: Apache-2.0 */
/* Is a checkpoint what it was meant to be? Facts in, a verdict with its reasons out. */
#ifndef INTEGRITY_JUDGE_H
#define INTEGRITY_JUDGE_H

#include "integrity/checkpoint.h"

/*
 * complete: its bytes are those that were written, all of them, and a crash would not take them away.
 * torn: it is not what somebody set out to write. changed: it was, and no longer is. unknown: cannot be
 * said, or a crash might still tear it. The worst reason decides, in the order of this list from the end.
 */
enum verdict { VERDICT_COMPLETE, VERDICT_UNKNOWN, VERDICT_CHANGED, VERDICT_TORN };

const char *verdict_name(enum verdict v);

struct evidence {
	const struct checkpoint *seen; /* times by the wall clock; NULL: it was never seen */
	const char *
		unfinished; /* a newer version of it under this name was never renamed; NULL: none */
	bool exists;
	bool other_file; /* what has its name now is not the file that was seen */
	bool same_boot; /* the host was not restarted since */
	bool being_written; /* somebody has it open to write */
	bool synced; /* just now, file and folder */
	uint64_t size, mtime_ns; /* now */
	struct digest kept; /* on the file itself; hex "": none */
	struct digest now; /* hex "": not read */
};

struct reason {
	enum verdict verdict; /* that it leads to; VERDICT_COMPLETE: only worth knowing */
	const char *code;
	char text[240];
};

#define REASONS_MAX 16
struct judgement {
	enum verdict verdict;
	int count;
	struct reason reason[REASONS_MAX]; /* worst first */
};

void judge(const struct evidence *e, struct judgement *ret);

#endif
