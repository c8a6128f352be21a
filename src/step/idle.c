// SPDX-License-Identifier: Apache-2.0
/* Which streams have work that nobody has waited for yet. */
#include "step/idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define STREAMS 64 /* with work, or lately so; more are as good as unknown */
#define OPEN_MAX 64 /* threads */
#define LOST_NS (5 * 1000000000ull) /* what was lost is no longer at work after this */

struct stream {
	uint32_t id;
	bool dirty;
	uint64_t last_ns; /* work was submitted until then */
	uint64_t waited_ns; /* ... of which what came before this is done */
};

struct pending {
	uint32_t thread;
	struct beat beat;
};

struct idle {
	struct stream stream[STREAMS];
	int streams;
	uint64_t unknown_ns; /* work on an unknown stream until then; 0: none */
	uint64_t waited_ns; /* what came before this is done, on every stream */
	uint64_t lost_ns; /* beats were lost then */
	bool lost;
	uint64_t since_ns; /* idle since then; 0: it is not */
	uint32_t waiter; /* who waited last */
	struct pending *pending; /* not looked at yet */
	size_t n, cap;
	struct pending open[OPEN_MAX];
	int opens;
};

struct idle *idle_new(void)
{
	return xcalloc(1, sizeof(struct idle));
}

void idle_free(struct idle *i)
{
	if (!i)
		return;
	free(i->pending);
	free(i);
}

static const struct op *op_of(const struct beat *b)
{
	return BEAT_OP(b->op) < OP_SLOTS ? &op_table[BEAT_OP(b->op)] : &op_table[OP_GAP];
}

static bool submits(const struct op *op)
{
	if (streq(op->symbol, "ncclGroupStart"))
		return false;
	return op->class == CLASS_LAUNCH || op->class == CLASS_FILL || op->class == CLASS_COPY ||
	       op->class == CLASS_COLL || op->class == CLASS_P2P ||
	       (op->class == CLASS_GRAPH && strstr(op->symbol, "Launch"));
}

/* The end of a group submits what its calls have named before: the streams are theirs. */
static bool has_streams(const struct op *op)
{
	return !streq(op->symbol, "ncclGroupEnd");
}

static bool waits_for_all(const struct op *op)
{
	return op->class == CLASS_SYNC && !op->args.stream && !strstr(op->symbol, "Event");
}

static bool waits_for_stream(const struct op *op)
{
	return op->class == CLASS_SYNC && op->args.stream;
}

/* Their stream 0 is another one in each thread. */
static bool own_stream(const struct op *op)
{
	return strstr(op->symbol, "_pts") || strstr(op->symbol, "_ptd");
}

static void push(struct idle *i, uint32_t thread, const struct beat *b)
{
	if (i->n == i->cap) {
		i->cap = i->cap ? 2 * i->cap : 256;
		i->pending = xrealloc(i->pending, i->cap, sizeof(*i->pending));
	}
	i->pending[i->n] = (struct pending){ thread, *b };
	if (own_stream(op_of(b)) && !b->stream)
		i->pending[i->n].beat.flags |= BEAT_MIXED;
	i->n++;
}

void idle_add(struct idle *i, uint32_t thread, const struct beat *b)
{
	const struct op *op = op_of(b);

	if (submits(op) || waits_for_all(op) || waits_for_stream(op))
		push(i, thread, b);
}

void idle_open(struct idle *i, uint32_t thread, const struct beat *b)
{
	int at = 0;

	while (at < i->opens && i->open[at].thread != thread)
		at++;
	if (at == OPEN_MAX) {
		idle_break(i, b->end_ns); /* too many to keep an eye on */
		return;
	}
	i->opens = at == i->opens ? at + 1 : i->opens;
	i->open[at] = (struct pending){ thread, *b };
}

void idle_break(struct idle *i, uint64_t ns)
{
	i->lost = true;
	i->lost_ns = max_u64(i->lost_ns, ns);
	i->since_ns = 0;
}

/* ---- one beat */

static struct stream *stream_of(struct idle *i, uint32_t id)
{
	struct stream *clean = NULL;

