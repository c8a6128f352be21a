/* SPDX-License-Identifier: Apache-2.0 */
/* Disk requests of the host, with the file and the owner behind each, into the store. */
#ifndef AGENT_STORAGE_H
#define AGENT_STORAGE_H

#include "store/store.h"

struct storage;
struct tagging;

/*
 * NULL where it is not wanted or this host cannot; the reason is logged. budget: the share of the host's CPUs
 * that it may cost on average; 0: no limit. tagging: who knows the tags; NULL: nobody. Beyond it requests are not looked at for some seconds at a time,
 * only counted, and that is stored.
 */
struct storage *storage_new(bool wanted, double budget, struct tagging *tagging);
void storage_free(struct storage *s);

/* Stop counting, before the other probes are detached; what was counted can still be stored. */
void storage_detach(struct storage *s);

/* Between the ticks, so that the ring never fills. */
void storage_read(struct storage *s);

/* What was counted since the last time. The first error is returned, the rest is tried. */
int storage_store(struct storage *s, struct store *store, uint64_t now);

/* What it cost those who made requests, since the beginning. */
uint64_t storage_cost_ns(const struct storage *s);

#endif
