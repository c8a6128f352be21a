// SPDX-License-Identifier: Apache-2.0
/*
 * Texts, frames and stacks by what they are. Ids are hashes by value only, so that every host has the
 * same; what is found under one is compared all the same, since the text is of a tenant's choice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stack/stack_int.h"

#define OVERHEAD 64 /* bytes: a slot of a table, an allocation */

static uint64_t mix(uint64_t id, uint64_t value)
{
	id = (id ^ value) * 0x9e3779b97f4a7c15ull;
	return id ^ id >> 32;
}

static uint64_t mix_text(uint64_t id, const char *text)
{
	for (; *text; text++)
		id = (id ^ (unsigned char)*text) * 0x100000001b3ull;
	return mix(id, 0); /* so that no text runs into what follows */
}

#define ID_START 0xcbf29ce484222325ull

const char *intern_text(struct stacks *s, const char *text)
{
	uint64_t id = mix_text(ID_START, text);
	char **slot;

	for (;; id++) {
		slot = hash_put(s->texts, &id);
		if (!*slot)
			break;
		if (streq(*slot, text))
			return *slot;
	}
	*slot = xstrdup(text);
	s->bytes += strlen(text) + 1 + OVERHEAD;
	return *slot;
}

const struct frame *intern_frame(struct stacks *s, enum frame_kind kind, const char *func,
				 const char *file, int line)
{
	struct frame want = {
		.kind = kind,
		.func = intern_text(s, func),
		.file = intern_text(s, file),
		.line = line,
	};
	struct frame **slot;

	want.id = mix(mix(ID_START, (uint64_t)kind), (uint64_t)line);
	want.id = mix_text(mix_text(want.id, func), file);
	for (;; want.id++) {
		slot = hash_put(s->frames, &want.id);
		if (!*slot)
			break;
		if ((*slot)->kind == kind && (*slot)->line == line && (*slot)->func == want.func &&
		    (*slot)->file == want.file)
			return *slot;
	}
	*slot = xcalloc(1, sizeof(want));
	**slot = want;
	s->bytes += sizeof(want) + OVERHEAD;
	return *slot;
}

static bool same_frames(const struct stack *stack, const struct frame *const *frame, int frames)
{
	return stack->frames == frames &&
	       !memcmp(stack->frame, frame, (size_t)frames * sizeof(void *));
}

const struct stack *intern_stack(struct stacks *s, const struct frame *const *frame, int frames,
				 unsigned flags)
{
	const size_t size = (size_t)frames * sizeof(void *);
	uint64_t id = ID_START;
	const struct frame **copy;
	struct stack **slot, *stack;

	for (int i = 0; i < frames; i++)
		id = mix(id, frame[i]->id);
	if (id < STACK_REASONS)
		id += STACK_REASONS;
	for (;; id++) {
		slot = hash_put(s->contents, &id);
		if (!*slot)
			break;
		if (same_frames(*slot, frame, frames))
			return *slot;
	}
	copy = xcalloc(1, size);
	memcpy(copy, frame, size);
	stack = xcalloc(1, sizeof(*stack));
	*stack = (struct stack){ .id = id, .frame = copy, .frames = frames, .flags = flags };
	*slot = stack;
	s->bytes += sizeof(*stack) + size + OVERHEAD;
	if (s->fn)
		s->fn(s->arg, stack);
	return stack;
}
