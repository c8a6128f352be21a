// SPDX-License-Identifier: Apache-2.0
/* C stacks of real interpreters, unwound and merged with their Python stacks. */
#include <sys/ptrace.h>
#include <sys/user.h>
#include <time.h>

#include "native/native.h"
#include "test/test.h"
#include "test/unit/python_walk.h"

#if defined(__x86_64__)

/* Python calls C calls Python, twice; `middle` and `helper` share a loop where loops are shared. */
static const char program[] = "import threading, time\n"
			      "def inner(x):\n"
			      "    time.sleep(60)\n"
			      "def helper(x):\n"
			      "    return tuple(map(inner, [1]))\n"
			      "def middle(x):\n"
			      "    return helper(x)\n"
			      "def outer():\n"
			      "    print(threading.get_ident(), flush=True)\n"
			      "    tuple(map(middle, [1]))\n"
			      "outer()\n";
static const char wanted[] = "inner:3 helper:5 middle:7 outer:10 <module>:11";

static bool is_asleep(int pid)
{
	char path[64], text[16];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	in = fopen(path, "r");
	text[0] = '\0';
	if (in) {
		(void)!fgets(text, sizeof(text), in);
		fclose(in);
	}
	return starts_with(text, "230 ") || starts_with(text, "270 ") ||
	       starts_with(text, "23 "); /* clock_nanosleep, pselect6, select */
}

static bool take_c_stack(int pid, struct c_stack *ret)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, NULL, 0) != pid ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &r))
		return false;
	*ret = (struct c_stack){
		.kind = NEWS_c_stack,
		.pid = (uint32_t)pid,
		.site = 9,
		.ip = r.rip,
		.sp = r.rsp,
		.bp = r.rbp,
		.bx = r.rbx,
		.r12 = r.r12,
		.r13 = r.r13,
		.r14 = r.r14,
		.r15 = r.r15,
	};
	ret->bytes = C_STACK_BYTES;
	while (ret->bytes && !live_read(pid, ret->sp, ret->data, ret->bytes))
		ret->bytes -= 16; /* the stack ends sooner */
	return ret->bytes > 0;
}

/* Python frames as `wanted` has them; where a native one is, "*". */
static void print(const struct stack *stack, char *dst, size_t cap)
{
	size_t used = 0;

	dst[0] = '\0';
	for (int i = 0; stack && i < stack->frames && used < cap; i++) {
		const struct frame *f = stack->frame[i];

		if (f->kind == FRAME_native)
			used += (size_t)snprintf(dst + used, cap - used, "* ");
		else
			used += (size_t)snprintf(dst + used, cap - used, "%s:%d ", f->func,
						 f->line);
	}
	if (used)
		dst[strlen(dst) - 1] = '\0';
}

static int check_one(const char *path, struct stacks *s)
{
	static struct c_stack c;
	const struct timespec pause = { .tv_nsec = 1000000 };
	char why[200], got[512], *at = got;
	struct py_layout l;
	struct py_stack told;
	struct live live;

	CHECK(live_start(&live, path, program));
	for (int i = 0; i < 5000 && !is_asleep(live.pid); i++)
		nanosleep(&pause, NULL);
	CHECK(py_find(live.pid, &l, why, sizeof(why)) == PY_FOUND);
	CHECK(take_c_stack(live.pid, &c));
	CHECK(walk(live.pid, &l, strtoull(live.said, NULL, 10), s, &told));
	c.stack = told.id;
	CHECK(stacks_news(s, &c, sizeof(c)));
	live_stop(&live);
	print(stacks_find(s, told.id, 9), got, sizeof(got));
	CHECK(starts_with(at, "* ")); /* in the C library, on top of all */
	while (starts_with(at, "* "))
		at += 2;
	CHECK_STR(at, wanted); /* and nowhere else: in between there is only the interpreter */
	return 0;
}

TEST(native_frames_are_on_top_of_the_python_function_that_called_them)
{
	struct interpreters all;

	interpreters_find(&all);
	for (int i = 0; geteuid() == 0 && i < all.n; i++) {
		struct native *native = native_new();
		struct stacks *s = stacks_new(NULL, NULL, NULL, native);
		int failed = check_one(all.path[i], s);

		stacks_free(s);
		native_free(native);
		if (failed)
			return 1;
	}
	return 0;
}

#endif
