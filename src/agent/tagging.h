/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags while the agent runs: a thread of its own hears of attributes (fanotify), of what tasks say of
 * themselves (probes), answers `culprit tag` (a socket), and follows files that are checked. Once a second the
 * agent stores what it has found.
 */
#ifndef AGENT_TAGGING_H
#define AGENT_TAGGING_H

#include "store/store.h"

struct bpf_object;
struct tagging;

/* Never fails: without it nothing is tagged, which is said. Files that `s` knows are looked at again.
 * `db` is where it is kept, or NULL. */
struct tagging *tagging_new(struct store *s, const char *db);
void tagging_free(struct tagging *t);

/* Stop hearing; what was heard can still be stored. */
void tagging_stop(struct tagging *t);

/* A file that is written was met for the first time: it may have had attributes before the agent came. */
void tagging_met(struct tagging *t, const char *path);

/* For probes that ask for tags: see tags_share(). */
int tagging_share(struct tagging *t, struct bpf_object *object);

int tagging_store(struct tagging *t, struct store *s, uint64_t now);
void tagging_rollback(struct tagging *t);

#endif
