// SPDX-License-Identifier: Apache-2.0
/* Holds the stacks, and remembers which of them the store has. */
#include "agent/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/util.h"
#include "native/native.h"

#define NEW_PER_SECOND 4096 /* stacks stored: more say nothing new, but fill the disk */
#define STORED_MAX 65536 /* remembered; then all are forgotten, which costs only time */

struct lines {
	struct stacks *stacks; /* NULL: off */
	struct stacks
		*before; /* those of before the last turn, to look up only; NULL: no turn yet */
	struct native *native;
	lines_fetch_fn fetch;
	void *arg;
	bool fetching;
	struct hash *stored; /* id of the content */
	unsigned fresh; /* stored in this second, */
	uint64_t skipped; /* ... and those that were too many, ever */
};

/* For what did not fit into a record. The process may be gone, or be another by now: that is checked. */
static bool read_process(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	(void)arg;
	return file_read_memory(pid, addr, dst, size);
}

static void begin(struct lines *l)
{
	if (!l->native)
		l->native = native_new();
	l->stacks = stacks_new(read_process, NULL, l, l->native);
}

struct lines *lines_new(bool on)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->stored = hash_new(sizeof(uint64_t), 0);
	if (on)
		begin(l);
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	stacks_free(l->stacks);
	stacks_free(l->before);
	native_free(l->native);
	hash_free(l->stored);
	free(l);
}

void lines_source(struct lines *l, lines_fetch_fn fetch, void *arg)
{
	l->fetch = fetch;
	l->arg = arg;
}

void lines_news(const void *record, size_t size, void *lines)
{
	struct lines *l = lines;

	if (l->stacks)
		(void)stacks_news(l->stacks, record, size); /* what makes no sense has no line */
}

/* ---- ids ---- */

uint64_t stack_content(const struct stacks *stacks, uint64_t id, uint64_t site)
{
	const struct stack *stack;

	if (id < STACK_REASONS)
		return id;
	stack = stacks_find(stacks, id, site);
	if (!stack && site)
		stack = stacks_find(stacks, id, 0);
	return stack ? stack->id : NO_STACK_lost;
}

static uint64_t known(const struct lines *l, uint64_t id, uint64_t site)
{
	uint64_t content = stack_content(l->stacks, id, site);

	if (content == NO_STACK_lost && l->before)
		content = stack_content(l->before, id, site);
	return content;
}

uint64_t lines_stack(struct lines *l, uint64_t id, uint64_t site)
{
	uint64_t content;

	if (id < STACK_REASONS)
		return id;
	if (!l->stacks)
		return NO_STACK_not_looked;
	content = known(l, id, site);
	if (content == NO_STACK_lost && l->fetch && !l->fetching) {
		l->fetching = true;
		l->fetch(l, l->arg);
		l->fetching = false;
		content = known(l, id, site);
	}
	return content;
}

static const struct stack *contents(const struct lines *l, uint64_t id)
{
	const struct stack *stack = l->stacks ? stacks_content(l->stacks, id) : NULL;

	return stack || !l->before ? stack : stacks_content(l->before, id);
}

/* ---- the store ---- */

static bool drop(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

void lines_rollback(struct lines *l)
{
	hash_each(l->stored, drop, NULL);
}

int lines_store(struct lines *l, struct store *store, uint64_t *stack)
{
	const struct stack *content;
	int err;

	if (*stack < STACK_REASONS || hash_get(l->stored, stack))
		return 0;
	content = contents(l, *stack);
	if (!content) {
		*stack = NO_STACK_lost;
		return 0;
	}
	if (l->fresh == NEW_PER_SECOND) {
		l->skipped++;
		*stack = NO_STACK_over_budget;
		return 0;
	}
	err = store_put_stack(store, content);
	if (err)
		return err;
	l->fresh++;
	if (hash_count(l->stored) >= STORED_MAX)
		lines_rollback(l);
	hash_put(l->stored, stack);
	return 0;
}

int lines_store_chain(struct lines *l, struct store *store, struct chain *chain, int64_t *ret)
{
	int err = 0;

	for (int i = 0; !err && i < chain->hops; i++)
		err = lines_store(l, store, &chain->hop[i].stack);
	return err ? err : store_chain(store, chain, ret);
}

/* ---- for people ---- */

const struct frame *lines_frame(const struct lines *l, uint64_t id)
{
	const struct stack *stack = contents(l, id);

	return stack ? stack_user_frame(stack) : NULL;
}

char *lines_say(const struct lines *l, uint64_t id, char *dst, size_t cap)
{
	const struct frame *f = lines_frame(l, id);
	const char *base = f ? strrchr(f->file, '/') : NULL;

	if (cap)
		dst[0] = '\0';
	if (f)
		snprintf(dst, cap, "%.80s%s at %.60s:%d", f->func, f->func[0] == '<' ? "" : "()",
			 base ? base + 1 : f->file, f->line);
	return dst;
}

/* ---- giving up ---- */

void lines_gone(struct lines *l, uint32_t pid)
{
	if (l->native)
		native_forget(l->native, pid);
}

struct native *lines_native(struct lines *l)
{
	if (l->native && !l->stacks && native_full(l->native)) {
		native_free(l->native);
		l->native = NULL;
	}
	if (!l->native)
		l->native = native_new();
	return l->native;
}

void lines_tick(struct lines *l)
{
	l->fresh = 0;
}

bool lines_filling(const struct lines *l)
{
	return l->stacks && (stacks_filling(l->stacks) || native_full(l->native));
}

void lines_turn(struct lines *l)
{
	if (!l->stacks)
		return;
	stacks_follow(l->stacks, NULL);
	stacks_free(l->before);
	l->before = l->stacks;
	if (native_full(l->native)) {
		native_free(l->native);
		l->native = NULL;
	}
	begin(l);
	stacks_follow(l->stacks, l->before);
}

uint64_t lines_skipped(const struct lines *l)
{
	return l->skipped;
}
