// SPDX-License-Identifier: Apache-2.0
/* Tests of base/util.c, base/fail.c, base/log.c and base/clock.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "test/test.h"

TEST(str_copy_says_whether_everything_fitted)
{
	char dst[4] = "zzz";

	CHECK(str_copy(dst, sizeof(dst), "abc"));
	CHECK_STR(dst, "abc");
	CHECK(!str_copy(dst, sizeof(dst), "defg"));
	CHECK_STR(dst, "def");
	CHECK(!str_copy(dst, 1, "x"));
	CHECK_STR(dst, "");
	CHECK(str_copy(dst, 1, ""));
	return 0;
}

TEST(str_copy_writes_nothing_into_no_room)
{
	char dst[2] = "k";

	CHECK(!str_copy(dst, 0, "x"));
	CHECK_STR(dst, "k");
	return 0;
}

TEST(starts_with_compares_the_whole_prefix)
{
	CHECK(starts_with("libcuda.so.1", "libcuda.so"));
	CHECK(starts_with("x", ""));
	CHECK(!starts_with("libcu", "libcuda"));
	CHECK(!starts_with("", "x"));
	return 0;
}

TEST(min_and_max_hold_at_the_ends_of_the_range)
{
	CHECK_U64(min_u64(0, UINT64_MAX), 0);
	CHECK_U64(max_u64(0, UINT64_MAX), UINT64_MAX);
	CHECK_U64(min_u64(7, 7), 7);
	return 0;
}

TEST(xrealloc_keeps_the_contents)
{
	char *s = xstrdup("kept");

	s = xrealloc(s, 1000, 2);
	CHECK_STR(s, "kept");
	free(s);
	return 0;
}

TEST(allocating_nothing_is_not_running_out_of_memory)
{
	char *p = xcalloc(0, 8);

	p = xrealloc(p, 0, 8);
	CHECK(p);
	free(p);
	return 0;
}

TEST(fail_in_puts_the_purpose_before_the_reason)
{
	int err = fail(-ENOENT, "no %s", "libcuda");

	CHECK(fail_in(err, "attach %d", 7) == -ENOENT);
	CHECK_STR(why(-ENOENT), "attach 7: no libcuda");
	CHECK_STR(why(-EPERM), strerror(EPERM));
	return 0;
}

TEST(fail_may_quote_the_last_reason)
{
	fail(-EINVAL, "inner");
	fail(-EINVAL, "outer: %s", why(-EINVAL));
	CHECK_STR(why(-EINVAL), "outer: inner");
	return 0;
}

TEST(a_reason_never_drives_the_terminal)
{
	fail(-EINVAL, "process '%s'", "\x1b[2Jx\ny");
	CHECK_STR(why(-EINVAL), "process '\\x1b[2Jx\\x0ay'");
	return 0;
}

/* What log_warn() and log_debug() write while the level is `level`. */
static int logged(int level, char *buf, size_t cap)
{
	FILE *tmp = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t len;

	if (!tmp || saved < 0)
		return -errno;
	dup2(fileno(tmp), STDERR_FILENO);
	log_level = level;
	log_warn("one\ntwo \x1b[1m%d\n", 3);
	log_debug("%s", "detail");
	log_level = LOG_WARN;
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(tmp);
	len = fread(buf, 1, cap - 1, tmp);
	buf[len] = '\0';
	fclose(tmp);
	return 0;
}

TEST(log_makes_each_line_safe_and_hides_debug_by_default)
{
	char buf[256];

	CHECK(!logged(0, buf, sizeof(buf)));
	CHECK_STR(buf, "warning: one\nwarning: two \\x1b[1m3\n");
	CHECK(!logged(1, buf, sizeof(buf)));
	CHECK_STR(buf, "warning: one\nwarning: two \\x1b[1m3\ndebug: detail\n");
	return 0;
}

TEST(log_keeps_lines_that_come_after_the_first_kilobyte)
{
	char long_text[5000], buf[8192];
	FILE *tmp = tmpfile();
	int saved = dup(STDERR_FILENO);

	memset(long_text, 'x', sizeof(long_text));
	for (size_t i = 99; i < sizeof(long_text); i += 100)
		long_text[i] = '\n';
	memcpy(long_text + sizeof(long_text) - 5, "last", 5);
	CHECK(tmp && saved >= 0);
	dup2(fileno(tmp), STDERR_FILENO);
	log_warn("%s", long_text);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(tmp);
	buf[fread(buf, 1, sizeof(buf) - 1, tmp)] = '\0';
	fclose(tmp);
	CHECK(strstr(buf, "last\n"));
	return 0;
}

TEST(boot_time_never_goes_back)
{
	uint64_t last = clock_boot_ns();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_boot_ns();

		CHECK(now >= last);
		last = now;
	}
	return 0;
}

TEST(boot_time_plus_offset_is_wall_time)
{
	double wall = (double)(clock_boot_ns() + (uint64_t)clock_wall_minus_boot());

	CHECK_NEAR(wall, clock_wall_ns(), 1e9);
	return 0;
}

TEST(boot_time_is_monotonic_time_and_what_was_slept)
{
	struct timespec t;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &t));
	CHECK_NEAR((double)t.tv_sec * 1e9 + (double)t.tv_nsec + (double)clock_slept_ns(),
		   (double)clock_boot_ns(), 1e8);
	return 0;
}

TEST(cpu_time_grows_with_work)
{
	uint64_t before = clock_cpu_ns(), deadline = clock_boot_ns() + 5000000000ull;

	while (clock_cpu_ns() < before + 1000000)
		CHECK(clock_boot_ns() < deadline);
	return 0;
}
