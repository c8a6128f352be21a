/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are checked: what happens to each, then its digest, then its row. */
#ifndef AGENT_CHECKS_H
#define AGENT_CHECKS_H

#include "capture/tags.h"
#include "store/store.h"
#include "tag/tag.h"

struct checks;

struct checks *checks_new(struct tags *tags);
void checks_free(struct checks *c);

/* Readable when a digest is there; -1: none is being made. */
int checks_fd(const struct checks *c);

/* An event of the probes. */
void checks_event(struct checks *c, const struct checked_event *e);

/* A file that is checked, open at fd: what it is called, and what its attributes say (NULL: as
 * before). */
void checks_name(struct checks *c, int fd, const char *path, const struct tag_attr *attr);

/* ... and a writer has closed it. */
void checks_closed(struct checks *c, int fd, const char *path, const struct tag_attr *attr);

/* Is it one of these? */
bool checks_knows(const struct checks *c, const struct tag_file *file);

/* Events were lost, of which files is not known. */
void checks_lost(struct checks *c);

/* Begin and finish digests. True: something will be due soon. */
bool checks_turn(struct checks *c, uint64_t now);

/* Write what changed. */
int checks_store(struct checks *c, struct store *s);
void checks_rollback(struct checks *c);

#endif
