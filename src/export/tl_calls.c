// SPDX-License-Identifier: Apache-2.0
/*
 * Single calls and gaps on their threads, steps above them, and what they tell of the GPU's queues:
 * work was given to a stream, and it is known to be done when a synchronisation of it returns.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"
#include "export/timeline.h"
#include "wire/ops.h"

#define LINES_MAX 65536 /* lines of code remembered; then they are looked up anew */
#define QUEUES_MAX 1024
#define LINE_CAP 256
#define STATE_MIN_NS 1000 /* of a call: shorter parts are not told */

struct queue {
	int process; /* index */
	uint64_t stream, track;
	struct lanes *lanes;
	uint64_t from_ns; /* of the oldest work that may not be done; 0: none */
	uint64_t done_ns; /* all of it is by then; 0: not known */
};

struct calls {
	struct timeline_out *t;
	struct hash *lines; /* stack -> its text, or NULL */
	struct hash *ops; /* hash of a symbol -> struct op const * */
	struct queue *queue;
	int queues, err;
	bool shifted; /* clocks differ */
	int node; /* only of this one; -1: of all, whose clocks agree */
	uint64_t next_done_ns; /* of any queue */
};

static bool free_line(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(char **)value);
	return true;
}

static const char *line_of(struct calls *c, uint64_t stack)
{
	char **line = hash_get(c->lines, &stack), text[LINE_CAP];

	if (line)
		return *line;
	if (hash_count(c->lines) >= LINES_MAX)
		hash_each(c->lines, free_line, NULL);
	c->err = store_stack_line(c->t->store, stack, text, sizeof(text));
	line = hash_put(c->lines, &stack);
	*line = text[0] ? xstrdup(text) : NULL;
	return *line;
}

/* ---- one call ---- */

static void put_reason(struct mark *m, const struct timed_call *call)
{
	if (call->because & BECAUSE_OPEN)
		mark_str(m, "not over", "it goes on after the end of the trace");
	if (call->because & BECAUSE_SLOW)
		mark_str(m, "kept because", "slower than usual");
	else if (call->because & BECAUSE_FAILED)
		mark_str(m, "kept because", "it failed");
	else if (call->because & BECAUSE_FIRST)
		mark_str(m, "kept because", "the first of its kind");
	else if (call->because & BECAUSE_COLD)
		mark_str(m, "kept because", "long, before it was known what is usual");
	else if (call->because & BECAUSE_SAMPLED)
		mark_str(m, "kept because", "a sample");
}

static void put_states(struct mark *m, const struct timed_call *call)
{
	static const char *const names[STATE_COUNT] = {
#define X(id, name, text) #name " ns",
		STATES(X)
#undef X
	};

	/* All of it in one state, and that is running: nothing to tell. */
	if (call->state_ns[STATE_RUN] + STATE_MIN_NS >= call->dur_ns)
		return;
	for (int i = 0; i < STATE_COUNT; i++)
		if (call->state_ns[i] >= STATE_MIN_NS)
			mark_u64(m, names[i], call->state_ns[i]);
}

static void put_call_args(struct calls *c, struct mark *m, const struct timed_call *call,
			  const struct op *op)
{
	const char *line = call->stack >= STACK_REASONS ? line_of(c, call->stack) : NULL;

	if (call->next)
		mark_str(m, "ended by", call->next);
	if (call->bytes)
		mark_u64(m, "bytes", call->bytes);
	if (op && op->args.stream)
		mark_hex(m, "stream", call->stream);
	if (call->ret)
		mark_i64(m, "returned", call->ret);
	if (call->usual_ns)
		mark_u64(m, "usual ns", call->usual_ns);
	if (line)
		mark_str(m, "line", line);
	put_reason(m, call);
	if (!call->depth)
		put_states(m, call);
}

/* What this version knows of an op by that name; NULL: nothing. */
static const struct op *op_of(struct calls *c, const char *symbol)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	const struct op **op;

	for (const char *s = symbol; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3ull;
	op = hash_get(c->ops, &hash);
	return op ? *op : NULL;
}

static void learn_ops(struct calls *c)
{
	for (int i = 0; i < OP_COUNT; i++) {
		uint64_t hash = 0xcbf29ce484222325ull;

		for (const char *s = op_table[i].symbol; *s; s++)
			hash = (hash ^ (unsigned char)*s) * 0x100000001b3ull;
		*(const struct op **)hash_put(c->ops, &hash) = &op_table[i];
	}
}

