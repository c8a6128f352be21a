/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which kernel it is that a launch launches, and the names of kernels: see wire/kernels.h. */
#ifndef PROBE_KERNELS_BPF_H
#define PROBE_KERNELS_BPF_H

#include "probe/args.bpf.h"
#include "probe/cstack.bpf.h"
#include "probe/row.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* filled while launches of the runtime are probed, too */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KERNEL_PAIRS);
	__type(key, struct kernel_pair_key);
	__type(value, struct kernel_pair);
} kernel_pairs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} kernel_names SEC(".maps");

/* What a launch launches: its first argument, or its second behind a struct. */
static __always_inline __u64 launched(struct pt_regs *ctx, __u64 is_second)
{
	__u64 reg[8] = REG_ARGS(ctx), first = reg[1], second = reg[2];

	/* Both are loaded: the verifier wants no choice between two places of the context. */
	asm volatile("" : "+r"(first), "+r"(second));
	return is_second ? second : first;
}

/* ---- counting ---- */

/*
 * The runtime's launch is still going on if its return address is where it was: then this launch of
 * the driver is inside it.
 */
static __noinline int kernel_pair(struct thread *t, struct pt_regs *ctx, __u64 handle)
{
	struct kernel_pair_key key = { .handle = handle };
	struct kernel_pair fresh = {}, *known;
	__u64 sp = REG_SP(ctx);

	if (!t)
		return 0;
	fresh.stub = t->stub;
	fresh.site = t->stub_site;
	t->stub = 0;
	if (sp > t->stub_sp || t->stub_sp - sp > 1 << 16)
		return 0;
#ifdef __TARGET_ARCH_x86
	if (user_u64(t->stub_sp) != t->stub_site)
		return 0;
#endif
	key.pid = bpf_get_current_pid_tgid() >> 32;
	known = bpf_map_lookup_elem(&kernel_pairs, &key);
	if (!known)
		bpf_map_update_elem(&kernel_pairs, &key, &fresh, BPF_NOEXIST);
	else if (known->stub != fresh.stub)
		known->conflicts++;
	return 0;
}

static __always_inline void count_kernel(struct thread *t, struct pt_regs *ctx, __u64 cookie)
{
	__u64 handle = launched(ctx, cookie & COOKIE_SECOND);
	struct kernel_cell *c = kernel_cell_of(t, handle);

	if (likely(c)) {
		if (unlikely(kernel_asks_for_site(c))) {
			c->site = return_address(ctx);
			c->flags = cookie & COOKIE_IF_NO_DRIVER ? CELL_STUB : 0;
		}
		c->count++;
	} else {
		count(loss[LOSS_no_kernel]);
	}
	if (unlikely(t->stub))
		kernel_pair(t, ctx, handle);
}

/* ---- names ---- */

/* A launch of the runtime, where the driver's is counted: what is it that it launches? */
SEC("uprobe")
int kernel_stub(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct thread *t = thread_of(bpf_get_current_task_btf());

	count(stubs);
	if (!t || stopped || launches_hidden())
		return 0;
	end_row(t); /* it would not look for it */
	t->stub = launched(ctx, cookie & COOKIE_SECOND);
	t->stub_sp = REG_SP(ctx);
	t->stub_site = return_address(ctx);
	return 0;
}

static __always_inline bool names_kernel(__u64 op)
{
	return op == OP_cuLibraryGetKernel || op == OP_cuModuleGetFunction ||
	       op == OP_cudaLibraryGetKernel;
}

/* False: it does not fit into size. */
static __always_inline bool send_name(const struct frame *f, __u32 op, __u64 handle, __u32 size)
{
	struct kernel_name *n = bpf_ringbuf_reserve(&kernel_names, sizeof(*n) + size, 0);
	long len;

	if (!n) {
		count(loss[LOSS_no_kernel_name]);
		return true;
	}
	len = bpf_probe_read_user_str(n->name, size, (void *)f->aux);
	if (len <= 1 || (size == KERNEL_NAME_SHORT && len == size)) {
		bpf_ringbuf_discard(n, BPF_RB_NO_WAKEUP);
		return len <= 1;
	}
	n->pid = bpf_get_current_pid_tgid() >> 32;
	n->op = op;
	n->handle = handle;
	n->len = len - 1;
	n->cut = len == size;
	bpf_ringbuf_submit(n, BPF_RB_NO_WAKEUP);
	return true;
}

/* A call that finds kernels by their names returns. */
static __noinline int tell_kernel_name(const struct frame *f, __u32 op)
{
	__u64 handle = 0;

	if (!f || bpf_probe_read_user(&handle, sizeof(handle), (void *)f->out) || !handle)
		return 0;
	if (!send_name(f, op, handle, KERNEL_NAME_SHORT))
		send_name(f, op, handle, KERNEL_NAME_LONG);
	return 0;
}

#endif
