/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hears of every new executable mapping on this host (exec, dlopen) from the kernel itself, by
 * perf's mmap records: no probe, no polling, nothing paid by processes that map nothing.
 */
#ifndef CAPTURE_WATCH_H
#define CAPTURE_WATCH_H

#include <stdint.h>

struct watch;

/* One per host. -ENOTSUP and friends: the caller must rescan /proc instead. */
int watch_open(struct watch **ret);
void watch_close(struct watch *w);

/* Readable when there is something to drain. */
int watch_fd(const struct watch *w);

/* A traced library that a process has just mapped, as the kernel tells it. */
struct mapping {
	int pid;
	uint64_t inode;
	const char *path; /* in the process's view; borrowed for the callback */
};

/*
 * Call fn for each traced library that a process has just mapped. Returns 1 when records were
 * lost and the caller should rescan, else 0.
 */
int watch_drain(struct watch *w, void (*fn)(const struct mapping *m, void *arg), void *arg);

#endif
