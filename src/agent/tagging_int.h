/* SPDX-License-Identifier: Apache-2.0 */
/* Inside agent/tag*.c: the state of the thread that tags. */
#ifndef AGENT_TAGGING_INT_H
#define AGENT_TAGGING_INT_H

#include <limits.h>
#include <pthread.h>

#include "agent/checks.h"
#include "agent/tagging.h"
#include "agent/tagwatch.h"
#include "base/hash.h"
#include "capture/tags.h"
#include "store/checkpoint.h"
#include "tag/tag.h"

#define LABELS_MAX 16384
#define NEWS_MAX 4096 /* between two seconds */

/* A file or folder that has attributes of ours. */
struct tagged {
	char *path;
	struct tag_attr attr;
	uint32_t generation, uid;
	uint64_t at; /* boot time */
	bool dir;
};

/* What is to be stored. */
struct tag_news {
	struct tag_target_row row; /* its path is `path` */
	char label[TAG_LABEL_MAX];
	char *path;
};

struct tagging {
	pthread_t thread;
	pthread_mutex_t lock; /* all below; held while the thread works */
	bool runs, leaves; /* it works; it ends, and nobody but it uses watch any more */
	int wake[2]; /* closed to end the thread */
	struct tags *tags;
	struct tagwatch *watch; /* NULL: no fanotify */
	struct checks *checks;
	struct hash *files; /* struct tag_file -> struct tagged */
	struct hash *labels; /* tag -> char[TAG_LABEL_MAX] */
	struct tag_news *news;
	size_t news_count;
	uint64_t news_lost, news_lost_told, files_lost, files_lost_told;
	struct tags_loss loss, loss_told;
	int socket; /* -1: somebody else has it */
	char db[PATH_MAX]; /* "": none */
};

/* Remember a label, and tell the store of who has it. */
void tagging_news(struct tagging *t, const struct tag_target_row *row, const char *label);

/* "" if it is not known. */
const char *tagging_label(const struct tagging *t, uint64_t tag);

/* tagfiles.c: look at an open file, at one by its name, at all in a folder. mask: see tagwatch.h. */
/* Is the file behind an O_PATH descriptor worth to be opened? Never our own database. */
bool tagging_wants(int fd, uint64_t mask, void *arg);
void tagging_look(struct tagging *t, int fd, int pid, uint64_t mask);
void tagging_look_path(struct tagging *t, const char *path, uint64_t mask);
void tagging_children(struct tagging *t, const char *path);

/* tagserve.c */
int tagserve_open(void);
void tagserve_close(int fd);
void tagserve_answer(struct tagging *t);

#endif
