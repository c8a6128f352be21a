/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a bio is queued everything is known: its folios are locked or under writeback, so that their file
 * stays, and whoever asks is the current task. What is found goes with the bio to its completion.
 */
#ifndef PROBE_LINEAGE_QUEUE_BPF_H
#define PROBE_LINEAGE_QUEUE_BPF_H

#include "probe/lineage_fsync.bpf.h"
#include "probe/lineage_name.bpf.h"
#include "probe/lineage_owner.bpf.h"

#define BDEVFS_MAGIC 0x62646576
#define CHAIN_MAX 3
#define OP_MASK 0xff
#define OP_WRITE 1
#define OP_FLUSH 2

/* What a bio ends with tells what it is. Addresses: from the kernel's symbols; 0: none, or hidden. */
extern const void iomap_dio_bio_end_io __ksym __weak;
extern const void blkdev_bio_end_io __ksym __weak;
extern const void blkdev_bio_end_io_async __ksym __weak;
extern const void end_bio_bh_io_sync __ksym __weak;
extern const void journal_end_buffer_io_sync __ksym __weak;
extern const void xlog_bio_end_io __ksym __weak;
extern const void xfs_buf_bio_end_io __ksym __weak;
extern const void bio_chain_endio __ksym __weak;
extern const void submit_bio_wait_endio __ksym __weak;
extern const void bio_wait_end_io __ksym __weak;
extern const void end_swap_bio_write __ksym __weak;
extern const void end_swap_bio_read __ksym __weak;

#define IS(f, symbol) (&(symbol) && (f) == (__u64) & (symbol))

struct found {
	struct lineage_key key;
	__u64 offset;
	__u64 inode; /* its address; 0: none */
	__u64 stack; /* Python's, of who asked for it */
	struct lineage_who who;
	__u32 sharer[2];
};

/* Where what a bio carries is counted, and who submits it. */
struct account {
	__u32 index, serial;
	__u32 sub_pid, sub_tid;
};

/* What of bi_opf makes a difference; never 0. */
static __always_inline __u32 before_op(__u32 opf)
{
	return ((opf & OP_MASK) |
		(opf & 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD))) +
	       1;
}

static __always_inline void found_inode(struct found *f, __u64 inode)
{
	__u64 sb;

	f->inode = inode;
	f->key.ino = GET(inode, inode, i_ino);
	f->key.gen = GET(inode, inode, i_generation);
	sb = (__u64)GET(inode, inode, i_sb);
	f->key.fs_dev = GET(super_block, sb, s_dev);
}

/* Direct I/O: never by its pages, which may be those of another file, mapped. */
static __always_inline void look_at_direct(struct found *f, __u64 dio, __u32 size)
{
	__u64 iocb = (__u64)GET(iomap_dio, dio, iocb), file = (__u64)GET(kiocb, iocb, ki_filp);

	f->key.class = LINEAGE_direct;
	f->offset = GET(kiocb, iocb, ki_pos) + GET(iomap_dio, dio, size) - size;
	found_inode(f, (__u64)GET(file, file, f_inode));
}

/*
 * What is read into the page cache is locked, what is written from it is under writeback. Memory that only
 * happens to be a mapped file, as of a direct write that a volume manager passes on, is neither.
 */
static __always_inline bool in_transfer(__u64 folio, __u32 op)
{
	__u64 flags = 0;

	/* The first word; as a field it has another type in each kernel. */
	bpf_probe_read_kernel(&flags, sizeof(flags), (void *)folio);
	return flags >> (op == OP_WRITE ? bpf_core_enum_value(enum pageflags, PG_writeback)
					: bpf_core_enum_value(enum pageflags, PG_locked)) &
	       1;
}

