// SPDX-License-Identifier: Apache-2.0
/* A library that launches kernels by itself, through the driver, as cuBLAS does. */
#include "sim.h"

/* Launch what `handle` is n times, with the driver's function that is given. */
SIM_EXPORT int blas_run(sim_entry launch, long handle, int n);

int blas_run(sim_entry launch, long handle, int n)
{
	long config[8] = { 0 };
	int failed = 0;

	for (int i = 0; i < n; i++)
		failed += launch((long)config, handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) != 0;
	return failed;
}
