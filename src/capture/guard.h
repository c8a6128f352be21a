/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are probed and may be overwritten in place. A breakpoint is put into the memory of
 * whoever maps the file, at a place where the old file had the beginning of a function: what is
 * written there later would be executed with a hole in it. So we hold a read lease on each: a writer
 * waits in open() or truncate() until we have let go.
 */
#ifndef CAPTURE_GUARD_H
#define CAPTURE_GUARD_H

#include <stdbool.h>

struct guard;

/*
 * fn is called, on a thread of its own, when somebody wants to write to one of the files: it finds
 * out which with guard_broken(), and releases it when nothing is attached to it any more.
 */
int guard_new(void (*fn)(void *arg), void *arg, struct guard **ret);
void guard_free(struct guard *g);

/* -EAGAIN: somebody is writing to it now. Others: this file cannot be guarded. */
int guard_take(int fd);
bool guard_broken(int fd);
void guard_release(int fd);

#endif