static __always_inline void look_at_folio(struct lineage_cpu *c, struct found *f, struct bio *bio)
{
	__u32 at, size = bpf_core_type_size(struct page), index = bio->bi_iter.bi_idx;
	__u64 vec = number_of(&c->number, bio->bi_io_vec) +
		    (__u64)index * bpf_core_type_size(struct bio_vec);
	__u64 page, head, folio, mapping, inode, sb;
	struct bio_vec v = {};

	f->key.class = LINEAGE_other;
	if (bpf_probe_read_kernel(&v, sizeof(v), (void *)vec) || !v.bv_page)
		return;
	at = v.bv_offset + bio->bi_iter.bi_bvec_done;
	page = (__u64)v.bv_page + (__u64)(at >> 12) * size;
	head = number_of(&c->number, (void *)GET(page, page, compound_head)); /* shares its place */
	folio = head & 1 ? head - 1 : page;
	mapping = number_of(&c->number, GET(folio, folio, mapping));
	if (!mapping || mapping & 3)
		return; /* anonymous, or none */
	inode = (__u64)GET(address_space, mapping, host);
	if (!inode) {
		f->key.class = LINEAGE_swap;
		return;
	}
	sb = (__u64)GET(inode, inode, i_sb);
	if (GET(super_block, sb, s_magic) == BDEVFS_MAGIC) {
		f->key.class = LINEAGE_metadata;
		return;
	}
	if (!in_transfer(folio, f->key.op))
		return;
	f->key.class = LINEAGE_file;
	f->offset = (GET(folio, folio, index) + (page - folio) / size) * 4096 + (at & 4095);
	found_inode(f, inode);
}

static __always_inline void classify(struct lineage_cpu *c, struct found *f, struct bio *bio)
{
	__u64 end = number_of(&c->number, bio->bi_end_io), private = (__u64)bio->bi_private;
	__u32 size = bio->bi_iter.bi_size;

	if (!size) {
		f->key.class = LINEAGE_flush;
		return;
	}
	if (!&iomap_dio_bio_end_io) {
		c->stats.loss[LINEAGE_LOSS_no_symbol]++;
		return; /* a folio may belong to another file than the request */
	}
	for (int i = 0; i < CHAIN_MAX && IS(end, bio_chain_endio); i++) {
		__u64 parent = private;

		end = number_of(&c->number, (void *)GET(bio, parent, bi_end_io));
		private = (__u64)GET(bio, parent, bi_private);
	}
	if (IS(end, iomap_dio_bio_end_io)) {
		look_at_direct(f, private, size);
	} else if (IS(end, end_bio_bh_io_sync) &&
		   IS(number_of(&c->number, (void *)GET(buffer_head, private, b_end_io)),
		      journal_end_buffer_io_sync)) {
		f->key.class = LINEAGE_journal;
	} else if (IS(end, xlog_bio_end_io)) {
		f->key.class = LINEAGE_journal;
	} else if (IS(end, xfs_buf_bio_end_io)) {
		f->key.class = LINEAGE_metadata;
	} else if (IS(end, blkdev_bio_end_io) || IS(end, blkdev_bio_end_io_async)) {
		f->key.class = LINEAGE_raw;
	} else if (IS(end, end_swap_bio_write) || IS(end, end_swap_bio_read)) {
		f->key.class = LINEAGE_swap;
	} else if (IS(end, submit_bio_wait_endio) || IS(end, bio_wait_end_io)) {
		f->key.class = LINEAGE_other;
	} else {
		look_at_folio(c, f, bio);
	}
}

/* False: the task that submits it is behind it. */
static __always_inline bool serves_fsync(struct found *f, struct task_struct *task)
{
	struct fsync_by *by = fsync_behind(task, f->key.dev);
	bool own = !(task->flags & PF_KTHREAD); /* it writes the log itself */

	if (own && (!by || by->who.pid != (__u32)task->tgid))
		return false;
	f->key.owner = LINEAGE_OWNER_none;
	if (!by)
		return true;
	f->key.owner = by->others && !own ? LINEAGE_OWNER_shared : LINEAGE_OWNER_fsync;
	f->who = by->who;
	f->stack = f->key.owner == LINEAGE_OWNER_fsync ? by->stack : NO_STACK_not_looked;
	f->key.ino = by->ino;
	f->key.gen = by->gen;
	f->key.fs_dev = f->key.dev;
	f->key.tag = by->who.tag;
	f->key.pid = f->key.owner == LINEAGE_OWNER_fsync ? by->who.pid : 0;
	return true;
}

