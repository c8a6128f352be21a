// SPDX-License-Identifier: Apache-2.0
/* The stacks of a trace, each read once, and the frame that stands for each. */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"
#include "explain/explain_int.h"

struct entry {
	struct stack *stack; /* NULL: not stored */
	const struct frame *line; /* NULL: nothing in it is Python */
};

struct book {
	struct store *store;
	struct hash *entries; /* id -> struct entry */
};

struct book *book_new(struct store *s)
{
	struct book *b = xcalloc(1, sizeof(*b));

	b->store = s;
	b->entries = hash_new(sizeof(uint64_t), sizeof(struct entry));
	return b;
}

static bool release(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(((struct entry *)value)->stack);
	return true;
}

void book_free(struct book *b)
{
	if (!b)
		return;
	hash_each(b->entries, release, NULL);
	hash_free(b->entries);
	free(b);
}

static const struct frame *innermost_python(const struct stack *stack)
{
	for (int i = 0; i < stack->frames; i++)
		if (stack->frame[i]->kind == FRAME_python)
			return stack->frame[i];
	return NULL;
}

int book_read(struct book *b, uint64_t id)
{
	struct entry *entry;
	struct stack *stack = NULL;
	int err;

	if (id < STACK_REASONS || hash_get(b->entries, &id))
		return 0;
	err = store_find_stack(b->store, id, &stack);
	if (err && err != -ENOENT)
		return err;
	entry = hash_put(b->entries, &id);
	entry->stack = stack;
	if (stack)
		entry->line = stack_user_frame(stack);
	if (stack && !entry->line)
		entry->line = innermost_python(stack);
	return 0;
}

const struct stack *book_find(const struct book *b, uint64_t id)
{
	const struct entry *entry = hash_get(b->entries, &id);

	return entry ? entry->stack : NULL;
}

const struct frame *book_line(const struct book *b, uint64_t id, enum no_stack *ret_why)
{
	const struct entry *entry = hash_get(b->entries, &id);

	if (id < STACK_REASONS)
		*ret_why = id < NO_STACK_COUNT ? (enum no_stack)id : NO_STACK_not_looked;
	else
		*ret_why = entry && entry->stack ? NO_STACK_no_frames : NO_STACK_lost;
	return entry ? entry->line : NULL;
}
