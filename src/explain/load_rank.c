// SPDX-License-Identifier: Apache-2.0
/* Reads what the rules need of NCCL: collectives with their waits, and who is which rank. */
#include <stdlib.h>

#include "base/text.h"
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

/* A file of several nodes is explained node by node; only collectives reach across. */
static int on_stranger(const struct thread_info *info, void *arg)
{
	struct facts *f = arg;
	struct thread_facts *t;

	f->stranger = xrealloc(f->stranger, (size_t)f->strangers + 1, sizeof(*f->stranger));
	t = &f->stranger[f->strangers++];
	*t = (struct thread_facts){
		.id = info->thread, .process = info->process, .pid = info->pid, .tid = info->tid
	};
	text_safe(t->node, sizeof(t->node), info->node);
	text_safe(t->process_comm, sizeof(t->process_comm), info->process_comm);
	text_safe(t->comm, sizeof(t->comm), info->comm);
	return 0;
}

int load_ranks(struct store *s, struct window w, struct facts *f)
{
	int err = store_each_collective(s, w, COLLECTIVES_MAX, on_collective, f);

	if (!err)
		err = store_each_stranger(s, on_stranger, f);
	return err ? err : store_each_rank(s, w, on_rank, f);
}

void release_ranks(struct facts *f)
{
	free(f->coll);
	free(f->stranger);
}

const struct thread_facts *facts_any_thread(const struct facts *f, int64_t id)
{
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].id == id)
			return &f->thread[i];
	for (int i = 0; i < f->strangers; i++)
		if (f->stranger[i].id == id)
			return &f->stranger[i];
	return NULL;
}
