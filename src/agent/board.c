// SPDX-License-Identifier: Apache-2.0
/* Sums per process and op, and per victim and culprit, with lists sorted for display. */
#include "agent/board.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"

#define ROWS_MAX 2048 /* before those of processes that are gone are dropped */

struct op_key {
	int64_t process;
	const struct op *op;
};

struct blame_pair {
	uint32_t victim_pid, pid;
};

struct board {
	struct hash *ops, *blames;
	struct op_live *op_list;
	struct blame_live *blame_list;
};

struct board *board_new(void)
{
	struct board *b = xcalloc(1, sizeof(*b));

	b->ops = hash_new(sizeof(struct op_key), sizeof(struct op_live));
	b->blames = hash_new(sizeof(struct blame_pair), sizeof(struct blame_live));
	return b;
}

void board_free(struct board *b)
{
	if (!b)
		return;
	hash_free(b->ops);
	hash_free(b->blames);
	free(b->op_list);
	free(b->blame_list);
	free(b);
}

void board_op(struct board *b, const struct person *p, const struct op_delta *d)
{
	struct op_key key = { p->process, d->op };
	struct op_live *live = hash_put(b->ops, &key);

	live->process = p->process;
	live->op = d->op;
	live->pid = p->pid;
	memcpy(live->comm, p->comm, sizeof(live->comm));
	live->calls += d->calls;
	live->done += d->done;
	live->errors += d->errors;
	live->bytes += d->bytes;
	live->total_ns += d->total_ns;
	live->max_ns = max_u64(live->max_ns, d->max_ns);
	for (int i = 0; i < STATE_COUNT; i++)
		live->state_ns[i] += d->state_ns[i];
	for (int i = 0; i < HIST_BUCKETS; i++)
		live->hist[i] += d->hist[i];
}

void board_blame(struct board *b, const struct person *victim, const struct who *who)
{
	struct blame_pair key = { victim->pid, who->pid };
	struct blame_live *live = hash_put(b->blames, &key);

	live->victim_pid = victim->pid;
	live->pid = who->pid;
	memcpy(live->victim, victim->comm, sizeof(live->victim));
	memcpy(live->comm, who->comm, sizeof(live->comm));
	live->ns += who->ns;
}

static bool gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool op_gone(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	return gone(((struct op_live *)value)->pid);
}

static bool blame_gone(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	return gone(((struct blame_live *)value)->victim_pid);
}

void board_shrink(struct board *b)
{
	if (hash_count(b->ops) > ROWS_MAX)
		hash_each(b->ops, op_gone, NULL);
	if (hash_count(b->blames) > ROWS_MAX)
		hash_each(b->blames, blame_gone, NULL);
}

static bool list_op(const void *key, void *value, void *arg)
{
	struct op_live **next = arg;

	(void)key;
	*(*next)++ = *(struct op_live *)value;
	return false;
}

static int by_time(const void *x, const void *y)
{
	const struct op_live *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->calls > b->calls ? -1 : a->calls < b->calls;
}

const struct op_live *board_ops(struct board *b, size_t *ret_count)
{
	struct op_live *next;

	*ret_count = hash_count(b->ops);
	b->op_list = xrealloc(b->op_list, *ret_count + 1, sizeof(*b->op_list));
	next = b->op_list;
	hash_each(b->ops, list_op, &next);
	qsort(b->op_list, *ret_count, sizeof(*b->op_list), by_time);
	return b->op_list;
}

static bool list_blame(const void *key, void *value, void *arg)
{
	struct blame_live **next = arg;

	(void)key;
	*(*next)++ = *(struct blame_live *)value;
	return false;
}

static int by_ns(const void *x, const void *y)
{
	const struct blame_live *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

const struct blame_live *board_blames(struct board *b, size_t *ret_count)
{
	struct blame_live *next;

	*ret_count = hash_count(b->blames);
	b->blame_list = xrealloc(b->blame_list, *ret_count + 1, sizeof(*b->blame_list));
	next = b->blame_list;
	hash_each(b->blames, list_blame, &next);
	qsort(b->blame_list, *ret_count, sizeof(*b->blame_list), by_ns);
	return b->blame_list;
}
