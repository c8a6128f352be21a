/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel side of tags and of files that are checked: probe/tags.bpf.c, loaded and attached. */
#ifndef CAPTURE_TAGS_H
#define CAPTURE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tag.h"

struct bpf_object;
struct tags;

/* Tasks can tell their tags from then on. One thread at a time may use what comes back. */
int tags_open(struct tags **ret);
/* Nothing is heard any more; what was can still be asked for. */
void tags_detach(struct tags *t);
void tags_close(struct tags *t);

/* Let an object that is opened but not loaded use the same maps, as far as it has them. */
int tags_share(struct tags *t, struct bpf_object *object);

/* The same with the tables of a trace that runs on this host, in another process. -ENOENT: none does. */
int tags_share_running(struct bpf_object *object);

/* Readable when there are records. */
int tags_fd(const struct tags *t);

/* Call fn with each record, bytes as the kernel wrote them. */
void tags_take(struct tags *t, void (*fn)(const void *bytes, size_t len, void *arg), void *arg);

/* By thread id, or by process id with `process`; tag 0 takes it away. */
int tags_set_task(struct tags *t, uint32_t id, bool process, uint64_t tag);
uint64_t tags_of_task(struct tags *t, uint32_t id, bool process); /* 0: none */
void tags_each_task(struct tags *t, void (*fn)(uint32_t id, bool process, uint64_t tag, void *arg),
		    void *arg);
int tags_set_file(struct tags *t, const struct tag_file *file, const struct tag_mark *mark,
		  bool dir);
void tags_drop_file(struct tags *t, const struct tag_file *file);

/* Follow what happens to files that are checked. Which of its events are missing is in `missing`. */
int tags_check(struct tags *t, bool on);
const char *tags_missing(const struct tags *t);

/* The stretch of a file that was not told yet, or a write that has not come back; false: none. */
bool tags_stretch(struct tags *t, const struct tag_file *file, struct checked_file *ret);

struct tags_loss {
	uint64_t lost, full;
};
void tags_losses(const struct tags *t, struct tags_loss *ret);

#endif
