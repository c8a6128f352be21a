// SPDX-License-Identifier: Apache-2.0
/* Rows in: chains of waits, each told once, and the time that is charged to them. */
#include "store/store_int.h"

static int store_hop(struct store *s, int64_t chain, int n, const struct hop *hop)
{
	struct row r = row_begin(s, STMT_HOP);
	char name[sizeof(hop->name) + 1] = { 0 };

	memcpy(name, hop->name, sizeof(hop->name));
	row_i64(&r, chain);
	row_i64(&r, n);
	row_i64(&r, hop->pid);
	row_i64(&r, hop->tid);
	row_comm(&r, hop->comm);
	row_text(&r, relation_names[hop->relation]);
	row_text(&r, state_names[hop->state]);
	row_text(&r, waker_names[hop->by]);
	row_text(&r, hop->object == OBJECT_none ? "" : object_names[hop->object]);
	row_string(&r, name);
	row_i64(&r, hop->cpu);
	row_i64(&r, (int32_t)hop->cpu_pid);
	row_i64(&r, hop->nr);
	row_i64(&r, hop->flags);
	row_bits(&r, hop->obj);
	row_bits(&r, hop->obj2);
	row_bits(&r, hop->stack);
	row_i64(&r, hop->irq);
	row_string(&r, hop->device);
	return row_end(&r, "insert hop");
}

int store_chain(struct store *s, const struct chain *chain, int64_t *ret)
{
	int64_t id = (int64_t)chain_id(chain);
	int err;

	store_sweep_spare(s, id);
	if (!store_knows(s->chains, id)) {
		struct row r = row_begin(s, STMT_CHAIN);

		row_i64(&r, id);
		row_i64(&r, chain->complete);
		err = row_end(&r, "insert chain");
		for (int i = 0; !err && i < chain->hops && i < HOPS_MAX; i++)
			err = store_hop(s, id, i, &chain->hop[i]);
		if (err)
			return err;
		store_remember(&s->chains, id);
	}
	*ret = id;
	return 0;
}

int store_wait_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct wait_row *row)
{
	struct row r;

	store_sweep_spare(s, row->chain);
	if (!row->op)
		return 0;
	r = row_begin(s, STMT_WAIT_SECOND);
	row_i64(&r, thread);
	row_time(&r, at_boot_ns);
	row_op(&r, row->op);
	row_i64(&r, row->chain);
	row_u64(&r, row->ns);
	row_u64(&r, row->count);
	row_u64(&r, row->max_ns);
	return row_end(&r, "insert wait_second");
}

int store_idle_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct wait_row *row)
{
	struct row r = row_begin(s, STMT_IDLE_SECOND);

	store_sweep_spare(s, row->chain);
	row_i64(&r, thread);
	row_time(&r, at_boot_ns);
	row_i64(&r, row->chain);
	row_u64(&r, row->ns);
	row_u64(&r, row->count);
	row_u64(&r, row->max_ns);
	return row_end(&r, "insert idle_second");
}

int store_call_wait(struct store *s, int64_t call, int64_t chain, uint64_t ns)
{
	struct row r = row_begin(s, STMT_CALL_WAIT);

	store_sweep_spare(s, chain);
	row_i64(&r, call);
	row_i64(&r, chain);
	row_u64(&r, ns);
	return row_end(&r, "insert call_wait");
}
