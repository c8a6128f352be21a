// SPDX-License-Identifier: Apache-2.0
/*
 * Any records from the ring, and any C stack to merge with what came of them: every stack that is told
 * can be printed and found, and no Python frame gets lost or out of order.
 */
#include "stack/stack_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct fuzz {
	const uint8_t *data;
	size_t len;
	struct stacks *s;
	int told;
};

static void need(bool cond)
{
	if (!cond)
		abort();
}

static bool read_process(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	const struct fuzz *f = arg;

	/* Some processes are gone; others have what the input has, over and over. */
	if (pid % 2 || !f->len)
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)dst)[i] = f->data[(addr + i) % f->len];
	return true;
}

static void check_text(const char *text)
{
	static char again[8192];

	need(strlen(text) < sizeof(again) && !strcmp(text_safe(again, sizeof(again), text), text));
}

static void told(void *arg, const struct stack *stack)
{
	struct fuzz *f = arg;

	f->told++;
	need(stack->id >= STACK_REASONS && stack->frames > 0 && stack->frames <= FRAMES_MAX);
	need(stacks_content(f->s, stack->id) == stack);
	for (int i = 0; i < stack->frames; i++) {
		need(stack->frame[i]->line >= 0);
		check_text(stack->frame[i]->func);
		check_text(stack->frame[i]->file);
	}
	(void)stack_user_frame(stack);
}

/* A C stack from the input: one byte per frame. */
static void check_merge(struct fuzz *f, const struct stack *stack)
{
	static const char *const modules[] = { "", "libpython", "libtorch", "python3" };
	struct native_stack *native = calloc(1, sizeof(*native));
	const struct frame *ret[FRAMES_MAX];
	uint64_t anchor[FRAMES_MAX] = { 0 };
	int n, p = 0;
	bool joined;

	for (size_t i = 0; i < f->len && native->frames < NATIVE_FRAMES; i++) {
		uint64_t sp = i * 16;

		native->frame[native->frames++] = (struct native_frame){
			.sp = sp,
			.cfa = sp + f->data[i] % 32,
			.func = f->data[i] & 1 ? "f" : "",
			.module = modules[f->data[i] >> 1 & 3],
			.interpreter = f->data[i] & 8,
		};
	}
	for (int i = 0; i < stack->frames && f->len; i++)
		anchor[i] = f->data[(size_t)i % f->len] & 4 ? f->data[(size_t)i % f->len] : 0;
	n = merge(f->s, native, stack, anchor, ret, &joined);
	need(n >= stack->frames && n <= stack->frames + native->frames);
	for (int i = 0; i < n; i++) {
		if (p < stack->frames && ret[i] == stack->frame[p])
			p++;
		else
			need(ret[i]->kind == FRAME_native);
	}
	need(p == stack->frames);
	free(native);
}

/* A record that would be taken. Few code objects and stacks, so that they meet again. */
static size_t template(uint8_t which, void *record)
{
	struct py_code code = { .kind = NEWS_code, .version = 0x309 + which % 6, .line = 10 };
	struct py_stack stack = { .kind = NEWS_stack,
				  .frames = 1 + which % 5,
				  .id = 1000 + which % 3 };
	struct c_stack c = { .kind = NEWS_c_stack, .stack = 1000 + which % 3, .site = 1 };

	switch (which % 3) {
	case 0:
		code.code = which % 7;
		code.name_len = code.file_len = 20;
		code.name_state = code.file_state = (1u << 5) | (1u << 2) << which % 3;
		code.table_len = which % 2 ? 100 : 5000;
		memset(code.name, 'n', sizeof(code.name));
		memset(code.file, 'f', sizeof(code.file));
		memset(code.table, 0x81, sizeof(code.table));
		memcpy(record, &code, sizeof(code));
		return sizeof(code);
	case 1:
		for (int i = 0; i < stack.frames; i++)
			stack.frame[i] =
				(struct py_frame){ .code = (which + i) % 7, .lasti = which };
		memcpy(record, &stack, sizeof(stack));
		return sizeof(stack);
	default:
		memcpy(record, &c, sizeof(c));
		return sizeof(c);
	}
}

static void take(struct fuzz *f, const uint8_t *record, size_t size)
{
	uint8_t *exact = malloc(size + !size);
	const struct stack *stack;
	struct py_stack r = { .kind = 0 };

	memcpy(exact, record, size);
	if (stacks_news(f->s, exact, size) && size >= offsetof(struct py_stack, frame))
		memcpy(&r, exact, offsetof(struct py_stack, frame));
	if (r.kind == NEWS_stack) {
		stack = stacks_find(f->s, r.id, 0);
		need(stack && stack->frames == r.frames && stacks_find(f->s, r.id, 9) == stack);
		check_merge(f, stack);
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t record[sizeof(struct c_stack) + 4096];
	struct fuzz f = { .data = data, .len = len };

	f.s = stacks_new(read_process, told, &f, NULL);
	/* Which template, where it is changed, by how many bytes, how much of it is cut off; bytes. */
	while (len >= 4) {
		size_t size = template(data[0], record), where = (size_t)data[1] * 4;
		size_t n = data[2] % 64, cut = data[3] < 128 ? 0 : (data[3] - (size_t)127) * 16;

		data += 4;
		len -= 4;
		n = n < len ? n : len;
		memcpy(record + where, data, n);
		data += n;
		len -= n;
		take(&f, record, size > cut ? size - cut : 0);
	}
	take(&f, f.data, f.len);
	stacks_free(f.s);
	return 0;
}
