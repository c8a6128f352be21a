// SPDX-License-Identifier: Apache-2.0
/* Call one library function an exact number of times, so that a tracer's count can be checked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define ARG_UNIT 4096
#define THREADS_MAX 1024
#define CALL_NUMBER LONG_MIN /* stands for the number of the call */

static const char usage[] =
	"usage: calls [OPTIONS] SYMBOL COUNT THREADS [ARG...]\n"
	"\n"
	"Call SYMBOL exactly COUNT times in all, split evenly over THREADS threads (the\n"
	"main thread is the first), then print \"SYMBOL COUNT\". Argument k of each call is\n"
	"ARG k: a number, or \"n\" for the number of the call, 0 to COUNT-1. Those not given\n"
	"are k * 4096. The argument that the call fills in is always the address of a word\n"
	"of the thread's own.\n"
	"\n"
	"  --wait            print \"ready PID\", then wait for a line or the end of stdin\n"
	"  --wait-file PATH  print \"ready PID\", then wait until PATH exists\n"
	"  --late            load the library only after the wait\n"
	"  --sleep-us N      sleep between the calls of a thread\n"
	"  --values          print the arguments and how many calls failed, too\n";

struct job {
	const char *symbol;
	long count, threads, sleep_us;
	long args[SIM_ARGS];
	int out; /* number of the argument that is filled in, 0 = none */
	sim_entry entry;
	long (*counter)(const char *symbol); /* NULL where the library is not simulated */
	_Atomic long failed;
};

struct share {
	struct job *job;
	pthread_t thread;
	long first, count;
};

struct waiting {
	bool on_stdin, late, values;
	const char *file;
};

static void die(const char *what, const char *detail)
{
	(void)fprintf(stderr, "calls: %s: %s\n", what, detail);
	exit(1);
}

static long number(const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 0);
	if (end == text || *end || errno || value < min || value > max)
		die(text, "not a number, or out of range");
	return value;
}

static void sleep_us(long us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (us && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void *run_share(void *arg)
{
	struct share *share = arg;
	struct job *job = share->job;
	long filled = 0;

	for (long n = share->first; n < share->first + share->count; n++) {
		long a[SIM_ARGS];

		for (int i = 0; i < SIM_ARGS; i++)
			a[i] = job->args[i] == CALL_NUMBER ? n : job->args[i];
		if (job->out)
			a[job->out - 1] = (long)&filled;
		if (job->entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]))
			atomic_fetch_add(&job->failed, 1);
		sleep_us(job->sleep_us);
	}
	return NULL;
}

static void run(struct job *job)
{
	struct share shares[THREADS_MAX] = { { .job = job } };
	long next = 0;

	for (long t = 0; t < job->threads; t++) {
		shares[t].job = job;
		shares[t].first = next;
		shares[t].count = job->count / job->threads + (t < job->count % job->threads);
		next += shares[t].count;
		if (t && pthread_create(&shares[t].thread, NULL, run_share, &shares[t]))
			die("thread", "cannot start");
	}
	run_share(&shares[0]);
	for (long t = 1; t < job->threads; t++)
		(void)pthread_join(shares[t].thread, NULL); /* ours and joinable */
}

/* The prefixes overlap, so the longer one comes first. */
static const char *soname_of(const char *symbol)
{
	static const struct {
		const char *prefix, *soname;
	} libs[] = {
		{ "cuda", "libcudart.so.13" },
		{ "cu", "libcuda.so.1" },
		{ "nccl", "libnccl.so.2" },
	};

	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (strncmp(symbol, libs[i].prefix, strlen(libs[i].prefix)) == 0)
			return libs[i].soname;
	die(symbol, "which library would that be in?");
	return NULL;
}

static void load(struct job *job)
{
	const char *dir = getenv("SIM_DIR");
	char path[PATH_MAX];
	void *lib, *found;

	(void)snprintf(path, sizeof(path), "%s%s%s", dir ? dir : "", dir ? "/" : "",
		       soname_of(job->symbol));
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		die("load", dlerror());
	found = dlsym(lib, job->symbol);
	if (!found)
		die(job->symbol, "not in its library");
	memcpy(&job->entry, &found, sizeof(found));
	found = dlsym(lib, "sim_counter");
	memcpy(&job->counter, &found, sizeof(found));
}

static void wait_for_start(const struct waiting *w)
{
	if (!w->on_stdin && !w->file)
		return;
	printf("ready %d\n", (int)getpid());
	(void)fflush(stdout);
	if (w->on_stdin) {
		int c;

		do
			c = getchar();
		while (c != '\n' && c != EOF);
	}
	while (w->file && access(w->file, F_OK))
		sleep_us(5000);
}

static void print_values(const struct job *job)
{
	printf("args");
	for (int i = 0; i < SIM_ARGS; i++) {
		if (i + 1 == job->out)
			printf(" out");
		else if (job->args[i] == CALL_NUMBER)
			printf(" n");
		else
			printf(" %ld", job->args[i]);
	}
	printf("\nfailed %ld\n", job->failed);
}

static void parse(int argc, char **argv, struct job *job, struct waiting *w)
{
	static const struct option options[] = {
		{ "wait", no_argument, NULL, 'w' },   { "wait-file", required_argument, NULL, 'f' },
		{ "late", no_argument, NULL, 'l' },   { "sleep-us", required_argument, NULL, 's' },
		{ "values", no_argument, NULL, 'v' }, { 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (c) {
		case 'w':
			w->on_stdin = true;
			break;
		case 'f':
			w->file = optarg;
			break;
		case 'l':
			w->late = true;
			break;
		case 's':
			job->sleep_us = number(optarg, 0, LONG_MAX);
			break;
		case 'v':
			w->values = true;
			break;
		default:
			(void)fputs(usage, stderr);
			exit(2);
		}
	}
	if (argc - optind < 3 || argc - optind > 3 + SIM_ARGS) {
		(void)fputs(usage, stderr);
		exit(2);
	}
	job->symbol = argv[optind++];
	job->count = number(argv[optind++], 0, LONG_MAX);
	job->threads = number(argv[optind++], 1, THREADS_MAX);
	for (int i = 0; i < SIM_ARGS; i++) {
		const char *text = optind < argc ? argv[optind++] : NULL;

		if (!text)
			job->args[i] = (i + 1l) * ARG_UNIT;
		else if (strcmp(text, "n") == 0)
			job->args[i] = CALL_NUMBER;
		else
			job->args[i] = number(text, LONG_MIN + 1, LONG_MAX);
	}
}

int main(int argc, char **argv)
{
	struct job job = { 0 };
	struct waiting w = { 0 };

	parse(argc, argv, &job, &w);
#define OP(lib, sym, class, size, stream, aux, out_, doc)                                          \
	if (strcmp(job.symbol, #sym) == 0)                                                         \
		job.out = out_;
#include "wire/ops.def"

	if (!w.late)
		load(&job);
	wait_for_start(&w);
	if (w.late)
		load(&job);
	run(&job);

	printf("%s %ld\n", job.symbol, job.count);
	if (w.values)
		print_values(&job);
	if (job.counter && job.counter(job.symbol) != job.count)
		die(job.symbol, "the library counted other than we did");
	return 0;
}
