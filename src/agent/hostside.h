/* SPDX-License-Identifier: Apache-2.0 */
/* What happens on the host, once a second: its load and memory, and single events. */
#ifndef AGENT_HOSTSIDE_H
#define AGENT_HOSTSIDE_H

#include "capture/capture.h"
#include "store/store.h"

struct hostside;
struct tenants;

struct hostside *hostside_new(struct tenants *tenants); /* borrowed */
void hostside_free(struct hostside *h);

int hostside_store(struct hostside *h, struct capture *capture, struct store *store, uint64_t now);

#endif
