/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code objects a Python frees, where these have no number of their own (before 3.12): as long as it
 * frees none, a walk knows them again by their address (probe/pymemo.bpf.h). One probe per process, on the
 * function that frees them, and none in processes that nobody follows: a Python that ends frees thousands.
 * The process and its files are hostile input.
 */
#ifndef CAPTURE_FREES_H
#define CAPTURE_FREES_H

#include "capture/link.h"
#include "wire/python.h"

struct frees;

/*
 * The program that counts, the map `pythons` which it counts in, and the number of its runs. Without
 * probes for one process (before Linux 6.6) nothing is watched, and a walk reads what it meets.
 */
struct frees *frees_new(enum attach_mode mode, int prog, int pythons, const volatile __u64 *hits);

/* Put a layout into the map, watched where that can be. */
int frees_put(struct frees *f, int pid, const struct py_layout *layout);

/* Watch a process that has inherited its layout. */
void frees_see(struct frees *f, int pid);

/* To be called often: lets go of those that ended, and of those that free so many that it costs. */
void frees_check(struct frees *f, uint64_t now_ns);

/* As libs_yield(). */
void frees_yield(struct frees *f);

/* Detach everything; what is put later is not watched. NULL is fine. */
void frees_stop(struct frees *f);

void frees_free(struct frees *f);

/*
 * Where the interpreter's file behind fd has the function that frees code objects, if it can be probed
 * there cheaply. In the process `type` is PyCode_Type and `slot` the address that is called: they must be
 * what the file says. A negative errno: not.
 */
int frees_site(int fd, uint64_t type, uint64_t slot, uint64_t *ret_offset);

#define FREES_SLOT 48 /* PyTypeObject.tp_dealloc */

#endif
