// SPDX-License-Identifier: Apache-2.0
/*
 * Collectives: from when a rank arrived until it knew that all were there, with an arrow from the rank
 * that came last to each that waited for it, whatever node it is on.
 */
#include "base/hash.h"
#include "base/util.h"
#include "export/timeline.h"

#define MEETINGS_MAX 1000000 /* with arrows */

/* The same rows three times: who came last and has a track, who waited for him, all of them. */
struct ranks {
	struct timeline_out *t;
	struct hash
		*flows; /* struct meeting -> flow; of place 0: 1, where the last one has a track */
	int64_t thread;
	uint64_t last_ns;
};

struct meeting {
	uint64_t hash, seq, place;
};

static struct tl_process *process_of(struct ranks *r, const struct met_collective *c)
{
	int *index = hash_get(r->t->process_rows, &c->process);

	return index ? &r->t->process[*index - 1] : NULL;
}

static int on_last(const struct met_collective *c, void *arg)
{
	struct ranks *r = arg;
	struct meeting key = { c->hash, c->seq, 0 };

	if (c->places > 1 && c->place == c->places && process_of(r, c) &&
	    hash_count(r->flows) < MEETINGS_MAX)
		*(uint64_t *)hash_put(r->flows, &key) = 1;
	return 0;
}

/* Clocks of two nodes may disagree by more than the wait: such an arrow would lead backwards. */
static bool waited_for_last(const struct ranks *r, const struct met_collective *c)
{
	struct meeting key = { c->hash, c->seq, 0 };

	return c->waited && c->place < c->places && c->place <= MARK_FLOWS &&
	       c->start_ns < c->last_start_ns && c->end_ns > c->last_start_ns &&
	       hash_get(r->flows, &key);
}

static int on_waiter(const struct met_collective *c, void *arg)
{
	struct ranks *r = arg;
	struct tl_process *p = tl_process(r->t, c->process);
	struct meeting key = { c->hash, c->seq, c->place };
	uint64_t flow;
	struct mark m;

	if (!p || !waited_for_last(r, c) || hash_get(r->flows, &key))
		return 0;
	if (c->end_ns < r->last_ns || c->thread != r->thread)
		tl_sequence(r->t, p->node);
	r->thread = c->thread;
	r->last_ns = c->end_ns;
	flow = ++r->t->flows;
	*(uint64_t *)hash_put(r->flows, &key) = flow;
	mark_init(&m, tl_process_track(r->t, p), c->end_ns, c->end_ns,
		  "had waited for the last rank", "collective");
	mark_str(&m, "collective", c->symbol);
	mark_u64(&m, "sequence number", c->seq);
	mark_f64(&m, "ms before the last", (double)(c->last_start_ns - c->start_ns) / 1e6);
	m.cause = &flow;
	m.causes = 1;
	sink_mark(&r->t->sink, &m);
	return 0;
}

static void put_last(struct ranks *r, const struct met_collective *c)
{
	struct tl_process *p = process_of(r, c);
	uint64_t flow[MARK_FLOWS];
	struct mark m;
	int n = 0;

	for (uint64_t i = 1; i < c->places && i <= MARK_FLOWS; i++) {
		struct meeting key = { c->hash, c->seq, i };
		uint64_t *id = hash_get(r->flows, &key);

		if (id)
			flow[n++] = *id;
	}
	if (!n || !p)
		return;
	mark_init(&m, tl_process_track(r->t, p), c->start_ns, c->start_ns, "last to arrive",
		  "collective");
	mark_str(&m, "collective", c->symbol);
	mark_u64(&m, "sequence number", c->seq);
	m.effect = flow;
	m.effects = n;
	sink_mark(&r->t->sink, &m);
}

static void put_args(struct mark *m, const struct met_collective *c)
{
	mark_u64(m, "sequence number", c->seq);
	if (c->rank >= 0)
		mark_i64(m, "rank", c->rank);
	if (c->nranks >= 0)
		mark_i64(m, "ranks", c->nranks);
	mark_u64(m, "bytes", c->bytes);
	if (c->places > 1) {
		mark_u64(m, "arrived as number", c->place);
		mark_u64(m, "of those seen", c->places);
		mark_f64(m, "ms before the last", (double)(c->last_start_ns - c->start_ns) / 1e6);
	}
	mark_str(m, "ends",
		 !c->waited ? "with the call, which only queues it"
		 : c->sure  ? "with the synchronisation that waited for it"
			    : "with the next synchronisation: assumed that this waited for it");
}

static int on_collective(const struct met_collective *c, void *arg)
{
	struct ranks *r = arg;
	struct tl_thread *thread = tl_thread(r->t, c->thread);
	const struct tl_process *p = process_of(r, c);
	struct lanes *lanes;
	struct mark m;

	if (!p)
		return 0;
	if (c->thread != r->thread)
		tl_sequence(r->t, p->node);
	r->thread = c->thread;
	if (c->places > 1 && c->place == c->places)
		put_last(r, c);
	if (!thread)
		return 0;
	lanes = tl_lanes(r->t, tl_thread_track(r->t, thread), "collectives");
	mark_init(&m, 0, c->start_ns, c->end_ns, c->symbol, "collective");
	put_args(&m, c);
	if (tl_place(r->t, lanes, &m))
		sink_mark(&r->t->sink, &m);
	return tl_progress(r->t, c->start_ns);
}

int tl_collectives(struct timeline_out *t)
{
	struct ranks r = { .t = t, .thread = -1 };
	int err;

	r.flows = hash_new(sizeof(struct meeting), sizeof(uint64_t));
	err = store_each_met(t->store, t->w, on_last, &r);
	if (!err)
		err = store_each_met(t->store, t->w, on_waiter, &r);
	r.thread = -1;
	if (!err)
		err = store_each_met(t->store, t->w, on_collective, &r);
	hash_free(r.flows);
	return err;
}
