// SPDX-License-Identifier: Apache-2.0
/* Any text as a query: it ends, and the file and the folder stay as they are. */
#include "query/query.h"

#include <dirent.h>
#include <sys/stat.h>

#include "test/fuzz/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct query *query;
static FILE *out;

static void leave(void)
{
	query_close(query);
	fclose(out);
	fuzz_trace_remove();
}

/* Once, at the first input. */
static void begin(void)
{
	const struct query_opts opts = { .timeout_ns = 50000000, .rows_max = 20 };

	fuzz_trace();
	out = fopen("/dev/null", "w");
	if (!out || query_open(fuzz_db, &opts, &query))
		abort();
	atexit(leave);
}

static int files(void)
{
	DIR *dir = opendir(fuzz_dir);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct stat before, after;
	char *sql = xcalloc(len + 1, 1);
	int were;

	if (!query)
		begin();
	were = files();
	if (len)
		memcpy(sql, data, len);
	if (stat(fuzz_db, &before))
		abort();
	(void)query_print(query, sql, (enum query_format)(len % 3), out, NULL);
	if (stat(fuzz_db, &after) || after.st_size != before.st_size ||
	    after.st_mtim.tv_nsec != before.st_mtim.tv_nsec || files() != were)
		abort();
	free(sql);
	return 0;
}
