/* SPDX-License-Identifier: Apache-2.0 */
/* At which line of Python somebody waits for a disk, for `io` when it is live. */
#ifndef CMD_IO_LINES_H
#define CMD_IO_LINES_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct io_lines;
struct lineage;

/* Finds the interpreters that run. NULL in all of these: nothing is known. */
struct io_lines *io_lines_new(struct lineage *lineage);
void io_lines_free(struct io_lines *l);

/* The probes have met a process, and do not know whether it has an interpreter. */
void io_lines_ask(struct io_lines *l, uint32_t pid);

/* Now and then, after the probes were read. */
void io_lines_tick(struct io_lines *l);

/* From the id that the probes gave to the one that the next two know, or to an enum no_stack. */
uint64_t io_lines_stack(struct io_lines *l, uint64_t id);

/* NULL: not known. */
const struct frame *io_lines_frame(const struct io_lines *l, uint64_t stack);

/* "step() at train.py:35", or "". Returns dst. */
char *io_lines_say(const struct io_lines *l, uint64_t stack, char *dst, size_t cap);

#endif
