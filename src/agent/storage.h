/* SPDX-License-Identifier: Apache-2.0 */
/* Disk requests of the host, with the file and the owner behind each, into the store. */
#ifndef AGENT_STORAGE_H
#define AGENT_STORAGE_H

#include "store/store.h"

struct storage;

/* NULL where it is not wanted or this host cannot; the reason is logged. */
struct storage *storage_new(bool wanted);
void storage_free(struct storage *s);

/* Between the ticks, so that the ring never fills. */
void storage_read(struct storage *s);

/* What was counted since the last time. The first error is returned, the rest is tried. */
int storage_store(struct storage *s, struct store *store, uint64_t now);

#endif
