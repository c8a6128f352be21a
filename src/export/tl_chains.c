// SPDX-License-Identifier: Apache-2.0
/*
 * Who waited for whom. Each hop of a chain is a slice on the thread that it is about, and an arrow
 * leads from each to the one that it kept waiting: from the cause to the effect. A chain has no moment
 * of its own in the store, so its slices are as long as the call or the second that it belongs to, and
 * say how much of that it was.
 */
#include "export/tl_chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define CHAINS_KEPT 2048

/* A chain, and where in the code its hops were; "": not known. */
struct told {
	struct chain chain;
	char line[HOPS_MAX][160];
};

struct chain_book *chain_book_new(void)
{
	struct chain_book *b = xcalloc(1, sizeof(*b));

	b->known = hash_new(sizeof(int64_t), sizeof(struct told *));
	return b;
}

static bool forget(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(struct told **)value);
	return true;
}

void chain_book_free(struct chain_book *b)
{
	hash_each(b->known, forget, NULL);
	hash_free(b->known);
	free(b);
}

static int name_hop(struct timeline_out *t, struct hop *hop, char *line, size_t cap)
{
	struct hop raw = *hop;

	text_safe(hop->comm, sizeof(raw.comm), raw.comm);
	text_safe(hop->name, sizeof(raw.name), raw.name);
	return hop->stack < STACK_REASONS ? 0 : store_stack_line(t->store, hop->stack, line, cap);
}

/* NULL: it is not stored, or *err. Names are printable. */
static const struct told *find(struct timeline_out *t, struct chain_book *b, int64_t id, int *err)
{
	struct told **slot = hash_get(b->known, &id), *told;

	if (slot)
		return *slot;
	if (hash_count(b->known) >= CHAINS_KEPT)
		hash_each(b->known, forget, NULL);
	told = xcalloc(1, sizeof(*told));
	*err = store_find_chain(t->store, id, &told->chain);
	for (int i = 0; !*err && i < told->chain.hops; i++)
		*err = name_hop(t, &told->chain.hop[i], told->line[i], sizeof(told->line[i]));
	if (*err) {
		free(told);
		told = NULL;
		if (*err != -ENOENT)
			return NULL;
		*err = 0;
	}
	*(struct told **)hash_put(b->known, &id) = told;
	return told;
}

enum shade shade_of(uint64_t ns, uint64_t whole_ns)
{
	double share = whole_ns ? (double)ns / (double)whole_ns : 0;

	return share >= 0.2 ? SHADE_HIGH : share >= 0.05 ? SHADE_MEDIUM : SHADE_LOW;
}

static void put_hop_args(struct mark *m, const struct hop *hop, const char *line)
{
	if (line[0])
		mark_str(m, "line", line);
	if (hop->object != OBJECT_none)
		mark_str(m, "object", object_names[hop->object]);
	if (hop->name[0])
		mark_str(m, "name", hop->name);
	if (STATE_RUNNABLE(hop->state) && hop->cpu_pid && hop->cpu_pid != PID_IRQ)
		mark_u64(m, "pid on the CPU", hop->cpu_pid);
	if (STATE_RUNNABLE(hop->state))
		mark_u64(m, "cpu", hop->cpu);
	if (hop->device[0])
		mark_str(m, "interrupt of", hop->device);
}

static void put_wait_args(struct mark *m, const struct chain_use *use)
{
	mark_f64(m, "ms", (double)use->ns / 1e6);
	if (use->count)
		mark_u64(m, "times", use->count);
	if (use->max_ns)
		mark_f64(m, "longest ms", (double)use->max_ns / 1e6);
	if (use->symbol)
		mark_str(m, "in", use->symbol);
	mark_str(m, "length", use->length);
}

/* What a hop did on its own thread while somebody waited for it. Its lanes belong to that one alone. */
static struct lanes *hop_lanes(struct timeline_out *t, const struct chain_use *use,
			       const struct hop *hop)
{
	char name[96];

	snprintf(name, sizeof(name), "keeps %s %u waiting (%s)", use->comm, use->tid, use->kind);
	if (!hop->tid) /* not known which of its threads */
		return tl_lanes(
			t, tl_process_track(t, tl_anyone(t, use->node, hop->pid, hop->comm)), name);
	return tl_lanes(
		t, tl_thread_track(t, tl_any_thread(t, use->node, hop->pid, hop->tid, hop->comm)),
		name);
}

