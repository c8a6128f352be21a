/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known about CPython 3.9 to 3.14: where its structures are, how to find them in a running
 * process, how its line tables and strings are written. The process is hostile input.
 */
#ifndef PYTHON_PYTHON_H
#define PYTHON_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/python.h"

enum py_found {
	PY_FOUND, /* *ret is filled in and was checked against the threads of the process */
	PY_NONE, /* no interpreter in the process */
	PY_EARLY, /* there is one, but it has not begun: ask again */
	PY_REFUSED, /* there is one, and it must not be walked: why says the reason */
};

/* *ret but for `generation`; `version` is filled in wherever it is known. */
enum py_found py_find(int pid, struct py_layout *ret, char *why, size_t why_cap);

/*
 * The line of the instruction `lasti` bytes into the bytecode, by the table of that version of Python;
 * 0: it has none; -1: the table makes no sense.
 */
int py_line(unsigned version, const uint8_t *table, size_t size, int first_line, int lasti);

/*
 * A string's characters, as they are in memory, to UTF-8 with control characters made harmless; cut
 * at a character if it is too long. `size` bytes are there of `length` characters. Returns dst.
 */
char *py_text(const uint8_t *src, size_t size, int64_t length, uint32_t state, char *dst,
	      size_t cap);

#endif
