/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a request is issued, given back, and done: counted for whom it was queued. */
#ifndef PROBE_LINEAGE_DONE_BPF_H
#define PROBE_LINEAGE_DONE_BPF_H

#include "probe/lineage_map.bpf.h"
#include "probe/lineage_queue.bpf.h"

#define BIOS_MAX 128 /* of a request */
#define WINDOW_NS 100000000ull

struct done {
	struct lineage_cpu *cpu;
	__u64 bio; /* the next one */
	__u64 total_ns, device_ns, start_ns;
	__u64 id; /* 0: this request is not told */
	__u64 rq; /* its address */
	__u32 left; /* bytes */
	__u32 parts;
	/* The run of bios of one account that is being collected, to be told as one: */
	__u32 flow; /* + 1; 0: none yet */
	__u32 bytes, tid, sub_pid, sub_tid, requeues;
	__u64 sector, offset;
	__u64 stack; /* Python's, of who asked for it */
	__u32 op, dev, error;
	__u32 because;
	__u32 bucket; /* of total_ns */
	__u32 all; /* bytes of the request, to share out by: never 0 */
	__u32 part_bounced; /* bytes of what is being collected */
	bool ends; /* this is the last of it */
};

/* Global functions are verified once, by themselves: a request has many bios, and each has many cases. */

/* The parent of a piece that was split off knows: the address of the one that has a place; 0: none has. */
__noinline __u64 lineage_parent(__u64 bio)
{
	struct lineage_cpu *c = lineage_cpu();

	for (int i = 0; c && i < CHAIN_MAX; i++) {
		if (!IS(number_of(&c->done_number, (void *)GET(bio, bio, bi_end_io)),
			bio_chain_endio))
			break;
		bio = number_of(&c->done_number, (void *)GET(bio, bio, bi_private));
		if (slot_of(bio))
			return bio;
	}
	return 0;
}

static __always_inline struct lineage_slot *slot_behind(__u64 bio)
{
	struct lineage_slot *slot = slot_of(bio);

	if (unlikely(!slot)) {
		bio = lineage_parent(bio);
		slot = bio ? slot_of(bio) : NULL;
	}
	return slot;
}

__noinline __u32 lineage_bucket(__u64 ns)
{
	return hist_bucket(ns) & (HIST_BUCKETS - 1);
}

static __always_inline __u64 is_some(__u64 v)
{
	v |= -v;
	barrier_var(v); /* the compiler would make a branch of it */
	return v >> 63;
}

/*
 * The same for each request: without a call, which takes its time, and without a branch, which would double the
 * ways through what follows. None is shorter than what the histogram begins with.
 */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u64 over = is_some(ns >> (HIST_BUCKETS / 4 + HIST_MIN_LOG2)), bucket;
	__u32 log2;

	ns |= (is_some(ns >> HIST_MIN_LOG2) ^ 1) << HIST_MIN_LOG2;
	log2 = hist_log2(ns);
	bucket = (log2 - HIST_MIN_LOG2) * 4 + (ns >> (log2 - 2) & 3);
	return (bucket | -over) & (HIST_BUCKETS - 1);
}

/* The account of what is not known of a disk; its place + 1, 0: there is none. */
__noinline __u32 lineage_unseen(__u32 dev, __u32 op)
{
	struct lineage_cpu *c = lineage_cpu();
	struct lineage_flow *flow;
	__u32 index = 0;
	bool fresh;

	if (!c)
		return 0;
	__builtin_memset(&c->done_key, 0, sizeof(c->done_key));
	c->done_key.dev = dev;
	c->done_key.op = op;
	flow = flow_of(&c->done_key, &index, &fresh);
	if (!flow) {
		c->stats.loss[LINEAGE_LOSS_no_flow]++;
		return 0;
	}
	if (fresh) {
		flow->cgroup = flow->tid = flow->sharer[0] = flow->sharer[1] = 0;
		__builtin_memset(flow->comm, 0, sizeof(flow->comm));
		flow_ready(flow);
	}
	return index + 1;
}

static __always_inline void time_flow(struct lineage_flow *flow, const struct done *d,
				      const struct lineage_slot *slot)
{
	if (d->parts)
		__sync_fetch_and_add(&flow->merged, 1);
	if (d->error)
		__sync_fetch_and_add(&flow->errors, 1);
	if (slot && slot->requeues)
		__sync_fetch_and_add(&flow->requeues, slot->requeues);
	if (!d->start_ns) { /* nobody keeps the times of this disk */
		__sync_fetch_and_add(&flow->untimed, 1);
		return;
	}
	__sync_fetch_and_add(&flow->total_ns, d->total_ns);
	if (d->device_ns)
		__sync_fetch_and_add(&flow->device_ns, d->device_ns);
	__sync_fetch_and_add(&flow->hist[d->bucket & (HIST_BUCKETS - 1)], 1);
	if (d->total_ns > flow->max_ns)
		flow->max_ns = d->total_ns;
	if (d->total_ns >= lineage_slow_ns)
		__sync_fetch_and_add(&flow->slow, 1);
}

