/* SPDX-License-Identifier: Apache-2.0 */
/* Which followed processes have a Python interpreter, and where it keeps what a walk needs. */
#ifndef CAPTURE_PYTHONS_H
#define CAPTURE_PYTHONS_H

#include <stdint.h>

struct pythons;

/* version 0: not known. why is "" where its stacks can be walked. Borrowed for the call. */
typedef void (*python_fn)(int pid, unsigned version, const char *why, void *arg);

/* `map` is the probes' map of layouts. */
struct pythons *pythons_new(int map, python_fn fn, void *arg);
void pythons_free(struct pythons *p);

/* The process is followed from now on. Cheap when it is known already. */
void pythons_see(struct pythons *p, int pid);

/* Ask those again whose interpreter had not begun. */
void pythons_again(struct pythons *p, uint64_t now_ns);

#endif
