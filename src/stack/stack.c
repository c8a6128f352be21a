// SPDX-License-Identifier: Apache-2.0
/* The records of the ring, and what is remembered of them. */
#include "stack/stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stack/stack_int.h"

#define BYTES_MAX ((size_t)4 << 20)
#define OVERHEAD 128

static void tables_new(struct stacks *s)
{
	s->texts = hash_new(sizeof(uint64_t), sizeof(char *));
	s->frames = hash_new(sizeof(uint64_t), sizeof(struct frame *));
	s->contents = hash_new(sizeof(uint64_t), sizeof(struct stack *));
	s->codes = hash_new(sizeof(struct code_key), sizeof(struct code));
	s->places = hash_new(sizeof(struct place_key), sizeof(struct frame *));
	s->seen = hash_new(sizeof(struct seen_key), sizeof(struct seen));
	s->bytes = 0;
}

static bool free_pointer(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(void **)value);
	return false;
}

static bool free_stack(const void *key, void *value, void *arg)
{
	struct stack *stack = *(struct stack **)value;
	void *frame;

	(void)key;
	(void)arg;
	memcpy(&frame, &stack->frame, sizeof(frame)); /* ours: const only for those who are told */
	free(frame);
	free(stack);
	return false;
}

static bool drop_code(const void *key, void *value, void *arg)
{
	(void)key;
	code_release(arg, value);
	return true;
}

static void seen_release(struct stacks *s, struct seen *seen)
{
	if (seen->anchor)
		s->bytes -= (size_t)seen->stack->frames * sizeof(*seen->anchor);
	s->bytes -= OVERHEAD;
	free(seen->anchor);
}

static bool drop_seen(const void *key, void *value, void *arg)
{
	(void)key;
	seen_release(arg, value);
	return true;
}

static void tables_free(struct stacks *s)
{
	hash_each(s->seen, drop_seen, s); /* they look at stacks */
	hash_each(s->codes, drop_code, s);
	hash_each(s->contents, free_stack, NULL);
	hash_each(s->frames, free_pointer, NULL);
	hash_each(s->texts, free_pointer, NULL);
	hash_free(s->texts);
	hash_free(s->frames);
	hash_free(s->contents);
	hash_free(s->codes);
	hash_free(s->places);
	hash_free(s->seen);
}

struct stacks *stacks_new(stacks_read_fn read, stacks_new_fn fn, void *arg, struct native *native)
{
	struct stacks *s = xcalloc(1, sizeof(*s));

	s->read = read;
	s->fn = fn;
	s->arg = arg;
	s->native = native;
	s->c = xcalloc(1, sizeof(*s->c));
	s->unwound = xcalloc(1, sizeof(*s->unwound));
	tables_new(s);
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	tables_free(s);
	free(s->c);
	free(s->unwound);
	free(s);
}

void stacks_follow(struct stacks *s, const struct stacks *elder)
{
	s->elder = elder;
}

bool stacks_full(const struct stacks *s)
{
	return s->bytes >= BYTES_MAX;
}

bool stacks_filling(const struct stacks *s)
{
	return s->bytes >= BYTES_MAX / 4 * 3;
}

/* ---- records; what is behind the last frame or byte of a table need not be there */

static bool news_code(struct stacks *s, const void *record, size_t size)
{
	struct py_code r = { .kind = 0 };

	if (size < offsetof(struct py_code, table) || size > sizeof(r))
		return false;
	memcpy(&r, record, size);
	return code_news(s, &r, size - offsetof(struct py_code, table));
}

static struct seen *remember(struct stacks *s, uint64_t id, uint64_t site)
{
	struct seen_key key = { .id = id, .site = site };
	struct seen *seen = hash_put(s->seen, &key);

	if (seen->stack)
		seen_release(s, seen);
	s->bytes += OVERHEAD;
	return seen;
}

static bool news_stack(struct stacks *s, const void *record, size_t size)
{
	const struct frame *frame[PY_FRAMES];
	struct py_stack r = { .kind = 0 };
	const struct stack *stack;
	struct seen *seen;

	if (size < offsetof(struct py_stack, frame) || size > sizeof(r))
		return false;
	memcpy(&r, record, size);
	if (!r.frames || r.frames > PY_FRAMES || r.id < STACK_REASONS ||
	    size < offsetof(struct py_stack, frame) + r.frames * sizeof(r.frame[0]))
		return false;
	for (int i = 0; i < r.frames; i++) {
		frame[i] = code_frame(s, r.generation, &r.frame[i]);
		if (!frame[i])
			return false; /* its code was told before we forgot everything */
	}
	stack = intern_stack(s, frame, r.frames, r.flags & (PY_STACK_CUT | PY_STACK_BROKEN));

	seen = remember(s, r.id, 0);
	*seen = (struct seen){ .stack = stack };
	seen->anchor = xcalloc(r.frames, sizeof(*seen->anchor));
	s->bytes += r.frames * sizeof(*seen->anchor);
	for (int i = 0; i < r.frames; i++)
		seen->anchor[i] = r.frame[i].anchor;
	return true;
}

static bool news_c_stack(struct stacks *s, const void *record, size_t size)
{
	const size_t head = offsetof(struct c_stack, data);
	const struct frame *frame[FRAMES_MAX];
	struct seen base = { .stack = NULL }, *seen;
	const struct stack *stack;
	bool joined;
	int n;

	if (size < head || size > sizeof(*s->c))
		return false;
	memcpy(s->c, record, size);
	memset((char *)s->c + size, 0, sizeof(*s->c) - size);
	if (!s->c->site || s->c->bytes > size - head)
		return false;
	if (s->c->stack >= STACK_REASONS) {
		struct seen_key key = { .id = s->c->stack, .site = 0 };

		seen = hash_get(s->seen, &key);
		if (!seen)
			return false;
		base = *seen;
	}
	if (!s->native || !native_unwind(s->native, s->c, s->unwound) || s->unwound->frames <= 0)
		return true; /* the Python stack alone, then */
	if (s->unwound->frames > NATIVE_FRAMES)
		s->unwound->frames = NATIVE_FRAMES;
	n = merge(s, s->unwound, base.stack, base.anchor, frame, &joined);
	if (!n)
		return true;
	stack = intern_stack(s, frame, n,
			     (base.stack ? base.stack->flags : 0) |
				     (joined ? STACK_JOINED : STACK_APART));
	*remember(s, s->c->stack, s->c->site) = (struct seen){ .stack = stack };
	return true;
}

bool stacks_news(struct stacks *s, const void *record, size_t size)
{
	uint32_t kind;

	if (size < sizeof(kind) || stacks_full(s))
		return false;
	memcpy(&kind, record, sizeof(kind));
	switch (kind) {
	case NEWS_code:
		return news_code(s, record, size);
	case NEWS_stack:
		return news_stack(s, record, size);
	case NEWS_c_stack:
		return news_c_stack(s, record, size);
	default:
		return false;
	}
}

/* ---- questions */

const struct stack *stacks_find(const struct stacks *s, uint64_t id, uint64_t site)
{
	struct seen_key key = { .id = id, .site = site };
	const struct seen *seen = hash_get(s->seen, &key);

	if (!seen && site) {
		key.site = 0; /* its C stack was lost, or never asked for */
		seen = hash_get(s->seen, &key);
	}
	return seen ? seen->stack : NULL;
}

const struct stack *stacks_content(const struct stacks *s, uint64_t id)
{
	struct stack **stack = hash_get(s->contents, &id);

	return stack ? *stack : NULL;
}
