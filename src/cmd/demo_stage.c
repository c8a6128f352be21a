// SPDX-License-Identifier: Apache-2.0
/* The folder and the processes of a scenario. Each child dies with us, whatever happens. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "cmd/assets.h"
#include "cmd/demo.h"

/* ---- the folder ---- */

static int put_asset(const struct stage *st, const struct asset *a)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", st->dir, a->name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return fail(-errno, "%s: %s", path, strerror(errno));
	n = write(fd, a->start, (size_t)(a->end - a->start));
	close(fd);
	return n == a->end - a->start ? 0 : fail(-EIO, "%s: cannot be written", path);
}

/* The last CPU that we may use: the first one is everybody's favourite. */
static int pick_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				cpu = i;
	return cpu;
}

int stage_set(struct stage *st)
{
	int err = 0;

	st->cpu = pick_cpu();
	snprintf(st->dir, sizeof(st->dir), "/tmp/culprit-demo-XXXXXX");
	if (!mkdtemp(st->dir)) {
		err = fail(-errno, "%s: %s", st->dir, strerror(errno));
		st->dir[0] = '\0';
	}
	for (const struct asset *a = assets; !err && a->name; a++)
		err = put_asset(st, a);
	return err;
}

static void stop_child(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

void stage_leave(struct stage *st)
{
	for (size_t i = 0; i < ARRAY_LEN(st->intruder); i++)
		stop_child(&st->intruder[i]);
	stop_child(&st->tenant);
}

void stage_clear(struct stage *st)
{
	char path[128];

	stage_leave(st);
	stop_child(&st->train);
	if (!st->dir[0])
		return;
	for (const struct asset *a = assets; a->name; a++) {
		snprintf(path, sizeof(path), "%s/%s", st->dir, a->name);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/device", st->dir);
	unlink(path);
	rmdir(st->dir);
}

/* ---- the processes ---- */

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* cpu -1: any. */
static pid_t start_child(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_IGN);
		if (cpu >= 0)
			pin(cpu);
	}
	return pid;
}

static void set_knobs(const struct stage *st, const struct scenario *sc)
{
	char device[128];

	setenv("SIM_DIR", st->dir, 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	for (int i = 0; i + 1 < WORDS_MAX && sc->knob[i]; i += 2)
		setenv(sc->knob[i], sc->knob[i + 1], 1);
	if (sc->tenant) {
		snprintf(device, sizeof(device), "%s/device", st->dir);
		setenv("SIM_SHARE", device, 1);
	}
}

/* The training loop, with these further words: Python on the simulated GPU, or C on a real one. */
static void exec_loop(const struct stage *st, const struct scenario *sc, const char *const *words)
{
	char program[128];
	const char *argv[4 + WORDS_MAX] = { 0 };
	char *given[ARRAY_LEN(argv)];
	int n = 0, null = open("/dev/null", O_WRONLY);

	snprintf(program, sizeof(program), "%s/%s", st->dir, st->gpu ? "gpu-train" : "train.py");
	if (!st->gpu)
		argv[n++] = "python3";
	argv[n++] = program;
	argv[n++] = "--seconds=120";
	for (int i = 0; i < WORDS_MAX && words[i]; i++)
		argv[n++] = words[i];
	dup2(null, STDOUT_FILENO);
	set_knobs(st, sc);
	memcpy(given, argv, sizeof(argv)); /* execvp() changes none of them, but says not so */
	execvp(argv[0], given);
	_exit(127);
}

int stage_train(struct stage *st, const struct scenario *sc)
{
	int gate[2];
	char byte;

	if (pipe2(gate, O_CLOEXEC))
		return fail(-errno, "pipe: %s", strerror(errno));
	st->train = start_child(st->cpu);
	if (!st->train) {
		close(gate[1]);
		(void)!read(gate[0], &byte, 1); /* its end */
		exec_loop(st, sc, sc->train);
	}
	close(gate[0]);
	st->gate = gate[1];
	return st->train < 0 ? fail(-errno, "fork: %s", strerror(errno)) : 0;
}

void stage_begin(struct stage *st)
{
	close(st->gate);
}

static int start_tenant(struct stage *st, const struct scenario *sc)
{
	const char *const words[WORDS_MAX] = { "--name", sc->tenant, "--kernel-us",
					       "400",    "--sync",   "block" };

	st->tenant = start_child(-1);
	if (!st->tenant)
		exec_loop(st, sc, words);
	return st->tenant < 0 ? fail(-errno, "fork: %s", strerror(errno)) : 0;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void spin(const struct scenario *sc)
{
	const struct timespec rest = { sc->rest_ms / 1000, sc->rest_ms % 1000 * 1000000L };

	for (;;) {
		uint64_t end = now_ms() + sc->spin_ms;

		while (!sc->rest_ms || now_ms() < end)
			;
		nanosleep(&rest, NULL);
	}
}

int stage_intrude(struct stage *st, const struct scenario *sc)
{
	for (int i = 0; i < INTRUDERS_MAX && sc->intruder[i]; i++) {
		pid_t pid = start_child(st->cpu);

		if (pid < 0)
			return fail(-errno, "fork: %s", strerror(errno));
		if (!pid) {
			prctl(PR_SET_NAME, sc->intruder[i]);
			spin(sc);
		}
		st->intruder[i] = pid;
	}
	return sc->tenant ? start_tenant(st, sc) : 0;
}

int stage_alive(struct stage *st)
{
	int status;

	if (waitpid(st->train, &status, WNOHANG) != st->train)
		return 0;
	st->train = 0;
	return fail(-ECHILD, "the training loop ended early (status %d): is %s there?",
		    WEXITSTATUS(status), st->gpu ? "a GPU with its driver" : "python3");
}
