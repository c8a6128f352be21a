// SPDX-License-Identifier: Apache-2.0
/*
 * The demo's training loop on a real GPU, through the driver alone: load a batch, copy it in, kernels, wait.
 * Takes the options of test/sim/train.py. The kernels only wait, so any GPU takes the same time for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "helper/old_glibc.h"

#define LAYERS 56
#define BATCH 3200000
#define BATCH_PAGEABLE 96000000
#define COLD_LINES 250 /* of each kernel */
#define HOST_NS 3000000 /* of work for each batch */

static const char spin_ptx[] = ".version 6.0\n"
			       ".target sm_60\n"
			       ".address_size 64\n"
			       ".visible .entry spin(.param .u64 ns)\n"
			       "{\n"
			       ".reg .u64 %r<4>;\n"
			       ".reg .pred %p;\n"
			       "ld.param.u64 %r1, [ns];\n"
			       "mov.u64 %r2, %globaltimer;\n"
			       "again:\n"
			       "mov.u64 %r3, %globaltimer;\n"
			       "sub.u64 %r3, %r3, %r2;\n"
			       "setp.lt.u64 %p, %r3, %r1;\n"
			       "@%p bra again;\n"
			       "ret;\n"
			       "}\n";

/* The driver's functions that are needed; handles are pointers, device addresses are 64 bits. */
#define DRIVER(X)                                                                                  \
	X(cuInit, unsigned)                                                                        \
	X(cuDeviceGet, int *, int)                                                                 \
	X(cuDevicePrimaryCtxRetain, void **, int)                                                  \
	X(cuCtxSetCurrent, void *)                                                                 \
	X(cuModuleLoadData, void **, const void *)                                                 \
	X(cuModuleGetFunction, void **, void *, const char *)                                      \
	X(cuMemAlloc_v2, uint64_t *, size_t)                                                       \
	X(cuMemHostAlloc, void **, size_t, unsigned)                                               \
	X(cuMemcpyHtoDAsync_v2, uint64_t, const void *, size_t, void *)                            \
	X(cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,      \
	  unsigned, void *, void **, void **)                                                      \
	X(cuStreamSynchronize, void *)

static struct {
#define X(name, ...) int (*name)(__VA_ARGS__);
	DRIVER(X)
#undef X
} cu;

static struct {
	double seconds, pageable_after, pageable_for;
	uint64_t kernel_ns;
	int cold;
} o = { .seconds = 10, .kernel_ns = 90000 };

static void die(const char *what, int code)
{
	(void)fprintf(stderr, "gpu-train: %s: %d\n", what, code);
	exit(1);
}

#define MUST(call)                                                                                 \
	do {                                                                                       \
		int code_ = cu.call;                                                               \
		if (code_)                                                                         \
			die(#call, code_);                                                         \
	} while (0)

static void load_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib)
		die(dlerror(), 0);
#define X(name, ...)                                                                               \
	*(void **)&cu.name = dlsym(lib, #name);                                                    \
	if (!cu.name)                                                                              \
		die(#name, 0);
	DRIVER(X)
#undef X
}

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void load_batch(void)
{
	for (double end = now() + HOST_NS / 1e9; now() < end;)
		;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "pageable-after", required_argument, NULL, 'a' },
		{ "pageable-for", required_argument, NULL, 'f' },
		{ "kernel-us", required_argument, NULL, 'k' },
		{ "sync", required_argument, NULL, 'y' }, /* the driver decides */
		{ "name", required_argument, NULL, 'n' },
		{ "cold", required_argument, NULL, 'c' },
		{ 0 },
	};

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (c == 's')
			o.seconds = strtod(optarg, NULL);
		else if (c == 'a')
			o.pageable_after = strtod(optarg, NULL);
		else if (c == 'f')
			o.pageable_for = strtod(optarg, NULL);
		else if (c == 'k')
			o.kernel_ns = (uint64_t)(strtod(optarg, NULL) * 1e3);
		else if (c == 'n')
			prctl(PR_SET_NAME, optarg);
		else if (c == 'c')
			o.cold = (int)strtol(optarg, NULL, 10);
		else if (c != 'y')
			exit(2);
	}
}

/* A module of many kernels, which the driver compiles: what the first start of a program is like. */
static void load_much(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	void *module;

	if (!out)
		die("open_memstream", 0);
	(void)fputs(".version 6.0\n.target sm_60\n.address_size 64\n", out);
	for (int i = 0; i < o.cold; i++) {
		(void)fprintf(out,
			      ".visible .entry k%d(.param .u64 p)\n{\n.reg .f32 %%f<3>;\n"
			      ".reg .u64 %%r<2>;\nld.param.u64 %%r1, [p];\n"
			      "ld.global.f32 %%f1, [%%r1];\nmov.f32 %%f2, %%f1;\n",
			      i);
		for (int k = 0; k < COLD_LINES; k++)
			(void)fprintf(out, "fma.rn.f32 %%f1, %%f1, %%f2, %%f%d;\n", 1 + k % 2);
		(void)fputs("st.global.f32 [%r1], %f1;\nret;\n}\n", out);
	}
	(void)fclose(out);
	MUST(cuModuleLoadData(&module, text));
	free(text);
}

int main(int argc, char **argv)
{
	void *context, *module, *spin, *pinned, *pageable = malloc(BATCH_PAGEABLE);
	void *args[] = { &o.kernel_ns };
	uint64_t memory;
	double begin;
	int device;

	parse(argc, argv);
	load_driver();
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	if (o.cold)
		load_much();
	MUST(cuModuleLoadData(&module, spin_ptx));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuMemAlloc_v2(&memory, BATCH_PAGEABLE));
	MUST(cuMemHostAlloc(&pinned, BATCH, 0));
	if (!pageable)
		die("malloc", 0);
	memset(pageable, 1, BATCH_PAGEABLE);
	begin = now();
	for (;;) {
		double age = now() - begin;

		if (age >= o.seconds)
			break;
		load_batch();
		if (age >= o.pageable_after && age < o.pageable_after + o.pageable_for)
			MUST(cuMemcpyHtoDAsync_v2(memory, pageable, BATCH_PAGEABLE, NULL));
		else
			MUST(cuMemcpyHtoDAsync_v2(memory, pinned, BATCH, NULL));
		for (int i = 0; i < LAYERS; i++)
			MUST(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
		MUST(cuStreamSynchronize(NULL));
	}
	free(pageable);
	return 0;
}
