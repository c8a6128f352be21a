// SPDX-License-Identifier: Apache-2.0
/* Records of the ring, made up: what becomes of them, and that each content is told once. */
#include "stack/stack.h"

#include <stdlib.h>

#include "base/util.h"
#include "native/native.h"
#include "test/test.h"

#define GENERATION 5
#define ASCII (1u << 6 | 1u << 5 | 1u << 2)

struct told {
	int n;
	uint64_t last;
	const uint8_t *memory; /* what the process has at 0x7000 */
	size_t size;
};

static void tell(void *arg, const struct stack *stack)
{
	struct told *t = arg;

	t->n++;
	t->last = stack->id;
}

static bool read_memory(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	const struct told *t = arg;

	if (pid != 42 || addr != 0x7000 || size > t->size)
		return false;
	memcpy(dst, t->memory, size);
	return true;
}

/* Instruction 0 is on the first line, 2 on the next, and so on. */
static struct py_code code(uint64_t addr, const char *name, const char *file, int line)
{
	struct py_code r = {
		.kind = NEWS_code,
		.pid = 42,
		.generation = GENERATION,
		.fp = 1,
		.code = addr,
		.version = 0x30a,
		.line = (uint32_t)line,
		.name_len = (int64_t)strlen(name),
		.file_len = (int64_t)strlen(file),
		.table_len = 20,
		.name_state = ASCII,
		.file_state = ASCII,
		.table_addr = 0x7000,
	};

	memcpy(r.name, name, strlen(name));
	memcpy(r.file, file, strlen(file));
	for (size_t i = 0; i < 10; i++) {
		r.table[2 * i] = 2;
		r.table[2 * i + 1] = i > 0;
	}
	return r;
}

/* Two frames: `inner` at its second instruction, called from `outer` at its fourth. */
static struct py_stack stack_of(uint64_t id, uint64_t inner, uint64_t outer)
{
	return (struct py_stack){
		.kind = NEWS_stack,
		.pid = 42,
		.generation = GENERATION,
		.frames = 2,
		.id = id,
		.frame = { { .code = inner, .fp = 1, .lasti = 2 },
			   { .code = outer, .fp = 1, .lasti = 6 } },
	};
}

static bool news(struct stacks *s, const void *record, size_t size)
{
	return stacks_news(s, record, size);
}

static bool tell_two(struct stacks *s, uint64_t id)
{
	struct py_code a = code(0x1000, "step", "/app/train.py", 10);
	struct py_code b = code(0x2000, "main", "/app/train.py", 50);
	struct py_stack st = stack_of(id, 0x1000, 0x2000);

	return news(s, &a, sizeof(a)) && news(s, &b, sizeof(b)) && news(s, &st, sizeof(st));
}

TEST(stacks_get_names_and_lines_and_are_told_once)
{
	struct told told = { .n = 0 };
	struct stacks *s = stacks_new(NULL, tell, &told, NULL);
	const struct stack *st;

	CHECK(tell_two(s, 1000));
	st = stacks_find(s, 1000, 0);
	CHECK(st && st->frames == 2 && st->flags == 0);
	CHECK_STR(st->frame[0]->func, "step");
	CHECK_STR(st->frame[0]->file, "/app/train.py");
	CHECK(st->frame[0]->line == 11 && st->frame[1]->line == 53);
	CHECK(told.n == 1 && told.last == st->id);
	CHECK(stacks_content(s, st->id) == st);
	CHECK(!stacks_content(s, 1000));

	CHECK(tell_two(s, 1001)); /* another name of the same */
	CHECK(stacks_find(s, 1001, 0) == st && told.n == 1);
	CHECK(stacks_find(s, 1001, 77) == st); /* a call whose C stack nobody has */
	CHECK(!stacks_find(s, 1002, 0) && !stacks_find(s, NO_STACK_lost, 0));
	stacks_free(s);
	stacks_free(NULL);
	return 0;
}

TEST(stack_ids_depend_on_content_alone)
{
	struct stacks *a = stacks_new(NULL, NULL, NULL, NULL);
	struct stacks *b = stacks_new(NULL, NULL, NULL, NULL);
	struct py_code c = code(0x9000, "other", "/x.py", 1);

	CHECK(news(b, &c, sizeof(c)));
	CHECK(tell_two(a, 1000) && tell_two(b, 2000));
	CHECK_U64(stacks_find(a, 1000, 0)->id, stacks_find(b, 2000, 0)->id);
	CHECK_U64(stacks_find(a, 1000, 0)->frame[0]->id, stacks_find(b, 2000, 0)->frame[0]->id);
	CHECK(stacks_find(a, 1000, 0)->frame[0]->id != stacks_find(a, 1000, 0)->frame[1]->id);
	stacks_free(a);
	stacks_free(b);
	return 0;
}

