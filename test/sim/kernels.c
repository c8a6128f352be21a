// SPDX-License-Identifier: Apache-2.0
/*
 * Launches kernels that have names, in all the ways that a tracer can learn them: functions of the
 * program through the runtime, a module's functions and another library's kernels through the driver.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

static const char usage[] =
	"usage: kernels [--warm] [--plain|--handles] [--storm] ROUNDS\n"
	"\n"
	"Print \"ready PID\", wait for a line, make that many rounds of launches, 20 ms each, and print\n"
	"how often each kernel was launched. --warm: each once before, so that its name is old news.\n"
	"--plain: through the runtime alone. --handles: by handle, as nvcc's stubs do since CUDA 13.\n"
	"--storm: without a pause.\n";

/* Host functions that stand for kernels, as compilers make them. */
void axpy_kernel(void);
void relu_kernel(void) __asm__("_ZN2at6native4reluEPfi");

void axpy_kernel(void)
{
	puts("axpy is never called");
}

void relu_kernel(void)
{
	puts("relu is never called");
}

#ifdef SIM_CUDART
int cudaLaunchKernel(long, long, long, long, long, long, long, long, long, long, long, long, long);
#endif

static sim_entry launch, launch_driver, launch_ex, get_function, get_kernel;
static int (*blas_run)(sim_entry launch, long handle, int n);
static long triton, gemm;
static const long nameless = 0x5550001000;
static bool plain, handles;

static void *library(const char *name)
{
	const char *dir = getenv("SIM_DIR");
	char path[4096];
	void *lib;

	(void)snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	lib = dlopen(path, RTLD_NOW);
	if (!lib) {
		(void)fprintf(stderr, "kernels: %s\n", dlerror());
		exit(1);
	}
	return lib;
}

static void bind(void *lib, const char *symbol, void *to)
{
	void *found = dlsym(lib, symbol);

	if (!found) {
		(void)fprintf(stderr, "kernels: no %s\n", symbol);
		exit(1);
	}
	memcpy(to, &found, sizeof(found));
}

static void run(sim_entry with, long kernel, int n)
{
	for (int i = 0; i < n; i++)
		(void)with(kernel, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0); /* the sim's cannot fail */
}

/* As nvcc makes stubs: they keep the handle, in a variable of theirs. The third is nobody's stub. */
static volatile long softmax_handle __asm__("_ZZN2at6native7softmaxILi4EEEvPfE8__handle");
static volatile long gelu_handle __asm__("_ZZL29__device_stub__ZN2at4geluEPfiPfiE8__handle");
static volatile long any_handle;

#define STUB(name, handle)                                                                         \
	static void __attribute__((noinline)) name(int n)                                          \
	{                                                                                          \
		for (int i = 0; i < n; i++)                                                        \
			(void)launch(handle, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);                  \
	}
STUB(run_softmax, softmax_handle)
STUB(run_gelu, gelu_handle)
STUB(run_any, any_handle)

static void round_by_handle(int times)
{
	static char of[3][64]; /* memory without code, as the runtime's own */

	softmax_handle = (long)of[0];
	gelu_handle = (long)of[1];
	any_handle = (long)of[2];
	run_softmax(3 * times);
	run_gelu(2 * times);
	run_any(times);
}

static void look_up(void)
{
	const char *name = "triton_poi_fused_add_0", *other = "gemm_128x128_tn";

	(void)get_function((long)&triton, 0x111, (long)name, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	(void)get_kernel((long)&gemm, 0x222, (long)other, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void round_of(int times)
{
	if (handles) {
		round_by_handle(times);
		return;
	}
	run(launch, (long)axpy_kernel, 7 * times);
	run(launch, (long)relu_kernel, 3 * times);
	if (plain)
		return;
	run(launch_driver, triton, 2 * times);
	(void)blas_run(launch_ex, gemm, 4 * times); /* as above */
	(void)blas_run(launch_ex, nameless, times);
}

int main(int argc, char **argv)
{
	bool warm = false, fast = false;
	int rounds = 0;

	for (int i = 1; i < argc; i++) {
		warm |= strcmp(argv[i], "--warm") == 0;
		fast |= strcmp(argv[i], "--storm") == 0;
		plain |= strcmp(argv[i], "--plain") == 0;
		handles |= strcmp(argv[i], "--handles") == 0;
		rounds = (int)strtol(argv[i], NULL, 10);
	}
	if (rounds < 1) {
		(void)fputs(usage, stderr);
		return 2;
	}
	if (!plain) {
		void *driver = library("libcuda.so.1");

		bind(driver, "cuLaunchKernel", &launch_driver);
		bind(driver, "cuLaunchKernelEx", &launch_ex);
		bind(driver, "cuModuleGetFunction", &get_function);
		bind(driver, "cuLibraryGetKernel", &get_kernel);
		bind(library("libcublasLt.so.13"), "blas_run", &blas_run);
	}
#ifdef SIM_CUDART
	launch = cudaLaunchKernel; /* linked in */
#else
	bind(library("libcudart.so.13"), "cudaLaunchKernel", &launch);
#endif
	if (warm) {
		look_up();
		round_of(1);
	}
	printf("ready %d\n", (int)getpid());
	(void)fflush(stdout);
	(void)getchar();
	if (!warm && !plain)
		look_up();
	for (int i = 0; i < rounds; i++) {
		round_of(1);
		usleep(fast ? 1 : 20000);
	}
	if (handles)
		return 0;
	printf("axpy_kernel %d\nat::native::relu %d\n", 7 * rounds, 3 * rounds);
	if (!plain)
		printf("triton_poi_fused_add_0 %d\ngemm_128x128_tn %d\n %d\n", 2 * rounds,
		       4 * rounds, rounds);
	return 0;
}
