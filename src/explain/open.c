// SPDX-License-Identifier: Apache-2.0
/* What was not over when the trace ended: each thread's last call or gap, and what it waited for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define OPEN_MIN_NS 1000000000ull /* every loop is in the middle of something */
#define OPENS_MAX 64

struct reading {
	struct store *store;
	const struct facts *f;
	struct explanation *e;
	int64_t call[OPENS_MAX]; /* of e->open[i] */
};

static int on_open(const struct call_row *row, void *arg)
{
	struct reading *r = arg;
	struct explanation *e = r->e;
	const struct thread_facts *t = NULL;
	struct open_wait *to;
	int most = 0;

	for (int i = 0; i < r->f->threads; i++)
		if (r->f->thread[i].id == row->thread)
			t = &r->f->thread[i];
	if (!t || row->dur_ns < OPEN_MIN_NS || e->opens == OPENS_MAX)
		return 0;
	e->open = xrealloc(e->open, (size_t)e->opens + 1, sizeof(*e->open));
	to = &e->open[e->opens];
	*to = (struct open_wait){
		.pid = t->pid, .tid = t->tid, .ns = row->dur_ns, .start_ns = row->start_ns
	};
	memcpy(to->comm, t->process_comm, sizeof(to->comm));
	if (!streq(row->symbol, op_table[OP_GAP].symbol))
		text_safe(to->op, sizeof(to->op), row->symbol);
	for (int i = 0; i < STATE_COUNT; i++)
		most = row->state_ns[i] > row->state_ns[most] ? i : most;
	to->part.state = (enum state)most;
	to->part.ns = row->state_ns[most];
	str_copy(to->part.what, sizeof(to->part.what),
		 most == STATE_RUN ? "on CPU in its own code" : state_texts[most]);
	r->call[e->opens++] = row->id;
	return 0;
}

/* The first is the longest. */
static int on_chain(int64_t chain, uint64_t ns, void *arg)
{
	struct chain_facts *to = arg;

	(void)ns;
	to->id = chain;
	return 1;
}

static int name_wait(struct store *s, int64_t call, struct open_wait *o)
{
	struct chain_facts found = { 0 };
	struct chain chain;
	uint64_t ns = o->part.ns;
	int err = store_each_call_wait(s, call, on_chain, &found);

	if (err < 0 || !found.id || STATE_ON_CPU(o->part.state))
		return err < 0 ? err : 0;
	err = store_find_chain(s, found.id, &chain);
	if (err)
		return err == -ENOENT ? 0 : err;
	for (int i = 0; i < chain.hops; i++) {
		struct hop raw = chain.hop[i];

		text_safe(chain.hop[i].comm, sizeof(raw.comm), raw.comm);
		text_safe(chain.hop[i].name, sizeof(raw.name), raw.name);
	}
	idle_part_of(&chain, &o->part);
	o->part.ns = ns;
	return 0;
}

int add_open(struct store *s, const struct facts *f, struct explanation *e)
{
	struct reading r = { .store = s, .f = f, .e = e };
	int err = store_each_open(s, e->window, OPENS_MAX, on_open, &r);

	for (int i = 0; !err && i < e->opens; i++)
		err = name_wait(s, r.call[i], &e->open[i]);
	return err;
}
