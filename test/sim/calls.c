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
	"  --struct N,...    argument 1 points to a struct: its sizes, then what tells\n"
	"                    the direction of the copy (see wire/shapes.def)\n"
	"  --all             SYMBOL is a prefix: call each function of its library, the\n"
	"                    n-th one COUNT + n times; print \"SYMBOL COUNT BYTES\" for each\n"
	"  --values          print the arguments and how many calls failed, too\n";

static const struct op rows[OP_COUNT] = {
#define OP(lib_, sym, class_, size_, stream_, aux_, out_, doc_)                                    \
	[OP_##sym] = { #sym, doc_, LIB_##lib_, CLASS_##class_, { size_, stream_, aux_, out_ } },
#include "wire/ops.def"
};

static const struct op_shape shapes[OP_COUNT] = {
#define PRODUCT(sym, unit_, a, b, c) [OP_##sym] = { .unit = unit_, .factor = { a, b, c } },
#define STRUCT(sym, words_, offset_, kind_, source_, target_)                                      \
	[OP_##sym] = { 1, { 0 }, words_, offset_, kind_, source_, target_ },
#include "wire/shapes.def"
};

struct job {
	const char *symbol;
	int id; /* its row, -1 = none */
	long count, threads, sleep_us;
	long args[SIM_ARGS];
	int out; /* number of the argument that is filled in, 0 = none */
	const char *described; /* the struct that argument 1 points to; NULL: it is a number */
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
	bool on_stdin, late, values, all;
	const char *file;
	const char *described;
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
		if (job->described)
			a[0] = (long)job->described;
		if (job->entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
			       a[11], a[12]))
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
		{ "wait", no_argument, NULL, 'w' },
		{ "wait-file", required_argument, NULL, 'f' },
		{ "late", no_argument, NULL, 'l' },
		{ "sleep-us", required_argument, NULL, 's' },
		{ "all", no_argument, NULL, 'a' },
		{ "values", no_argument, NULL, 'v' },
		{ "struct", required_argument, NULL, 'd' },
		{ 0 },
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
		case 'a':
			w->all = true;
			break;
		case 'd':
			w->described = optarg;
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

/* Fill the struct of that symbol: sizes first, then the kind or both memory types. */
static void describe(struct job *job, char *text)
{
	const struct op_shape *s = job->id < 0 ? NULL : &shapes[job->id];
	static char bytes[256];
	char *rest, *value = strtok_r(text, ",", &rest);

	if (!s || !s->words)
		die(job->symbol, "has no struct");
	for (int i = 0; i < s->words && value; i++, value = strtok_r(NULL, ",", &rest)) {
		long size = number(value, 0, LONG_MAX);

		memcpy(bytes + s->offset + 8l * i, &size, 8);
	}
	for (int i = 0; i < 2 && value; i++, value = strtok_r(NULL, ",", &rest)) {
		long kind = number(value, 0, INT_MAX);

		memcpy(bytes + (i ? s->target : s->kind + s->source), &kind, 4);
	}
	job->described = bytes;
}

/* ---- every function of a library ---- */

/* Arguments are small numbers; a struct says 3 by 5 by 7. */
static long bytes_of(int id, const long args[SIM_ARGS])
{
	const struct op_shape *s = &shapes[id];
	long bytes = s->unit;

	if (s->words)
		return s->words == 2 ? 15 : 105;
	if (!s->unit)
		return rows[id].args.size ? args[rows[id].args.size - 1] : 0;
	for (int i = 0; i < 3; i++)
		bytes *= s->factor[i] ? args[s->factor[i] - 1] : 1;
	return bytes;
}

/* One row after the other, each a number of times of its own, so that none passes for another. */
static void run_all(struct job *job, const struct waiting *w)
{
	static const struct waiting at_once = { 0 };
	const char *prefix = job->symbol;

	for (int id = 0; id < OP_COUNT; id++) {
		char text[] = "3,5,7";

		if (strncmp(rows[id].symbol, prefix, strlen(prefix)) != 0 ||
		    strcmp(soname_of(rows[id].symbol), soname_of(prefix)) != 0)
			continue;
		job->symbol = rows[id].symbol;
		job->id = id;
		job->out = rows[id].args.out;
		job->described = NULL;
		if (shapes[id].words)
			describe(job, text);
		for (int i = 0; i < SIM_ARGS; i++)
			job->args[i] = i + 2;
		load(job);
		if (w->on_stdin || w->file) {
			wait_for_start(w);
			w = &at_once;
		}
		job->count += id;
		run(job);
		printf("%s %ld %ld\n", job->symbol, job->count,
		       job->count * bytes_of(id, job->args));
		job->count -= id;
	}
}

int main(int argc, char **argv)
{
	struct job job = { 0 };
	struct waiting w = { 0 };

	parse(argc, argv, &job, &w);
	job.id = -1;
	for (int id = 0; id < OP_COUNT; id++)
		if (strcmp(job.symbol, rows[id].symbol) == 0)
			job.id = id;
	if (w.all) {
		run_all(&job, &w);
		return 0;
	}
	job.out = job.id < 0 ? 0 : rows[job.id].args.out;
	if (w.described)
		describe(&job, strdup(w.described));
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
