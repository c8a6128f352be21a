/* SPDX-License-Identifier: Apache-2.0 */
/* Beats to steps, per calling thread: summed each second, the slow ones one by one. */
#ifndef AGENT_RHYTHM_H
#define AGENT_RHYTHM_H

#include "agent/idling.h"
#include "agent/roster.h"
#include "capture/capture.h"
#include "store/store.h"

struct rhythm;

struct rhythm *rhythm_new(void);
void rhythm_free(struct rhythm *r);

/* Take the beats since the last time; slow steps that they complete are stored one by one. */
int rhythm_read(struct rhythm *r, struct capture *capture, const struct roster *roster,
		struct idling *idling, struct store *store);

/* Store the sums of the second that ends now. */
int rhythm_store(struct rhythm *r, const struct roster *roster, struct store *store, uint64_t now);

void rhythm_exit(struct rhythm *r, uint32_t serial);

#endif