TEST(stacks_keep_apart_code_at_one_address)
{
	struct stacks *s = stacks_new(NULL, NULL, NULL, NULL);
	struct py_code c = code(0x1000, "later", "/app/b.py", 100);
	struct py_stack st = stack_of(2000, 0x1000, 0x2000);

	CHECK(tell_two(s, 1000));
	c.fp = 2;
	st.frame[0].fp = 2;
	CHECK(news(s, &c, sizeof(c)) && news(s, &st, sizeof(st)));
	CHECK_STR(stacks_find(s, 2000, 0)->frame[0]->func, "later");
	CHECK_STR(stacks_find(s, 1000, 0)->frame[0]->func, "step");

	c = code(0x1000, "elsewhere", "/app/c.py", 1);
	c.generation = 6;
	st = stack_of(3000, 0x1000, 0x2000);
	st.generation = 6;
	CHECK(news(s, &c, sizeof(c)) && !news(s, &st, sizeof(st))); /* one was never told */
	CHECK(!stacks_find(s, 3000, 0));
	st.frame[1].fp = 0; /* could not be read */
	CHECK(news(s, &st, sizeof(st)));
	CHECK_STR(stacks_find(s, 3000, 0)->frame[0]->func, "elsewhere");
	CHECK_STR(stacks_find(s, 3000, 0)->frame[1]->func, "");
	stacks_free(s);
	return 0;
}

/* A table of 3.9 or 3.10 in which each instruction has a line of its own. */
static void long_table(struct py_code *r, uint8_t *whole, size_t size)
{
	for (size_t i = 0; i < size; i += 2) {
		whole[i] = 2;
		whole[i + 1] = 1;
	}
	r->table_len = (int64_t)size;
	memcpy(r->table, whole, sizeof(r->table));
}

static int line_in(struct told *told, struct py_code *c, int lasti)
{
	struct stacks *s = stacks_new(read_memory, NULL, told, NULL);
	struct py_stack st = stack_of(1000, c->code, c->code);
	int line;

	st.frame[0].lasti = lasti;
	if (!news(s, c, sizeof(*c)) || !news(s, &st, sizeof(st)))
		abort();
	line = stacks_find(s, 1000, 0)->frame[0]->line;
	stacks_free(s);
	return line;
}

TEST(stacks_read_the_rest_of_a_long_line_table)
{
	static uint8_t whole[8192];
	struct py_code c = code(0x1000, "big", "/app/big.py", 1);
	struct told told = { .memory = whole, .size = sizeof(whole) };

	long_table(&c, whole, sizeof(whole));
	CHECK(line_in(&told, &c, 2 * 4000) == 4002);
	c.version = 0x309;
	CHECK(line_in(&told, &c, 2 * 4000) == 4001);

	whole[0] = 4; /* another code object is there by now: what the record has must do */
	for (unsigned version = 0x309; version <= 0x30a; version++) {
		c.version = (uint16_t)version;
		CHECK(line_in(&told, &c, 2 * 4000) == 0);
		CHECK(line_in(&told, &c, 2 * 500) == 501 + (version == 0x30a));
		CHECK(line_in(&told, &c, -1) == 1);
	}
	whole[0] = 2;
	c.table_len = 1 << 20; /* longer than anyone's */
	CHECK(line_in(&told, &c, 2 * 4000) == 0);
	return 0;
}

