/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL: communicators, their operations and ranks, from the kernel's records into the store. */
#ifndef AGENT_RANKS_H
#define AGENT_RANKS_H

#include "agent/roster.h"
#include "capture/capture.h"
#include "decode/nccl.h"
#include "store/store.h"

struct ranks;

struct ranks *ranks_new(struct store *store);
void ranks_free(struct ranks *r);

/* One record of a thread that is known. */
void ranks_record(struct ranks *r, const struct nccl_record *rec, const struct person *who);

/* Counts of the second that ends now, and what was joined in it. `ending`: all that is left. */
int ranks_store(struct ranks *r, struct capture *capture, uint64_t now, bool ending);

/* The rows of the last batch are void, and with them their ids. */
void ranks_forget(struct ranks *r);

#endif
