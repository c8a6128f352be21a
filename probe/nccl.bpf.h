/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NCCL: which communicator a call belongs to, its number in that communicator's sequence, and the
 * synchronisation that follows it. Host calls only queue work, so the time that a rank waits for the
 * others is spent there. Every operation is counted; up to NCCL_PER_SECOND of a process are told.
 */
#ifndef PROBE_NCCL_BPF_H
#define PROBE_NCCL_BPF_H

#include "probe/args.bpf.h"
#include "wire/nccl.h"

#ifdef __TARGET_ARCH_x86
#define BY_VALUE_ARGS 0 /* an ncclUniqueId by value: on the stack, */
#define BY_VALUE_AT(reg, sp) ((sp) + STACK_BIAS)
#else
#define BY_VALUE_ARGS 1 /* ... or its address, in a register of its own. Never run. */
#define BY_VALUE_AT(reg, sp) ((reg)[3])
#endif

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NCCL_COMMS);
	__type(key, struct nccl_key);
	__type(value, struct nccl_comm);
} nccl_comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NCCL_PROCESSES);
	__type(key, __u32);
	__type(value, struct nccl_process);
} nccl_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} nccl_ring SEC(".maps");

bool nccl_active = false; /* somebody uses NCCL: until then a synchronisation costs no more */
__u32 nccl_generation = 0; /* + 1 with each process that does */
__u32 nccl_numbers = 0; /* communicators seen */

static const struct nccl_args nccl_args[OP_SLOTS] = {
#define COLL NCCL_ARGS_COLL
#define COMM NCCL_ARGS_COMM
#define NCCL NCCL_ARGS_OTHER
#include "wire/nccl.def"
};

static const __u8 nccl_sizes[24] = { /* not 16: a section of constants has no place in BTF */
#define X(name, bytes) [NCCL_TYPE_##name] = bytes,
				     NCCL_TYPES(X)
#undef X
};

/* ---- who ---- */

static __always_inline struct nccl_process *nccl_process_of(__u32 pid, __u64 now)
{
	struct nccl_process *p = bpf_map_lookup_elem(&nccl_processes, &pid), fresh = {};

	if (p)
		return p;
	fresh.epoch = now;
	if (bpf_map_update_elem(&nccl_processes, &pid, &fresh, BPF_NOEXIST)) {
		count(loss[LOSS_no_comm]);
		return NULL;
	}
	__sync_fetch_and_add(&nccl_generation, 1);
	nccl_active = true;
	return bpf_map_lookup_elem(&nccl_processes, &pid);
}

static __always_inline struct nccl_comm *nccl_comm_put(const struct nccl_key *key,
						       struct nccl_comm *fresh)
{
	fresh->number = __sync_fetch_and_add(&nccl_numbers, 1) + 1;
	if (bpf_map_update_elem(&nccl_comms, key, fresh, BPF_ANY)) {
		count(loss[LOSS_no_comm]);
		return NULL;
	}
	return bpf_map_lookup_elem(&nccl_comms, key);
}

/* A handle that nobody was seen to make belongs to a communicator from before we looked. */
static __always_inline struct nccl_comm *nccl_comm_of(const struct nccl_key *key, __u64 epoch)
{
	struct nccl_comm *c = bpf_map_lookup_elem(&nccl_comms, key);
	struct nccl_comm fresh = { .epoch = epoch, .rank = -1, .nranks = -1, .op = OP_SLOTS };

	if (c && c->epoch == epoch)
		return c;
	return nccl_comm_put(key, &fresh);
}

/* ---- telling ---- */

/* Is there room for one more in this second of the clock? All ranks of a host agree on that clock. */
static __always_inline bool nccl_room(struct nccl_process *p, __u64 now, __u32 limit)
{
	__u64 second = now / 1000000000;

	if (p->second != second) {
		p->second = second;
		p->told = 0;
	}
	return __sync_fetch_and_add(&p->told, 1) < limit;
}

