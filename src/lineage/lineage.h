/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage lineage: every block request of the host with the file, the owner and the tag behind it. Loads
 * probes of its own, so that `culprit io` needs nothing else. One thread.
 */
#ifndef LINEAGE_LINEAGE_H
#define LINEAGE_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/lineage.h"

struct lineage;

struct bpf_object;

struct lineage_opts {
	uint64_t slow_ns; /* requests from this length on are told one by one; 0: LINEAGE_SLOW_NS */
	uint32_t quota; /* others as well, so many per second and CPU */
	uint32_t dev; /* only this disk, as the kernel numbers it; 0: all */
	bool waits; /* who waited for a request that is told: also looks at context switches */
	bool lines; /* at which line of Python, and who has a Python is asked: see lineage_fns */
	bool issue; /* how long it was in the device's hands, where the kernel keeps no such time */
	size_t ring_bytes; /* a power of two; 0: LINEAGE_RING_BYTES */
	/* Gives the probes the tables of tags that somebody else fills: 1. 0, or NULL: nobody does. */
	int (*share_tags)(struct bpf_object *object, void *arg);
	void *share_arg;
};

#define LINEAGE_SLOW_NS 100000000ull
#define LINEAGE_RING_BYTES (1u << 20)

/* *ret is set only on success. -EPERM: not allowed; -ENOTSUP: this kernel cannot; why() says more. */
int lineage_open(const struct lineage_opts *opts, struct lineage **ret);
void lineage_close(struct lineage *l);

/*
 * Stop counting; what was counted can still be read. Whoever came to a tracepoint last should leave it first:
 * the kernel waits for a grace period where the first one goes and another stays.
 */
void lineage_detach(struct lineage *l);
int lineage_attach(struct lineage *l); /* go on */

/* What this kernel cannot show, in words; "": nothing. */
const char *lineage_limits(const struct lineage *l);

struct lineage_fns {
	void (*event)(const struct lineage_event *event, void *arg); /* any may be NULL */
	void (*wake)(const struct lineage_wake *wake, void *arg);
	void (*ask)(uint32_t pid, void *arg); /* to be answered by lineage_put_python() */
	void *arg;
};

/* Take what the probes have told since the last time. Never waits. */
int lineage_read(struct lineage *l, const struct lineage_fns *fns);

/*
 * What was added to each account since the last time, in structs of their own: counts are differences,
 * max_ns is that of the interval; of maps all is 0 where nothing was measured. Accounts at rest are given
 * up. About once a second.
 */
typedef void (*flow_fn)(const struct lineage_flow *added, const struct lineage_maps *maps,
			void *arg);

/* How many of an account's requests have a known latency. */
uint64_t lineage_timed(const struct lineage_flow *flow);

/* ... and of how many it is known how long mapping them took. */
uint64_t lineage_mapped(const struct lineage_maps *maps);

void lineage_each_flow(struct lineage *l, flow_fn fn, void *arg);

/* Does the event have the status and the retries of a drive? */
bool lineage_tells_nvme(const struct lineage *l, const struct lineage_event *event);

/* Look at what is queued, or not, because it would cost too much: it is counted without a file then. */
void lineage_look(struct lineage *l, bool on);

/* ---- lines of Python: see agent/lines.h ---- */

struct py_layout;

int lineage_put_python(struct lineage *l, int pid, const struct py_layout *layout);
bool lineage_has_python(const struct lineage *l, int pid);

/* What the probes have told of stacks since the last time. */
void lineage_news(struct lineage *l, void (*fn)(const void *record, size_t size, void *arg),
		  void *arg);

/* Let them tell all of it anew. */
void lineage_forget_stacks(struct lineage *l);

/* Sums since the beginning. */
void lineage_stats(const struct lineage *l, struct lineage_stats *ret);

#define LINEAGE_PATH 512

/* What people call the file: a path, or what is known of it in parentheses. Printable. Returns dst. */
char *lineage_file(struct lineage *l, const struct lineage_key *key, char *dst, size_t cap);

/* The kind of file system that it is in: "ext4"; "": not known. */
const char *lineage_fs(struct lineage *l, const struct lineage_key *key);

/* ---- words, for people and for the store ---- */

extern const char *const lineage_class_names[LINEAGE_CLASS_COUNT];
extern const char *const lineage_class_texts[LINEAGE_CLASS_COUNT];
extern const char *const lineage_owner_names[LINEAGE_OWNER_COUNT];
extern const char *const lineage_owner_texts[LINEAGE_OWNER_COUNT];
extern const char *const lineage_loss_names[LINEAGE_LOSS_COUNT];
extern const char *const lineage_loss_texts[LINEAGE_LOSS_COUNT];

/* "read", "write", "flush", "discard", ...: "other" for what it does not know. */
const char *lineage_op(uint8_t op);

/* A file system by the number that marks it: "xfs"; "" for those that it does not know. */
const char *lineage_fs_name(uint32_t magic);

/* The status of the block layer: "I/O error", "timeout"; "error 12" into dst for others. */
const char *lineage_error(uint32_t status, char *dst, size_t cap);

#endif
