/* SPDX-License-Identifier: Apache-2.0 */
/* Which followed processes have a Python interpreter, and where it keeps what a walk needs. */
#ifndef AGENT_PYTHONS_H
#define AGENT_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/python.h"

struct pythons;

/* why is "" where its stacks can be walked. Borrowed for the call. */
typedef void (*python_fn)(int pid, const char *why, void *arg);

struct pythons *pythons_new(python_fn fn, void *arg);
void pythons_free(struct pythons *p);

/* Where the probes that walk have them from. */
struct python_map {
	bool (*has)(void *arg, int pid);
	int (*put)(void *arg, int pid, const struct py_layout *layout);
	void *arg;
};

/* The process is followed from now on. */
void pythons_see(struct pythons *p, const struct python_map *map, int pid);

/* Look again at those whose interpreter had not begun. */
void pythons_look(struct pythons *p, const struct python_map *map, uint64_t now_ns);

#endif
