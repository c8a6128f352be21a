/* SPDX-License-Identifier: Apache-2.0 */
/* The same cause over time is one incident: first seen, last seen, never overwritten. */
#ifndef AGENT_INCIDENTS_H
#define AGENT_INCIDENTS_H

#include "explain/explain.h"
#include "store/store.h"

struct incidents;

/* Hears of each incident when it begins, and again when it comes back after a pause. */
typedef void (*incident_fn)(const struct finding *finding, void *arg);

struct incidents *incidents_new(incident_fn fn, void *arg);
void incidents_free(struct incidents *i);

/* The store was rolled back: rows that were made since the last commit are gone. */
void incidents_forget(struct incidents *i);

/* Judge the last seconds and note what is found. */
int incidents_update(struct incidents *i, struct store *store, uint64_t now_wall_ns);

#endif