/* ---- queues ---- */

static struct queue *queue_of(struct calls *c, const struct tl_thread *thread, uint64_t stream)
{
	char name[64];
	struct queue *q;

	for (int i = 0; i < c->queues; i++)
		if (c->queue[i].process == thread->process && c->queue[i].stream == stream)
			return &c->queue[i];
	if (c->queues == QUEUES_MAX)
		return NULL;
	c->queue = xrealloc(c->queue, (size_t)c->queues + 1, sizeof(*c->queue));
	q = &c->queue[c->queues++];
	*q = (struct queue){ .process = thread->process, .stream = stream };
	snprintf(name, sizeof(name), "GPU queue: stream 0x%llx", (unsigned long long)stream);
	q->lanes = tl_lanes(c->t, tl_process_track(c->t, tl_process_of(c->t, thread)), name);
	return q;
}

/* Where synchronisations may be missing it is not known when the work was done: only when it came. */
static void put_point(struct calls *c, struct queue *q, const struct timed_call *call)
{
	struct mark m;

	mark_init(&m, 0, call->start_ns, call->start_ns, "work was submitted", "queue");
	mark_str(&m, "by", call->symbol);
	mark_str(&m, "when it was done", "not recorded: see --record-all");
	if (tl_place(c->t, q->lanes, &m))
		sink_mark(&c->t->sink, &m);
}

/* The slice stays open until a synchronisation tells that the work is done. */
static void submit(struct calls *c, const struct tl_thread *thread, const struct timed_call *call)
{
	struct queue *q = queue_of(c, thread, call->stream);
	struct mark m;

	if (!q)
		return;
	if (!(call->because & BECAUSE_ALL) && !q->from_ns) {
		put_point(c, q, call);
		return;
	}
	q->done_ns = 0; /* nobody has waited for this one yet */
	if (q->from_ns)
		return;
	mark_init(&m, 0, call->start_ns, call->start_ns, "has or had work", "queue");
	mark_str(&m, "begins", "when work was submitted, the first that is recorded");
	mark_str(&m, "ends",
		 "when the host knew that it is done, or with the trace; not earlier"
		 " known, so the GPU may have been idle at its end");
	mark_str(&m, "first", call->symbol);
	if (!tl_place(c->t, q->lanes, &m))
		return;
	q->from_ns = m.from_ns;
	q->track = m.track;
	m.open = true;
	sink_mark(&c->t->sink, &m);
}

static void close_queue(struct calls *c, struct queue *q, uint64_t at_ns)
{
	sink_close(&c->t->sink, q->track, max_u64(at_ns, q->from_ns));
	q->from_ns = q->done_ns = 0;
}

/* Close those that are done by then, the first first: time does not go back. */
static void close_done(struct calls *c, uint64_t at_ns)
{
	while (c->next_done_ns <= at_ns) {
		struct queue *first = NULL;
		uint64_t next = UINT64_MAX;

		for (int i = 0; i < c->queues; i++) {
			struct queue *q = &c->queue[i];

			if (!q->from_ns || !q->done_ns)
				continue;
			if (first && q->done_ns >= first->done_ns) {
				next = min_u64(next, q->done_ns);
				continue;
			}
			next = first ? min_u64(next, first->done_ns) : next;
			first = q;
		}
		if (first && first->done_ns <= at_ns)
			close_queue(c, first, first->done_ns);
		else if (first)
			next = first->done_ns;
		c->next_done_ns = next;
	}
}

/* Of those that wait the others name a stream, or an event. */
static bool waits_for_all(const struct op *op)
{
	return !op->args.stream && !op->args.aux;
}

static void settle(struct calls *c, const struct tl_thread *thread, const struct timed_call *call,
		   const struct op *op)
{
	uint64_t end = call->start_ns + call->dur_ns;
	bool all = waits_for_all(op);

	if (call->ret || call->because & BECAUSE_OPEN || (!all && !op->args.stream))
		return; /* it tells nothing */
	for (int i = 0; i < c->queues; i++) {
		struct queue *q = &c->queue[i];

		if (q->process != thread->process || !q->from_ns ||
		    (!all && q->stream != call->stream))
			continue;
		q->done_ns = q->done_ns ? min_u64(q->done_ns, end) : end;
		c->next_done_ns = min_u64(c->next_done_ns, q->done_ns);
	}
}

