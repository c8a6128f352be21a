// SPDX-License-Identifier: Apache-2.0
/* SIM_DRIVER=1: libcudart passes its work to libcuda, as the real one does, so probes nest. */
#define _GNU_SOURCE
#include "sim.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NO_DRIVER 35 /* cudaErrorInsufficientDriver */
#define ANY -1
#define KERNELS 256
#define DRIVER_SONAME "libcuda.so.1"

/* The only place of the simulator that names symbols. The first row that fits is taken. */
static const struct {
	enum op_id runtime;
	int kind; /* a cudaMemcpyKind, or ANY */
	enum op_id driver;
} pairs[] = {
	{ OP_cudaMalloc, ANY, OP_cuMemAlloc_v2 },
	{ OP_cudaMallocAsync, ANY, OP_cuMemAllocAsync },
	{ OP_cudaMallocHost, ANY, OP_cuMemHostAlloc },
	{ OP_cudaHostAlloc, ANY, OP_cuMemHostAlloc },
	{ OP_cudaFree, ANY, OP_cuMemFree_v2 },
	{ OP_cudaFreeAsync, ANY, OP_cuMemFreeAsync },
	{ OP_cudaFreeHost, ANY, OP_cuMemFreeHost },
	{ OP_cudaMemcpy, 1, OP_cuMemcpyHtoD_v2 },
	{ OP_cudaMemcpy, 2, OP_cuMemcpyDtoH_v2 },
	{ OP_cudaMemcpyAsync, 1, OP_cuMemcpyHtoDAsync_v2 },
	{ OP_cudaMemcpyAsync, 2, OP_cuMemcpyDtoHAsync_v2 },
	{ OP_cudaMemcpyAsync, 3, OP_cuMemcpyDtoDAsync_v2 },
	{ OP_cudaMemcpyAsync, ANY, OP_cuMemcpyAsync },
	{ OP_cudaMemset, ANY, OP_cuMemsetD8Async },
	{ OP_cudaMemsetAsync, ANY, OP_cuMemsetD8Async },
	{ OP_cudaLaunchKernel, ANY, OP_cuLaunchKernel },
	{ OP_cudaLaunchKernelExC, ANY, OP_cuLaunchKernelEx },
	{ OP_cudaLaunchCooperativeKernel, ANY, OP_cuLaunchCooperativeKernel },
	{ OP_cudaGraphLaunch, ANY, OP_cuGraphLaunch },
	{ OP_cudaStreamSynchronize, ANY, OP_cuStreamSynchronize },
	{ OP_cudaDeviceSynchronize, ANY, OP_cuCtxSynchronize },
	{ OP_cudaEventSynchronize, ANY, OP_cuEventSynchronize },
	{ OP_cudaMallocManaged, ANY, OP_cuMemAllocManaged },
	{ OP_cudaMallocFromPoolAsync, ANY, OP_cuMemAllocFromPoolAsync },
	{ OP_cudaMallocPitch, ANY, OP_cuMemAllocPitch_v2 },
	{ OP_cudaHostRegister, ANY, OP_cuMemHostRegister_v2 },
	{ OP_cudaHostUnregister, ANY, OP_cuMemHostUnregister },
	{ OP_cudaMemPoolTrimTo, ANY, OP_cuMemPoolTrimTo },
	{ OP_cudaMallocAsync_ptsz, ANY, OP_cuMemAllocAsync_ptsz },
	{ OP_cudaFreeAsync_ptsz, ANY, OP_cuMemFreeAsync_ptsz },
	{ OP_cudaMemcpyPeer, ANY, OP_cuMemcpyPeer },
	{ OP_cudaMemcpyPeerAsync, ANY, OP_cuMemcpyPeerAsync },
	{ OP_cudaMemcpyAsync_ptsz, ANY, OP_cuMemcpyAsync_ptsz },
	{ OP_cudaMemcpy_ptds, ANY, OP_cuMemcpy_ptds },
	{ OP_cudaMemsetAsync_ptsz, ANY, OP_cuMemsetD8Async_ptsz },
	{ OP_cudaLaunchKernel_ptsz, ANY, OP_cuLaunchKernel_ptsz },
	{ OP_cudaLaunchKernelExC_ptsz, ANY, OP_cuLaunchKernelEx_ptsz },
	{ OP_cudaStreamBeginCapture, ANY, OP_cuStreamBeginCapture_v2 },
	{ OP_cudaStreamEndCapture, ANY, OP_cuStreamEndCapture },
	{ OP_cudaGraphInstantiate, ANY, OP_cuGraphInstantiateWithFlags },
	{ OP_cudaGraphInstantiateWithFlags, ANY, OP_cuGraphInstantiateWithFlags },
	{ OP_cudaGraphInstantiateWithParams, ANY, OP_cuGraphInstantiateWithParams },
	{ OP_cudaGraphExecUpdate, ANY, OP_cuGraphExecUpdate_v2 },
	{ OP_cudaGraphUpload, ANY, OP_cuGraphUpload },
	{ OP_cudaGraphExecDestroy, ANY, OP_cuGraphExecDestroy },
	{ OP_cudaEventRecord, ANY, OP_cuEventRecord },
	{ OP_cudaEventQuery, ANY, OP_cuEventQuery },
	{ OP_cudaStreamQuery, ANY, OP_cuStreamQuery },
	{ OP_cudaStreamWaitEvent, ANY, OP_cuStreamWaitEvent },
	{ OP_cudaLaunchHostFunc, ANY, OP_cuLaunchHostFunc },
	{ OP_cudaStreamCreate, ANY, OP_cuStreamCreate },
	{ OP_cudaStreamCreateWithFlags, ANY, OP_cuStreamCreate },
	{ OP_cudaStreamDestroy, ANY, OP_cuStreamDestroy_v2 },
	{ OP_cudaEventCreate, ANY, OP_cuEventCreate },
	{ OP_cudaEventCreateWithFlags, ANY, OP_cuEventCreate },
	{ OP_cudaEventDestroy, ANY, OP_cuEventDestroy_v2 },
	{ OP_cudaStreamSynchronize_ptsz, ANY, OP_cuStreamSynchronize_ptsz },
	{ OP_cudaLibraryLoadData, ANY, OP_cuLibraryLoadData },
	{ OP_cudaLibraryGetKernel, ANY, OP_cuLibraryGetKernel },
};

