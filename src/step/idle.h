/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the GPU had nothing to do from a process: all that its threads submitted was waited for, and
 * nothing was submitted since. A lower bound. Pure: beats in, intervals out.
 *
 * It rests on two things. A stream or device that was waited for is done: so says CUDA. And the
 * process uses one device; which one a call is for is not traced.
 */
#ifndef STEP_IDLE_H
#define STEP_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct idle;

struct idle *idle_new(void);
void idle_free(struct idle *i);

/* A beat of one of the threads; those of one thread come in order. */
void idle_add(struct idle *i, uint32_t thread, const struct beat *b);

/* The last beat of a thread, which may still grow: in place of the one given before. */
void idle_open(struct idle *i, uint32_t thread, const struct beat *b);

/* Beats of some thread were lost before this time. */
void idle_break(struct idle *i, uint64_t ns);

/*
 * Hand over the intervals that ended before until_ns: all calls that began before it were added. The
 * thread is the one that ended it by submitting something: the GPU waited for it.
 */
typedef void (*idle_fn)(uint32_t thread, uint64_t from_ns, uint64_t to_ns, void *arg);
void idle_run(struct idle *i, uint64_t until_ns, idle_fn fn, void *arg);

/* The end of the trace: the interval that goes on until then is told, too, of who waited last. */
void idle_end(struct idle *i, uint64_t ns, idle_fn fn, void *arg);

#endif
