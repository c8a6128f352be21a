// SPDX-License-Identifier: Apache-2.0
/* Rows in: calls that are stored only because all are, many to a row. */
#include <stdlib.h>

#include "base/util.h"
#include "store/pack.h"
#include "store/store_int.h"

#define PACKERS 64 /* threads that are packed at once; one takes 80 kB */

struct packing {
	struct {
		int64_t thread;
		struct packer *packer;
		unsigned calls; /* in it */
		bool used; /* since the last flush */
	} at[PACKERS];
	int count, recent;
};

bool store_packs(const struct record *rec)
{
	return rec->because == BECAUSE_ALL && !rec->who_count;
}

static int write_block(struct store *s, int i)
{
	struct packing *g = s->packing;
	struct packed_block block;
	struct row r;

	packer_take(g->at[i].packer, &block);
	g->at[i].calls = 0;
	if (!block.calls)
		return 0;
	r = row_begin(s, STMT_CALL_BLOCK);
	row_i64(&r, g->at[i].thread);
	row_u64(&r, block.first_ns);
	row_u64(&r, block.last_ns);
	row_i64(&r, block.calls);
	row_blob(&r, block.kinds, block.kinds_len);
	row_blob(&r, block.data, block.data_len);
	return row_end(&r, "insert call_block");
}

/* More threads than packers: the fullest block is written, so that none becomes tiny. */
static int take_over(struct store *s, int64_t thread, int *ret)
{
	struct packing *g = s->packing;
	int fullest = 0, err;

	for (int i = 1; i < g->count; i++)
		if (g->at[i].calls > g->at[fullest].calls)
			fullest = i;
	err = write_block(s, fullest);
	g->at[fullest].thread = thread;
	*ret = fullest;
	return err;
}

static int packer_of(struct store *s, int64_t thread, int *ret)
{
	struct packing *g = s->packing;

	if (!g)
		g = s->packing = xcalloc(1, sizeof(*g));
	if (g->recent < g->count && g->at[g->recent].thread == thread) {
		*ret = g->recent;
		return 0;
	}
	for (int i = 0; i < g->count; i++) {
		if (g->at[i].thread == thread) {
			*ret = g->recent = i;
			return 0;
		}
	}
	if (g->count == PACKERS)
		return take_over(s, thread, ret);
	g->at[g->count].thread = thread;
	g->at[g->count].packer = packer_new();
	*ret = g->recent = g->count++;
	return 0;
}

int store_pack(struct store *s, int64_t thread, const struct record *rec)
{
	struct packed_call call = {
		.stack = rec->stack,
		.start_ns = (uint64_t)store_time(s, rec->start_ns),
		.dur_ns = (uint64_t)store_number(rec->dur_ns),
		.because = rec->because,
		.depth = rec->depth,
		.bytes = (uint64_t)store_number(rec->bytes),
		.stream = rec->stream,
		.aux = rec->aux,
		.out = rec->out,
		.usual_ns = (uint64_t)store_number(rec->usual_ns),
		.site = rec->site,
		.ret = rec->ret,
	};
	int64_t op, next;
	int i, err;

	for (int k = 0; k < STATE_COUNT; k++)
		call.state_ns[k] = (uint64_t)store_number(rec->state_ns[k]);
	for (int k = 0; k < COUNTER_COUNT; k++)
		call.counter[k] = (uint64_t)store_number(rec->counter[k]);
	err = store_op_id(s, rec->op, &op);
	if (!err)
		err = store_op_id(s, rec->next, &next);
	if (!err)
		err = packer_of(s, thread, &i);
	if (err)
		return err;
	call.op = (uint64_t)op;
	call.next = (uint64_t)next;
	if (!packer_add(s->packing->at[i].packer, &call)) {
		err = write_block(s, i);
		if (!err)
			(void)packer_add(s->packing->at[i].packer, &call); /* it is empty */
	}
	s->packing->at[i].calls++;
	s->packing->at[i].used = true;
	return err;
}

static void drop_packer(struct packing *g, int i)
{
	packer_free(g->at[i].packer);
	g->at[i] = g->at[--g->count];
}

int store_pack_flush(struct store *s)
{
	struct packing *g = s->packing;
	int err = 0;

	for (int i = 0; g && !err && i < g->count; i++) {
		err = write_block(s, i);
		if (!g->at[i].used)
			drop_packer(g, i--); /* a thread that is gone, or calls no more */
		else
			g->at[i].used = false;
	}
	return err;
}

void store_pack_forget(struct store *s)
{
	while (s->packing && s->packing->count)
		drop_packer(s->packing, 0);
	free(s->packing);
	s->packing = NULL;
}