	for (int k = 0; k < i->streams; k++) {
		if (i->stream[k].id == id)
			return &i->stream[k];
		if (!i->stream[k].dirty)
			clean = &i->stream[k];
	}
	if (i->streams < STREAMS)
		clean = &i->stream[i->streams++];
	if (clean)
		*clean = (struct stream){ .id = id };
	return clean;
}

static void submit(struct idle *i, uint32_t thread, const struct beat *b, idle_fn fn, void *arg)
{
	struct stream *s = b->flags & BEAT_MIXED ? NULL : stream_of(i, b->stream);

	if (b->end_ns <= i->waited_ns || (s && b->end_ns <= s->waited_ns))
		return; /* seen before, while it was the last of its thread */
	if (has_streams(op_of(b))) {
		if (s) {
			s->dirty = true;
			s->last_ns = max_u64(s->last_ns, b->end_ns);
		} else {
			i->unknown_ns = max_u64(i->unknown_ns, b->end_ns);
		}
	}
	/* One that began before is a run of calls: when the one came that ended it is not known. */
	if (i->since_ns && b->start_ns > i->since_ns)
		fn(thread, i->since_ns, b->start_ns, arg);
	i->since_ns = 0;
}

/* Only what was submitted before it began to wait is sure to be done. */
static void wait(struct idle *i, uint32_t thread, const struct beat *b)
{
	bool all = waits_for_all(op_of(b)), busy = false;

	if (!all && b->flags & BEAT_MIXED)
		return;
	for (int k = 0; k < i->streams; k++) {
		struct stream *s = &i->stream[k];

		if ((all || s->id == b->stream) && s->last_ns <= b->start_ns) {
			s->dirty = false;
			s->waited_ns = b->start_ns;
		}
		busy |= s->dirty;
	}
	if (all && i->unknown_ns <= b->start_ns)
		i->unknown_ns = 0;
	if (all)
		i->waited_ns = max_u64(i->waited_ns, b->start_ns);
	if (i->lost && (all || b->start_ns > i->lost_ns + LOST_NS))
		i->lost = b->start_ns <= i->lost_ns;
	if (!busy && !i->unknown_ns && !i->lost) {
		if (!i->since_ns)
			i->since_ns = b->end_ns;
		i->waiter = thread;
	}
}

static void take(struct idle *i, const struct pending *p, idle_fn fn, void *arg)
{
	if (submits(op_of(&p->beat)))
		submit(i, p->thread, &p->beat, fn, arg);
	else
		wait(i, p->thread, &p->beat);
}

static int by_start(const void *x, const void *y)
{
	const struct pending *a = x, *b = y;

	if (a->beat.start_ns != b->beat.start_ns)
		return a->beat.start_ns < b->beat.start_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

void idle_run(struct idle *i, uint64_t until_ns, idle_fn fn, void *arg)
{
	size_t own = i->n, kept = 0;

	/* What may still grow is work submitted so far; it is looked at again when it is complete. */
	for (int k = 0; k < i->opens; k++)
		if (submits(op_of(&i->open[k].beat)) && i->open[k].beat.start_ns < until_ns)
			push(i, i->open[k].thread, &i->open[k].beat);
	if (i->n)
		qsort(i->pending, i->n, sizeof(*i->pending), by_start);
	for (size_t k = 0; k < i->n; k++) {
		if (i->pending[k].beat.start_ns < until_ns)
			take(i, &i->pending[k], fn, arg);
		else
			i->pending[kept++] = i->pending[k];
	}
	i->n = min_u64(kept, own);
}

void idle_end(struct idle *i, uint64_t ns, idle_fn fn, void *arg)
{
	for (int k = 0; k < i->opens; k++)
		push(i, i->open[k].thread, &i->open[k].beat);
	i->opens = 0;
	idle_run(i, UINT64_MAX, fn, arg);
	if (i->since_ns && i->since_ns < ns)
		fn(i->waiter, i->since_ns, ns, arg);
	i->since_ns = 0;
}
