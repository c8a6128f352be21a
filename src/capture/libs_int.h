/* SPDX-License-Identifier: Apache-2.0 */
/* Inside capture/: the registry of library copies, shared by the files that find and that attach. */
#ifndef CAPTURE_LIBS_INT_H
#define CAPTURE_LIBS_INT_H

#include <pthread.h>

#include "capture/libs.h"

/* A tenant can map as many "libcudart.so" as he likes; we attach to so many and say so. */
#define MAX_LIBS 256

struct user {
	int pid;
	bool driver; /* maps a libcuda */
};

struct entry {
	struct lib lib;
	struct links links; /* timed rows */
	struct links driver; /* driver launches, while they are shown */
	struct links launches; /* runtime launches, where somebody has no driver to see them at */
	struct links
		learning; /* the same launches, to learn what they launch; while they are shown */
	struct links copies; /* runtime copies, likewise */
	struct site driver_site[OP_COUNT], launch_site[OP_COUNT], copy_site[2];
	size_t driver_sites, launch_sites, copy_sites;
	int fd; /* of the library, for launches attached later */
	bool guarded; /* nobody writes to it without our knowing */
	bool given_up; /* ... somebody wanted to: it is not touched again */
	bool busy; /* somebody has it open for writing: not attached to yet */
	struct user *user;
	size_t users;
	uint64_t unused_since;
};

/* A program that has no runtime linked in. */
struct plain {
	uint64_t inode, size, mtime_ns;
};

#define PLAIN_MAX 64 /* remembered; the oldest go */

struct libs {
	struct plain plain[PLAIN_MAX];
	unsigned plains; /* ever */
	struct libs_opts opts;
	libs_fn fn;
	void *arg;
	/* Launches are hidden and shown by another thread: of the list and of all launch links. */
	pthread_mutex_t lock;
	bool hidden;
	struct entry *entry[MAX_LIBS];
	int count;
	bool full_said, unguarded_said, learn;
};

/* libs_attach.c. The lock is held: */
int libs_attach(const struct libs *l, struct entry *e);
int libs_show(const struct libs *l, struct entry *e);
void libs_learn_of(const struct libs *l, struct entry *e);

/* ... and here it is not. Runtime launches are probed while some user of this copy has no driver mapped. */
void libs_update(struct libs *l, struct entry *e);

#define ENTRY_LINKS 5
/* All that it has. */
void entry_links(struct entry *e, struct links *ret[ENTRY_LINKS]);

#endif
