// SPDX-License-Identifier: Apache-2.0
/* Real programs, stopped where the truth is known. */
#include "native/native.h"

#include "test/test.h"
#include "test/unit/native_child.h"

#if defined(__x86_64__)

static const char *const walk_frames[] = {
	"walk_handler",
	NULL, /* libc's return from a signal; its symbol is not exported */
	"walk_trap",
	"walk_realigned",
	"walk_variable",
	"demo::lift<7>",
	"demo::Box<int>::twice",
	"demo::run",
	"walk_cxx",
	"_PyEval_EvalFrameDefault.cold",
	"walk_outer",
	"main",
};

/* Demangled function templates carry their return type; what follows is the name. */
static bool is_named(const struct native_frame *f, const char *name)
{
	size_t len = strlen(f->func), want = strlen(name);

	return !strcmp(f->func, name) || (len > want && f->func[len - want - 1] == ' ' &&
					  !strcmp(f->func + len - want, name));
}

static int check_walk(const struct native_stack *s)
{
	const int known = sizeof(walk_frames) / sizeof(walk_frames[0]);

	CHECK(s->frames >= known);
	for (int i = 0; i < known; i++) {
		if (walk_frames[i] && !is_named(&s->frame[i], walk_frames[i]))
			return test_fail(__FILE__, __LINE__, "frame %d is %s, not %s", i,
					 s->frame[i].func, walk_frames[i]);
		CHECK(s->frame[i].cfa > s->frame[i].sp);
		CHECK(i == 0 || s->frame[i].sp >= s->frame[i - 1].cfa);
		CHECK(s->frame[i].interpreter == (i == 9));
		CHECK(!walk_frames[i] || strstr(s->frame[i].module, "native/walk"));
	}
	CHECK(strstr(s->frame[1].module, "libc"));
	return 0;
}

TEST(native_unwinds_what_a_program_really_called)
{
	struct native *n = native_new();
	struct native_stack s;
	struct c_stack c;
	char path[4096];
	pid_t pid;

	if (!may_look()) {
		native_free(n);
		return 0;
	}
	beside(path, sizeof(path), "native/walk");
	pid = stopped_child(path);
	CHECK(pid > 0);
	CHECK(copy_stack(pid, true, &c));
	for (int round = 0; round < 2; round++) { /* the second finds everything remembered */
		CHECK(native_unwind(n, &c, &s));
		if (check_walk(&s))
			return 1;
		CHECK(s.complete);
		CHECK(is_named(&s.frame[s.frames - 1], "_start"));
	}
	native_forget(n, (uint32_t)pid);
	CHECK(native_unwind(n, &c, &s) && s.complete);
	end_child(pid);
	native_forget(n, (uint32_t)pid);
	CHECK(!native_unwind(n, &c, &s));
	native_free(n);
	return 0;
}

TEST(native_says_whether_the_copy_was_too_short)
{
	struct native *n = native_new();
	struct native_stack s;
	struct c_stack c;
	char path[4096];
	uint32_t real;
	pid_t pid;

	if (!may_look()) {
		native_free(n);
		return 0;
	}
	beside(path, sizeof(path), "native/walk");
	pid = stopped_child(path);
	CHECK(pid > 0 && copy_stack(pid, true, &c));
	real = c.bytes;
	/* Every length: more bytes never mean fewer frames. */
	for (int frames = 0; c.bytes > 0; c.bytes -= c.bytes < 8 ? c.bytes : 8) {
		bool unwound = native_unwind(n, &c, &s);

		CHECK(unwound && s.frames >= 1);
		CHECK(!frames || s.frames <= frames);
		CHECK_STR(s.frame[0].func, "walk_handler");
		CHECK(!s.complete || c.bytes == C_STACK_BYTES ||
		      is_named(&s.frame[s.frames - 1], "_start"));
		frames = s.frames;
	}
	/* A full copy that ends before the stack does. */
	c.bytes = C_STACK_BYTES;
	memset(c.data + 4096, 0, sizeof(c.data) - 4096);
	CHECK(real <= C_STACK_BYTES && native_unwind(n, &c, &s));
	end_child(pid);
	native_free(n);
	return 0;
}

static bool replace(struct c_stack *c, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i + 8 <= c->bytes; i += 8) {
		if (!memcmp(c->data + i, &from, 8)) {
			memcpy(c->data + i, &to, 8);
			return true;
		}
	}
	return false;
}