/* Who is behind it; `who` is filled in only where it is not the current task. */
static __always_inline void find_owner(struct found *f, struct task_struct *task, __u32 size)
{
	f->key.owner = LINEAGE_OWNER_submitter;
	if (f->key.class == LINEAGE_file && f->key.op == OP_WRITE) {
		struct inode_id id = { f->key.ino, f->key.fs_dev, f->key.gen };

		f->key.owner = owner_of(&id, f->offset, size, &f->who, f->sharer);
		f->key.tag = f->key.owner == LINEAGE_OWNER_none ? 0 : f->who.tag;
		f->key.pid = f->key.owner == LINEAGE_OWNER_dirtier ? f->who.pid : 0;
		return;
	}
	if (f->key.class == LINEAGE_journal && serves_fsync(f, task))
		return;
	f->key.pid = task->tgid;
	f->key.tag = lineage_tag_of((struct inode *)f->inode, task);
}

static __always_inline void introduce(struct lineage_flow *flow, struct found *f,
				      struct task_struct *task)
{
	if (f->key.owner == LINEAGE_OWNER_submitter)
		who_is(&f->who, task, f->key.tag);
	flow->cgroup = f->who.cgroup;
	flow->tid = f->who.tid;
	flow->sharer[0] = f->sharer[0];
	flow->sharer[1] = f->sharer[1];
	__builtin_memcpy(flow->comm, f->who.comm, sizeof(flow->comm));
	if (f->key.owner == LINEAGE_OWNER_none || f->key.owner == LINEAGE_OWNER_shared)
		__builtin_memset(flow->comm, 0, sizeof(flow->comm));
	flow_ready(flow);
}

/* More files than places: those of one owner are one. */
static __always_inline struct lineage_flow *flow_folded(struct lineage_cpu *c, struct found *f,
							__u32 *ret_index, bool *ret_fresh)
{
	struct lineage_flow *flow;

	c->key = f->key;
	c->key.ino = c->key.gen = c->key.fs_dev = 0;
	c->key.flags |= LINEAGE_FOLDED;
	flow = flow_of(&c->key, ret_index, ret_fresh);
	c->stats.loss[flow ? LINEAGE_LOSS_folded : LINEAGE_LOSS_no_flow]++;
	return flow;
}

static __always_inline void keep(struct lineage_cpu *c, __u64 address, struct bio *bio,
				 __u64 offset, const struct account *account, __u32 tid)
{
	struct lineage_slot *slot = slot_at(address, 0);

	if (unlikely(slot && slot->bio && slot->bio != address))
		slot = slot_at(address, 1);
	if (unlikely(!slot))
		return;
	if (unlikely(slot->bio && slot->bio != address))
		c->stats.loss[LINEAGE_LOSS_no_slot]++; /* that other one will not be known */
	slot->bio = address;
	slot->sector = bio->bi_iter.bi_sector;
	slot->size = bio->bi_iter.bi_size;
	slot->offset = offset;
	slot->issue_ns = 0;
	slot->requeues = 0;
	slot->flow = account->index;
	slot->serial = account->serial;
	slot->sub_pid = account->sub_pid;
	slot->sub_tid = account->sub_tid;
	slot->tid = tid;
}

/* For what as_before() asks; only of work without a tag, as it does not look for one. */
static __always_inline void remember(struct lineage_before *b, const struct found *f, __u32 op,
				     const struct account *account)
{
	b->op = 0;
	if (f->key.class != LINEAGE_direct || f->key.flags & LINEAGE_FOLDED || any_tags())
		return;
	b->ino = f->key.ino;
	b->gen = f->key.gen;
	b->fs_dev = f->key.fs_dev;
	b->dev = f->key.dev;
	b->pid = account->sub_pid;
	b->tid = account->sub_tid;
	b->flow = account->index;
	b->serial = account->serial;
	b->op = op;
}

