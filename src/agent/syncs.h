/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsyncs of which only the beginning was told (xfs): they are over once their thread does something else. A
 * thread cannot be killed inside of one. Errors are told apart.
 */
#ifndef AGENT_SYNCS_H
#define AGENT_SYNCS_H

#include <stdbool.h>

#include "wire/tag.h"

struct syncs;

struct syncs *syncs_new(void);
void syncs_free(struct syncs *s);

/* Gets TAG_EVENT_SYNC or TAG_EVENT_SYNC_DIR, as of when it began. */
typedef void (*sync_fn)(const struct checked_event *event, void *arg);

/* TAG_EVENT_SYNC_BEGUN. False: too many at once, it is not followed. */
bool syncs_begun(struct syncs *s, const struct checked_event *event, sync_fn fn, void *arg);

/* Look at those that go on. True: some still do. */
bool syncs_turn(struct syncs *s, sync_fn fn, void *arg);

#endif
