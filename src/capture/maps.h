/* SPDX-License-Identifier: Apache-2.0 */
/* Which process maps which file, from /proc. Paths in it are chosen by tenants. */
#ifndef CAPTURE_MAPS_H
#define CAPTURE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct map_line {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool exec, write;
	const char *path; /* borrowed for the callback; "" if anonymous; " (deleted)" is kept */
};

/*
 * Call fn for each line of the text of a maps file, which is modified on the way. Malformed
 * lines are skipped. A non-zero return from fn stops the walk and is returned.
 */
int maps_parse(char *text, int (*fn)(const struct map_line *line, void *arg), void *arg);

/* The same for a process, in bounded memory however many lines it has. -ESRCH when it is gone. */
int maps_each(int pid, int (*fn)(const struct map_line *line, void *arg), void *arg);

/*
 * Open the very file that is mapped there, in any mount namespace, deleted or not. Only for reading;
 * an fd or a negative errno.
 */
int maps_open(int pid, const struct map_line *line);

/* Call fn with every process id in /proc. A non-zero return stops the walk and is returned. */
int procs_each(int (*fn)(int pid, void *arg), void *arg);

/* Which enum op_lib a file is, by its base name as installed or as wheels mangle it; or -1. */
int maps_lib(const char *path);

#endif
