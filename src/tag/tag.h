/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and their tags, and what extended attributes of files say about them. */
#ifndef TAG_TAG_H
#define TAG_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/tag.h"

#define TAG_ATTR "user.ai.tag"
#define TAG_ATTR_CHECKPOINT "user.ai.checkpoint"
#define TAG_ENV "CULPRIT_TAG"

/* The tag of a label; 0 only for "". */
uint64_t tag_hash(const char *label);

/* Text of 1 to TAG_LABEL_MAX - 1 bytes without control characters; why() says what is wrong. */
int tag_label_check(const char *label);

/* TAG_ENV in bytes[0..len), NUL-separated as /proc/PID/environ has them. -ENODATA: it is not there. */
int tag_env_parse(const char *bytes, size_t len, char ret[TAG_LABEL_MAX]);
int tag_env_read(int pid, char ret[TAG_LABEL_MAX]);

/* What the attributes of a file or folder ask for. */
struct tag_attr {
	char label[TAG_LABEL_MAX]; /* "": none told */
	bool checked; /* it is to be checked, ... */
	bool no_hash; /* ... but not read to be hashed */
	bool dense; /* it has no holes */
	bool has_size;
	uint64_t size; /* that it must have */
};

/*
 * The value of TAG_ATTR_CHECKPOINT: words between blanks or commas. "sha256:enabled", "sha256:disabled",
 * "size=N", "dense"; any other word is the label. -EBADMSG: cannot be that, *ret is unchanged.
 */
int tag_attr_checkpoint(const char *value, size_t len, struct tag_attr *ret);

/* The value of TAG_ATTR: a label. One that begins with "checkpoint" asks for checking. */
int tag_attr_label(const char *value, size_t len, struct tag_attr *ret);

/* Of an open file. -ENODATA: it has none; nothing is followed or waited for. */
int tag_attr_read(int fd, struct tag_attr *ret);

/* Which file is behind a descriptor, as the kernel has it; generation 0: it does not say. */
int tag_file_of(int fd, struct tag_file *ret, uint32_t *ret_generation);

/* Open what is to be looked at by name: files and folders only, no link at its end is followed. */
int tag_open(const char *path);

/*
 * Tell the probes, by the calling thread's name, what it, its process or the file behind fd works on;
 * `by` is TAG_THREAD, TAG_PROCESS, TAG_FILE or TAG_CHECKED. Without an agent nothing comes of it.
 */
void tag_announce(const char *label, char by, int fd);

/*
 * The agent's socket, for what a task cannot say of itself. Answers come from the agent, which looks up
 * who asks: one may ask about own processes, root about all.
 */
enum tag_verb { TAG_ASK_SET, TAG_ASK_GET, TAG_ASK_LIST };

struct tag_ask {
	uint32_t magic, verb;
	uint32_t pid, pad;
	char label[TAG_LABEL_MAX]; /* "": take it away */
};

#define TAG_ASK_MAGIC 0x43545431u
#define TAG_ROW_PATH 512

/* One answer; the last has `last` set, and `err` and `label` say why where it went wrong. */
struct tag_row {
	int32_t err;
	uint32_t last;
	uint64_t tag;
	uint64_t at_ns; /* wall clock */
	uint32_t pid; /* 0: a file */
	uint32_t kind; /* TAG_THREAD, TAG_PROCESS, TAG_FILE, TAG_CHECKED */
	char label[TAG_LABEL_MAX];
	char path[TAG_ROW_PATH]; /* or the task's name */
};

/* Where it is; $CULPRIT_TAG_SOCKET says otherwise. */
const char *tag_socket_path(void);

/* Ask, and call fn for each row of the answer. -ENOENT: no agent is there. */
int tag_ask(const struct tag_ask *ask, void (*fn)(const struct tag_row *, void *), void *arg);

#endif
