// SPDX-License-Identifier: Apache-2.0
/* Loaded into an interpreter by pylines.py: our lines against those of its own PyCode_Addr2Line(). */
#include "python/python.h"

int compare(unsigned version, int (*addr2line)(void *code, int lasti), void *code,
	    const uint8_t *table, size_t size, int first_line, int code_size, int ret[3]);

/*
 * Every instruction of a code object, and one before the first. Returns how many differ; ret is the
 * first that does, what we say and what it says.
 */
int compare(unsigned version, int (*addr2line)(void *code, int lasti), void *code,
	    const uint8_t *table, size_t size, int first_line, int code_size, int ret[3])
{
	int bad = 0;

	for (int lasti = -2; lasti < code_size; lasti += 2) {
		int theirs = addr2line(code, lasti);
		int want = theirs < 0 ? 0 : theirs; /* they say -1 where there is none */
		int got = py_line(version, table, size, first_line, lasti);

		if (got == want)
			continue;
		if (!bad++) {
			ret[0] = lasti;
			ret[1] = got;
			ret[2] = theirs;
		}
	}
	return bad;
}
