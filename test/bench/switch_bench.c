// SPDX-License-Identifier: Apache-2.0
/*
 * What following the scheduler adds to a context switch: two processes on one CPU hand a byte back
 * and forth, each hand-over is one blocking switch and one wake-up. Measured in one interleaved run:
 * without probes, with empty programs on sched_switch and sched_waking, and with ours, for tasks
 * that have nothing to do with a GPU and for tasks that are followed.
 *
 *   switch_bench [ROUNDS]
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/capture.h"

#define SWITCHES 40000
#define ROUNDS_MAX 99

enum column { BARE, EMPTY, UNINVOLVED, FOLLOWED, COLUMNS };

static const char *const names[COLUMNS] = { "no probes", "empty programs", "ours, uninvolved task",
					    "ours, followed task" };
static const double limits[COLUMNS] = { 0, 0, 2.5, 5 };

/*
 * These are not kept on every machine: see doc/overhead.md. What is over one is said; the bench fails when
 * it is three times as much, unless the empty programs cost too little for a ratio.
 */
#define FAILS_AT 3
#define TELLING_NS 50
static double ns[COLUMNS][ROUNDS_MAX];

static void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot choose a CPU");
}

/* ---- two processes, and one that does nothing ---- */

struct pair {
	pid_t pid[2];
	int ask, answer; /* of the first one */
};

static void hand_over(int in, int out, int n)
{
	char byte = 0;

	for (int i = 0; i < n; i++)
		if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
			_exit(0);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void first_loop(int ask, int answer, int in, int out)
{
	char byte = 0;

	while (read(ask, &byte, 1) == 1) {
		double start = now_ns(), took;

		if (write(out, &byte, 1) != 1)
			_exit(1);
		hand_over(in, out, SWITCHES / 2);
		if (read(in, &byte, 1) != 1)
			_exit(1);
		took = (now_ns() - start) / SWITCHES;
		if (write(answer, &took, sizeof(took)) != sizeof(took))
			break;
	}
	_exit(0);
}

static struct pair pair_start(int cpu)
{
	int ask[2], answer[2], there[2], back[2];
	struct pair p;

	if (pipe(ask) || pipe(answer) || pipe(there) || pipe(back))
		die("no pipes");
	for (int i = 0; i < 2; i++) {
		p.pid[i] = fork();
		if (p.pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		on_cpu(cpu);
		if (!i)
			first_loop(ask[0], answer[1], back[0], there[1]);
		for (;;)
			hand_over(there[0], back[1], 1);
	}
	p.ask = ask[1];
	p.answer = answer[0];
	return p;
}

static double measure(const struct pair *p)
{
	double took = 0;

	if (write(p->ask, "", 1) != 1 || read(p->answer, &took, sizeof(took)) != sizeof(took))
		die("the processes are gone");
	return took;
}

/* ---- who is attached ---- */

static int attach_empty(const char *tracepoint, int *prog)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = (uint32_t)id);

	if (id < 0)
		die("no such tracepoint");
	*prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", code, ARRAY_LEN(code), &opts);
	return *prog < 0 ? -1 : bpf_raw_tracepoint_open(NULL, *prog);
}

static double with_empty(const struct pair *p)
{
	int prog[2], link[2];
	double took;

	link[0] = attach_empty("sched_switch", &prog[0]);
	link[1] = attach_empty("sched_waking", &prog[1]);
	if (link[0] < 0 || link[1] < 0)
		die("cannot attach empty programs");
	took = measure(p);
	for (int i = 0; i < 2; i++) {
		close(link[i]);
		close(prog[i]);
	}
	return took;
}

static void ignore(const struct stop *stop, void *arg)
{
	(void)stop;
	(void)arg;
}

static double with_ours(const struct pair *p, pid_t idle, bool followed)
{
	struct capture_opts opts = { .mode = ATTACH_AUTO };
	struct capture *capture;
	double took;
	int err = capture_open(&opts, &capture);

	if (err)
		die(why(err));
	capture_follow(capture, (uint32_t)idle); /* somebody must be, or the probes do nothing */
	for (int i = 0; followed && i < 2; i++)
		capture_follow(capture, (uint32_t)p->pid[i]);
	took = measure(p);
	capture_each_stop(capture, ignore, NULL);
	capture_close(capture);
	return took;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* The median of the differences in each round: what drifts, drifts for both. */
static double added(enum column c, int rounds)
{
	double diff[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		diff[i] = ns[c][i] - ns[BARE][i];
	qsort(diff, (size_t)rounds, sizeof(diff[0]), by_value);
	return diff[rounds / 2];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 21, cpu = sched_getcpu();
	int failed = 0;
	struct pair pair;
	double empty;
	pid_t idle;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	pair = pair_start(cpu);
	idle = fork();
	if (!idle) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	measure(&pair);
	for (int i = 0; i < rounds; i++) {
		ns[BARE][i] = measure(&pair);
		ns[EMPTY][i] = with_empty(&pair);
		ns[UNINVOLVED][i] = with_ours(&pair, idle, false);
		ns[FOLLOWED][i] = with_ours(&pair, idle, true);
	}
	empty = added(EMPTY, rounds);
	printf("a context switch with its wake-up, medians of %d interleaved rounds\n", rounds);
	for (int c = EMPTY; c < COLUMNS; c++) {
		double ratio = added((enum column)c, rounds) / empty;

		printf("  %-24s %+7.0f ns   %.2f times the empty programs", names[c],
		       added((enum column)c, rounds), ratio);
		if (limits[c] > 0) {
			printf("  (limit %.1f)%s", limits[c],
			       ratio > limits[c] ? "  TOO MUCH" : "");
			failed |= empty >= TELLING_NS && ratio > FAILS_AT * limits[c];
		}
		printf("\n");
	}
	kill(pair.pid[0], SIGKILL);
	kill(pair.pid[1], SIGKILL);
	kill(idle, SIGKILL);
	return failed;
}
