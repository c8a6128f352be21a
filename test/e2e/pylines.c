// SPDX-License-Identifier: Apache-2.0
/* Loaded into an interpreter by pylines.py: our lines against those of its own PyCode_Addr2Line(). */
#include "python/python.h"

/* As class Job has it. */
struct job {
	int (*addr2line)(void *code, int lasti);
	void *code;
	const uint8_t *table;
	size_t size;
	unsigned version;
	int first_line, code_size;
	int lasti, ours, theirs; /* told: the first that differs */
};

int compare(struct job *job);

/* Every instruction of a code object, and one before the first. Returns how many differ. */
int compare(struct job *job)
{
	int bad = 0;

	for (int lasti = -2; lasti < job->code_size; lasti += 2) {
		int theirs = job->addr2line(job->code, lasti);
		int want = theirs < 0 ? 0 : theirs; /* they say -1 where there is none */
		int ours = py_line(job->version, job->table, job->size, job->first_line, lasti);

		if (ours != want && !bad++) {
			job->lasti = lasti;
			job->ours = ours;
			job->theirs = theirs;
		}
	}
	return bad;
}
