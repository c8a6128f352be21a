/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaching BPF programs to file offsets by raw bpf() calls: Debian's libbpf 1.1 knows neither
 * uprobe_multi nor uprobe sessions. What this kernel can do is found by trying, never by version.
 */
#ifndef CAPTURE_LINK_H
#define CAPTURE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a timed call is probed, best first. */
enum attach_mode {
	ATTACH_AUTO,
	ATTACH_SESSION, /* one link for entry and return (6.13+) */
	ATTACH_MULTI, /* a link for all entries, one for all returns (6.6+) */
	ATTACH_PERF, /* a perf event per site and direction; slow to detach */
	ATTACH_NONE,
};

const char *attach_mode_name(enum attach_mode mode);

/* The mode with that name; ATTACH_NONE: there is none. */
enum attach_mode attach_mode_named(const char *name);

/* Can this kernel do it? Tried on a function of our own. 0, or why not. */
int link_try(enum attach_mode mode);

/* What bpf_program__set_expected_attach_type() wants for a program used in that mode. */
int link_attach_type(enum attach_mode mode, bool session);

struct site {
	uint64_t offset;
	uint64_t cookie;
	uint64_t semaphore; /* offset of the counter that switches a static probe on; 0: none */
};

/* The links of one library. Starts as zeros. */
struct links {
	int *fds;
	size_t count;
};

/* Which program, and how. */
struct attach {
	enum attach_mode mode; /* ATTACH_SESSION: the program was loaded as a session */
	int prog_fd;
	bool at_return;
	int pid; /* the only process; 0: whoever maps the file. Not with ATTACH_PERF. */
};

/* Attach one program to all sites of the file at path. */
int link_sites(struct links *links, const struct attach *how, const char *path,
	       const struct site *sites, size_t n);

/* Detach all of them at once: each close waits for a grace period, side by side they share it. */
void links_close(struct links *const links[], size_t n);

/* A function of our own to probe, and where it lies in our file. */
void link_target(void);
int link_target_offset(uint64_t *ret);

#endif