/* What the first call of the runtime makes the driver do. */
static const enum op_id openers[] = { OP_cuInit, OP_cuDevicePrimaryCtxRetain };

static sim_entry entries[OP_COUNT]; /* all NULL where there is no driver */

static int call(enum op_id id, const long *a)
{
	if (!entries[id])
		return NO_DRIVER;
	return entries[id](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
			   a[12]);
}

/* Beside ourselves, or wherever the loader finds one. */
static void *open_driver(void)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info self;
	void *lib = NULL;

	if (dladdr(entries, &self)) {
		slash = strrchr(self.dli_fname, '/');
		if (slash) {
			(void)snprintf(path, sizeof(path), "%.*s/" DRIVER_SONAME,
				       (int)(slash - self.dli_fname), self.dli_fname);
			lib = dlopen(path, RTLD_NOW);
		}
	}
	return lib ? lib : dlopen(DRIVER_SONAME, RTLD_NOW);
}

static void load(void)
{
	void *lib = open_driver();

	if (!lib)
		return;
	for (int id = 0; id < OP_COUNT; id++) {
		void *found = sim_rows[id].lib == LIB_CUDA ? dlsym(lib, sim_rows[id].symbol) : NULL;

		memcpy(&entries[id], &found, sizeof(found));
	}
	/* The runtime opens the device at its first call; that is the cold start people see. */
	for (size_t i = 0; i < sizeof(openers) / sizeof(*openers); i++)
		if (entries[openers[i]])
			(void)call(openers[i], (const long[SIM_ARGS]){ 0 }); /* or its work fails */
}

/*
 * Kernels as the driver knows them. The runtime asks for one by its name when it is first launched;
 * who launches nothing that has a symbol launches what he said.
 */
static struct {
	_Atomic long func, handle;
} kernels[KERNELS];

static long kernel_of(long func)
{
	void *at;
	Dl_info info;
	long args[SIM_ARGS] = { 0 }, handle = 0;

	for (int i = 0; i < KERNELS && kernels[i].func; i++)
		if (kernels[i].func == func && kernels[i].handle)
			return kernels[i].handle;
	memcpy(&at, &func, sizeof(at));
	if (!dladdr(at, &info) || !info.dli_sname || info.dli_saddr != at)
		return func;
	args[0] = (long)&handle;
	args[2] = (long)info.dli_sname;
	if (call(OP_cuLibraryGetKernel, args) || !handle)
		return func;
	for (int i = 0; i < KERNELS; i++) {
		long free = 0;

		if (atomic_compare_exchange_strong(&kernels[i].func, &free, func)) {
			kernels[i].handle = handle;
			return handle;
		}
	}
	return handle;
}

/* Put the value of a runtime argument where the driver row expects it. */
static void move(const long *from, int from_number, long *to, int to_number)
{
	if (from_number && to_number)
		to[to_number - 1] = from[from_number - 1];
}

bool sim_driver_call(enum op_id id, const long args[SIM_ARGS], int *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct op_args *from = &sim_rows[id].args;
	int kind = from->aux ? (int)args[from->aux - 1] : ANY;

	(void)pthread_once(&once, load); /* cannot fail */
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct op_args *to = &sim_rows[pairs[i].driver].args;
		long moved[SIM_ARGS] = { 0 };

		if (pairs[i].runtime != id || (pairs[i].kind != ANY && pairs[i].kind != kind))
			continue;
		move(args, from->size, moved, to->size);
		move(args, from->stream, moved, to->stream);
		move(args, from->aux, moved, to->aux);
		move(args, from->out, moved, to->out);
		if (sim_rows[id].class == CLASS_LAUNCH)
			moved[to->aux - 1] = kernel_of(moved[to->aux - 1]);
		if (sim_shapes[pairs[i].driver].factor[1]) /* both count rows in the same places */
			memcpy(moved, args, sizeof(moved));
		*ret = call(pairs[i].driver, moved);
		return true;
	}
	return false;
}
