/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a traced function was called with: see wire/ops.def and wire/shapes.def. */
#ifndef PROBE_ARGS_BPF_H
#define PROBE_ARGS_BPF_H

#include "probe/lib.bpf.h"

static const struct op_args op_args[OP_SLOTS] = {
#define OP(lib, sym, class, size, stream, aux, out, doc) [OP_##sym] = { size, stream, aux, out },
#include "wire/ops.def"
};

static const __u8 op_classes[OP_SLOTS] = {
#define OP(lib, sym, class, size, stream, aux, out, doc) [OP_##sym] = CLASS_##class,
#include "wire/ops.def"
};

static const struct op_shape shapes[OP_SLOTS] = {
#define PRODUCT(sym, unit_, a, b, c) [OP_##sym] = { .unit = unit_, .factor = { a, b, c } },
#define STRUCT(sym, words_, offset_, kind_, source_, target_)                                      \
	[OP_##sym] = { 1, { 0 }, words_, offset_, kind_, source_, target_ },
#include "wire/shapes.def"
};

#ifdef __TARGET_ARCH_x86
#define STACK_ARGS 7 /* the first argument that is passed on the stack, ... */
#define STACK_BIAS 8 /* ... behind the return address, */
#define RETURN_POPS 8 /* ... which the return takes off */
#define REG_ARGS(ctx)                                                                              \
	{                                                                                          \
		0, (ctx)->di, (ctx)->si, (ctx)->dx, (ctx)->cx, (ctx)->r8, (ctx)->r9, 0             \
	}
#define REG_SP(ctx) ((ctx)->sp)
#define REG_RET(ctx) ((ctx)->ax)
#define REG_IP(ctx) ((ctx)->ip)
#else
#define STACK_ARGS 9
#define STACK_BIAS 0
#define RETURN_POPS 0
#define REG_ARGS(ctx)                                                                              \
	{                                                                                          \
		0, (ctx)->regs[0], (ctx)->regs[1], (ctx)->regs[2], (ctx)->regs[3], (ctx)->regs[4], \
			(ctx)->regs[5], 0                                                          \
	}
#define REG_SP(ctx) ((ctx)->sp)
#define REG_RET(ctx) ((ctx)->regs[0])
#define REG_IP(ctx) ((ctx)->pc)
#endif

static __always_inline __u64 argument(const __u64 reg[8], __u64 sp, __u32 n)
{
	__u64 value = 0, i = n;

	if (i < STACK_ARGS) {
		asm volatile("%0 &= 7" : "+r"(i)); /* clang knows, the verifier does not */
		return reg[i];
	}
	bpf_probe_read_user(&value, sizeof(value),
			    (void *)(sp + STACK_BIAS + (n - STACK_ARGS) * 8));
	return value;
}

/* CUmemorytype: where one side of a copy is. */
#define MEMORY_HOST 1
#define MEMORY_UNIFIED 4

/* As a cudaMemcpyKind. */
static __always_inline __u64 copy_kind(__u32 source, __u32 target)
{
	if (source == MEMORY_UNIFIED || target == MEMORY_UNIFIED)
		return 4;
	return (source == MEMORY_HOST ? 0 : 2) + (target == MEMORY_HOST ? 0 : 1);
}

static __always_inline __u32 word_at(__u64 addr)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)addr);
	return value;
}

/* The bytes and the direction of a copy that a struct describes. One that cannot be read has none. */
static __always_inline void take_struct(const struct op_shape *s, __u64 at, struct frame *f)
{
	__u64 word[3] = { 1, 1, 1 };

	f->aux = 0;
	f->bytes = 0;
	if (bpf_probe_read_user(&word[0], 2 * sizeof(word[0]), (void *)(at + s->offset)))
		return;
	if (s->words > 2 &&
	    bpf_probe_read_user(&word[2], sizeof(word[2]), (void *)(at + s->offset + 16)))
		return;
	f->bytes = word[0] * word[1] * word[2];
	if (s->kind)
		f->aux = word_at(at + s->kind);
	else if (s->source)
		f->aux = copy_kind(word_at(at + s->source), word_at(at + s->target));
}

static __noinline int take_shape(struct pt_regs *ctx, __u64 op, struct frame *f)
{
	__u64 reg[8] = REG_ARGS(ctx), bytes;

	if (op >= OP_SLOTS || !f)
		return 0;
	if (shapes[SLOT(op)].words) {
		take_struct(&shapes[SLOT(op)], reg[1], f);
		return 0;
	}
	bytes = shapes[SLOT(op)].unit;
	for (int i = 0; i < 3; i++)
		if (shapes[SLOT(op)].factor[i])
			bytes *= argument(reg, REG_SP(ctx), shapes[SLOT(op)].factor[i]);
	f->bytes = bytes;
	return 0;
}

#endif
