// SPDX-License-Identifier: Apache-2.0
/* Any text in the files of /proc: shares are shares, and what is not known is negative. */
#include "capture/system.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const paths[] = {
	"proc/stat",   "proc/loadavg",      "proc/meminfo",
	"proc/vmstat", "proc/pressure/cpu", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
};

enum { FILES = sizeof(paths) / sizeof(paths[0]) };

static int root = -1, memory[FILES];
static char dir[] = "/tmp/system_fuzz.XXXXXX";

static void need(int cond)
{
	if (!cond)
		abort();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void remove_tree(void)
{
	(void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A tree of links to memory. */
static void make_tree(void)
{
	char path[256], target[64];

	need(mkdtemp(dir) && !atexit(remove_tree));
	root = open(dir, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s", paths[i]);
		for (char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
			*s = '\0';
			(void)mkdirat(root, path, 0700);
			*s = '/';
		}
		memory[i] = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(target, sizeof(target), "/proc/self/fd/%d", memory[i]);
		need(memory[i] >= 0 && !symlinkat(target, root, path));
	}
}

/* Pieces of the input, parted by a byte that is no text. */
static const uint8_t *fill(const uint8_t *data, const uint8_t *stop)
{
	for (int i = 0; i < FILES; i++) {
		const uint8_t *end = data;

		while (end < stop && *end != 0xff)
			end++;
		need(!ftruncate(memory[i], 0));
		need(pwrite(memory[i], data, (size_t)(end - data), 0) == end - data);
		data = end < stop ? end + 1 : end;
	}
	return data;
}

static int is_share(double pct)
{
	return pct == -1 || (pct >= 0 && pct <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *stop = data + len;
	const struct core_sample *core;
	struct system_sampler *s;
	struct system_sample got;

	if (root < 0)
		make_tree();
	data = fill(data, stop);
	s = system_new_at(root);
	fill(data, stop);
	if (!system_sample(s, &got)) {
		size_t cores = system_cores(s, &core);

		need(is_share(got.busy_pct) && is_share(got.iowait_pct) && is_share(got.steal_pct));
		need(got.load1 >= -1 && got.major_faults >= -1 && got.psi_cpu_us >= -1);
		need(got.psi_io_us == -1 && got.swap_used_kb >= -1 && got.mem_total_kb >= -1);
		need(cores <= 4096);
		for (size_t i = 0; i < cores; i++)
			need(is_share(core[i].busy_pct) && core[i].mhz >= -1);
	}
	system_free(s);
	return 0;
}
