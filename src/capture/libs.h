/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies of the traced libraries exist, who maps them, and what is attached to each. */
#ifndef CAPTURE_LIBS_H
#define CAPTURE_LIBS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/link.h"
#include "wire/ops.h"

struct libs;

/* The programs to attach, and how. */
struct libs_opts {
	enum attach_mode mode;
	int prog_count, prog_enter, prog_return; /* fds; with ATTACH_SESSION enter does both */
	bool count_returns; /* ... and so does count */
	int prog_stub; /* fd: learns which function of the program a kernel is */
	int with_driver; /* map fd: processes whose launches are seen at the driver */
	int only_pid;
	void (*on_user)(int pid,
			void *arg); /* of each process, before it is attached to; may be NULL */
};

/* One copy of a library, found by the file that is mapped: paths lie, inodes do not. */
struct lib {
	enum op_lib id;
	uint64_t inode, size, mtime_ns;
	char path[256]; /* as the first process that maps it names it */
	char build_id[65];
	int ops; /* rows attached */
	int stepped; /* of these, single-stepped */
	int refused; /* rows present that cannot be probed */
	int missing; /* rows of this library that the copy does not have */
	char note[128]; /* why nothing could be attached, or "" */
	uint64_t attached_ns; /* boot time */
};

typedef void (*libs_fn)(int pid, const struct lib *lib, void *arg);

/* fn hears of each new (process, library) pair, once. */
struct libs *libs_new(const struct libs_opts *opts, libs_fn fn, void *arg);

/* Look at what one process maps and attach to what is new. 0: it maps none, or is gone. */
int libs_see(struct libs *l, int pid);

/*
 * The process that mapped this file is gone already: attach to the file by its name, if that leads
 * to the same inode from here. The next process that maps it is covered from its first call.
 */
void libs_see_file(struct libs *l, const char *path, uint64_t inode);

/* Look at every process; forget those that are gone. */
void libs_rescan(struct libs *l);

/* Probe launches of the runtime as well, where the driver's are counted: see wire/kernels.h. */
void libs_learn(struct libs *l, bool on);

/*
 * Take the probes off all launches (and off the events, which are counted in the same way), and put them back: also of copies that are found meanwhile. From
 * any thread. Hiding returns when the last of them is gone, showing when the first call can be seen.
 */
void libs_hide_launches(struct libs *l);
int libs_show_launches(struct libs *l);

/* Somebody wants to write to one of the files: let go of it. From any thread. */
void libs_yield(struct libs *l);

/* The copies known now. */
int libs_count(const struct libs *l);
const struct lib *libs_at(const struct libs *l, int i);

/* Detach everything. */
void libs_free(struct libs *l);

/* Where the rows of one library copy lie, and what a probe there costs. */
struct lib_site {
	uint64_t offset;
	int op;
	int class; /* enum insn_class */
};

/* How ops that are only counted are attached to. */
struct attach libs_count_only(const struct libs_opts *o);

/* Find the rows of library `id` in an open file. Returns how many sites, or a negative errno. */
int lib_sites(int fd, enum op_lib id, struct lib_site ret[OP_COUNT]);

#endif
