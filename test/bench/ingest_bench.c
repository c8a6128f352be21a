// SPDX-License-Identifier: Apache-2.0
/*
 * How fast records become rows: ring bytes through decode and store as the agent does it, on one
 * thread, to a file. Also makes large traces for other measurements.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "decode/decode.h"
#include "store/store.h"

static const char usage[] =
	"usage: ingest_bench FILE [CALLS [RATE [THREADS [STACKS]]]]\n"
	"\n"
	"Writes CALLS (10m) that began RATE (300k) to a second on THREADS (8), each at one of\n"
	"STACKS (64) places of the program, to FILE, and commits after each of those seconds.\n"
	"The rate is how far apart they are in the trace; they are written as fast as it goes.\n";

#define SEC 1000000000ull

enum { KINDS = 9 };

static const struct kind {
	uint32_t op;
	uint64_t dur, bytes, aux;
} kinds[KINDS] = {
	{ OP_cudaLaunchKernel, 0, 0, 0x55d0c8a01000 },
	{ OP_GAP, 3000, 0, OP_cuLaunchKernel },
	{ OP_cuLaunchKernel, 0, 0, 0x55d0c8b77700 },
	{ OP_GAP, 2500, 0, OP_cudaMemcpyAsync },
	{ OP_cudaMemcpyAsync, 6000, 1 << 20, 1 },
	{ OP_GAP, 4000, 0, OP_cudaMalloc },
	{ OP_cudaMalloc, 9000, 4096, 0 },
	{ OP_GAP, 2000, 0, OP_cudaStreamSynchronize },
	{ OP_cudaStreamSynchronize, 30000, 0, 0 },
};

struct bench {
	struct store *store;
	int64_t thread[64];
	uint64_t stack[4096];
	uint64_t calls, rate, threads, stacks;
	uint64_t now, second, random;
	struct op_delta delta[64][KINDS]; /* of the present second */
};

static uint64_t pick(struct bench *b, uint64_t below)
{
	b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
	return (b->random >> 33) % below;
}

static uint64_t around(struct bench *b, uint64_t ns)
{
	return ns ? ns / 2 + pick(b, ns) : 0;
}

/* As the probes would send it: nothing here is shorter than there. */
static void make_event(struct bench *b, uint64_t n, struct call_event *e)
{
	const struct kind *k = &kinds[n % KINDS];
	uint64_t dur = around(b, k->dur), wait = k->dur > 20000 ? dur / 2 : 0;

	*e = (struct call_event){
		.size = sizeof(*e),
		.op = k->op,
		.serial = (uint32_t)(n / KINDS % b->threads),
		.pid = 4821,
		.tid = 4821,
		.because = BECAUSE_ALL,
		.start_ns = b->now,
		.dur_ns = dur,
		.bytes = k->bytes ? k->bytes << pick(b, 3) : 0,
		.stream = 0x7f0000001000,
		.aux = k->aux,
		.out = k->op == OP_cudaMalloc ? 0x7f1000000000 + (pick(b, 4096) << 12) : 0,
		.usual_ns = k->dur,
		.site = k->op == OP_GAP ? 0 : 0x7f2000000000 + n % KINDS * 64,
		.stack = k->op == OP_GAP ? 0 : b->stack[pick(b, b->stacks)],
	};
	e->state_ns[STATE_RUN] = dur - wait;
	e->state_ns[STATE_GPU] = wait;
	if (n % 4096 == 4095)
		e->because |= BECAUSE_SAMPLED;
	if (n % 20011 == 20010) { /* now and then one is slow, and waited for a CPU */
		e->because |= BECAUSE_SLOW;
		e->who_count = 1;
		e->who[0] = (struct who){ 7, 3, dur / 3, "hog" };
	}
}

static int store_second(struct bench *b, uint64_t at)
{
	int err = 0;

	for (uint64_t t = 0; t < b->threads; t++)
		for (int k = 0; !err && k < KINDS; k++)
			if (b->delta[t][k].calls)
				err = store_op_second(b->store, b->thread[t], at, &b->delta[t][k]);
	memset(b->delta, 0, sizeof(b->delta));
	return err ? err : store_commit(b->store);
}

static void count(struct bench *b, uint64_t kind, const struct record *rec)
{
	/* All gaps are one op. */
	struct op_delta *d = &b->delta[rec->serial][rec->op->class == CLASS_GAP ? 1 : kind];

	d->op = rec->op;
	d->calls++;
	d->done++;
	d->bytes += rec->bytes;
	d->total_ns += rec->dur_ns;
	d->max_ns = max_u64(d->max_ns, rec->dur_ns);
	for (int i = 0; i < STATE_COUNT; i++)
		d->state_ns[i] += rec->state_ns[i];
	d->hist[hist_bucket(rec->dur_ns)]++;
}

