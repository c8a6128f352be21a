/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/native: which file is mapped where, per process, remembered and read again. */
#ifndef NATIVE_PROCS_H
#define NATIVE_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCS_MAX 32
#define PROC_MAPS_MAX 4096 /* executable ones of a process */

struct names;

enum map_kind { IN_FILE, IN_UPROBES, IN_OTHER };

struct map {
	uint64_t start, end, offset, inode, dev;
	const char *path; /* of the file, kept for ever; NULL: not asked for yet */
	uint64_t serial; /* of the image it was found to be; 0: not looked at */
	uint16_t slot; /* of that image */
	uint8_t kind;
};

struct proc {
	uint32_t pid; /* 0: free */
	uint64_t used, read_ns;
	struct map *map; /* by address */
	size_t n;
	bool has_uprobes;
};

struct procs {
	struct proc proc[PROCS_MAX];
	uint64_t clock;
};

void procs_release(struct procs *p);
void procs_forget(struct procs *p, uint32_t pid);

/* What is known about a process; its maps are read if it is new. NULL: it is gone. */
struct proc *procs_get(struct procs *p, uint32_t pid);

/* The executable mapping of an address. Maps are read again, at most once a second, if it is in none. */
struct map *procs_find(struct proc *proc, uint64_t addr);

/* The path of its file, "" if it has none. */
const char *procs_path(const struct proc *proc, struct map *m, struct names *names);

#endif
