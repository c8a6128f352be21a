// SPDX-License-Identifier: Apache-2.0
/*
 * What merging costs: files of so many stored calls each, made here, merged into one. Memory is that of the
 * process after two files and after all, in processes of their own: it must not grow with the rows.
 * Usage: merge_bench [FILES [CALLS]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/units.h"
#include "base/util.h"
#include "merge/merge.h"
#include "store/raw.h"

#define FILES_MAX 64
#define START_NS 1700000000000000000ll

static char folder[64], path[FILES_MAX][96], out[96];

/* Calls of a thread that makes one every 10 us, as the agent stores them. */
static int make(int n, long calls)
{
	struct run_row run = {
		.start_ns = START_NS, .version = "", .kernel = "", .gpu = "", .attach_mode = ""
	};
	struct process_row process = {
		.pid = 7, .comm = "train", .cmdline = "", .exe = "", .cgroup = "/", .python = ""
	};
	struct account_row account = { 0 };
	struct record rec = { .op = &op_table[OP_cudaMemcpyAsync],
			      .dur_ns = 5000,
			      .bytes = 4096,
			      .because = BECAUSE_ALL,
			      .state_ns = { [STATE_RUN] = 4800, [STATE_WAKE] = 200 } };
	struct store *s = NULL;
	char node[32];
	int64_t id, thread;
	int err;

	snprintf(path[n], sizeof(path[n]), "%s/node-%d.db", folder, n);
	snprintf(node, sizeof(node), "node-%d", n);
	run.node = run.boot_id = node;
	err = store_open(path[n], STORE_WRITE, &s);
	if (!err)
		err = store_run(s, &run);
	if (!err)
		err = store_process(s, &process, &id);
	if (!err)
		err = store_thread(s, id, 7, "train", 1, &thread);
	for (long i = 0; !err && i < calls; i++) {
		rec.start_ns = (uint64_t)i * 10000 + (uint64_t)n;
		err = store_call(s, thread, &rec, NULL);
		if (!err && i % 100000 == 0)
			err = store_commit(s);
	}
	if (!err)
		err = store_account(s, (uint64_t)calls * 10000, &account);
	if (!err)
		err = store_commit(s);
	store_close(s);
	return err;
}

static int merge_first(int n)
{
	char *input[FILES_MAX];
	struct merge_opts opts = { .input = input, .inputs = n, .output = out };
	struct merge_result result;
	uint64_t begin = clock_boot_ns(), cpu = clock_cpu_ns();
	struct rusage used;
	struct stat st;
	int err;

	for (int i = 0; i < n; i++)
		input[i] = path[i];
	err = merge_traces(&opts, &result);
	if (err) {
		fprintf(stderr, "%s\n", why(err));
		return 1;
	}
	getrusage(RUSAGE_SELF, &used);
	(void)stat(out, &st);
	printf("  %d files: %.2f s, %.2f s of CPU, at most %ld MiB of memory, %lld MiB written\n",
	       n, (double)(clock_boot_ns() - begin) / 1e9, (double)(clock_cpu_ns() - cpu) / 1e9,
	       used.ru_maxrss / 1024, (long long)st.st_size >> 20);
	(void)unlink(out);
	return 0;
}

/* In a process of its own, whose memory is its own. */
static int measure(int n)
{
	pid_t child;
	int status = 1;

	(void)fflush(stdout);
	child = fork();
	if (!child) {
		status = merge_first(n);
		(void)fflush(stdout);
		_exit(status);
	}
	return child < 0 || waitpid(child, &status, 0) < 0 || status;
}

int main(int argc, char **argv)
{
	uint64_t files = 8, calls = 1000000;
	const char *where = getenv("TMPDIR");
	int failed = 0;

	snprintf(folder, sizeof(folder), "%.32s/merge-bench-XXXXXX", where ? where : "/tmp");
	if ((argc > 1 && parse_u64(argv[1], FILES_MAX, &files)) ||
	    (argc > 2 && parse_u64(argv[2], INT32_MAX, &calls)) || files < 2 || !mkdtemp(folder))
		return 1;
	snprintf(out, sizeof(out), "%s/out.db", folder);
	printf("merge of %llu files of %llu calls each\n", (unsigned long long)files,
	       (unsigned long long)calls);
	for (int i = 0; i < (int)files && !failed; i++)
		failed = make(i, (long)calls) != 0;
	if (!failed)
		failed = measure(2) || measure((int)files);
	else
		fprintf(stderr, "%s\n", why(-EIO));
	for (int i = 0; i < (int)files; i++) {
		char log[128];

		(void)unlink(path[i]);
		snprintf(log, sizeof(log), "%.95s-wal", path[i]);
		(void)unlink(log);
		snprintf(log, sizeof(log), "%.95s-shm", path[i]);
		(void)unlink(log);
	}
	(void)rmdir(folder);
	return failed;
}