TEST(native_puts_real_return_addresses_in_place_of_the_probes)
{
	const uint64_t page = 0x7fffffffe000; /* in no mapping: stands for [uprobes] */
	struct native *n = native_new();
	struct native_stack s, again;
	struct c_stack c;
	char path[4096];
	pid_t pid;

	if (!may_look()) {
		native_free(n);
		return 0;
	}
	beside(path, sizeof(path), "native/walk");
	pid = stopped_child(path);
	CHECK(pid > 0 && copy_stack(pid, true, &c));
	CHECK(native_unwind(n, &c, &s));
	for (int i = 0; i < 2; i++) { /* the calls in demo::lift<7> and in main */
		uint64_t real = s.frame[i ? 11 : 5].ip + 1;

		CHECK(replace(&c, real, page));
		c.returns[i] = real;
	}
	CHECK(native_unwind(n, &c, &again));
	CHECK(again.complete && again.frames == s.frames);
	for (int i = 0; i < s.frames; i++)
		CHECK(again.frame[i].ip == s.frame[i].ip);
	c.returns[1] = 0; /* the second is lost */
	CHECK(native_unwind(n, &c, &again));
	CHECK(!again.complete && again.frames == 12);
	CHECK_STR(again.frame[11].func, "");
	CHECK_STR(again.frame[11].module, "");
	end_child(pid);
	native_free(n);
	return 0;
}

TEST(native_names_single_addresses)
{
	struct native *n = native_new();
	const char *func, *module;
	struct c_stack c;
	char path[4096];
	pid_t pid;

	if (!may_look()) {
		native_free(n);
		return 0;
	}
	beside(path, sizeof(path), "native/walk");
	pid = stopped_child(path);
	CHECK(pid > 0 && copy_stack(pid, false, &c));
	CHECK(native_symbol(n, (uint32_t)pid, c.ip, &func, &module));
	CHECK_STR(func, "walk_stop");
	CHECK(strstr(module, "native/walk"));
	CHECK(!native_symbol(n, (uint32_t)pid, 8, &func, &module));
	CHECK_STR(func, "");
	CHECK_STR(module, "");
	end_child(pid);
	CHECK(!native_symbol(n, 0, c.ip, &func, &module));
	CHECK(!native_symbol(n, UINT32_MAX, c.ip, &func, &module));
	native_free(n);
	return 0;
}

/* Sleeping in its first system call after it said so. */
static bool asleep(pid_t pid)
{
	for (int i = 0; i < 500; i++) {
		char path[64], line[256] = "";
		FILE *f;
		const char *state;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		f = fopen(path, "r");
		if (!f)
			return false;
		(void)!fgets(line, sizeof(line), f);
		fclose(f);
		state = strrchr(line, ')');
		if (state && state[1] && state[2] == 'S')
			return true;
		usleep(10000);
	}
	return false;
}

static pid_t sleeping_python(void)
{
	const char *program = getenv("NATIVE_PYTHON"); /* another one than the system's */
	int out[2];
	pid_t pid;
	char byte;

	if (pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		execlp(program ? program : "python3", "python3", "-c",
		       "import time, os\n"
		       "def inner(): time.sleep(600)\n"
		       "def outer(f): f()\n"
		       "os.write(1, b'x')\n"
		       "sorted([1], key=lambda x: outer(inner))\n",
		       (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], &byte, 1) != 1 || !asleep(pid) || ptrace(PTRACE_SEIZE, pid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || waitpid(pid, NULL, 0) != pid) {
		end_child(pid);
		pid = -1;
	}
	close(out[0]);
	return pid;
}

TEST(native_reaches_the_evaluation_loop_of_python)
{
	struct native *n = native_new();
	struct native_stack s;
	struct c_stack c;
	bool main_seen = false;
	int loops = 0;
	pid_t pid = may_look() ? sleeping_python() : -1;

	if (pid < 0) { /* not root, or no Python */
		native_free(n);
		return 0;
	}
	CHECK(copy_stack(pid, false, &c));
	CHECK(native_unwind(n, &c, &s));
	for (int i = 0; i < s.frames; i++) {
		loops += s.frame[i].interpreter;
		main_seen |= is_named(&s.frame[i], "Py_BytesMain");
		if (getenv("NATIVE_SHOW"))
			printf("  %2d %c %s (%s)\n", i, s.frame[i].interpreter ? '*' : ' ',
			       s.frame[i].func, s.frame[i].module);
	}
	CHECK(s.complete);
	CHECK(loops >= 2); /* sorted() calls back into Python */
	CHECK(main_seen);
	end_child(pid);
	native_free(n);
	return 0;
}

#endif
