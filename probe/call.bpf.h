/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every traced library call: one generic enter/return pair, told apart by the attach cookie. */
#ifndef PROBE_CALL_BPF_H
#define PROBE_CALL_BPF_H

#include "probe/count.bpf.h"
#include "probe/memory.bpf.h"
#include "probe/nccl.bpf.h"

/* Three ways to attach the same code, see src/capture/libs_attach.c: user space loads what it needs. */
extern bool bpf_session_is_return(void) __ksym __weak;
extern __u64 *bpf_session_cookie(void) __ksym __weak; /* kept from the entry to the return */

static __always_inline int on_enter(struct pt_regs *ctx)
{
	/* 64 bits: the verifier loses the bound of a narrower one */
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	struct thread *t = caller(cookie);
	__u64 reg[8] = REG_ARGS(ctx), sp = REG_SP(ctx);
	struct tally *y;
	struct frame *f;
	__u32 depth;

	if (!t || op >= OP_SLOTS)
		return 0;
	tick(t);
	if (t->depth)
		drop_dead_frames(t, sp);
	depth = t->depth;
	if (!depth)
		close_gap(t, op);
	y = tally_of(t, op);
	if (!y)
		return 0;
	y->calls++;
	if (depth >= DEPTH) {
		y->nested++;
		count(loss[LOSS_too_deep]);
		return 0;
	}
	f = &t->frame[depth];
	f->sp = sp;
	f->op = op;
	f->bytes = argument(reg, sp, op_args[SLOT(op)].size);
	f->stream = argument(reg, sp, op_args[SLOT(op)].stream);
	f->aux = argument(reg, sp, op_args[SLOT(op)].aux);
	f->out = argument(reg, sp, op_args[SLOT(op)].out);
	if (shapes[SLOT(op)].unit)
		take_shape(ctx, op, f);
	if (memory_role[SLOT(op)] & ROLE_FREES)
		memory_freed(t, f);
	if (nccl_args[SLOT(op)].kind)
		nccl_enter(t, f, reg);
	y->bytes += f->bytes;
	if (depth) {
		y->nested++;
		y->nested_bytes += f->bytes;
	}
	copy_now(t, &f->at);
	t->depth = depth + 1;
	return 0;
}

static __always_inline int on_return(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), op = cookie & COOKIE_OP;
	struct thread *t = thread_of(bpf_get_current_task_btf());
	__u64 sp = REG_SP(ctx) - RETURN_POPS;
	struct span span = {};
	struct tally *y;
	__u32 depth;

	if (!t || op >= OP_SLOTS)
		return 0;
	tick(t);
	drop_dead_frames(t, sp - 1); /* those deeper than the one that returns */
	depth = t->depth - 1;
	if (depth >= DEPTH || t->frame[depth].op != op || t->frame[depth].sp != sp) {
		/*
		 * Entered before we attached or after we stopped, or a forked child's copy; or one that
		 * is looked at in the driver.
		 */
		if (!stopped && !(cookie & COOKIE_IF_NO_DRIVER))
			count(loss[LOSS_no_entry]);
		return 0;
	}
	t->depth = depth;
	t->frame[depth].site = REG_IP(ctx); /* where it returns to: free here, dear at entry */
	span.op = op;
	span.depth = depth;
	span.ret = (__s32)REG_RET(ctx);
	span.frame = &t->frame[depth];
	span.from = &t->frame[depth].at;
	y = tally_of(t, op);
	memory_return(t, span.frame, op, span.ret);
	if (names_kernel(op) && !span.ret)
		tell_kernel_name(span.frame, op);
	if (y && finish(t, y, &span))
		tell_c_stack(ctx, op, span.frame->site, t->stack, false);
	if (nccl_args[SLOT(op)].kind)
		nccl_return(t, &t->frame[depth], span.ret);
	else if (nccl_active && !depth && waits_for_device(op))
		nccl_sync(t, &t->frame[depth]);
	if (!depth) {
		__u32 way = op_classes[SLOT(op)] == CLASS_COPY ? span.frame->aux & 7 : 0;

		open_gap(t, op);
		if (op_classes[SLOT(op)] == CLASS_HANDLE)
			return 0;
		if (launches_hidden() && op_classes[SLOT(op)] == CLASS_SYNC)
			t->beat_op = OP_SLOTS; /* one is told from the next by what is hidden */
		beat(t, op | way << 16, span.from->ns, t->now.ns - span.from->ns,
		     on_stream(span.frame->stream));
		resume_row(t, ctx);
	}
	return 0;
}

SEC("uprobe")
int call_count(struct pt_regs *ctx)
{
	struct cpu_row *here = this_cpu_row();
	__u64 now = bpf_ktime_get_ns();
	bool done;

	here->busy = 1;
	barrier();
	done = has_row(here, ctx) && put_down(ctx, row_at(here), now);
	barrier();
	here->busy = 0;
	if (unlikely(!done))
		on_count(ctx, now);
	return 0;
}

SEC("uprobe")
int call_enter(struct pt_regs *ctx)
{
	return on_enter(ctx);
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx)
{
	return on_return(ctx);
}

/* What is not in a row. The session's cookie is when it began, if it was counted. */
static __noinline int count_alone(struct pt_regs *ctx, __u64 now)
{
	__u64 *began = bpf_session_cookie();

	if (bpf_session_is_return())
		return *began ? on_counted(ctx, now - *began) : 0;
	if (!on_count(ctx, now))
		return 1; /* its return is left alone */
	*began = now;
	return shed_returns ? 1 : 0;
}

/* Does it begin, or return? Mostly its registers tell, and nobody needs to be asked. */
static __always_inline bool begins(struct pt_regs *ctx, const struct launch_row *r)
{
#ifdef __TARGET_ARCH_x86 /* where no function can begin with the stack pointer that one returns with */
	if (r->ip == REG_IP(ctx))
		return true;
	if (r->sp == REG_SP(ctx) - RETURN_POPS)
		return false;
#endif
	return !bpf_session_is_return();
}

enum put { PUT_NOT, PUT_ENTRY, PUT_END };

static __always_inline enum put put_either(struct pt_regs *ctx, struct launch_row *r, __u64 now)
{
	if (begins(ctx, r)) {
		if (!put_down(ctx, r, now))
			return PUT_NOT;
		r->sp = REG_SP(ctx);
		return PUT_ENTRY;
	}
	return put_end_down(ctx, r, now) ? PUT_END : PUT_NOT;
}

SEC("uprobe")
int count_session(struct pt_regs *ctx)
{
	struct cpu_row *here = this_cpu_row();
	__u64 now = bpf_ktime_get_ns(), alone = 0;
	enum put put = PUT_NOT;

	here->busy = 1;
	barrier();
	if (has_row(here, ctx)) {
		struct launch_row *r = row_at(here);

		put = put_either(ctx, r, now);
		alone = r->alone;
	}
	barrier();
	here->busy = 0;
	if (put == PUT_END)
		return 0;
	if (unlikely(put == PUT_NOT))
		return count_alone(ctx, now) & 1;
	*bpf_session_cookie() = now;
	asm volatile("%0 &= 1" : "+r"(alone)); /* clang knows, the verifier does not */
	return alone;
}

SEC("uprobe")
int call_session(struct pt_regs *ctx)
{
	return bpf_session_is_return() ? on_return(ctx) : on_enter(ctx);
}

#endif