static __always_inline struct nccl_event *nccl_event_new(const struct thread *t, __u32 kind,
							 __u32 op)
{
	struct nccl_event *e = bpf_ringbuf_reserve(&nccl_ring, sizeof(*e), 0);
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	if (!e) {
		count(loss[LOSS_no_collective]);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->size = sizeof(*e);
	e->kind = kind;
	e->serial = t->serial;
	e->pid = pid_tgid >> 32;
	e->tid = pid_tgid;
	e->op = op;
	e->rank = e->nranks = e->type = e->redop = e->root = -1;
	e->end_ns = t->now.ns;
	return e;
}

static __always_inline void nccl_tell_comm(const struct thread *t, __u32 kind,
					   const struct nccl_key *key, const struct nccl_comm *c)
{
	struct nccl_event *e = nccl_event_new(t, kind, c->op);

	if (!e)
		return;
	e->number = c->number;
	e->comm = key->comm;
	e->hash = c->hash;
	e->parent = c->parent;
	e->rank = c->rank;
	e->nranks = c->nranks;
	e->color = c->color;
	e->key = c->key;
	e->seq = kind == NCCL_EVENT_MADE ? t->nccl.seq : c->calls; /* made: number of the split */
	e->count = c->p2p;
	e->bytes = c->bytes;
	e->stream = c->sent;
	e->start_ns = c->made_ns;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* ---- a communicator is made ---- */

/* Further words of a hash, from the program's memory. 0: they could not be read. */
static __noinline __u64 nccl_hash_id(__u64 hash, __u64 at)
{
	__u64 word[NCCL_ID_WORDS];

	if (bpf_probe_read_user(word, sizeof(word), (void *)at))
		return 0;
	for (int i = 0; i < NCCL_ID_WORDS; i++)
		hash = nccl_mix(hash, word[i]);
	return hash;
}

static __always_inline __u64 nccl_hash_ids(__u64 at, __u32 ids)
{
	__u64 hash = nccl_mix(NCCL_HASH_SEED, ids);

	for (__u32 i = 0; i < NCCL_IDS_MAX && hash; i++)
		if (i < ids)
			hash = nccl_hash_id(hash, at + i * 8 * NCCL_ID_WORDS);
	return ids ? hash : 0;
}

/* A split is a call of all ranks, so its number and the parent's name say which one it is. */
static __always_inline void nccl_split(struct nccl_call *n, const struct nccl_key *parent,
				       __u64 epoch, const __u64 reg[8])
{
	struct nccl_comm *c = nccl_comm_of(parent, epoch);

	n->color = reg[2];
	n->key = reg[3];
	if (!c)
		return;
	n->seq = __sync_fetch_and_add(&c->splits, 1) + 1;
	n->parent = c->hash;
	if (c->hash)
		n->hash = nccl_mix(nccl_mix(nccl_mix(NCCL_HASH_SEED, c->hash), n->seq),
				   (__u32)n->color);
}

/* All that names it is read at the entry: the call may overwrite its arguments. */
static __always_inline void nccl_enter_comm(struct nccl_call *n, const struct frame *f, __u32 op,
					    const __u64 reg[8], const struct nccl_process *p)
{
	const struct nccl_args *a = &nccl_args[SLOT(op)];
	__u32 shift = a->how == NCCL_HOW_ID ? BY_VALUE_ARGS : 0;
	struct nccl_key key = { .comm = f->aux, .pid = bpf_get_current_pid_tgid() >> 32 };

	n->rank = n->nranks = -1;
	if (a->nranks)
		n->nranks = argument(reg, f->sp, a->nranks);
	if (a->rank)
		n->rank = argument(reg, f->sp, a->rank + shift);
	if (a->how == NCCL_HOW_ID)
		n->hash = nccl_hash_id(NCCL_HASH_SEED, BY_VALUE_AT(reg, f->sp));
	else if (a->how == NCCL_HOW_IDS)
		n->hash = nccl_hash_ids(reg[5], reg[4]);
	else if (a->how == NCCL_HOW_SPLIT)
		nccl_split(n, &key, p->epoch, reg);
	else /* nobody else is in it */
		n->hash = nccl_mix(nccl_mix(NCCL_HASH_SEED, key.pid), now_ns());
}

static __noinline int nccl_made(struct thread *t, struct frame *f, __u64 at, __s32 rank)
{
	struct nccl_key key = { .pid = bpf_get_current_pid_tgid() >> 32 };
	struct nccl_process *p;
	struct nccl_comm *c, fresh = {};

	if (!t || !f || !at || bpf_probe_read_user(&key.comm, sizeof(key.comm), (void *)at))
		return 0;
	p = nccl_process_of(key.pid, t->now.ns);
	if (!p)
		return 0;
	fresh.epoch = p->epoch;
	fresh.hash = t->nccl.hash;
	fresh.parent = t->nccl.parent;
	fresh.made_ns = t->now.ns;
	fresh.rank = rank;
	fresh.nranks = t->nccl.nranks;
	fresh.color = t->nccl.color;
	fresh.key = t->nccl.key;
	fresh.op = f->op;
	if (!key.comm) { /* a rank without a color: the others need to know */
		if (fresh.color == NCCL_NO_COLOR)
			nccl_tell_comm(t, NCCL_EVENT_MADE, &key, &fresh);
		return 0;
	}
	c = nccl_comm_put(&key, &fresh);
	if (c)
		nccl_tell_comm(t, NCCL_EVENT_MADE, &key, c);
	return 0;
}

static __always_inline void nccl_return_comm(struct thread *t, struct frame *f, __u32 op)
{
	if (nccl_args[SLOT(op)].how != NCCL_HOW_ALL) {
		nccl_made(t, f, f->out, t->nccl.rank);
		return;
	}
	for (int i = 0; i < NCCL_ALL_MAX; i++)
		if (i < t->nccl.nranks)
			nccl_made(t, f, f->out ? f->out + i * 8 : 0, i);
}

static __always_inline void nccl_leave(struct thread *t, __u64 comm)
{
	struct nccl_key key = { .comm = comm, .pid = bpf_get_current_pid_tgid() >> 32 };
	struct nccl_comm *c = bpf_map_lookup_elem(&nccl_comms, &key);

	if (!c)
		return;
	nccl_tell_comm(t, NCCL_EVENT_GONE, &key, c);
	bpf_map_delete_elem(&nccl_comms, &key);
}

/* ---- operations ---- */

static __always_inline void nccl_enter_coll(struct nccl_call *n, struct frame *f, __u32 op,
					    const __u64 reg[8], const struct nccl_process *p)
{
	struct nccl_key key = { .comm = f->aux, .pid = bpf_get_current_pid_tgid() >> 32 };
	struct nccl_comm *c = nccl_comm_of(&key, p->epoch);
	const struct nccl_args *a = &nccl_args[SLOT(op)];

	n->type = argument(reg, f->sp, a->type);
	n->redop = a->redop ? (__s32)argument(reg, f->sp, a->redop) : -1;
	n->root = a->root ? (__s32)argument(reg, f->sp, a->root) : -1;
	n->count = f->bytes;
	f->bytes = (__u32)n->type < NCCL_TYPE_COUNT && n->count < 1ull << 56
			   ? n->count * nccl_sizes[n->type & 15]
			   : 0;
	n->number = 0;
	if (!c)
		return;
	n->seq = __sync_fetch_and_add(op_classes[SLOT(op)] == CLASS_P2P ? &c->p2p : &c->calls, 1) +
		 1;
	__sync_fetch_and_add(&c->bytes, f->bytes);
	n->number = c->number;
	n->hash = c->hash;
	n->parent = c->parent;
	n->rank = c->rank;
	n->nranks = c->nranks;
}

static __always_inline void nccl_return_coll(struct thread *t, const struct frame *f, __u32 op,
					     __s32 ret)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct nccl_process *p = bpf_map_lookup_elem(&nccl_processes, &pid);
	struct nccl_key key = { .comm = f->aux, .pid = pid };
	struct nccl_call *n = &t->nccl;
	struct nccl_comm *c;
	struct nccl_event *e;

	if (!p || !n->number)
		return;
	p->waiting = 1;
	p->other_told = 0;
	p->stream = f->stream;
	if (!nccl_room(p, t->now.ns, NCCL_PER_SECOND))
		return;
	e = nccl_event_new(t, NCCL_EVENT_CALL, op);
	if (!e)
		return;
	e->flags = n->group ? NCCL_GROUPED : 0;
	e->ret = ret;
	e->number = n->number;
	e->comm = f->aux;
	e->hash = n->hash;
	e->parent = n->parent;
	e->rank = n->rank;
	e->nranks = n->nranks;
	e->seq = n->seq;
	e->start_ns = f->at.ns;
	e->count = n->count;
	e->bytes = f->bytes;
	e->stream = f->stream;
	e->type = n->type;
	e->redop = n->redop;
	e->root = n->root;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	c = bpf_map_lookup_elem(&nccl_comms, &key);
	if (c)
		__sync_fetch_and_add(&c->sent, 1);
}

/* ---- entry and return of all of them ---- */

/* Some are made of others: ncclBcast calls ncclBroadcast. */
static __always_inline bool nccl_inside(const struct thread *t)
{
	for (__u32 i = 0; i < DEPTH; i++)
		if (i < t->depth && t->frame[i].op < OP_SLOTS &&
		    nccl_args[SLOT(t->frame[i].op)].kind)
			return true;
	return false;
}

static __noinline int nccl_enter(struct thread *t, struct frame *f, const __u64 reg[8])
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct nccl_process *p;
	__u64 op;

	if (!t || !f || !reg)
		return 0;
	op = f->op;
	if (op >= OP_SLOTS)
		return 0;
	if (nccl_inside(t)) {
		f->bytes = 0; /* the outer one has them */
		return 0;
	}
	t->nccl.sp = f->sp;
	t->nccl.hash = t->nccl.parent = t->nccl.seq = 0;
	t->nccl.color = t->nccl.key = 0;
	switch (nccl_args[SLOT(op)].kind) {
	case NCCL_COLL:
	case NCCL_COMM:
		p = nccl_process_of(pid, t->now.ns);
		if (!p)
			t->nccl.number = 0;
		else if (nccl_args[SLOT(op)].kind == NCCL_COLL)
			nccl_enter_coll(&t->nccl, f, op, reg, p);
		else
			nccl_enter_comm(&t->nccl, f, op, reg, p);
		break;
	case NCCL_LEAVE:
		nccl_leave(t, f->aux);
		break;
	case NCCL_GROUP_END:
		if (t->nccl.group)
			t->nccl.group--;
		break;
	}
	return 0;
}

