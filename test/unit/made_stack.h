/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: stacks made by hand. */
#ifndef TEST_UNIT_MADE_STACK_H
#define TEST_UNIT_MADE_STACK_H

#include "base/util.h"
#include "stack/stack.h"

#define MADE_FRAMES 16

struct made_stack {
	struct stack stack;
	struct frame frame[MADE_FRAMES];
	const struct frame *list[MADE_FRAMES];
};

static inline uint64_t made_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash ^ 0xff;
}

/* One more frame, further out; its strings are borrowed. */
static inline void make_frame(struct made_stack *made, enum frame_kind kind, const char *func,
			      const char *file, int line)
{
	struct frame *f = &made->frame[made->stack.frames];

	*f = (struct frame){ .kind = kind, .func = func, .file = file, .line = line };
	f->id = made_hash(made_hash(1000003 * (uint64_t)(line + 1) + kind, func), file);
	made->list[made->stack.frames++] = f;
}

static inline const struct stack *made_stack(struct made_stack *made, uint64_t id)
{
	made->stack.id = id;
	made->stack.frame = made->list;
	return &made->stack;
}

#endif