static bool put_hop(struct timeline_out *t, const struct chain_use *use, const struct hop *hop,
		    const char *line, const uint64_t *effect, const uint64_t *cause)
{
	struct mark m;

	mark_init(&m, 0, use->from_ns, use->to_ns,
		  !hop->tid                 ? "had the CPU that another needed"
		  : hop->state == STATE_RUN ? "on CPU in its own code"
					    : state_texts[hop->state],
		  "chain");
	m.shade = use->shade;
	mark_f64(&m, "ms", (double)use->ns / 1e6);
	put_hop_args(&m, hop, line);
	mark_str(&m, "length", use->length);
	m.effect = effect;
	m.effects = effect ? 1 : 0;
	m.cause = cause;
	m.causes = cause ? 1 : 0;
	if (!tl_place(t, hop_lanes(t, use, hop), &m))
		return false;
	sink_mark(&t->sink, &m);
	return true;
}

/* Who had the CPU that the last one waited for: no hop, but the cause. False: nobody. */
static bool robber(const struct hop *end, struct hop *ret)
{
	if (!STATE_RUNNABLE(end->state) || !end->cpu_pid || end->cpu_pid == PID_IRQ)
		return false;
	*ret = (struct hop){ .pid = end->cpu_pid, .state = STATE_RUN };
	(void)str_copy(ret->comm, sizeof(ret->comm), end->name); /* names of processes fit */
	return true;
}

/*
 * Each in its turn, and the arrow to the next. The cause comes first in the file, too: of arrows between
 * equal times that is where they begin. *flow is the last one, 0 as long as there is none.
 */
static void put_cause(struct timeline_out *t, const struct chain_use *use, const struct hop *hop,
		      const char *line, uint64_t *flow)
{
	uint64_t ahead = t->flows + 1, behind = *flow;

	if (!hop->pid || !put_hop(t, use, hop, line, &ahead, behind ? &behind : NULL))
		return; /* nobody who has a track, or there is no room */
	*flow = t->flows = ahead;
}

static uint64_t put_causes(struct timeline_out *t, const struct chain_use *use,
			   const struct told *told)
{
	const struct chain *chain = &told->chain;
	uint64_t flow = 0;
	struct hop by;

	if (robber(&chain->hop[chain->hops - 1], &by))
		put_cause(t, use, &by, "", &flow);
	for (int i = chain->hops - 1; i > 0; i--)
		put_cause(t, use, &chain->hop[i], told->line[i], &flow);
	return flow;
}

int chain_put(struct timeline_out *t, struct chain_book *b, struct lanes *lanes,
	      const struct chain_use *use)
{
	struct idle_part part;
	struct mark m;
	uint64_t flow = 0;
	int err = 0;
	const struct told *told = find(t, b, use->chain, &err);
	const struct chain *chain = told ? &told->chain : NULL;

	if (err)
		return err;
	if (!chain || !chain->hops)
		part = (struct idle_part){ .what = "waiting; the chain is not stored" };
	else
		idle_part_of(chain, &part);
	mark_init(&m, 0, use->from_ns, use->to_ns, part.what, "chain");
	if (!tl_place(t, lanes, &m))
		return 0;
	m.shade = use->shade;
	put_wait_args(&m, use);
	if (chain && chain->hops)
		put_hop_args(&m, &chain->hop[0], told->line[0]);
	if (chain && !chain->complete)
		mark_str(&m, "incomplete", "what the last one did meanwhile is not known");
	if (chain && chain->hops)
		flow = put_causes(t, use, told);
	m.cause = &flow;
	m.causes = flow ? 1 : 0;
	sink_mark(&t->sink, &m);
	return 0;
}

/* ---- of single calls ---- */

struct call_chains {
	struct timeline_out *t;
	struct chain_book *book;
	int64_t thread;
};

static int on_call_chain(const struct call_chain *row, void *arg)
{
	struct call_chains *c = arg;
	struct tl_thread *thread = tl_thread(c->t, row->thread);
	struct chain_use use;
	struct lanes *lanes;
	int err;

	if (!thread || !row->dur_ns)
		return 0;
	if (row->thread != c->thread)
		tl_thread_sequence(c->t, thread);
	c->thread = row->thread;
	use = (struct chain_use){
		.kind = "single calls",
		.length = "that of the call; where in it the waiting was is not stored",
		.chain = row->chain,
		.ns = row->ns,
		.from_ns = row->start_ns,
		.to_ns = row->start_ns + row->dur_ns,
		.symbol = row->symbol,
		.shade = shade_of(row->ns, row->dur_ns),
		.node = tl_process_of(c->t, thread)->node,
		.tid = thread->tid,
	};
	str_copy(use.comm, sizeof(use.comm), thread->comm);
	lanes = tl_lanes(c->t, tl_thread_track(c->t, thread), "waits (single calls)");
	err = chain_put(c->t, c->book, lanes, &use);
	return err ? err : tl_progress(c->t, row->start_ns);
}

int tl_call_chains(struct timeline_out *t)
{
	struct call_chains c = { .t = t, .book = chain_book_new(), .thread = -1 };
	int err = store_each_call_chain(t->store, t->w, on_call_chain, &c);

	chain_book_free(c.book);
	return err;
}