static __noinline int nccl_return(struct thread *t, struct frame *f, __s32 ret)
{
	__u64 op;

	if (!t || !f || t->nccl.sp != f->sp)
		return 0;
	op = f->op;
	if (op >= OP_SLOTS)
		return 0;
	switch (nccl_args[SLOT(op)].kind) {
	case NCCL_COLL:
		nccl_return_coll(t, f, op, ret);
		break;
	case NCCL_COMM:
		if (!ret || ret == NCCL_IN_PROGRESS)
			nccl_return_comm(t, f, op);
		break;
	case NCCL_GROUP_START:
		if (!ret && t->nccl.group < 255)
			t->nccl.group++;
		break;
	}
	t->nccl.sp = 0;
	return 0;
}

/* ---- the synchronisation that follows ---- */

/* A copy without a stream waits for the device, too. */
static __always_inline bool waits_for_device(__u32 op)
{
	return op < OP_SLOTS && (op_classes[SLOT(op)] == CLASS_SYNC ||
				 (op_classes[SLOT(op)] == CLASS_COPY && !op_args[SLOT(op)].stream));
}

static __noinline int nccl_sync(struct thread *t, struct frame *f)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32, generation = nccl_generation;
	struct nccl_process *p;
	struct nccl_event *e;
	bool covers;
	__u64 op;

	if (!t || !f)
		return 0;
	op = f->op;
	if (op >= OP_SLOTS)
		return 0;
	if (t->nccl.process == generation << 1)
		return 0; /* it does not use NCCL, and nobody has begun to since */
	p = bpf_map_lookup_elem(&nccl_processes, &pid);
	t->nccl.process = generation << 1 | !!p;
	if (!p || !p->waiting)
		return 0;
	covers = !op_args[SLOT(op)].stream || f->stream == p->stream;
	if (!covers && p->other_told)
		return 0;
	if (covers)
		p->waiting = 0;
	else
		p->other_told = 1;
	if (!nccl_room(p, t->now.ns, 3 * NCCL_PER_SECOND))
		return 0;
	e = nccl_event_new(t, NCCL_EVENT_SYNC, op);
	if (!e)
		return 0;
	e->start_ns = f->at.ns;
	e->stream = f->stream;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The program was replaced: its communicators are gone with it. */
static __always_inline void nccl_forget(__u32 pid)
{
	if (nccl_active)
		bpf_map_delete_elem(&nccl_processes, &pid);
}

#endif
