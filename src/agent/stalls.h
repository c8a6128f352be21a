/* SPDX-License-Identifier: Apache-2.0 */
/* Slow calls and gaps one by one: their chains into the store, their verdict to whoever listens. */
#ifndef AGENT_STALLS_H
#define AGENT_STALLS_H

#include "agent/waits.h"
#include "explain/stall.h"
#include "store/store.h"

struct stalls;

/* fn hears of each stall, soon after it ended; may be NULL. */
typedef void (*stall_fn)(const struct stall *stall, void *arg);

struct stalls *stalls_new(struct lines *lines, stall_fn fn, void *arg);
/* Ids of calls are void. */
void stalls_forget(struct stalls *s);
void stalls_free(struct stalls *s);

/* A slow call that was stored as row `call`. */
void stalls_add(struct stalls *s, const struct record *rec, const struct person *person,
		int64_t call);

/* Judge those whose history is complete. */
int stalls_judge(struct stalls *s, struct waits *waits, struct store *store);

/* Those that were not judged because there were too many. */
uint64_t stalls_skipped(const struct stalls *s);

#endif
