// SPDX-License-Identifier: Apache-2.0
/*
 * The entry points of one simulated library: every row of wire/ops.def that belongs to it. Build it
 * once per library, with -DSIM_CUDART, -DSIM_CUDA or -DSIM_NCCL.
 */
#include "sim.h"

/*
 * The real entry points begin with `push %rbp`, which the kernel emulates for a uprobe; anything
 * else it single-steps, at several times the cost. The frame pointer flags in README.md see to it.
 * Weak: those of nccl.c that take a struct by value come instead.
 */
#define EMIT(sym)                                                                                  \
	SIM_EXPORT __attribute__((weak)) int sym(long a, long b, long c, long d, long e, long f,   \
						 long g, long h, long i, long j, long k, long l,   \
						 long m);                                          \
	int sym(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,    \
		long k, long l, long m)                                                            \
	{                                                                                          \
		const long args[SIM_ARGS] = { a, b, c, d, e, f, g, h, i, j, k, l, m };             \
                                                                                                   \
		return sim_call(OP_##sym, args);                                                   \
	}
#define SKIP(sym)

/* The preprocessor cannot compare names, so each library gets a macro of its own. */
#ifdef SIM_CUDART
#define EMIT_CUDART EMIT
#else
#define EMIT_CUDART SKIP
#endif
#ifdef SIM_CUDA
#define EMIT_CUDA EMIT
#else
#define EMIT_CUDA SKIP
#endif
#ifdef SIM_NCCL
#define EMIT_NCCL EMIT
#else
#define EMIT_NCCL SKIP
#endif

#define OP(lib, sym, class, size, stream, aux, out, doc) EMIT_##lib(sym)
#include "wire/ops.def"
