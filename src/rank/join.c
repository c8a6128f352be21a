// SPDX-License-Identifier: Apache-2.0
/* Collectives wait here, in the order of their calls, for the synchronisation that covers them. */
#include "rank/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"

#define LEGACY_STREAM 1 /* CUDA's other name for stream 0 */
#define COMMS_SEEN 16 /* communicators told apart in front of one wait */

const char *const join_names[JOIN_COUNT] = {
#define X(id, text) [JOIN_##id] = #id,
	JOINS(X)
#undef X
};

struct queue {
	struct collective *at; /* oldest first */
	size_t n, cap;
};

struct joiner {
	struct hash *queues; /* process -> struct queue */
	collective_fn fn;
	void *arg;
};

struct joiner *joiner_new(collective_fn fn, void *arg)
{
	struct joiner *j = xcalloc(1, sizeof(*j));

	j->queues = hash_new(sizeof(int64_t), sizeof(struct queue));
	j->fn = fn;
	j->arg = arg;
	return j;
}

static bool drop_queue(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(((struct queue *)value)->at);
	return true;
}

void joiner_free(struct joiner *j)
{
	if (!j)
		return;
	hash_each(j->queues, drop_queue, NULL);
	hash_free(j->queues);
	free(j);
}

/* Tell those that `is_done` says are done, keep the others in their order. */
static void tell(struct joiner *j, struct queue *q,
		 bool (*is_done)(const struct collective *c, const void *arg), const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (is_done(&q->at[i], arg))
			j->fn(&q->at[i], j->arg);
		else
			q->at[kept++] = q->at[i];
	}
	q->n = kept;
}

/* ---- calls ---- */

/* The first wait that followed stands, now that its communicator goes on. */
static bool goes_on(const struct collective *c, const void *arg)
{
	const uint32_t *number = arg;

	return c->join != JOIN_none && c->call.number == *number;
}

static bool is_at(const struct collective *c, const void *arg)
{
	return c == arg;
}

void joiner_call(struct joiner *j, const struct collective *c)
{
	struct queue *q = hash_get(j->queues, &c->process);

	if (!q && hash_count(j->queues) >= JOIN_PROCESSES) {
		j->fn(c, j->arg);
		return;
	}
	q = hash_put(j->queues, &c->process);
	tell(j, q, goes_on, &c->call.number);
	if (q->n == JOIN_PENDING)
		tell(j, q, is_at, &q->at[0]);
	if (q->n == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 16;
		q->at = xrealloc(q->at, q->cap, sizeof(*q->at));
	}
	q->at[q->n] = *c;
	q->at[q->n].join = JOIN_none;
	q->at[q->n++].last = false;
}

/* ---- waits ---- */

static uint64_t same_name(uint64_t stream)
{
	return stream == LEGACY_STREAM ? 0 : stream;
}

static enum join join_of(const struct collective *c, const struct nccl_record *sync)
{
	if (sync->op->class == CLASS_COPY)
		return JOIN_copy;
	if (sync->op->args.stream)
		return same_name(sync->stream) == same_name(c->call.stream) ? JOIN_stream
									    : JOIN_other;
	return strstr(sync->op->symbol, "Event") ? JOIN_event : JOIN_device;
}

static bool is_sure(enum join join)
{
	return join == JOIN_stream || join == JOIN_device;
}

static bool is_joined(const struct collective *c, const void *arg)
{
	(void)arg;
	return is_sure(c->join);
}

/* The last of each communicator, seen from the end. Beyond so many of them nobody is the last. */
static bool first_seen(uint32_t seen[COMMS_SEEN], int *n, uint32_t number)
{
	for (int i = 0; i < *n; i++)
		if (seen[i] == number)
			return false;
	if (*n == COMMS_SEEN)
		return false;
	seen[(*n)++] = number;
	return true;
}

void joiner_sync(struct joiner *j, int64_t process, const struct nccl_record *sync)
{
	struct queue *q = hash_get(j->queues, &process);
	uint32_t seen[COMMS_SEEN];
	int comms = 0;

	for (size_t i = q ? q->n : 0; i-- > 0;) {
		struct collective *c = &q->at[i];
		enum join join = join_of(c, sync);

		/* It covers what was queued before it began. */
		if (c->call.end_ns > sync->start_ns || (c->join != JOIN_none && !is_sure(join)))
			continue;
		c->join = join;
		c->sync = sync->op;
		c->sync_start_ns = sync->start_ns;
		c->sync_end_ns = sync->end_ns;
		c->last =
			c->call.op->class == CLASS_COLL && first_seen(seen, &comms, c->call.number);
	}
	if (q)
		tell(j, q, is_joined, NULL);
}

/* ---- time ---- */

static bool is_old(const struct collective *c, const void *arg)
{
	const uint64_t *before_ns = arg;

	return c->call.end_ns < *before_ns;
}

struct flush {
	struct joiner *j;
	uint64_t before_ns;
};

static bool flush_queue(const void *key, void *value, void *arg)
{
	struct flush *f = arg;
	struct queue *q = value;

	(void)key;
	tell(f->j, q, is_old, &f->before_ns);
	if (q->n)
		return false;
	free(q->at);
	return true;
}

void joiner_flush(struct joiner *j, uint64_t before_ns)
{
	struct flush f = { j, before_ns };

	hash_each(j->queues, flush_queue, &f);
}
