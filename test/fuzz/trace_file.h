/* SPDX-License-Identifier: Apache-2.0 */
/* A small trace in a folder of its own, in memory, for targets that read files. */
#ifndef FUZZ_TRACE_FILE_H
#define FUZZ_TRACE_FILE_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "store/store.h"

static char fuzz_dir[64], fuzz_db[96];

/* With rows in the tables that refer to each other. */
static inline void fuzz_trace(void)
{
	struct run_row run = { .node = "n",
			       .start_ns = 1,
			       .boot_id = "b",
			       .version = "",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "" };
	struct process_row process = {
		.pid = 7, .comm = "c", .cmdline = "", .exe = "", .cgroup = "/a", .python = ""
	};
	struct op_delta delta = {
		.op = &op_table[OP_cudaMemcpy], .calls = 3, .done = 2, .total_ns = 9
	};
	struct record rec = { .op = &op_table[OP_cudaMemcpy], .dur_ns = 5 };
	struct account_row account = { 0 };
	struct store *s = NULL;
	int64_t id, thread;

	str_copy(fuzz_dir, sizeof(fuzz_dir), "/dev/shm/culprit-fuzz-XXXXXX");
	if (!mkdtemp(fuzz_dir))
		abort();
	snprintf(fuzz_db, sizeof(fuzz_db), "%s/trace.db", fuzz_dir);
	if (store_open(fuzz_db, STORE_WRITE, &s) || store_run(s, &run) ||
	    store_process(s, &process, &id) || store_thread(s, id, 7, "c", 1, &thread) ||
	    store_op_second(s, thread, 2, &delta) || store_call(s, thread, &rec, NULL) ||
	    store_account(s, 3, &account) || store_commit(s))
		abort();
	store_close(s);
}

static inline void fuzz_trace_remove(void)
{
	DIR *dir = opendir(fuzz_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0); /* fails for "." and ".." */
	if (dir)
		closedir(dir);
	(void)rmdir(fuzz_dir);
}

#endif
