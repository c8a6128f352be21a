/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A copy of the C stack above a call, once for each place; user space unwinds it. */
#ifndef PROBE_CSTACK_BPF_H
#define PROBE_CSTACK_BPF_H

#include "probe/python.bpf.h"

/* At the entry of a function. */
static __always_inline __u64 return_address(struct pt_regs *ctx)
{
#ifdef __TARGET_ARCH_x86
	return user_u64(ctx->sp);
#else
	return ctx->regs[30];
#endif
}

/* Return addresses that return probes have replaced on the stack, innermost first. */
static __always_inline void real_returns(struct c_stack *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct return_instance *ri;
	__u32 n = 0;

	if (!bpf_core_field_exists(task->utask) ||
	    !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return;
	ri = BPF_CORE_READ(task, utask, return_instances);
	for (int i = 0; i <= C_STACK_RETURNS && ri; i++) {
		__u64 addr = BPF_CORE_READ(ri, orig_ret_vaddr);

		ri = BPF_CORE_READ(ri, next);
		if (!i && addr == c->ip)
			continue; /* the one that is returning */
		if (n < C_STACK_RETURNS)
			c->returns[n & (C_STACK_RETURNS - 1)] = addr;
		n++;
	}
}

/* Page by page, because the stack may end with the next one. */
static __always_inline void copy_c_stack(struct c_stack *c)
{
	__u64 at = 4096 - (c->sp & 4095);

	c->bytes = 0;
	if (at > 4096 || bpf_probe_read_user(c->data, at, (void *)c->sp))
		return;
	for (int i = 0; i < C_STACK_BYTES / 4096 - 1; i++) {
		if (bpf_probe_read_user(c->data + at, 4096, (void *)(c->sp + at)))
			break;
		at += 4096;
	}
	c->bytes = at;
}

/* The registers as the caller has them when the call returns. */
static __always_inline void caller_registers(struct c_stack *c, struct pt_regs *ctx, bool entry)
{
#ifdef __TARGET_ARCH_x86
	c->ip = ctx->ip;
	c->sp = ctx->sp;
	if (entry) {
		c->ip = return_address(ctx);
		c->sp += 8;
	}
	c->bp = ctx->bp;
	c->bx = ctx->bx;
	c->r12 = ctx->r12;
	c->r13 = ctx->r13;
	c->r14 = ctx->r14;
	c->r15 = ctx->r15;
#else
	c->ip = entry ? return_address(ctx) : ctx->pc;
	c->sp = ctx->sp;
	c->bp = ctx->regs[29];
	c->bx = ctx->regs[30];
	c->r12 = c->r13 = c->r14 = c->r15 = 0;
#endif
}

/* Once for each Python stack, op and caller. */
static __noinline int tell_c_stack(struct pt_regs *ctx, __u32 op, __u64 site, __u64 stack,
				   bool entry)
{
	__u64 id = mix(mix(mix(op, site), stack), bpf_get_current_pid_tgid() >> 32);
	struct c_stack *c;
	__u8 one = 1;
	__u64 start;

	if (!stacks || stack < STACK_REASONS || bpf_map_lookup_elem(&seen_c_stacks, &id))
		return 0;
	/* These are large, and there is a next time: Python's own frames go first. */
	if (bpf_ringbuf_query(&news, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(&news, BPF_RB_RING_SIZE) / 4)
		return 0;
	start = now_ns();
	c = bpf_ringbuf_reserve(&news, sizeof(*c), 0);
	if (!c)
		return 0;
	__builtin_memset(c->returns, 0, sizeof(c->returns));
	c->kind = NEWS_c_stack;
	c->pid = bpf_get_current_pid_tgid() >> 32;
	c->stack = stack;
	c->site = site;
	c->op = op;
	caller_registers(c, ctx, entry);
	real_returns(c);
	copy_c_stack(c);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&seen_c_stacks, &id, &one, BPF_ANY);
	spend(stack_ns, start);
	return 0;
}

#endif