static int feed(struct bench *b)
{
	struct call_event e;
	struct record rec;
	int err = 0;

	for (uint64_t n = 0; !err && n < b->calls; n++) {
		b->now = SEC + n * SEC / b->rate;
		make_event(b, n, &e);
		err = decode(&e, sizeof(e), &rec);
		if (!err)
			err = store_call(b->store, b->thread[rec.serial], &rec, NULL);
		count(b, n % KINDS, &rec);
		if (!err && b->now / SEC != b->second) {
			b->second = b->now / SEC;
			err = store_second(b, b->now);
		}
	}
	return err ? err : store_second(b, b->now + 1);
}

static int put_stacks(struct bench *b)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < b->stacks; i++) {
		struct frame frame = {
			.id = i + 1000,
			.kind = FRAME_python,
			.func = "forward",
			.file = "/srv/train.py",
			.line = (int)i + 1,
		};
		const struct frame *list[1] = { &frame };
		struct stack stack = { .id = (i + 1) * 0x9e3779b97f4a7c15ull,
				       .frame = list,
				       .frames = 1 };

		b->stack[i] = stack.id;
		err = store_put_stack(b->store, &stack);
	}
	return err;
}

static int begin(struct bench *b, const char *path)
{
	uint64_t start = clock_wall_ns() - SEC - b->calls * SEC / b->rate; /* it ends now */
	struct run_row run = {
		.node = "bench",
		.start_ns = start,
		.wall_minus_boot_ns = (int64_t)start,
		.boot_id = "b",
		.version = VERSION,
		.kernel = "bench",
		.gpu = "",
		.attach_mode = "multi",
		.cpus = 2,
		.slow_ns = 1000000,
		.record_all = true,
	};
	struct process_row process = { .pid = 4821,
				       .comm = "python3",
				       .cmdline = "python3 train.py",
				       .exe = "/usr/bin/python3",
				       .cgroup = "/",
				       .python = "3.11" };
	int64_t id;
	int err = store_open(path, STORE_WRITE, &b->store);

	if (!err)
		err = store_run(b->store, &run);
	if (!err)
		err = store_process(b->store, &process, &id);
	for (uint64_t t = 0; !err && t < b->threads; t++)
		err = store_thread(b->store, id, (uint32_t)(4821 + t), "python3", 1, &b->thread[t]);
	return err ? err : put_stacks(b);
}

static uint64_t argument(char **argv, int argc, int i, uint64_t otherwise, uint64_t most)
{
	uint64_t value = i < argc ? strtoull(argv[i], NULL, 10) : otherwise;

	return value ? min_u64(value, most) : 1;
}

static void report(const struct bench *b, const char *path, uint64_t wall)
{
	struct rusage used;
	struct stat st = { 0 };
	double cpu;

	getrusage(RUSAGE_SELF, &used);
	cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	stat(path, &st);
	printf("calls %" PRIu64
	       "  wall %.2f s  cpu %.2f s  %.0f calls/s of CPU time, %.0f of wall time\n",
	       b->calls, (double)wall / 1e9, cpu, (double)b->calls / cpu,
	       (double)b->calls / ((double)wall / 1e9));
	printf("file %lld bytes, %.1f a call, memory %ld kB\n", (long long)st.st_size,
	       (double)st.st_size / (double)b->calls, used.ru_maxrss);
}

int main(int argc, char **argv)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	uint64_t start;
	int err;

	if (argc < 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return 2;
	}
	b->calls = argument(argv, argc, 2, 10000000, 1ull << 40);
	b->rate = argument(argv, argc, 3, 300000, 1000000000);
	b->threads = argument(argv, argc, 4, 8, ARRAY_LEN(b->thread));
	b->stacks = argument(argv, argc, 5, 64, ARRAY_LEN(b->stack));
	start = clock_boot_ns();
	err = begin(b, argv[1]);
	if (!err)
		err = feed(b);
	if (!err)
		err = store_run_end(b->store, b->now);
	store_close(b->store); /* part of it: the log goes into the file */
	if (err)
		fprintf(stderr, "ingest_bench: %s\n", why(err));
	else
		report(b, argv[1], clock_boot_ns() - start);
	free(b);
	return err ? 1 : 0;
}
