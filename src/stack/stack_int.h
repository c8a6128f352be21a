/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/stack. */
#ifndef STACK_STACK_INT_H
#define STACK_STACK_INT_H

#include "base/hash.h"
#include "native/native.h"
#include "stack/stack.h"

#define FRAMES_MAX (PY_FRAMES + NATIVE_FRAMES)

/* A code object: its address alone may be another one by now. */
struct code_key {
	uint64_t code, fp;
	uint32_t generation, pad;
};

struct code {
	const char *name, *file; /* interned */
	uint8_t *table;
	size_t table_size;
	int line;
	uint16_t version;
	bool complete; /* all of the table is there */
	bool known; /* all of the rest is */
};

/* An instruction of a code object. */
struct place_key {
	struct code_key code;
	int32_t lasti;
	uint32_t zero;
};

/* A stack as the probes call it. */
struct seen_key {
	uint64_t id, site;
};

struct seen {
	const struct stack *stack;
	uint64_t *anchor; /* of each frame; NULL: it has native frames in it already */
};

struct stacks {
	stacks_read_fn read;
	stacks_new_fn fn;
	void *arg;
	struct native *native;
	const struct stacks *elder; /* whose code objects are known, too; NULL: nobody's */
	struct hash *texts, *frames, *contents; /* by a hash of what they are */
	struct hash *codes, *places, *seen;
	struct c_stack *c; /* for one record at a time */
	struct native_stack *unwound;
	size_t bytes; /* of all that is held, roughly */
};

/* ---- intern.c: each content once */

const char *intern_text(struct stacks *s, const char *text);
const struct frame *intern_frame(struct stacks *s, enum frame_kind kind, const char *func,
				 const char *file, int line);
/* Tells of it if it is new. */
const struct stack *intern_stack(struct stacks *s, const struct frame *const *frame, int frames,
				 unsigned flags);

/* ---- code.c */

bool code_news(struct stacks *s, const struct py_code *r, size_t table_size);
/* NULL: never told. */
const struct frame *code_frame(struct stacks *s, uint32_t generation, const struct py_frame *f);
void code_release(struct stacks *s, struct code *c);

/* ---- merge.c */

/*
 * The frames of a Python stack and of the C stack under it in one order, innermost first; all those
 * of Python are there, in their order. How many there are in ret.
 */
int merge(struct stacks *s, const struct native_stack *native, const struct stack *python,
	  const uint64_t *anchor, const struct frame *ret[FRAMES_MAX], bool *ret_joined);

#endif