/* Bounced bytes of a part, and all the rest where it begins an account's: then `ns`, `failed`. */
__noinline int lineage_add_maps(__u32 index, __u32 bounced, __u32 ns, __u32 iommu, __u32 failed)
{
	struct lineage_maps *maps = bpf_map_lookup_elem(&lineage_maps, &index);

	if (!maps)
		return 0;
	if (bounced)
		__sync_fetch_and_add(&maps->bounced, bounced);
	if (iommu)
		__sync_fetch_and_add(&maps->iommu, iommu);
	if (failed)
		__sync_fetch_and_add(&maps->failed, 1);
	if (!ns)
		return 0;
	__sync_fetch_and_add(&maps->ns, ns);
	__sync_fetch_and_add(&maps->hist[lineage_bucket(ns) & (HIST_BUCKETS - 1)], 1);
	if (ns > maps->max_ns)
		maps->max_ns = ns;
	return 0;
}

/* One more of its requests gave its mapping back. */
__noinline int lineage_add_unmap(__u32 index, __u32 ns)
{
	struct lineage_maps *maps = bpf_map_lookup_elem(&lineage_maps, &index);

	if (!maps)
		return 0;
	__sync_fetch_and_add(&maps->unmapped, 1);
	__sync_fetch_and_add(&maps->unmap_ns, ns);
	if (ns > maps->unmap_max_ns)
		maps->unmap_max_ns = ns;
	return 0;
}

/* Of a request that belongs to several, bytes are shared out by size; times are each one's. */
static __always_inline void count_maps(struct done *d, __u32 index, __u32 bytes, bool first)
{
	const struct mapped *m = &d->cpu->done_mapped;
	__u32 bounced = (__u64)bytes * m->bounced / d->all;

	d->part_bounced += bounced;
	if (first)
		lineage_add_maps(index, bounced, m->ns, d->parts == 1 ? m->iommu : 0, m->failed);
	else
		lineage_add_maps(index, bounced, 0, 0, 0);
	if (first && d->parts == 1 && m->unmap_ns)
		lineage_add_unmap(index, m->unmap_ns);
}

/* The driver's own part lies behind the request. */
static __always_inline void tell_nvme(struct lineage_event *e, const struct done *d)
{
	__u8 retries = 0;

	if (!e->map_ns || !(d->because & LINEAGE_BECAUSE_FAILED))
		return;
	bpf_probe_read_kernel(&e->nvme_status, sizeof(e->nvme_status),
			      (void *)(d->rq + lineage_nvme_status));
	bpf_probe_read_kernel(&retries, sizeof(retries), (void *)(d->rq + lineage_nvme_retries));
	e->nvme_retries = retries;
}

static __always_inline void tell_rest(struct lineage_event *e, const struct done *d)
{
	__u64 hctx = (__u64)GET(request, d->rq, mq_hctx);

	e->rq_flags = GET(request, d->rq, cmd_flags);
	e->rq_bytes = GET(request, d->rq, __data_len);
	e->rq_tag = GET(request, d->rq, tag);
	if (hctx)
		e->queue = GET(blk_mq_hw_ctx, hctx, queue_num);
	if (!lineage_mapping)
		return;
	e->map_ns = d->cpu->done_mapped.ns;
	e->bounced = d->part_bounced;
	e->iommu = d->cpu->done_mapped.iommu;
	e->iova = d->cpu->done_mapped.first.at;
	e->iova_bytes = d->cpu->done_mapped.first.bytes;
	e->unmap_ns = d->cpu->done_mapped.unmap_ns;
	if (lineage_nvme_status)
		tell_nvme(e, d);
}

