/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The balance of allocations and frees: see wire/memory.h. A pointer is known until it is freed, so that a
 * runtime call and the driver call inside it count once. It is forgotten when the call that frees it
 * begins: once that is done, somebody else may get the same one.
 */
#ifndef PROBE_MEMORY_BPF_H
#define PROBE_MEMORY_BPF_H

#include "probe/args.bpf.h"
#include "wire/memory.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ALLOCS);
	__type(key, struct alloc_key);
	__type(value, struct alloc);
} allocs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MEMORIES);
	__type(key, struct memory_key);
	__type(value, struct memory_count);
} memories SEC(".maps");

#define ROLE_FREES 0x80
#define ROLE_AUX 0x40 /* the pointer is an argument */
#define ROLE_KIND 0x0f /* + 1 */
#define ROLE_OUT 0

static const __u8 memory_role[OP_SLOTS] = {
#define ALLOCATES(sym, kind, pointer) [OP_##sym] = (KIND_##kind + 1) | ROLE_##pointer,
#define FREES(sym) [OP_##sym] = ROLE_FREES,
#include "wire/memory.def"
};

static __always_inline struct memory_owner memory_owner(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct memory_owner owner = { .pid = task->tgid };
	__u64 start = BPF_CORE_READ(task, group_leader, start_boottime);

	owner.birth = (__u32)(start >> 10) * 2654435761u;
	if (bpf_core_field_exists(task->self_exec_id))
		owner.birth += (__u32)BPF_CORE_READ(task, self_exec_id);
	return owner;
}

static __noinline struct memory_count *memory_of(const struct memory_owner *owner, __s32 device,
						 __u32 kind)
{
	struct memory_key key = { .owner = *owner, .device = device, .kind = kind };
	struct memory_count *m = bpf_map_lookup_elem(&memories, &key), fresh = {};

	if (m)
		return m;
	bpf_map_update_elem(&memories, &key, &fresh, BPF_NOEXIST);
	m = bpf_map_lookup_elem(&memories, &key);
	if (!m)
		count(loss[LOSS_no_alloc]);
	return m;
}

static __always_inline void memory_add(struct memory_count *m, struct thread *t, __u64 size)
{
	__u64 now = __sync_fetch_and_add(&m->current, size) + size;

	__sync_fetch_and_add(&m->allocs, 1);
	m->serial = t->serial;
	for (int try = 0; try < 4; try++) {
		__u64 high = m->high;

		if ((__s64)now <= (__s64)high ||
		    __sync_val_compare_and_swap(&m->high, high, now) == high)
			break;
	}
}

static __always_inline bool on_device(__u32 kind)
{
	return kind != KIND_pinned && kind != KIND_registered;
}

/* An allocation returns; `f` is its frame. */
static __noinline int memory_got(struct thread *t, const struct frame *f, __u64 op, bool failed)
{
	struct alloc_key key = { .owner = memory_owner() };
	struct alloc fresh = {}, *old;
	struct memory_count *m;

	if (!t || !f || op >= OP_SLOTS)
		return 0;
	fresh.size = f->bytes;
	fresh.stamp = t->frame[0].at.ns;
	fresh.kind = (memory_role[SLOT(op)] & ROLE_KIND) - 1;
	fresh.device = on_device(fresh.kind) ? (__s32)t->device - 1 : -1;
	key.ptr = f->aux;
	if (!failed && !(memory_role[SLOT(op)] & ROLE_AUX) &&
	    (bpf_probe_read_user(&key.ptr, sizeof(key.ptr), (void *)f->out) || !key.ptr))
		return 0;
	m = memory_of(&key.owner, fresh.device, fresh.kind);
	if (!m)
		return 0;
	if (failed) {
		if (t->depth)
			return 0; /* whoever called it will tell */
		__sync_fetch_and_add(&m->failed, 1);
		m->failed_bytes = fresh.size;
		m->serial = t->serial;
		t->failed_bytes = fresh.size;
		t->failed_frees = 0;
		return 0;
	}
	if (!t->depth && t->failed_bytes && fresh.size == t->failed_bytes) {
		if (t->failed_frees)
			__sync_fetch_and_add(&m->retried, 1);
		t->failed_bytes = 0;
	}
	old = bpf_map_lookup_elem(&allocs, &key);
	if (old && old->stamp == fresh.stamp)
		return 0; /* the same, told by the driver's call inside */
	if (old) { /* its free was not seen */
		struct memory_count *was = memory_of(&key.owner, old->device, old->kind);

		if (was)
			__sync_fetch_and_sub(&was->current, old->size);
	}
	if (bpf_map_update_elem(&allocs, &key, &fresh, BPF_ANY)) {
		count(loss[LOSS_no_alloc]);
		return 0;
	}
	memory_add(m, t, fresh.size);
	return 0;
}

/* A free begins. What it frees is kept in its frame, should it fail. */
static __noinline int memory_freed(struct thread *t, struct frame *f)
{
	struct alloc_key key = { .owner = memory_owner() };
	struct memory_count *m;
	struct alloc *a;

	if (!t || !f)
		return 0;
	f->pad = 0;
	key.ptr = f->aux;
	if (!key.ptr)
		return 0;
	if (t->failed_bytes)
		t->failed_frees++;
	a = bpf_map_lookup_elem(&allocs, &key);
	if (!a) {
		m = t->depth ? NULL : memory_of(&key.owner, -1, KIND_device);
		if (m) {
			__sync_fetch_and_add(&m->strangers, 1);
			m->serial = t->serial;
		}
		return 0;
	}
	f->bytes = a->size;
	f->pad = (a->kind + 1) | (__u32)(a->device + 1) << 8;
	m = memory_of(&key.owner, a->device, a->kind);
	if (bpf_map_delete_elem(&allocs, &key) || !m)
		return 0; /* another thread was faster */
	__sync_fetch_and_sub(&m->current, f->bytes);
	__sync_fetch_and_add(&m->frees, 1);
	return 0;
}

/* A free returns an error: it is still there. */
static __noinline int memory_kept(struct thread *t, const struct frame *f)
{
	struct alloc_key key = { .owner = memory_owner() };
	struct memory_count *m;
	struct alloc a = {};

	if (!t || !f || !f->pad)
		return 0;
	a.size = f->bytes;
	a.kind = (f->pad & 0xff) - 1;
	a.device = (__s32)(f->pad >> 8) - 1;
	key.ptr = f->aux;
	m = memory_of(&key.owner, a.device, a.kind);
	if (!m || bpf_map_update_elem(&allocs, &key, &a, BPF_NOEXIST))
		return 0;
	__sync_fetch_and_add(&m->current, a.size);
	__sync_fetch_and_sub(&m->frees, 1);
	return 0;
}

/* A timed call returns: what it did to the balance. Its frame is left already. */
static __always_inline void memory_return(struct thread *t, const struct frame *f, __u64 op,
					  bool failed)
{
	__u8 role = memory_role[SLOT(op)];

	if (op == OP_cudaSetDevice && !failed)
		t->device = (__u32)f->aux + 1;
	if (!role)
		return;
	if (!(role & ROLE_FREES))
		memory_got(t, f, op, failed);
	else if (failed)
		memory_kept(t, f);
}

#endif
