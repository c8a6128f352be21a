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

#define SWITCHES 2000 /* a piece of time that nobody else's work falls into, often enough */
#define PIECES 100 /* one after the other, in each column of a round */
#define TURNS 2 /* of the columns that cost no time to set up: all ratios are to these */
#define ROUNDS_MAX 99
#define PIECES_MAX (PIECES * TURNS * ROUNDS_MAX)

enum column { BARE, EMPTY, UNINVOLVED, FOLLOWED, COLUMNS };

static const char *const names[COLUMNS] = { "no probes", "empty programs", "ours, uninvolved task",
					    "ours, followed task" };
static const double limits[COLUMNS] = { 0, 0, 2.5, 5 };

/* Two empty programs cost more than this anywhere: where they seem not to, it was not measured. */
#define TELLING_NS 50

struct pieces {
	double ns[PIECES_MAX];
	int n;
};

static struct pieces pieces[COLUMNS];

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

static double measure_piece(const struct pair *p)
{
	double took = 0;

	if (write(p->ask, "", 1) != 1 || read(p->answer, &took, sizeof(took)) != sizeof(took))
		die("the processes are gone");
	return took;
}

static void measure(const struct pair *p, enum column c)
{
	struct pieces *to = &pieces[c];

	measure_piece(p); /* warms up what was attached */
	for (int i = 0; i < PIECES && to->n < PIECES_MAX; i++)
		to->ns[to->n++] = measure_piece(p);
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

static void with_empty(const struct pair *p)
{
	int prog[2], link[2];

	link[0] = attach_empty("sched_switch", &prog[0]);
	link[1] = attach_empty("sched_waking", &prog[1]);
	if (link[0] < 0 || link[1] < 0)
		die("cannot attach empty programs");
	measure(p, EMPTY);
	for (int i = 0; i < 2; i++) {
		close(link[i]);
		close(prog[i]);
	}
}

static void ignore(const struct stop *stop, void *arg)
{
	(void)stop;
	(void)arg;
}

static void with_ours(const struct pair *p, pid_t idle, bool followed)
{
	struct capture_opts opts = { .mode = ATTACH_AUTO };
	struct capture *capture;
	int err = capture_open(&opts, &capture);

	if (err)
		die(why(err));
	capture_follow(capture, (uint32_t)idle); /* somebody must be, or the probes do nothing */
	for (int i = 0; followed && i < 2; i++)
		capture_follow(capture, (uint32_t)p->pid[i]);
	measure(p, followed ? FOLLOWED : UNINVOLVED);
	capture_each_stop(capture, ignore, NULL);
	capture_close(capture);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/*
 * One of 50 pieces takes less. Such a machine has two speeds, by what its neighbour on the core does,
 * for tenths of seconds: the calm one is the same each time.
 */
static double calm(enum column c)
{
	struct pieces *of = &pieces[c];

	qsort(of->ns, (size_t)of->n, sizeof(of->ns[0]), by_value);
	return of->ns[of->n / 50];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 11, cpu = sched_getcpu();
	int failed = 0;
	struct pair pair;
	double bare, empty;
	pid_t idle;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	pair = pair_start(cpu);
	idle = fork();
	if (!idle) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < TURNS; k++) {
			measure(&pair, BARE);
			with_empty(&pair);
		}
		with_ours(&pair, idle, false);
		with_ours(&pair, idle, true);
	}
	bare = calm(BARE);
	empty = calm(EMPTY) - bare;
	if (empty < TELLING_NS)
		die("too little calm for a ratio: even empty programs seem to cost nothing");
	printf("a context switch with its wake-up: %.0f ns where it is calm; %d interleaved rounds\n",
	       bare, rounds);
	for (int c = EMPTY; c < COLUMNS; c++) {
		double added = calm((enum column)c) - bare, ratio = added / empty;

		printf("  %-24s %+7.0f ns   %.2f times the empty programs", names[c], added, ratio);
		if (limits[c] > 0) {
			printf("  (limit %.1f)%s", limits[c],
			       ratio > limits[c] ? "  TOO MUCH" : "");
			failed |= ratio > limits[c];
		}
		printf("\n");
	}
	kill(pair.pid[0], SIGKILL);
	kill(pair.pid[1], SIGKILL);
	kill(idle, SIGKILL);
	return failed;
}
