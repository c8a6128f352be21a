/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who wrote into the page cache: told where a folio becomes dirty, which is in the context of the task
 * that does it. Flushers never come here.
 *
 * Nearly every file has one writer at a time, and needs one entry. Where a second one comes while data of
 * the first is still unwritten, pieces of 64 KiB get an owner of their own from then on. A piece that both
 * may have written is nobody's: it is marked, not guessed.
 */
#ifndef PROBE_LINEAGE_OWNER_BPF_H
#define PROBE_LINEAGE_OWNER_BPF_H

#include "probe/lineage_lib.bpf.h"

#define INODES 16384
#define INODE_WAYS 4
#define CHUNK_SHIFT 4 /* pages: 64 KiB */
#define CHUNKS_MAX 16 /* looked at per bio */

struct inode_id {
	__u64 ino;
	__u32 dev, gen;
};

enum { INODE_FREE, INODE_BUSY, INODE_LIVE };

/* What a write by the same as before looks at is one cache line, which ends within `now`. */
struct inode_owner {
	struct inode_id id;
	__u32 state;
	__u32 several; /* writers since the last epoch began */
	__u32 epoch; /* +1 when all before is written: chunks of older ones mean nothing */
	__u32 pad;
	__u64 low, high; /* pages that `first` has dirtied */
	struct lineage_who now, first;
};

_Static_assert(sizeof(struct inode_owner) == 128 &&
		       __builtin_offsetof(struct inode_owner, now.cgroup) == 64,
	       "two cache lines");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* nobody does: but they begin at a cache line then */
	__uint(max_entries, INODES);
	__type(key, __u32);
	__type(value, struct inode_owner);
} inode_owners SEC(".maps");

struct chunk_key {
	struct inode_id id;
	__u64 chunk;
};

struct chunk_owner {
	struct lineage_who who;
	__u32 epoch;
	__u32 mixed; /* by several */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct chunk_key);
	__type(value, struct chunk_owner);
} chunk_owners SEC(".maps");

static __always_inline bool same_inode(const struct inode_id *a, const struct inode_id *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return x[0] == y[0] && x[1] == y[1];
}

static __always_inline struct inode_owner *inode_at(const struct inode_id *id, __u32 way)
{
	__u32 i = (mix(id->ino, (__u64)id->dev << 32 | id->gen) + way) & (INODES - 1);

	return bpf_map_lookup_elem(&inode_owners, &i);
}

static __always_inline struct inode_owner *inode_owner_of(const struct inode_id *id)
{
	for (__u32 way = 0; way < INODE_WAYS; way++) {
		struct inode_owner *o = inode_at(id, way);

		if (o && o->state == INODE_LIVE && same_inode(&o->id, id))
			return o;
	}
	return NULL;
}

/* A place for a new file: a free one, or that of another, which is forgotten. */
static __always_inline struct inode_owner *inode_place(const struct inode_id *id)
{
	struct inode_owner *o;
	struct lineage_cpu *c;

	for (__u32 way = 0; way < INODE_WAYS; way++) {
		o = inode_at(id, way);
		if (o && o->state == INODE_FREE &&
		    !__sync_val_compare_and_swap(&o->state, INODE_FREE, INODE_BUSY))
			return o;
	}
	o = inode_at(id, id->ino & (INODE_WAYS - 1));
	if (!o || __sync_val_compare_and_swap(&o->state, INODE_LIVE, INODE_BUSY) != INODE_LIVE)
		return NULL;
	c = lineage_cpu();
	if (c)
		c->stats.loss[LINEAGE_LOSS_forgotten]++;
	return o;
}

static __always_inline void first_writer(const struct inode_id *id, struct task_struct *task,
					 __u64 tag, __u64 page)
{
	struct inode_owner *o = inode_place(id);

	if (!o)
		return;
	o->id = *id;
	o->epoch++;
	o->several = 0;
	o->low = o->high = page;
	who_is(&o->now, task, tag);
	o->first = o->now;
	o->state = INODE_LIVE;
}

static __always_inline void own_chunk(struct inode_owner *o, const struct inode_id *id, __u64 page,
				      __u32 tid)
{
	struct chunk_key key = { .id = *id, .chunk = page >> CHUNK_SHIFT };
	struct chunk_owner *known = bpf_map_lookup_elem(&chunk_owners, &key);
	struct chunk_owner fresh = { .epoch = o->epoch };
	bool of_first;

	if (known && known->epoch == o->epoch) {
		if (known->who.pid != o->now.pid || known->who.tag != o->now.tag)
			known->mixed = 1;
		else if (known->who.tid != tid)
			known->who.tid = 0;
		return;
	}
	fresh.who = o->now;
	of_first = key.chunk >= o->low >> CHUNK_SHIFT && key.chunk <= o->high >> CHUNK_SHIFT;
	fresh.who.tid = of_first && o->first.tid != tid ? 0 : tid;
	fresh.mixed = of_first && (o->first.pid != o->now.pid || o->first.tag != o->now.tag);
	bpf_map_update_elem(&chunk_owners, &key, &fresh, BPF_ANY);
}