static __noinline int tell(struct done *d)
{
	struct lineage_flow *flow;
	struct lineage_event *e;

	if (!d || !d->cpu || !d->id || !d->flow)
		return 0;
	flow = flow_at(d->flow - 1);
	if (!flow)
		return 0;
	e = bpf_ringbuf_reserve(&lineage_ring, sizeof(*e), 0);
	if (!e) {
		d->cpu->stats.loss[LINEAGE_LOSS_ring_full]++;
		return 0;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = LINEAGE_EVENT;
	e->part = d->parts - 1;
	e->because = d->because;
	e->id = d->id;
	e->done_ns = bpf_ktime_get_boot_ns();
	e->queue_ns = d->total_ns - d->device_ns;
	e->device_ns = d->device_ns;
	e->sector = d->sector;
	e->offset = d->offset;
	e->key = flow->key;
	e->bytes = d->bytes;
	e->error = d->error;
	e->cgroup = flow->cgroup;
	__builtin_memcpy(e->comm, flow->comm, sizeof(e->comm));
	e->sharer[0] = flow->sharer[0];
	e->sharer[1] = flow->sharer[1];
	e->tid = d->tid;
	e->sub_pid = d->sub_pid;
	e->sub_tid = d->sub_tid;
	e->requeues = d->requeues;
	e->stack = d->stack;
	tell_rest(e, d);
	d->cpu->stats.told++;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void collect(struct done *d, const struct lineage_slot *slot, __u32 index,
				    __u64 sector)
{
	if (d->id)
		tell(d);
	d->flow = index + 1;
	d->parts++;
	d->bytes = d->tid = d->sub_pid = d->sub_tid = d->requeues = d->part_bounced = 0;
	d->sector = sector;
	d->offset = d->stack = 0;
	if (!slot)
		return;
	d->tid = slot->tid;
	d->sub_pid = slot->sub_pid;
	d->sub_tid = slot->sub_tid;
	d->requeues = slot->requeues;
	d->offset = slot->offset + (sector - slot->sector) * 512;
}

/*
 * The line of Python of a bio, joined with that of those before it; where bios of one account come from several,
 * none is told. A global function is verified once, by itself: for each way to come here it would be too much.
 */
__noinline __u64 join_line(__u64 before, __u64 bio, __u32 first)
{
	__u64 stack = bio ? line_of(bio) : NO_STACK_not_looked;

	if (first)
		return stack;
	return before >= STACK_REASONS && stack >= STACK_REASONS && before != stack
		       ? NO_STACK_not_looked
		       : before;
}

/* One bio of a request: bytes to its account, and the time if the one before was of another. */
static __always_inline void bio_done(struct done *d, struct lineage_slot *slot)
{
	__u64 bio = d->bio, sector = GET(bio, bio, bi_iter.bi_sector);
	__u32 size = GET(bio, bio, bi_iter.bi_size), index = 0;
	__u32 bytes = size < d->left ? size : d->left;
	struct lineage_flow *flow = NULL;
	bool first;

	if (slot && sector - slot->sector > slot->size >> 9)
		slot = NULL; /* of another bio that was at this address */
	if (!slot && !d->left && !d->error)
		return; /* data with a flush ends twice, and was counted */
	if (!slot) {
		d->cpu->stats.loss[LINEAGE_LOSS_unseen]++;
	} else {
		index = slot->flow;
		flow = flow_at(index);
		if (flow && flow->serial != slot->serial) {
			d->cpu->stats.loss[LINEAGE_LOSS_recycled]++;
			flow = NULL;
		}
	}
	if (!flow) {
		index = lineage_unseen(d->dev, d->op) - 1;
		flow = flow_at(index);
	}
	if (!flow)
		return;
	__sync_fetch_and_add(&flow->bytes, bytes);
	first = d->flow != index + 1;
	if (d->ends && first) {
		time_flow(flow, d, slot);
		collect(d, slot, index, sector);
	}
	if (lineage_mapping)
		count_maps(d, index, bytes, d->ends && first);
	if (lineage_lines && d->id)
		d->stack = join_line(d->stack, slot ? slot->bio : 0, first);
	d->bytes += bytes;
	d->left -= bytes;
	/* Where it was split, other pieces may still ask for the place. */
	if (slot && slot->bio == bio && slot->size == size && bytes == size)
		slot->bio = 0;
}

static long next_bio(__u32 i, struct done *d)
{
	d->bio = number_of(&d->cpu->done_number, GET(bio, d->bio, bi_next));
	if (!d->bio)
		return 1;
	bio_done(d, slot_behind(d->bio));
	return 0;
}

/* Is this request told, and why? */
static __always_inline void choose(struct done *d, __u64 now, __u32 requeues)
{
	struct lineage_cpu *c = d->cpu;

	if (d->start_ns && d->total_ns >= lineage_slow_ns)
		d->because |= LINEAGE_BECAUSE_SLOW;
	if (d->error || requeues)
		d->because |= LINEAGE_BECAUSE_FAILED;
	if (lineage_quota) {
		if (now - c->window_ns > WINDOW_NS) {
			c->window_ns = now;
			c->window_told = 0;
		}
		if (c->window_told < lineage_quota) {
			c->window_told++;
			d->because |= LINEAGE_BECAUSE_ALL;
		}
	}
	if (d->because)
		d->id = ++c->serial << 12 | (bpf_get_smp_processor_id() & 0xfff);
	if (lineage_waits)
		c->waking = d->id;
}

static __always_inline __u64 since(__u64 start, __u64 now)
{
	return start && now > start ? now - start : 0;
}

/* How it was mapped, and that is all over: to done_mapped of this CPU. */
__noinline int lineage_take_mapped(__u64 rq, __u64 start_ns)
{
	struct lineage_cpu *c = lineage_cpu();
	struct mapping *now = mapping_now();
	struct mapped *m;

	if (!c)
		return 0;
	c->done_mapped.ns = c->done_mapped.bounced = c->done_mapped.iommu = 0;
	c->done_mapped.failed = c->done_mapped.unmap_ns = 0;
	c->done_mapped.first.at = c->done_mapped.first.bytes = 0;
	if (now && now->rq == rq) /* it fails without having been issued */
		mapping_over(now, start_ns, false);
	m = mapped_of(rq);
	if (!m)
		return 0;
	m->rq = 0;
	if (m->issue_ns < start_ns)
		return 0; /* of a request that was at this address before */
	c->done_mapped = *m;
	c->done_mapped.unmap_ns = unmap_took(m, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void request_done(struct lineage_cpu *c, struct request *rq, __u32 bytes,
					 __u8 error)
{
	struct done d = { .cpu = c, .left = bytes, .all = bytes ? bytes : 1, .error = error };
	__u64 now = bpf_ktime_get_ns();
	struct lineage_slot *slot;

	d.dev = rq->part->bd_dev;
	d.bio = number_of(&c->done_number, rq->bio);
	d.rq = (__u64)rq;
	d.op = rq->cmd_flags & OP_MASK;
	d.ends = bytes >= rq->__data_len;
	d.start_ns = rq->start_time_ns;
	/* Through memory: the verifier need not follow what comes after for each way to come here. */
	d.total_ns = number_of(&c->done_number, (void *)since(d.start_ns, now));
	d.bucket = bucket_of(d.total_ns);
	slot = slot_behind(d.bio);
	d.device_ns = since(slot && slot->issue_ns ? slot->issue_ns : rq->io_start_time_ns, now);
	if (d.device_ns > d.total_ns)
		d.device_ns = d.total_ns;
	if (lineage_mapping)
		lineage_take_mapped(number_of(&c->done_number, rq), d.start_ns);
	choose(&d, now, slot ? slot->requeues : 0);
	bio_done(&d, slot);
	if (GET(bio, d.bio, bi_next)) {
		bpf_loop(BIOS_MAX, next_bio, &d, 0);
		if (d.bio && GET(bio, d.bio, bi_next))
			c->stats.loss[LINEAGE_LOSS_cut]++;
	}
	if (d.id)
		tell(&d);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(lineage_done, struct request *rq, __u8 error, __u32 bytes)
{
	struct lineage_cpu *c = lineage_cpu();
	__u64 begin;

	if (!c || !rq->bio) /* the second half of a flush, which was counted */
		return 0;
	if (!rq->part || !is_wanted(rq->part)) /* no part: a command of the driver's own */
		return 0;
	begin = cost_begin(c->stats.requests++);
	request_done(c, rq, bytes, error);
	cost_end(c, begin);
	return 0;
}

/* ---- on the way ---- */

SEC("tp_btf/block_rq_issue")
int BPF_PROG(lineage_issue, struct request *rq)
{
	struct lineage_cpu *c = lineage_cpu();
	struct lineage_slot *slot;

	if (!c || !rq->bio)
		return 0;
	if (lineage_mapping && c->mapping.rq == number_of(&c->issue_number, rq)) {
		__u64 begin = cost_begin(c->mapping.count - 1);

		mapping_over(&c->mapping, rq->start_time_ns, true);
		cost_end(c, begin);
	}
	if (!lineage_issues)
		return 0;
	slot = slot_of(number_of(&c->issue_number, rq->bio));
	if (slot)
		slot->issue_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(lineage_requeue, struct request *rq)
{
	struct mapping *now = lineage_mapping ? mapping_now() : NULL;
	__u64 bio = 0;
	struct lineage_slot *slot;

	/* Set up, never issued: mapping it has failed, and is tried again. */
	if (now && now->rq == (__u64)rq)
		mapping_over(now, rq->start_time_ns, false);
	bpf_probe_read_kernel(&bio, sizeof(bio),
			      (void *)rq + bpf_core_field_offset(struct request, bio));
	slot = bio ? slot_of(bio) : NULL;
	if (slot)
		slot->requeues++;
	return 0;
}

#endif
