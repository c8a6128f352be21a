/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels a process launches, what they are called and which library launches them. */
#ifndef AGENT_KERNELS_H
#define AGENT_KERNELS_H

#include "agent/lines.h"
#include "agent/roster.h"
#include "capture/capture.h"
#include "store/store.h"

struct kernels;

struct kernels *kernels_new(struct lines *lines);
void kernels_free(struct kernels *k);

/* Once a second, before threads that are gone are forgotten: take what was launched, and name it. */
void kernels_read(struct kernels *k, struct capture *capture, const struct roster *roster,
		  uint64_t now);

/* Write what was launched since the last time; `all`: even if that is not long ago. */
int kernels_store(struct kernels *k, struct store *store, uint64_t now, bool all);

/* The store gave up what was not committed. */
void kernels_rollback(struct kernels *k);

/* Threads that are gone give their cells back. */
void kernels_bury(struct kernels *k, struct capture *capture,
		  bool (*gone)(uint32_t serial, void *arg), void *arg);

/* The process ended, or became another program. */
void kernels_gone(struct kernels *k, uint32_t pid);

#endif
