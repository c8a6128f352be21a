// SPDX-License-Identifier: Apache-2.0
/*
 * Where Python frames belong among the native ones. One evaluation loop, a C frame, runs one or more
 * Python frames; the outermost of them has an anchor, an address inside that C frame. If it is in
 * none of them (the two may be of different threads that are at the same place), the loops are known
 * by their symbol, and taken in turn.
 */
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "stack/stack_int.h"

#define NATIVE_TEXT 1024 /* of a name: C++ makes them as long as one likes */

struct merging {
	struct stacks *s;
	const struct native_stack *native;
	const struct stack *python;
	const uint64_t *anchor;
	bool anchored; /* somewhere; else one frame per loop */
	bool by_address;
	const char *interpreter; /* module of the loops */
	const struct frame **ret;
	int n;
};

static bool is_loop(const struct merging *m, const struct native_frame *f, uint64_t anchor)
{
	return m->by_address ? anchor && f->sp <= anchor && anchor < f->cfa : f->interpreter;
}

/* The loop that ran the Python frames which end with that anchor; -1: none from there on. */
static int find_loop(const struct merging *m, int from, uint64_t anchor)
{
	for (int i = from; i < m->native->frames; i++) {
		if (is_loop(m, &m->native->frame[i], anchor))
			return i;
	}
	return -1;
}

/* Behind the last Python frame of the loop that runs `from`. */
static int loop_end(const struct merging *m, int from)
{
	if (!m->anchored)
		return from + 1;
	while (from < m->python->frames && !m->anchor[from])
		from++;
	return from < m->python->frames ? from + 1 : from;
}

static void add_native(struct merging *m, int from, int to)
{
	for (int i = from; i < to; i++) {
		const struct native_frame *f = &m->native->frame[i];
		char func[NATIVE_TEXT], module[NATIVE_TEXT];

		if (!f->func[0] && !f->module[0])
			continue; /* it would say nothing */
		/* How the interpreter gets from one function to the next is not the program's doing. */
		if (m->interpreter && streq(f->module, m->interpreter))
			continue;
		m->ret[m->n++] =
			intern_frame(m->s, FRAME_native, text_safe(func, sizeof(func), f->func),
				     text_safe(module, sizeof(module), f->module), 0);
	}
}

static void add_python(struct merging *m, int from, int to)
{
	for (int i = from; i < to; i++)
		m->ret[m->n++] = m->python->frame[i];
}

/* By which of the two ways the innermost loop is found, if by any. */
static bool choose(struct merging *m)
{
	int end = loop_end(m, 0), loop;

	m->by_address = m->anchored;
	loop = find_loop(m, 0, m->anchor[end - 1]);
	if (loop < 0 && m->by_address) {
		m->by_address = false;
		loop = find_loop(m, 0, 0);
	}
	if (loop < 0)
		return false;
	m->interpreter = m->native->frame[loop].module;
	return true;
}

int merge(struct stacks *s, const struct native_stack *native, const struct stack *python,
	  const uint64_t *anchor, const struct frame *ret[FRAMES_MAX], bool *ret_joined)
{
	struct merging m = {
		.s = s, .native = native, .python = python, .anchor = anchor, .ret = ret
	};
	int c = 0, p = 0;

	*ret_joined = false;
	for (int i = 0; python && i < python->frames; i++)
		m.anchored |= anchor[i] != 0;
	if (!python || !choose(&m)) {
		add_native(&m, 0, native->frames);
		add_python(&m, 0, python ? python->frames : 0);
		return m.n;
	}
	while (p < python->frames) {
		int end = loop_end(&m, p), loop = find_loop(&m, c, anchor[end - 1]);

		if (loop < 0) { /* the copy of the C stack ended */
			add_native(&m, c, native->frames);
			add_python(&m, p, python->frames);
			return m.n;
		}
		*ret_joined = true;
		add_native(&m, c, loop);
		add_python(&m, p, end);
		c = loop + 1;
		p = end;
	}
	/* What called Python is left out: whether the copy reaches that far depends on how deep the
	 * call was, and one place should be one stack. */
	return m.n;
}
