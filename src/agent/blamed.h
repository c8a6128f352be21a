/* SPDX-License-Identifier: Apache-2.0 */
/* Where those belong who are to blame: their control group, looked up while they are there. */
#ifndef AGENT_BLAMED_H
#define AGENT_BLAMED_H

#include "chain/chain.h"
#include "store/store.h"

struct blamed;
struct tenants;

struct blamed *blamed_new(struct tenants *tenants); /* borrowed */
void blamed_free(struct blamed *b);

/* Somebody who had a CPU. Told to the store on first sight, and again when its name changes. */
int blamed_note(struct blamed *b, struct store *store, uint32_t pid, const char *comm,
		uint64_t now);

/* The same for everybody on a chain behind its first hop. */
int blamed_chain(struct blamed *b, struct store *store, const struct chain *chain, uint64_t now);

/* What was told may be undone: tell it again. */
void blamed_forget(struct blamed *b);

/* ... because it belongs to another group now. */
void blamed_forget_one(struct blamed *b, uint32_t pid);

#endif
