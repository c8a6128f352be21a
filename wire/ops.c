// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The op table for user space. */
#include "wire/ops.h"

const struct op op_table[OP_SLOTS] = {
#define OP(lib_, sym, class_, size_, stream_, aux_, out_, doc_)                                    \
	[OP_##sym] = { #sym, doc_, LIB_##lib_, CLASS_##class_, { size_, stream_, aux_, out_ } },
#include "wire/ops.def"
	[OP_GAP] = { "(between calls)",
		     "the thread's time between two traced calls",
		     LIB_COUNT,
		     CLASS_GAP,
		     { 0, 0, 0, 0 } },
	[OP_CALIBRATE] = { "(calibration)",
			   "what one probe costs on this host",
			   LIB_COUNT,
			   CLASS_INIT,
			   { 0, 0, 0, 0 } },
};

const struct op_shape op_shapes[OP_SLOTS] = {
#define PRODUCT(sym, unit_, a, b, c) [OP_##sym] = { .unit = unit_, .factor = { a, b, c } },
#define STRUCT(sym, words_, offset_, kind_, source_, target_)                                      \
	[OP_##sym] = { 1, { 0 }, words_, offset_, kind_, source_, target_ },
#include "wire/shapes.def"
};

const char *const lib_names[LIB_COUNT] = {
	[LIB_CUDART] = "libcudart.so",
	[LIB_CUDA] = "libcuda.so",
	[LIB_NCCL] = "libnccl.so",
};

const char *const class_names[CLASS_COUNT] = {
	[CLASS_LAUNCH] = "launch", [CLASS_SYNC] = "sync",       [CLASS_COPY] = "copy",
	[CLASS_ALLOC] = "alloc",   [CLASS_FREE] = "free",       [CLASS_GRAPH] = "graph",
	[CLASS_MODULE] = "module", [CLASS_COLL] = "collective", [CLASS_P2P] = "p2p",
	[CLASS_INIT] = "init",     [CLASS_FILL] = "fill",       [CLASS_EVENT] = "event",
	[CLASS_HANDLE] = "handle", [CLASS_GAP] = "gap",
};