/*
 * Any bio. True: the line of Python that the current task is at belongs to it; whoever looks at that needs the
 * stack that this takes.
 */
static __noinline int queue_bio(struct lineage_cpu *c, struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct account account = {};
	struct lineage_flow *flow;
	struct found f = {};
	__u64 address;
	__u32 opf = bio->bi_opf;
	bool fresh;

	f.key.dev = bio->bi_bdev->bd_dev;
	f.key.op = opf & OP_MASK;
	if (opf >> bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD) & 1)
		f.key.flags |= LINEAGE_READAHEAD;
	classify(c, &f, bio);
	find_owner(&f, task, bio->bi_iter.bi_size);
	flow = flow_of(&f.key, &account.index, &fresh);
	if (flow && fresh && f.inode)
		tell_name(&f.key, f.inode);
	if (!flow) {
		flow = flow_folded(c, &f, &account.index, &fresh);
		f.key.flags |= LINEAGE_FOLDED;
	}
	if (!flow)
		return 0;
	if (fresh)
		introduce(flow, &f, task);
	address = number_of(&c->number, bio);
	if (lineage_lines && f.key.owner == LINEAGE_OWNER_fsync)
		keep_line(address, f.stack);
	account.serial = flow->serial;
	account.sub_pid = task->tgid;
	account.sub_tid = task->pid;
	remember(&c->before, &f, before_op(opf), &account);
	keep(c, address, bio, f.offset, &account,
	     f.key.owner == LINEAGE_OWNER_submitter ? tid_behind(task) : f.who.tid);
	return f.key.owner != LINEAGE_OWNER_fsync;
}

/*
 * Direct I/O as before: all that makes a key is the same, so that the account need not be looked for. This is
 * what small requests to a fast disk cost: nothing else comes between the instructions of it, and no other place
 * of memory is looked at. False: look at it as at any other.
 */
static __always_inline bool as_before(struct lineage_cpu *c, struct bio *bio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct lineage_before *b = &c->before;
	struct account account = { b->flow, b->serial, b->pid, b->tid };
	__u64 dio, iocb, file, inode, sb, address, offset;
	struct lineage_flow *flow;

	if (unlikely(b->op != before_op(bio->bi_opf) || b->dev != bio->bi_bdev->bd_dev))
		return false;
	if (unlikely(!IS(number_of(&c->number, bio->bi_end_io), iomap_dio_bio_end_io)))
		return false;
	if (unlikely(b->tid != (__u32)task->pid || b->pid != (__u32)task->tgid))
		return false;
	if (unlikely(task->flags & PF_IO_WORKER || !bio->bi_iter.bi_size || any_tags()))
		return false;
	dio = (__u64)bio->bi_private;
	iocb = (__u64)GET(iomap_dio, dio, iocb);
	file = (__u64)GET(kiocb, iocb, ki_filp);
	inode = (__u64)GET(file, file, f_inode);
	sb = (__u64)GET(inode, inode, i_sb);
	if (unlikely(b->ino != GET(inode, inode, i_ino) ||
		     b->gen != GET(inode, inode, i_generation) ||
		     b->fs_dev != GET(super_block, sb, s_dev)))
		return false;
	flow = flow_at(account.index);
	if (unlikely(!flow || flow->state != FLOW_LIVE || flow->serial != account.serial))
		return false;
	offset = GET(kiocb, iocb, ki_pos) + GET(iomap_dio, dio, size) - bio->bi_iter.bi_size;
	address = number_of(&c->number, bio);
	keep(c, address, bio, offset, &account, account.sub_tid);
	return true;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(lineage_queue, struct bio *bio)
{
	struct lineage_cpu *c = lineage_cpu();
	__u64 begin;

	if (unlikely(!c || lineage_off || !is_wanted(bio->bi_bdev)))
		return 0;
	begin = cost_begin(c->stats.bios++);
	if ((likely(as_before(c, bio)) || queue_bio(c, bio)) && lineage_lines)
		keep_line(number_of(&c->number, bio), line_of_current());
	cost_end(c, begin);
	return 0;
}

#endif
