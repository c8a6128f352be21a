/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory each process has from CUDA, second by second where it changes. */
#ifndef AGENT_MEMORY_H
#define AGENT_MEMORY_H

#include "agent/roster.h"
#include "capture/capture.h"
#include "store/store.h"

struct memory;

struct memory *memory_new(void);
void memory_free(struct memory *m);

/* Once a second, before threads that are gone are forgotten: write the balances that have changed. */
int memory_store(struct memory *m, struct capture *capture, const struct roster *roster,
		 struct store *store, uint64_t now);

/* The store gave up what was not committed. */
void memory_rollback(struct memory *m);

/* The process ended. */
void memory_gone(struct memory *m, struct capture *capture, uint32_t pid);

#endif
