// SPDX-License-Identifier: Apache-2.0
/* Launch as fast as it goes, with a wait now and then; tell the rate of each tenth of a second. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

static const char usage[] =
	"usage: storm [--uneven|--mixed|--many] [SECONDS RATE]...\n"
	"\n"
	"Wait for a line, then for each pair launch kernels for SECONDS at RATE a second; 0 is\n"
	"as many as can be. Each 500 launches are synchronised with; uneven: three times ten and\n"
	"then 4,000. Mixed: 37 kernels in turn, each seventh launch is an extended one, each 1,009th on\n"
	"another stream, a fill after each 101st; many: 701 kernels, otherwise mixed. Prints every 100 ms the wall clock in ns, the launches so far and the CPU time\n"
	"of each in ns, and at the end of each pair \"total LAUNCHES\".\n";

#define SYNC_EVERY 500
#define UNEVEN_FEW 10l
#define UNEVEN_MANY 4000l
#define TELL_NS 100000000l

#define KERNELS 37
#define KERNELS_MANY 701
#define EXTENDED_EVERY 7
#define OTHER_STREAM_EVERY 1009
#define FILL_EVERY 101
#define FILL_BYTES 4096

static sim_entry launch, launch_ex, fill, synchronise;
static long launches;
static long kernels = KERNELS;
static int uneven, mixed;

static int is_synchronised(long n)
{
	long part = n % (3 * UNEVEN_FEW + UNEVEN_MANY);

	if (!uneven)
		return n % SYNC_EVERY == 0;
	return !part || part == UNEVEN_FEW || part == 2 * UNEVEN_FEW || part == 3 * UNEVEN_FEW;
}

static long clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void tell(long *told_ns, long *told_cpu, long *told)
{
	long now = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now - *told_ns < TELL_NS)
		return;
	printf("%ld %ld %ld\n", clock_ns(CLOCK_REALTIME), launches,
	       launches > *told ? (cpu - *told_cpu) / (launches - *told) : 0);
	fflush(stdout);
	*told_ns = now;
	*told_cpu = cpu;
	*told = launches;
}

static void launch_mixed(long n)
{
	long stream = n % OTHER_STREAM_EVERY ? 1 : 64, kernel = 16 * (1 + n % kernels);
	long config[8] = { [4] = stream };

	if (n % EXTENDED_EVERY)
		launch(kernel, 1, 1, 1, 1, 1, 1, 1, stream, 1, 0, 0, 0);
	else
		launch_ex((long)config, kernel, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	if (n % FILL_EVERY == 0)
		fill(1, 0, FILL_BYTES, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* Some at a time, then what is left of the time that they may take. */
static void storm(double seconds, long rate)
{
	long start = clock_ns(CLOCK_MONOTONIC), told_ns = start, told = launches, first = launches;
	long told_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), batch = rate ? rate / 1000 + 1 : 100;

	while (clock_ns(CLOCK_MONOTONIC) - start < (long)(seconds * 1e9)) {
		for (long i = 0; i < batch; i++) {
			if (mixed)
				launch_mixed(launches);
			else
				launch(1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0);
			if (is_synchronised(++launches))
				synchronise(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		}
		while (rate && (launches - first) * 1000 / rate >
				       (clock_ns(CLOCK_MONOTONIC) - start) / 1000000)
			usleep(200);
		tell(&told_ns, &told_cpu, &told);
	}
	printf("total %ld\n", launches);
	fflush(stdout);
}

static void find(void *lib, const char *symbol, sim_entry *ret)
{
	void *found = dlsym(lib, symbol);

	if (!found)
		exit(1);
	memcpy(ret, &found, sizeof(found));
}

int main(int argc, char **argv)
{
	const char *dir = getenv("SIM_DIR");
	char path[4096];
	void *lib;

	snprintf(path, sizeof(path), "%s/libcuda.so.1", dir ? dir : ".");
	lib = dlopen(path, RTLD_NOW);
	if (!lib || argc < 3) {
		fputs(lib ? usage : dlerror(), stderr);
		return 2;
	}
	find(lib, "cuLaunchKernel", &launch);
	find(lib, "cuLaunchKernelEx", &launch_ex);
	find(lib, "cuMemsetD8Async", &fill);
	find(lib, "cuStreamSynchronize", &synchronise);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	(void)getchar();
	uneven = !strcmp(argv[1], "--uneven");
	if (!strcmp(argv[1], "--many"))
		kernels = KERNELS_MANY;
	mixed = !strcmp(argv[1], "--mixed") || kernels == KERNELS_MANY;
	for (int i = 1 + uneven + mixed; i + 1 < argc; i += 2)
		storm(strtod(argv[i], NULL), strtol(argv[i + 1], NULL, 10));
	return 0;
}
