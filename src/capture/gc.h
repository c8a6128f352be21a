/* SPDX-License-Identifier: Apache-2.0 */
/* Python's garbage collector, by the probes that distributions build the interpreter with. */
#ifndef CAPTURE_GC_H
#define CAPTURE_GC_H

#include "capture/link.h"

struct gc_probes;

/* The programs for the beginning and the end of a collection. */
struct gc_probes *gc_new(enum attach_mode mode, int prog_start, int prog_done);

/* Attach to the interpreter that this process maps, if it is one with probes and not known yet. */
void gc_see(struct gc_probes *g, int pid);

/* As libs_yield(). */
void gc_yield(struct gc_probes *g);

/* Detach everything. NULL is fine. */
void gc_free(struct gc_probes *g);

#endif
