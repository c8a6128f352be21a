/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals in which the GPU had nothing to do, charged to what the thread did that it waited for. */
#ifndef AGENT_IDLING_H
#define AGENT_IDLING_H

#include "agent/lines.h"
#include "agent/roster.h"
#include "agent/waits.h"
#include "store/store.h"

struct idling;

struct idling *idling_new(void);
void idling_free(struct idling *i);

/* Launches may have been missed: until `ns` nothing is known of this process. */
void idling_blind(struct idling *i, const struct person *p, uint64_t ns);

/* As capture_each_tape() hands them over: beats[n] may still grow. */
void idling_beats(struct idling *i, const struct person *p, uint32_t serial,
		  const struct beat *beats, size_t n, bool broken);

/*
 * Charge what is over. now: when the beats were read; last: nothing will follow, what goes on until
 * now is charged, too.
 */
void idling_judge(struct idling *i, struct waits *waits, uint64_t now, bool last);

/* Store what was charged since the last time. */
int idling_store(struct idling *i, const struct roster *roster, struct lines *lines,
		 struct store *store, uint64_t now);

#endif
