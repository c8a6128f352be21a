// SPDX-License-Identifier: Apache-2.0
/* Stacks of real interpreters, from their memory to lines of Python, against what they say. */
#include "stack/stack.h"

#include "base/util.h"
#include "test/test.h"
#include "test/unit/python_walk.h"

/*
 * Functions of every sort wait inside each other; another thread says what the first one's stack is:
 * "FUNC|FILE|LINE;", innermost first. One function has a line table longer than a record takes.
 */
static const char program[] =
	"import sys, threading, time\n"
	"held = threading.Lock()\n"
	"held.acquire()\n"
	"code = '''\n"
	"class Net:\n"
	"    def forward(self, x):\n"
	"        return (\n"
	"            x +\n"
	"            held.acquire()\n"
	"        )\n"
	"    def __init__(self):\n"
	"        self.y = [self.forward(i) for i in range(1)]\n"
	"def generator():\n"
	"    yield (lambda:\n"
	"        Net())()\n"
	"def \\u015dtupo():\n"
	"    for x in generator(): pass\n"
	"def big():\n"
	"''' + '''    x = [1,\n"
	"    2]\n"
	"''' * 1200 + '''    \\u015dtupo()\n"
	"sorted([1, 2], key=lambda x: big())\n"
	"'''\n"
	"def say(ident):\n"
	"    time.sleep(0.1)\n"
	"    f = sys._current_frames()[ident]\n"
	"    text = ''\n"
	"    while f:\n"
	"        c = f.f_code\n"
	"        text += '%s|%s|%d;' % (getattr(c, 'co_qualname', c.co_name), c.co_filename, f.f_lineno)\n"
	"        f = f.f_back\n"
	"    print(ident, text, flush=True)\n"
	"    time.sleep(60)\n"
	"sys.stdout.reconfigure(encoding='utf-8')\n"
	"threading.Thread(target=say, args=(threading.get_ident(),), daemon=True).start()\n"
	"exec(compile(code, '/home/me/tr\\u00e4in.py', 'exec'))\n";

static bool read_live(void *arg, uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	(*(int *)arg)++;
	return live_read((int)pid, addr, dst, size);
}

static void print(const struct stack *stack, char *dst, size_t cap)
{
	size_t used = 0;

	dst[0] = '\0';
	for (int i = 0; stack && i < stack->frames && used < cap; i++)
		used += (size_t)snprintf(dst + used, cap - used, "%s|%s|%d;", stack->frame[i]->func,
					 stack->frame[i]->file, stack->frame[i]->line);
}

static int check_one(const char *path)
{
	int reads = 0;
	struct stacks *s = stacks_new(read_live, NULL, &reads, NULL);
	char why[200], got[4096], *want;
	const struct stack *stack;
	struct py_layout l;
	struct py_stack told;
	struct live live;
	uint64_t self;

	CHECK(live_start(&live, path, program));
	self = strtoull(live.said, &want, 10);
	want++;
	want[strcspn(want, "\n")] = '\0';
	CHECK(py_find(live.pid, &l, why, sizeof(why)) == PY_FOUND);
	l.generation = 3;
	CHECK(walk(live.pid, &l, self, s, &told));
	live_stop(&live);
	stack = stacks_find(s, told.id, 0);
	print(stack, got, sizeof(got));
	CHECK_STR(got, want);
	CHECK(reads == 1);
	CHECK_STR(stack_user_frame(stack)->func, l.version < 0x30b ? "forward" : "Net.forward");
	CHECK(stack_user_frame(stack)->line == 6);
	stacks_free(s);
	return 0;
}

TEST(stacks_of_every_installed_python_are_what_it_says_itself)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		if (check_one(all.path[i]))
			return 1;
	}
	return 0;
}
