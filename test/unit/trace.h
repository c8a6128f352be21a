/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that need a trace: a folder that goes away, a run to write into, SQL to look with. */
#ifndef TEST_UNIT_TRACE_H
#define TEST_UNIT_TRACE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "store/store_int.h"
#include "test/test.h"

#define SEC 1000000000ull
#define MSEC 1000000ull

/* Wall-clock time of boot in every run written here. */
#define BOOT_NS 1700000000000000000ll

static char trace_dir[64], trace_db[96]; /* of the test that runs */

static inline void trace_dir_remove(void)
{
	DIR *dir = opendir(trace_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0); /* fails for "." and ".." */
	if (dir)
		closedir(dir);
	(void)rmdir(trace_dir); /* a test that leaves a folder in it has failed already */
}

static inline int trace_dir_run(int (*test)(void))
{
	int failed;

	str_copy(trace_dir, sizeof(trace_dir), "/tmp/culprit-test-XXXXXX");
	if (!mkdtemp(trace_dir))
		return test_fail(__FILE__, __LINE__, "no folder for the test");
	snprintf(trace_db, sizeof(trace_db), "%s/trace.db", trace_dir);
	failed = test();
	trace_dir_remove();
	return failed;
}

/* A test with an empty folder trace_dir, removed however it ends. */
#define DIR_TEST(name)                                                                             \
	static int name##_body(void);                                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		return trace_dir_run(name##_body);                                                 \
	}                                                                                          \
	static int name##_body(void)

/* Begin a run whose boot time 0 is BOOT_NS. */
static inline int trace_run(struct store *s)
{
	struct run_row run = {
		.node = "gpu-node-01",
		.start_ns = BOOT_NS,
		.wall_minus_boot_ns = BOOT_NS,
		.boot_id = "b007",
		.version = "0.1.0",
		.kernel = "6.1.0",
		.gpu = "H200",
		.attach_mode = "multi",
		.slow_ns = 1000,
		.count_cost_ns = 50,
		.timed_cost_ns = 150,
		.cpus = 16,
	};

	return store_run(s, &run);
}

static inline int trace_process(struct store *s, uint32_t pid, const char *comm, int64_t *ret)
{
	struct process_row row = {
		.pid = pid,
		.ppid = 1,
		.start_boot_ns = 5,
		.comm = comm,
		.cmdline = "python3 train.py",
		.exe = "/usr/bin/python3",
		.cgroup = "/",
		.python = "3.11",
	};

	return store_process(s, &row, ret);
}

/* The answer as the sqlite3 shell prints it: columns joined by '|', rows by ';'. NULL is "-". */
static inline const char *trace_ask(struct store *s, const char *sql)
{
	static char answer[32768];
	sqlite3_stmt *stmt;
	size_t at = 0;

	answer[0] = '\0';
	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return sqlite3_errmsg(s->db);
	for (int row = 0; sqlite3_step(stmt) == SQLITE_ROW; row++) {
		for (int i = 0; i < sqlite3_column_count(stmt) && at < sizeof(answer); i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);
			const char *before = i ? "|" : row ? ";" : "";

			at += (size_t)snprintf(answer + at, sizeof(answer) - at, "%s%s", before,
					       text ? text : "-");
		}
	}
	sqlite3_finalize(stmt);
	return answer;
}

#endif
