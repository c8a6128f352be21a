/* SPDX-License-Identifier: Apache-2.0 */
/* Disk requests and tags, out of a trace. */
#ifndef STORE_READ_IO_H
#define STORE_READ_IO_H

#include "store/write_io.h"

struct io_second_info {
	uint64_t at_ns;
	struct io_what what; /* without a cgroup */
	struct io_counts counts;
};
/* By time. */
int store_each_io_second(struct store *s, struct window w,
			 int (*fn)(const struct io_second_info *, void *), void *arg);

struct io_request_info {
	struct io_what what; /* without fs and cgroup */
	struct io_single one;
};
/* The longest first; those that failed before all others. */
int store_each_io_request(struct store *s, struct window w, int limit,
			  int (*fn)(const struct io_request_info *, void *), void *arg);

/* Waits of chains that end at a file or disk, in the window; idle: those in which the GPU had nothing to do. */
struct io_wait_info {
	uint64_t at_ns, ns, count, max_ns, stack;
	const char *state, *name, *process_comm, *comm; /* comm: of who waited for the file */
	uint32_t pid, tid; /* of that thread */
	uint32_t process_pid; /* of the process that makes the traced calls */
	uint64_t ino, fs_dev; /* 0: not known */
};
int store_each_io_wait(struct store *s, struct window w, bool idle,
		       int (*fn)(const struct io_wait_info *, void *), void *arg);

/* What tags stand for. */
int store_each_tag(struct store *s, int (*fn)(uint64_t tag, const char *label, void *arg),
		   void *arg);

#endif
