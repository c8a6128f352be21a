/* SPDX-License-Identifier: Apache-2.0 */
/* Inside export/: chains on a timeline, of a single call or of a second. */
#ifndef EXPORT_TL_CHAINS_H
#define EXPORT_TL_CHAINS_H

#include "export/timeline.h"

/* Chains by their id, so that each is read once. */
struct chain_book {
	struct hash *known; /* id -> struct told *, NULL: not stored */
};

struct chain_book *chain_book_new(void);
void chain_book_free(struct chain_book *b);

/* One thread was charged to a chain. */
struct chain_use {
	const char *kind, *length; /* what its slices stand for, and how long they are */
	const char *symbol; /* the call it waited in; NULL: not told */
	int64_t chain;
	uint64_t ns, count, max_ns, from_ns, to_ns;
	enum shade shade;
	int node; /* of the thread */
	uint32_t tid;
	char comm[COMM_LEN];
};

/* Put it on the thread's own lanes, its causes on theirs, and arrows between them. */
int chain_put(struct timeline_out *t, struct chain_book *b, struct lanes *lanes,
	      const struct chain_use *use);

/* How bad it is to lose so much of so much. */
enum shade shade_of(uint64_t ns, uint64_t whole_ns);

#endif
