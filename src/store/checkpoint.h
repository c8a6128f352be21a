/* SPDX-License-Identifier: Apache-2.0 */
/* Tags, who has them, and files that are checked (integrity/checkpoint.h): into a trace, and out of it. */
#ifndef STORE_CHECKPOINT_H
#define STORE_CHECKPOINT_H

#include "integrity/checkpoint.h"
#include "store/store.h"
#include "wire/tag.h"

int store_tag(struct store *s, uint64_t tag, const char *label, uint64_t at_boot_ns);

struct tag_target_row {
	uint64_t tag, at_boot_ns;
	const char *kind, *source, *path; /* path may be NULL */
	uint32_t pid, tid; /* 0: not known */
	int64_t uid; /* -1: not known */
	struct tag_file file; /* ino 0: no file */
	uint32_t generation;
};
int store_tag_target(struct store *s, const struct tag_target_row *row);

/* Paths of files and folders that were tagged, the latest first, at most so many. */
int store_each_tag_path(struct store *s, int max, int (*fn)(const char *path, void *arg),
			void *arg);

/* *id is 0 for one that has no row yet, and is set. Its times are boot time. */
int store_checkpoint(struct store *s, const struct checkpoint *c, const char *path, int64_t *id);
int store_checkpoint_event(struct store *s, int64_t checkpoint, const struct checked_event *e);

/* What was seen last of a file, times by the wall clock. */
struct checkpoint_info {
	int64_t id;
	struct checkpoint seen;
	const char *path, *boot_id, *label; /* label: "" = none */
};

/*
 * The checkpoints of this path or of this inode, or in this folder (`path` then ends in a slash), the latest
 * first. `file` may be NULL.
 */
int store_each_checkpoint(struct store *s, const char *path, const struct tag_file *file,
			  int (*fn)(const struct checkpoint_info *, void *), void *arg);

#endif