static __always_inline void inode_id_of(struct inode_id *id, struct inode *inode)
{
	id->ino = inode->i_ino;
	id->dev = inode->i_sb->s_dev;
	id->gen = inode->i_generation;
}

static __always_inline __u64 two_words(const __u32 *first)
{
	return *(const __u64 *)first;
}

static __always_inline void more_pages(struct inode_owner *o, __u64 page)
{
	if (page < o->low)
		o->low = page;
	if (page > o->high)
		o->high = page;
}

/*
 * The only writer of a file goes on, and nobody has a tag: nearly all that is written. What dirtied() would do, in
 * few instructions in a row; a worker of an io_uring is never the writer itself. False: look at it as at any other.
 */
static __always_inline bool goes_on(struct folio *folio, struct inode *inode)
{
	__u64 self = bpf_get_current_pid_tgid();
	struct inode_id id = {};
	struct inode_owner *o;

	inode_id_of(&id, inode);
	o = inode_at(&id, 0);
	if (unlikely(!o || !same_inode(&o->id, &id) || two_words(&o->state) != INODE_LIVE))
		return false;
	if (unlikely(two_words(&o->now.tid) != self || o->now.tag || any_tags()))
		return false;
	more_pages(o, folio->index);
	return true;
}

static __noinline int dirtied(struct folio *folio, struct address_space *mapping,
			      struct inode *inode)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct inode_id id = {};
	struct inode_owner *o;
	__u64 tag, page;
	__u32 tid = tid_behind(task);
	bool alone;

	if ((inode->i_mode & S_IFMT) == S_IFBLK)
		return 0;
	inode_id_of(&id, inode);
	page = folio->index;
	tag = lineage_tag_of(inode, task);
	o = inode_owner_of(&id);
	if (!o) {
		first_writer(&id, task, tag, page);
		return 0;
	}
	/* The marks of a tree of pages are its high bits: is another one dirty or being written? */
	alone = !(mapping->i_pages.xa_flags >> 20);
	if (o->now.pid != (__u32)task->tgid || o->now.tag != tag || (alone && o->several)) {
		who_is(&o->now, task, tag);
		if (alone) {
			o->first = o->now;
			o->low = o->high = page;
			o->several = 0;
			o->epoch++;
		} else {
			o->several = 1;
		}
	}
	if (!o->several) {
		/* Another thread of its process: as long as data of both is unwritten, either. */
		if (o->now.tid != tid)
			o->now.tid = o->first.tid = alone ? tid : 0;
		more_pages(o, page);
	} else {
		own_chunk(o, &id, page, tid);
	}
	return 0;
}

/*
 * Which ones are timed: by page and moment, so that any way of writing is met as often as any other, and no
 * counter has to be looked at.
 */
static __always_inline __u64 dirty_cost_begin(struct folio *folio)
{
	return cost_begin(folio->index ^ bpf_jiffies64());
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(lineage_dirty, struct folio *folio, struct address_space *mapping)
{
	struct lineage_cpu *c;
	struct inode *inode;
	__u64 begin;

	if (!mapping) /* the verifier knows that it may be */
		return 0;
	inode = mapping->host;
	if (!inode)
		return 0;
	begin = dirty_cost_begin(folio);
	if (unlikely(!goes_on(folio, inode)))
		dirtied(folio, mapping, inode);
	if (likely(!begin))
		return 0;
	c = lineage_cpu();
	if (c)
		cost_end(c, begin);
	return 0;
}

/* ---- asked when data is queued to be written ---- */

/* Who wrote these bytes of a file; *ret is set unless it is LINEAGE_OWNER_none. */
static __always_inline __u32 owner_of(const struct inode_id *id, __u64 offset, __u32 size,
				      struct lineage_who *ret, __u32 sharer[2])
{
	struct inode_owner *o = inode_owner_of(id);
	struct chunk_key key = { .id = *id, .chunk = offset >> (12 + CHUNK_SHIFT) };
	__u64 last = (offset + (size ? size - 1 : 0)) >> (12 + CHUNK_SHIFT);
	struct chunk_owner *chunk;
	struct lineage_who *who;
	bool found = false;

	if (!o)
		return LINEAGE_OWNER_none;
	if (!o->several) {
		*ret = o->now;
		return LINEAGE_OWNER_dirtier;
	}
	*ret = o->first;
	for (int i = 0; i < CHUNKS_MAX && key.chunk <= last; i++, key.chunk++) {
		chunk = bpf_map_lookup_elem(&chunk_owners, &key);
		who = &o->first; /* no entry: written before the second one came */
		if (chunk && chunk->epoch == o->epoch) {
			who = &chunk->who;
			if (chunk->mixed)
				goto shared;
		}
		if (found && (who->pid != ret->pid || who->tag != ret->tag))
			goto shared;
		if (found && who->tid != ret->tid)
			ret->tid = 0;
		else
			*ret = *who;
		found = true;
	}
	if (key.chunk > last)
		return LINEAGE_OWNER_dirtier;
shared:
	sharer[0] = o->first.pid;
	sharer[1] = o->now.pid;
	return LINEAGE_OWNER_shared;
}

#endif
