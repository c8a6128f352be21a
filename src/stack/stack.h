/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the probes' news to stacks that people can read, each told once. A stack has two names: the
 * probe's id, which lasts as long as its process, and the id of its content, under which it is stored
 * and which is the same on every host. All bytes that come in are hostile. One thread, no I/O but
 * what it is given functions for.
 */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/python.h"

#define FRAME_KINDS(X)                                                                             \
	X(python, "a line of Python")                                                              \
	X(native, "a function of a library or program")

enum frame_kind {
#define X(id, text) FRAME_##id,
	FRAME_KINDS(X)
#undef X
		FRAME_KIND_COUNT,
};

/* Strings are UTF-8 without control characters, and live as long as the stacks. */
struct frame {
	uint64_t id; /* hash of all below */
	enum frame_kind kind;
	const char *func; /* qualified name, or symbol, demangled; "" where it is not known */
	const char *file; /* source file; of a native frame the library */
	int line; /* 0: not known; of a native frame always */
};

struct stack {
	uint64_t id; /* hash of the frames' ids */
	const struct frame *const *frame; /* innermost first */
	int frames;
	unsigned flags; /* PY_STACK_* */
};

struct stacks;

/* Reads `size` bytes at `addr` of the process for what did not fit into a record; false: cannot. */
typedef bool (*stacks_read_fn)(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size);

/* Called once for every stack that was not told before, by content. */
typedef void (*stacks_new_fn)(void *arg, const struct stack *stack);

/* Unwinds a C stack into native frames: see native/native.h. NULL: native frames are left out. */
struct native;

struct stacks *stacks_new(stacks_read_fn read, stacks_new_fn fn, void *arg, struct native *native);
void stacks_free(struct stacks *s);

/* One record of the ring `news`. False: not a record, or it makes no sense; nothing is changed. */
bool stacks_news(struct stacks *s, const void *record, size_t size);

/*
 * By the probe's id. NULL: a reason (below STACK_REASONS), or not known. The C stack of a call is
 * part of the stack of that call: `site` is the call's, 0 for the Python stack alone.
 */
const struct stack *stacks_find(const struct stacks *s, uint64_t id, uint64_t site);

/* By the id of its content. */
const struct stack *stacks_content(const struct stacks *s, uint64_t id);

/*
 * The innermost frame that the user wrote: Python, not of the standard library, not of an installed
 * package, not made up by the interpreter; NULL where there is none. Pure: for stacks from the store
 * as well.
 */
const struct frame *stack_user_frame(const struct stack *stack);
bool frame_is_users(enum frame_kind kind, const char *file);

/* The code objects that `elder` was told of are known here, too. NULL: no longer. */
void stacks_follow(struct stacks *s, const struct stacks *elder);

/* True: as much is held as ever may be, and news is refused; or soon will be. */
bool stacks_full(const struct stacks *s);
bool stacks_filling(const struct stacks *s);

#endif
