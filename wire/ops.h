/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The traced calls as an enum and a table; both come from wire/ops.def. */
#ifndef WIRE_OPS_H
#define WIRE_OPS_H

enum op_id {
#define OP(lib, sym, class, size, stream, aux, out, doc) OP_##sym,
#include "wire/ops.def"
	OP_COUNT,
	/* Not library calls, but counted and stored like them: */
	OP_GAP = OP_COUNT, /* the time of a calling thread between two calls */
	OP_CALIBRATE, /* our own function, probed at start to learn what a probe costs here */
	OP_SLOTS,
};

enum op_lib { LIB_CUDART, LIB_CUDA, LIB_NCCL, LIB_COUNT };

/*
 * LAUNCH, FILL and EVENT rows are probed at entry only: they are too frequent to pay for a return. All
 * other classes are timed. A CUDART launch contains the CUDA launch, so it is probed only where no
 * libcuda is mapped: one probe per launch; the same goes for events, and for fills, which are launches
 * of a kernel of the driver's, as are copies inside a device. EVENT rows only order what others submit, and HANDLE rows make what
 * others use: neither is part of a thread's rhythm.
 */
enum op_class {
	CLASS_LAUNCH,
	CLASS_SYNC,
	CLASS_COPY,
	CLASS_ALLOC,
	CLASS_FREE,
	CLASS_GRAPH,
	CLASS_MODULE,
	CLASS_COLL,
	CLASS_P2P,
	CLASS_INIT,
	CLASS_FILL,
	CLASS_EVENT,
	CLASS_HANDLE,
	CLASS_GAP,
	CLASS_COUNT,
};

struct op_args {
	unsigned char size, stream, aux, out;
};

/* How many bytes a call is about, where that is not one argument: see wire/shapes.def. */
struct op_shape {
	unsigned char unit; /* 0: no shape */
	unsigned char factor[3]; /* argument numbers */
	unsigned char words; /* 0: a product of arguments */
	unsigned char offset, kind, source, target;
};

struct op {
	const char *symbol;
	const char *doc;
	enum op_lib lib;
	enum op_class class;
	struct op_args args;
};

extern const struct op op_table[OP_SLOTS];
extern const struct op_shape op_shapes[OP_SLOTS];
extern const char *const lib_names[LIB_COUNT]; /* as sonames begin: "libcudart.so" */
extern const char *const class_names[CLASS_COUNT];

/* Is this row timed, or only counted at entry? */
static inline int op_timed(enum op_class class)
{
	return class != CLASS_LAUNCH && class != CLASS_FILL && class != CLASS_EVENT;
}

#endif
