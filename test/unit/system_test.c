// SPDX-License-Identifier: Apache-2.0
/* Samples of a host made of files, and of this one. */
#include "capture/system.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "test/test.h"

struct tree {
	char dir[32];
	int root;
};

static struct tree tree_new(void)
{
	struct tree t = { .dir = "/tmp/system_test.XXXXXX" };

	t.root = mkdtemp(t.dir) ? open(t.dir, O_RDONLY | O_DIRECTORY) : -1;
	if (t.root < 0)
		abort();
	return t;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void tree_free(struct tree *t)
{
	close(t->root);
	nftw(t->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* In place, as the kernel does it: a descriptor that is open sees the new text. */
static void put(const struct tree *t, const char *path, const char *text)
{
	char dir[256];
	int fd;

	str_copy(dir, sizeof(dir), path);
	for (char *s = strchr(dir, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdirat(t->root, dir, 0700);
		*s = '/';
	}
	fd = openat(t->root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void put_first(const struct tree *t)
{
	put(t, "proc/stat",
	    "cpu  1000 0 500 8000 300 50 50 100 0 0\n"
	    "cpu0 500 0 250 4000 150 25 25 50 0 0\n"
	    "cpu7 500 0 250 4000 150 25 25 50 0 0\n"
	    "intr 12345 0 0 1\nctxt 5\nprocs_running 1\nprocs_blocked 0\n");
	put(t, "proc/loadavg", "1.25 0.80 0.50 3/456 7890\n");
	put(t, "proc/meminfo",
	    "MemTotal:       1000000 kB\nMemFree:  5 kB\nMemAvailable:    600000 kB\n"
	    "SwapTotal:       8000 kB\nSwapFree:        7000 kB\n");
	put(t, "proc/vmstat", "pgmajfault 100\npswpin 10\npswpout 20\n");
	put(t, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
	put(t, "proc/pressure/io",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=4000\n");
	put(t, "sys/devices/system/cpu/cpu7/cpufreq/scaling_cur_freq", "2400000\n");
}

static void put_second(const struct tree *t)
{
	/* 200 ticks later: 80 busy, 60 idle, 40 waiting for a disk, 20 stolen */
	put(t, "proc/stat",
	    "cpu  1040 0 530 8060 340 55 55 120 0 0\n"
	    "cpu0 500 0 250 4060 190 25 25 50 0 0\n"
	    "cpu7 540 0 280 4000 150 30 30 70 0 0\n"
	    "intr 12346 0 0 1\nctxt 5\nprocs_running 4\nprocs_blocked 2\n");
	put(t, "proc/loadavg", "2.50 0.80 0.50 3/456 7890\n");
	put(t, "proc/vmstat", "pgmajfault 103\npswpin 10\npswpout 27\n");
	put(t, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\n");
	put(t, "proc/pressure/io",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=5500\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=9000\n");
	put(t, "sys/devices/system/cpu/cpu7/cpufreq/scaling_cur_freq", "1800123\n");
}

TEST(system_tells_what_changed)
{
	const struct core_sample *core;
	struct tree t = tree_new();
	struct system_sampler *s;
	struct system_sample got;

	put_first(&t);
	s = system_new_at(t.root);
	put_second(&t);
	CHECK(!system_sample(s, &got));
	CHECK_NEAR(got.busy_pct, 40, 1e-9);
	CHECK_NEAR(got.iowait_pct, 20, 1e-9);
	CHECK_NEAR(got.steal_pct, 10, 1e-9);
	CHECK_NEAR(got.load1, 2.5, 1e-9);
	CHECK(got.running == 4 && got.blocked == 2);
	CHECK(got.mem_total_kb == 1000000 && got.mem_available_kb == 600000);
	CHECK(got.swap_used_kb == 1000 && got.swap_in_pages == 0 && got.swap_out_pages == 7);
	CHECK(got.major_faults == 3);
	CHECK(got.psi_cpu_us == 250000 && got.psi_memory_us == -1 && got.psi_io_us == 500);

	CHECK(system_cores(s, &core) == 2);
	CHECK(core[0].cpu == 0 && core[0].mhz == -1);
	CHECK_NEAR(core[0].busy_pct, 0, 1e-9);
	CHECK(core[1].cpu == 7 && core[1].mhz == 1800);
	CHECK_NEAR(core[1].busy_pct, 80, 1e-9);
	system_free(s);
	tree_free(&t);
	return 0;
}

TEST(system_does_not_guess_when_no_time_went_by)
{
	struct tree t = tree_new();
	struct system_sampler *s;
	struct system_sample got;

	put_first(&t);
	s = system_new_at(t.root);
	CHECK(!system_sample(s, &got));
	CHECK(got.busy_pct < 0 && got.iowait_pct < 0 && got.steal_pct < 0);
	CHECK(got.major_faults == 0);
	/* Idle time went backwards, as it may: nothing becomes negative or huge. */
	put(&t, "proc/stat", "cpu  1001 0 500 7000 300 50 50 100 0 0\ncpu0 1 2 3 4\n");
	CHECK(!system_sample(s, &got));
	CHECK_NEAR(got.busy_pct, 100, 1e-9);
	CHECK(got.running == -1 && got.blocked == -1);
	system_free(s);
	tree_free(&t);
	return 0;
}

/* A server with thousands of interrupts; what follows that line is found. */
TEST(system_reads_past_the_line_of_interrupts)
{
	enum { LEN = 200000 };
	char *text = xcalloc(1, LEN + 1000), *at = text;
	struct tree t = tree_new();
	struct system_sampler *s;
	struct system_sample got;

	put_first(&t);
	s = system_new_at(t.root);
	at += snprintf(at, 200, "cpu  1100 0 500 8000 300 50 50 100 0 0\nintr 12345");
	for (int i = 0; i < LEN / 4; i++)
		at += snprintf(at, 5, " 123");
	snprintf(at, 200, "\nctxt 1\nprocs_running 17\nprocs_blocked 3");
	put(&t, "proc/stat", text);
	CHECK(!system_sample(s, &got));
	CHECK(got.running == 17 && got.blocked == 3);
	CHECK_NEAR(got.busy_pct, 100, 1e-9);
	system_free(s);
	tree_free(&t);
	free(text);
	return 0;
}

TEST(system_survives_nonsense)
{
	static const char *const stats[] = {
		"cpu  1 2 3\n",
		"cpu",
		"cpu  -1 -2 -3 -4\n",
		("cpu  99999999999999999999 99999999999999999999 99999999999999999999 1\n"
		 "cpu99999999999 1 2 3 4\ncpu-1 1 2 3 4\ncpu4095 1 2 3 4\ncpu4095 5 6 7 8\n"),
	};
	const struct core_sample *core;
	struct system_sample got;

	for (size_t i = 0; i < ARRAY_LEN(stats); i++) {
		struct tree t = tree_new();
		struct system_sampler *s;

		put(&t, "proc/stat", stats[i]);
		put(&t, "proc/loadavg", "nan");
		put(&t, "proc/meminfo", "MemTotal: kB");
		put(&t, "proc/pressure/cpu", "some total=\nsome total=x\nsome");
		s = system_new_at(t.root);
		CHECK(system_sample(s, &got) == (i == 3 ? 0 : -ENODATA));
		CHECK(system_cores(s, &core) == (i == 3));
		if (i == 3)
			CHECK(got.load1 < 0 && got.mem_total_kb < 0 && got.psi_cpu_us < 0);
		system_free(s);
		tree_free(&t);
	}
	return 0;
}

TEST(system_says_that_there_is_nothing_to_read)
{
	struct system_sampler *s = system_new_at(-1);
	const struct core_sample *core;
	struct system_sample got;

	CHECK(system_sample(s, &got) == -ENOENT);
	CHECK(system_cores(s, &core) == 0);
	system_free(s);
	system_free(NULL);
	return 0;
}

TEST(system_reads_this_host)
{
	struct system_sampler *s = system_new();
	struct timespec pause = { .tv_nsec = 100000000 };
	const struct core_sample *core;
	struct system_sample got;
	size_t cores;

	nanosleep(&pause, NULL);
	CHECK(!system_sample(s, &got));
	CHECK(got.busy_pct <= 100 && got.load1 >= 0 && got.running >= 1 && got.blocked >= 0);
	CHECK(got.busy_pct + got.iowait_pct + got.steal_pct <= 100.0001);
	CHECK(got.mem_total_kb > 1024 && got.mem_available_kb > 0);
	CHECK(got.major_faults >= 0 && got.swap_in_pages >= 0 && got.swap_out_pages >= 0);
	cores = system_cores(s, &core);
	CHECK_U64(cores, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	for (size_t i = 0; i < cores; i++)
		CHECK(core[i].busy_pct <= 100 && core[i].cpu >= (int)i);
	system_free(s);
	return 0;
}

/* In CPU time, so that a busy host does not matter; the best of some, so that nothing else does. */
TEST(system_costs_little)
{
	struct system_sampler *s = system_new();
	struct system_sample got;
	double best = 1e9, limit = 5e5 + 2e4 * (double)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < 50; i++) {
		struct timespec from, to;
		double ns;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		CHECK(!system_sample(s, &got));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
		best = ns < best ? ns : best;
	}
	system_free(s);
	if (best > limit)
		return test_fail(__FILE__, __LINE__, "%.0f us", best / 1e3);
	return 0;
}
