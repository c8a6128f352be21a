/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the command `io`. */
#ifndef CMD_IO_H
#define CMD_IO_H

#include <stdbool.h>
#include <stdint.h>

struct io_args {
	const char *db, *disk, *file, *tag;
	uint64_t duration, since, from, to, pid, min, step;
	bool json, all, summary, waits, stack;
};

/* Live, until stopped. */
int io_live(const struct io_args *args);

/* The AI I/O Stall Report, from a trace. */
int io_report(const struct io_args *args);

#endif