static bool gives_work(const struct op *op)
{
	switch (op->class) {
	case CLASS_LAUNCH:
	case CLASS_FILL:
	case CLASS_COPY:
	case CLASS_COLL:
	case CLASS_P2P:
		return op->args.stream;
	case CLASS_GRAPH: /* a graph to a stream; with the stream in front it is recorded */
		return op->args.stream == 2;
	default:
		return false;
	}
}

static void follow_queues(struct calls *c, const struct tl_thread *thread,
			  const struct timed_call *call, const struct op *op)
{
	if (op->class == CLASS_SYNC)
		settle(c, thread, call, op);
	else if (gives_work(op))
		submit(c, thread, call);
}

/* ---- all of them ---- */

static int on_call(const struct timed_call *call, void *arg)
{
	struct calls *c = arg;
	struct tl_thread *thread = tl_thread(c->t, call->thread);
	const struct op *op = op_of(c, call->symbol);
	struct mark m;

	if (!thread)
		return tl_progress(c->t, call->start_ns);
	if (c->node >= 0 && tl_process_of(c->t, thread)->node != c->node)
		return 0;
	close_done(c, call->start_ns);
	(void)tl_thread_track(c->t, thread);
	mark_init(&m, 0, call->start_ns, call->start_ns + call->dur_ns,
		  call->next ? "between calls" : call->symbol, call->class);
	put_call_args(c, &m, call, op);
	if (c->err)
		return c->err;
	if (tl_place(c->t, thread->calls, &m))
		sink_mark(&c->t->sink, &m);
	if (op)
		follow_queues(c, thread, call, op);
	return tl_progress(c->t, call->start_ns);
}

static int one_node(struct calls *c, int node)
{
	int err;

	c->node = c->shifted ? node : -1;
	tl_sequence(c->t, node);
	err = store_each_timed_call(c->t->store, c->t->w, on_call, c);
	close_done(c, UINT64_MAX - 1);
	for (int i = 0; i < c->queues; i++)
		if (c->queue[i].from_ns)
			close_queue(c, &c->queue[i], c->t->end_ns);
	return err;
}

/* Where the clocks of nodes differ each is walked by itself: together they are in no order. */
static int every_node(struct calls *c)
{
	const struct timeline_out *t = c->t;
	int err = 0;

	for (int i = 0; i < t->nodes; i++)
		c->shifted |= t->node[i].shift_ns != t->node[0].shift_ns;
	for (int i = 0; !err && i < (c->shifted ? t->nodes : 1); i++)
		err = one_node(c, i);
	return err;
}

int tl_calls(struct timeline_out *t)
{
	struct calls c = { .t = t, .next_done_ns = UINT64_MAX };
	int err;

	c.lines = hash_new(sizeof(uint64_t), sizeof(char *));
	c.ops = hash_new(sizeof(uint64_t), sizeof(struct op *));
	learn_ops(&c);
	err = every_node(&c);
	hash_each(c.lines, free_line, NULL);
	hash_free(c.lines);
	hash_free(c.ops);
	free(c.queue);
	return err;
}

/* ---- steps ---- */

struct steps {
	struct timeline_out *t;
	int64_t thread;
};

static int on_step(int64_t row, const struct step *step, void *arg)
{
	struct steps *s = arg;
	struct tl_thread *thread = tl_thread(s->t, row);
	struct lanes *lanes;
	struct mark m;

	if (!thread)
		return 0;
	if (row != s->thread)
		tl_thread_sequence(s->t, thread);
	s->thread = row;
	lanes = tl_lanes(s->t, tl_thread_track(s->t, thread), "steps (slow and sampled ones)");
	mark_init(&m, 0, step->start_ns, step->start_ns + step->dur_ns, "step", "step");
	mark_u64(&m, "number", step->index);
	mark_u64(&m, "host ns", step->host_ns);
	mark_u64(&m, "data ns", step->data_ns);
	mark_u64(&m, "copy ns", step->copy_ns);
	mark_u64(&m, "sync ns", step->sync_ns);
	mark_u64(&m, "collectives ns", step->coll_ns);
	mark_u64(&m, "other ns", step->other_ns);
	mark_u64(&m, "GPU without work ns, at least", step->idle_ns);
	if (tl_place(s->t, lanes, &m))
		sink_mark(&s->t->sink, &m);
	return tl_progress(s->t, step->start_ns);
}

int tl_steps(struct timeline_out *t)
{
	struct steps s = { .t = t, .thread = -1 };

	return store_each_single_step(t->store, t->w, on_step, &s);
}
