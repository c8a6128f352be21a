// SPDX-License-Identifier: Apache-2.0
/* Reads what the rules need of NCCL: collectives with their waits, and who is which rank. */
#include "base/util.h"
#include "explain/facts.h"

#define COLLECTIVES_MAX 200000 /* the latest are looked at */

static int on_collective(const struct collective_row *row, void *arg)
{
	struct facts *f = arg;

	if (row->start_ns > row->sync_start_ns || row->sync_start_ns > row->sync_end_ns)
		return 0; /* a file can say anything */
	if (!(f->colls & (f->colls - 1))) /* room for one more, doubled when it is used up */
		f->coll = xrealloc(f->coll, f->colls ? 2 * (size_t)f->colls : 1, sizeof(*f->coll));
	f->coll[f->colls++] = (struct coll_facts){ .process = row->process,
						   .thread = row->thread,
						   .communicator = row->communicator,
						   .hash = row->hash,
						   .seq = row->seq,
						   .rank = row->rank,
						   .nranks = row->nranks,
						   .start_ns = row->start_ns,
						   .sync_start_ns = row->sync_start_ns,
						   .sync_end_ns = row->sync_end_ns,
						   .sure = row->sure };
	return 0;
}

static int on_rank(const struct rank_row *row, void *arg)
{
	struct facts *f = arg;

	for (int i = 0; i < f->threads; i++) {
		if (f->thread[i].process != row->process || row->rank < 0)
			continue;
		f->thread[i].rank = row->rank;
		f->thread[i].ranked = true;
	}
	return 0;
}

int load_ranks(struct store *s, struct window w, struct facts *f)
{
	int err = store_each_collective(s, w, COLLECTIVES_MAX, on_collective, f);

	return err ? err : store_each_rank(s, w, on_rank, f);
}
