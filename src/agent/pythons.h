/* SPDX-License-Identifier: Apache-2.0 */
/* Which followed processes have a Python interpreter, and where it keeps what a walk needs. */
#ifndef AGENT_PYTHONS_H
#define AGENT_PYTHONS_H

#include <stdint.h>

#include "capture/capture.h"

struct pythons;

/* why is "" where its stacks can be walked. Borrowed for the call. */
typedef void (*python_fn)(int pid, const char *why, void *arg);

struct pythons *pythons_new(python_fn fn, void *arg);
void pythons_free(struct pythons *p);

/* The process is followed from now on. */
void pythons_see(struct pythons *p, struct capture *capture, int pid);

/* Look again at those whose interpreter had not begun. */
void pythons_look(struct pythons *p, struct capture *capture, uint64_t now_ns);

#endif
