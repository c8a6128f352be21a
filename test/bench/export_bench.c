// SPDX-License-Identifier: Apache-2.0
/*
 * How long a timeline takes and how large it is, of a made-up trace in which every call was recorded:
 * steps of launches, copies and a synchronisation on four threads. Each export is a process of its own,
 * so that its memory can be told. Usage: export_bench [CALLS] [FOLDER]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "export/export.h"

#define THREADS 4
#define STEP_CALLS 50 /* on one thread */
#define NOW_NS 1700000000000000000ll

struct worker {
	int64_t id;
	uint64_t now_ns;
	uint32_t tid;
};

static int put_call(struct store *s, struct worker *w, enum op_id op, uint64_t dur_ns,
		    uint64_t bytes, uint64_t n)
{
	struct record rec = {
		.op = &op_table[op],
		.pid = 4821,
		.tid = w->tid,
		.because = BECAUSE_ALL,
		.start_ns = w->now_ns,
		.dur_ns = dur_ns,
		.bytes = bytes,
		.stream = 0x7f3400000000ull + (n % 3) * 0x1000,
	};
	enum state waits = op == OP_cudaStreamSynchronize ? STATE_GPU : STATE_RUN;

	if (waits != STATE_RUN)
		rec.state_ns[STATE_RUN] = dur_ns / 10;
	rec.state_ns[waits] += dur_ns - rec.state_ns[STATE_RUN];
	w->now_ns += dur_ns + 3000 + n % 1000;
	return store_call(s, w->id, &rec, NULL);
}

/* A step: 4 copies, 45 launches, of which half are timed driver calls, and a wait for all of it. */
static int put_step(struct store *s, struct worker *w, uint64_t n)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < STEP_CALLS - 1; i++) {
		uint64_t k = n * STEP_CALLS + i;

		if (i % 12 == 0)
			err = put_call(s, w, OP_cudaMemcpyAsync, 4000 + k % 3000, 1 << (10 + i % 8),
				       k);
		else
			err = put_call(s, w, OP_cuMemsetD8Async, 2000 + k % 2000, 4096, k);
	}
	return err ? err : put_call(s, w, OP_cudaStreamSynchronize, 900000 + n % 90000, 0, n);
}

static int make_trace(const char *path, uint64_t calls)
{
	struct run_row run = { .node = "bench",
			       .start_ns = NOW_NS,
			       .wall_minus_boot_ns = NOW_NS,
			       .boot_id = "b",
			       .version = VERSION,
			       .kernel = "6.1",
			       .gpu = "",
			       .attach_mode = "none",
			       .cpus = THREADS,
			       .record_all = true };
	struct process_row process = { .pid = 4821,
				       .comm = "python3",
				       .cmdline = "python3 train.py",
				       .exe = "/usr/bin/python3",
				       .cgroup = "/",
				       .python = "3.11" };
	struct worker worker[THREADS];
	struct store *s = NULL;
	struct op_delta last = { .op = &op_table[OP_cudaStreamSynchronize], .calls = 1, .done = 1 };
	int64_t id;
	int err = store_open(path, STORE_WRITE, &s);

	if (!err)
		err = store_run(s, &run);
	if (!err)
		err = store_process(s, &process, &id);
	for (uint32_t i = 0; !err && i < THREADS; i++) {
		worker[i] = (struct worker){ .tid = 4821 + i, .now_ns = 1000000 + i * 700 };
		err = store_thread(s, id, worker[i].tid, "worker", 1000, &worker[i].id);
	}
	for (uint64_t n = 0; !err && n * STEP_CALLS < calls; n++)
		err = put_step(s, &worker[n % THREADS], n);
	if (!err)
		err = store_op_second(s, worker[0].id, worker[0].now_ns + 1000000000, &last);
	if (!err)
		err = store_commit(s);
	store_close(s);
	return err;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static int export_once(const char *db, const char *path, enum export_format format)
{
	struct export_opts opts = { .format = format };
	struct export_result result = { 0 };
	struct store *s = NULL;
	struct rusage use;
	struct stat st = { 0 };
	uint64_t start = clock_boot_ns();
	FILE *out = fopen(path, "we");
	int err = store_open(db, STORE_READ, &s);

	if (!out)
		return fail(-1, "%s cannot be written", path);
	if (!err)
		err = export_timeline(s, &opts, out, &result);
	(void)fclose(out);
	store_close(s);
	if (err)
		return err;
	(void)getrusage(RUSAGE_SELF, &use);
	(void)stat(path, &st);
	printf("%-9s %9llu slices %7.2f s, %5.2f s of CPU %7.1f bytes a slice %6ld MiB at most\n",
	       format == EXPORT_PERFETTO ? "perfetto" : "chrome", (unsigned long long)result.slices,
	       (double)(clock_boot_ns() - start) / 1e9,
	       seconds(&use.ru_utime) + seconds(&use.ru_stime),
	       (double)st.st_size / (double)max_u64(result.slices, 1), use.ru_maxrss / 1024);
	return 0;
}

/* In a process of its own. */
static int apart(const char *db, uint64_t calls, const char *path, enum export_format format)
{
	int status = 1, err;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (!pid) {
		err = path ? export_once(db, path, format) : make_trace(db, calls);
		if (err)
			fprintf(stderr, "export_bench: %s\n", why(err));
		(void)fflush(stdout);
		_exit(err ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return status;
}

int main(int argc, char **argv)
{
	uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const char *folder = argc > 2 ? argv[2] : "/tmp";
	char db[512], path[512];
	int failed = 0;

	for (uint64_t n = calls / 10; !failed && n <= calls; n *= 10) {
		snprintf(db, sizeof(db), "%s/culprit-bench-%d.db", folder, getpid());
		snprintf(path, sizeof(path), "%s/culprit-bench-%d.out", folder, getpid());
		failed |= apart(db, n, NULL, EXPORT_PERFETTO);
		failed |= apart(db, n, path, EXPORT_PERFETTO);
		failed |= apart(db, n, path, EXPORT_CHROME);
		(void)unlink(db);
		(void)unlink(path);
	}
	return failed != 0;
}