TEST(stacks_refuse_what_is_no_record)
{
	struct told told = { .n = 0 };
	struct stacks *s = stacks_new(NULL, tell, &told, NULL);
	struct py_code c = code(0x1000, "step", "/app/train.py", 10);
	struct py_stack st = stack_of(1000, 0x1000, 0x2000);
	static struct c_stack c_stack;
	struct c_stack *cs = &c_stack;

	CHECK(!news(s, "", 0) && !news(s, "\1", 1));
	CHECK(!news(s, &c, offsetof(struct py_code, table) + 19)); /* of 20 */
	CHECK(!news(s, &c, 16));
	c.version = 0x308;
	CHECK(!news(s, &c, sizeof(c)));
	CHECK(!news(s, &st, offsetof(struct py_stack, frame) + 24)); /* one of two frames */
	st.frames = 0;
	CHECK(!news(s, &st, sizeof(st)));
	st.frames = PY_FRAMES + 1;
	CHECK(!news(s, &st, sizeof(st)));
	st = stack_of(NO_STACK_lost, 0x1000, 0x2000);
	CHECK(!news(s, &st, sizeof(st)));
	st.kind = 9;
	CHECK(!news(s, &st, sizeof(st)));
	cs->kind = NEWS_c_stack;
	cs->stack = 1000;
	cs->site = 5;
	CHECK(!news(s, cs, sizeof(*cs))); /* of a stack that was never told */
	CHECK(told.n == 0);

	CHECK(tell_two(s, 1000));
	CHECK(news(s, cs, offsetof(struct c_stack, data)));
	cs->bytes = 8;
	CHECK(!news(s, cs, offsetof(struct c_stack, data)));
	cs->site = 0;
	CHECK(!news(s, cs, sizeof(*cs)));
	CHECK(stacks_find(s, 1000, 5) == stacks_find(s, 1000, 0) && told.n == 1);
	stacks_free(s);
	return 0;
}

/* As the memory of a process: the length and the bytes of a table that the probe could not read. */
static bool read_swapped(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	const struct py_code *whole = arg;
	int64_t len = whole->table_len;

	if (pid == 42 && addr == whole->table_addr - 16 && size == sizeof(len))
		memcpy(dst, &len, size);
	else if (pid == 42 && addr == whole->table_addr && size == (size_t)len)
		memcpy(dst, whole->table, size);
	else
		return false;
	return true;
}

TEST(stacks_fetch_a_table_that_was_swapped_out)
{
	struct py_code whole = code(0x1000, "step", "/app/train.py", 10), r = whole;
	struct stacks *s = stacks_new(read_swapped, NULL, &whole, NULL);
	struct py_stack st = stack_of(1000, 0x1000, 0x1000);

	r.table_len = -1;
	memset(r.table, 0, sizeof(r.table));
	CHECK(news(s, &r, offsetof(struct py_code, table)) && news(s, &st, sizeof(st)));
	CHECK(stacks_find(s, 1000, 0)->frame[0]->line == 11);
	CHECK(stacks_find(s, 1000, 0)->frame[1]->line == 13);
	stacks_free(s);
	return 0;
}

TEST(stacks_are_bounded)
{
	struct told told = { .n = 0 };
	struct stacks *s = stacks_new(NULL, tell, &told, NULL);
	struct py_stack st = stack_of(1000, 0x1000, 0x2000);
	uint64_t n = 0, filling = 0;

	CHECK(tell_two(s, 1000) && !stacks_full(s));
	while (!stacks_full(s) && n < 10000000) {
		filling += stacks_filling(s);
		struct py_code c = code(0x10000 + n, "f", "/app/train.py", (int)n);

		st = stack_of(5000 + n, 0x10000 + n, 0x2000);
		CHECK(news(s, &c, sizeof(c)));
		CHECK(stacks_full(s) || news(s, &st, sizeof(st)));
		n++;
	}
	CHECK(stacks_full(s) && n > 1000 && filling > n / 5 && filling < n / 3);
	CHECK(!news(s, &st, sizeof(st)));
	CHECK(stacks_find(s, 1000, 0)); /* what is there stays */
	stacks_free(s);
	return 0;
}

TEST(frames_are_the_users_unless_python_or_a_package_brought_them)
{
	static const char *const own[] = { "/app/train.py",         "train.py",
					   "/home/me/lib/net.py",   "/srv/python3.11/train.py",
					   "/opt/lib/python3/x.py", "/data/my-site-packages/x.py" };
	static const char *const others[] = {
		"",
		"<string>",
		"<frozen importlib._bootstrap>",
		"/usr/lib/python3.11/threading.py",
		"/usr/lib64/python3.12/queue.py",
		"/home/me/.pyenv/versions/3.9.18/lib/python3.9/json/decoder.py",
		"/usr/lib/python3/dist-packages/numpy/core.py",
		"/app/venv/lib/python3.10/site-packages/torch/nn/module.py",
		"site-packages/x.py",
		"/usr/lib/python3.13t/queue.py",
	};

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (!frame_is_users(FRAME_python, own[i]))
			return test_fail(__FILE__, __LINE__, "%s", own[i]);
		CHECK(!frame_is_users(FRAME_native, own[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (frame_is_users(FRAME_python, others[i]))
			return test_fail(__FILE__, __LINE__, "%s", others[i]);
	}
	return 0;
}
