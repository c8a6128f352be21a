// SPDX-License-Identifier: Apache-2.0
/*
 * A training loop that saves its state: a few kernels and a synchronisation on the simulated GPU, then a
 * piece of a file, straight to the disk or through the page cache with fsync; or straight from the disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"usage: loop direct|fsync|read FILE SECONDS BYTES\n"
	"\n"
	"Steps of 10 ms on the GPU; after each so many bytes of FILE. BYTES 0: nothing is written.\n"
	"Prints the longest time that one of them took, in ms, and how many there were.\n";

typedef int (*entry)(long, long, long, long, long, long, long, long, long, long, long, long, long);

static entry find(void *lib, const char *symbol)
{
	void *found = dlsym(lib, symbol);
	entry ret;

	if (!found) {
		(void)fprintf(stderr, "loop: no %s\n", symbol);
		exit(1);
	}
	memcpy(&ret, &found, sizeof(ret));
	return ret;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void step(entry launch, entry sync)
{
	for (int i = 0; i < 4; i++)
		(void)launch(0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
	(void)sync(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	usleep(10000);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("SIM_DIR");
	long bytes = argc == 5 ? strtol(argv[4], NULL, 10) : -1, writes = 0, done;
	int reads = argc > 1 && strcmp(argv[1], "read") == 0;
	int cached = argc > 1 && strcmp(argv[1], "fsync") == 0;
	double end, longest = 0;
	char path[4096];
	void *buffer, *lib;
	int fd;

	if (bytes < 0 || bytes > 1 << 24) {
		(void)fputs(usage, stderr);
		return 2;
	}
	(void)snprintf(path, sizeof(path), "%s/libcuda.so.1", dir ? dir : ".");
	lib = dlopen(path, RTLD_NOW);
	fd = open(argv[2], (reads ? O_RDONLY : O_RDWR | O_CREAT) | (cached ? 0 : O_DIRECT), 0644);
	if (!lib || fd < 0 || posix_memalign(&buffer, 4096, (size_t)bytes + 4096)) {
		(void)fprintf(stderr, "loop: %s\n", lib ? strerror(errno) : dlerror());
		return 1;
	}
	memset(buffer, 7, (size_t)bytes + 4096);
	end = now() + strtod(argv[3], NULL);
	while (now() < end) {
		double start;

		step(find(lib, "cuLaunchKernel"), find(lib, "cuStreamSynchronize"));
		start = now();
		if (!bytes)
			continue;
		done = reads ? pread(fd, buffer, (size_t)bytes, writes % 64 * bytes)
			     : pwrite(fd, buffer, (size_t)bytes, writes % 64 * bytes);
		if (done != bytes)
			(void)fprintf(stderr, "loop: %s: %s\n", reads ? "read" : "write",
				      strerror(errno));
		if (cached)
			(void)fsync(fd);
		writes++;
		longest = now() - start > longest ? now() - start : longest;
	}
	/* What is between two calls is told; the last of them must have one behind it. */
	step(find(lib, "cuLaunchKernel"), find(lib, "cuStreamSynchronize"));
	printf("longest %.0f ms of %ld\n", 1e3 * longest, writes);
	return 0;
}
