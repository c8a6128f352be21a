// SPDX-License-Identifier: Apache-2.0
/*
 * What one traced call costs: our probes against an empty BPF program on the same site, in one
 * interleaved run. A child calls functions that do nothing; the parent attaches and detaches.
 * Each call is timed by itself, and a third of the calls is below what counts: the machine may be busy with
 * others. "Cold" calls come after other work, as those of a program do: it has taken the caches from us.
 *
 *   probe_bench NULL_LIBRARY [ROUNDS]
 */
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/capture.h"
#include "capture/elf.h"

#define CALLS 2000
#define ROUNDS_MAX 99
#define COLD_BYTES 1250000 /* more than a second-level cache holds */

/* Which function, and who is attached to it; each warm and cold. */
enum column {
	COUNT_BARE,
	COUNT_EMPTY,
	COUNT_OURS,
	RETURN_OURS, /* --launch-times */
	TIMED_BARE,
	TIMED_EMPTY,
	TIMED_OURS,
	COLUMNS,
};

static double ns[2][COLUMNS][ROUNDS_MAX];

struct child {
	pid_t pid;
	int ask, answer;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int ascending(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

static void work(void)
{
	static volatile char other[COLD_BYTES];

	for (size_t i = 0; i < sizeof(other); i += 64)
		other[i]++;
}

/* What most calls take at least. */
static double usual(void (*fn)(const void *), bool cold)
{
	static double took[CALLS];

	for (int i = 0; i < CALLS; i++) {
		uint64_t start;

		if (cold)
			work();
		start = now();
		fn(took); /* to the probe: the kernel that is launched */
		took[i] = (double)(now() - start);
	}
	qsort(took, CALLS, sizeof(*took), ascending);
	return took[CALLS / 3];
}

static void child_loop(const char *lib, int ask, int answer)
{
	void *h = dlopen(lib, RTLD_NOW);
	void (*fn[2])(const void *);
	char which;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!h)
		_exit(1);
	*(void **)&fn[0] = dlsym(h, "cuLaunchKernel");
	*(void **)&fn[1] = dlsym(h, "cuStreamSynchronize");
	while (read(ask, &which, 1) == 1) {
		double took[2];

		for (int cold = 0; cold < 2; cold++)
			took[cold] = usual(fn[which & 1], cold);
		if (write(answer, took, sizeof(took)) != sizeof(took))
			break;
	}
	_exit(0);
}

static struct child child_start(const char *lib)
{
	int to[2], from[2];
	struct child c;

	if (pipe(to) || pipe(from))
		exit(1);
	c.pid = fork();
	if (!c.pid) {
		close(to[1]);
		close(from[0]);
		child_loop(lib, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c.ask = to[1];
	c.answer = from[0];
	return c;
}

static void measure(struct child *c, char which, enum column column, int round)
{
	double took[2];

	if (write(c->ask, &which, 1) != 1 || read(c->answer, took, sizeof(took)) != sizeof(took)) {
		fprintf(stderr, "bench: the child is gone\n");
		exit(1);
	}
	for (int cold = 0; cold < 2; cold++)
		ns[cold][column][round] = took[cold];
}

static int empty_program(int attach_type)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, ARRAY_LEN(code), &opts);
}

/* An empty program on the same site, in the way that we attach. */
static void with_empty(struct child *c, const char *lib, enum attach_mode mode, bool timed,
		       uint64_t offset, int round)
{
	struct attach how = { .mode = timed || mode == ATTACH_PERF ? mode : ATTACH_MULTI,
			      .prog_fd = empty_program(link_attach_type(mode, timed)) };
	struct links links = { 0 };
	struct links *all[] = { &links };
	struct site site = { .offset = offset };
	int err = link_sites(&links, &how, lib, &site, 1);

	how.at_return = true;
	if (!err && timed && mode != ATTACH_SESSION)
		err = link_sites(&links, &how, lib, &site, 1);
	if (err) {
		fprintf(stderr, "bench: %s\n", why(err));
		exit(1);
	}
	measure(c, timed ? 1 : 0, timed ? TIMED_EMPTY : COUNT_EMPTY, round);
	links_close(all, 1);
	close(how.prog_fd);
}

static struct capture *open_ours(bool launch_times)
{
	struct capture_opts opts = { .mode = ATTACH_AUTO, .launch_times = launch_times };
	struct capture *capture;
	int err = capture_open(&opts, &capture);

	if (err) {
		fprintf(stderr, "bench: %s\n", why(err));
		exit(1);
	}
	return capture;
}

static enum attach_mode with_ours(struct child *c, int round)
{
	struct capture *capture = open_ours(false);
	enum attach_mode mode = capture_mode(capture);

	measure(c, 0, COUNT_OURS, round);
	measure(c, 1, TIMED_OURS, round);
	capture_close(capture);
	if (mode == ATTACH_SESSION) {
		capture = open_ours(true);
		measure(c, 0, RETURN_OURS, round);
		capture_close(capture);
	}
	return mode;
}

/* A shared core has two speeds, by what its neighbour does: the better fifth tells of the calm one. */
static double calm(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), ascending);
	return v[n / 5];
}

/* Is it dearer than it may be? */
static bool report_one(const char *what, double bare, double empty, double ours, double limit)
{
	double ratio = (ours - bare) / (empty - bare);

	printf("%-26s %8.0f %8.0f %8.0f %7.2f %6.2f\n", what, bare, empty, ours, ratio, limit);
	return ratio > limit;
}

static bool report(bool cold, int rounds, enum attach_mode mode)
{
	double m[COLUMNS];
	bool dear;

	for (int i = 0; i < COLUMNS; i++)
		m[i] = calm(ns[cold][i], rounds);
	printf("%-26s %8s %8s %8s %7s %6s\n", cold ? "cold" : "warm", "bare", "empty", "culprit",
	       "ratio", "limit");
	dear = report_one("entry (launch)", m[COUNT_BARE], m[COUNT_EMPTY], m[COUNT_OURS],
			  cold ? 1.35 : 1.25);
	dear |= report_one("entry+return (sync)", m[TIMED_BARE], m[TIMED_EMPTY], m[TIMED_OURS],
			   1.5);
	if (mode == ATTACH_SESSION)
		dear |= report_one("entry+return (launch)", m[COUNT_BARE], m[TIMED_EMPTY],
				   m[RETURN_OURS], 1.35);
	return dear;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "cuLaunchKernel", "cuStreamSynchronize" };
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 15;
	enum attach_mode mode = ATTACH_SESSION;
	struct elf_func found[2];
	struct child c;
	FILE *f;

	if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	f = fopen(argv[1], "r");
	if (!f || elf_find(fileno(f), names, 2, found) != 2) {
		fprintf(stderr, "bench: %s is not the null library\n", argv[1]);
		return 1;
	}
	c = child_start(argv[1]);
	measure(&c, 0, COUNT_BARE, 0);
	if (link_try(ATTACH_SESSION))
		mode = link_try(ATTACH_MULTI) ? ATTACH_PERF : ATTACH_MULTI;
	for (int r = 0; r < rounds; r++) {
		measure(&c, 0, COUNT_BARE, r);
		measure(&c, 1, TIMED_BARE, r);
		with_empty(&c, argv[1], mode, false, found[0].offset, r);
		with_empty(&c, argv[1], mode, true, found[1].offset, r);
		mode = with_ours(&c, r);
	}
	close(c.ask);
	waitpid(c.pid, NULL, 0);
	printf("ns per call, the better fifth of %d interleaved rounds, attach mode %s\n", rounds,
	       attach_mode_name(mode));
	return report(false, rounds, mode) | report(true, rounds, mode);
}
