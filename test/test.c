// SPDX-License-Identifier: Apache-2.0
/* Runs every test that registered itself, or those whose name contains the argument. */
#include "test/test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct test *tests, **tests_end = &tests;
static const char *running;
static char reason[4096];

void test_add(struct test *t)
{
	*tests_end = t;
	tests_end = &t->next;
}

int test_fail(const char *file, int line, const char *fmt, ...)
{
	int len = snprintf(reason, sizeof(reason), "%s:%d: ", file, line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason + len, sizeof(reason) - (size_t)len, fmt, ap);
	va_end(ap);
	return 1;
}

/* A test that crashes takes the others with it, but not without its name. */
static void on_crash(int sig)
{
	static const char fail[] = "FAIL ", crashed[] = " crashed\n";

	(void)!write(STDOUT_FILENO, fail, sizeof(fail) - 1);
	(void)!write(STDOUT_FILENO, running, strlen(running));
	(void)!write(STDOUT_FILENO, crashed, sizeof(crashed) - 1);
	raise(sig); /* handled once: now it kills */
}

static void catch_crashes(void)
{
	static const int sigs[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV };
	struct sigaction act = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND }, old;

	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		/* A sanitizer's own handler says more. */
		if (!sigaction(sigs[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(sigs[i], &act, NULL);
	}
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_crashes();
	for (struct test *t = tests; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		running = t->name;
		setenv("TZ", "UTC0", 1); /* whatever the machine or the last test had */
		tzset();
		reason[0] = '\0';
		if (t->run()) {
			printf("FAIL %s: %s\n", t->name, reason);
			failed++;
		} else {
			passed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}
