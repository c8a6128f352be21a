/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mapping for DMA, of NVMe requests. Its driver does little else between nvme_setup_cmd and block_rq_issue of
 * a request, on one CPU, in one task: the time between them is what mapping took at most, and bounces and
 * mappings of the IOMMU there are that request's. Its completion gives the mapping back on the CPU that tells
 * of it. Attached only where there is such a driver.
 */
#ifndef PROBE_LINEAGE_MAP_BPF_H
#define PROBE_LINEAGE_MAP_BPF_H

#include "probe/lineage_lib.bpf.h"

#define MAPPED 8192

/* By address, two places each, cleared when it is done. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAPPED); /* 1 where nothing is measured, as of the next one */
	__type(key, __u32);
	__type(value, struct mapped);
} lineage_mapped SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LINEAGE_FLOWS);
	__type(key, __u32);
	__type(value, struct lineage_maps);
} lineage_maps SEC(".maps");

/* What was taken back from the IOMMU lately on this CPU, by address, two places each: any device's. */
struct unmapped {
	__u64 iova, ns;
};

#define UNMAPPED 1024 /* many requests may be completed at once */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNMAPPED); /* 1 where nothing is measured */
	__type(key, __u32);
	__type(value, struct unmapped);
} lineage_unmapped SEC(".maps");

static __always_inline struct unmapped *unmapped_at(__u64 iova, __u32 way)
{
	__u32 i = ((iova * 0x9e3779b97f4a7c15ull) >> 54) ^ way;

	return bpf_map_lookup_elem(&lineage_unmapped, &i);
}

static __always_inline struct mapped *mapped_at(__u64 rq, __u32 way)
{
	__u32 i = ((rq * 0x9e3779b97f4a7c15ull) >> 51) ^ way;

	return bpf_map_lookup_elem(&lineage_mapped, &i);
}

static __always_inline struct mapped *mapped_of(__u64 rq)
{
	struct mapped *m = mapped_at(rq, 0);

	if (m && m->rq == rq)
		return m;
	m = mapped_at(rq, 1);
	return m && m->rq == rq ? m : NULL;
}

SEC("raw_tp/nvme_setup_cmd")
int lineage_setup(__u64 *args)
{
	struct lineage_cpu *c = lineage_cpu();
	__u64 begin;

	if (!c || lineage_off)
		return 0;
	begin = cost_begin(c->mapping.count++);
	c->mapping.rq = args[0];
	c->mapping.tid = (__u32)bpf_get_current_pid_tgid();
	c->mapping.bounced = c->mapping.iommu = c->mapping.failed = 0;
	c->mapping.range.bytes = 0;
	cost_end(c, begin);
	c->mapping.start_ns = bpf_ktime_get_ns();
	return 0;
}

/* What is mapped here and now is for this request; NULL: for none. */
static __always_inline struct mapping *mapping_now(void)
{
	struct lineage_cpu *c = lineage_cpu();

	if (!c || !c->mapping.rq || c->mapping.tid != (__u32)bpf_get_current_pid_tgid())
		return NULL;
	return &c->mapping;
}

SEC("raw_tp/swiotlb_bounced")
int lineage_bounced(__u64 *args)
{
	struct mapping *m = mapping_now();

	if (m)
		m->bounced += args[2];
	return 0;
}

/* Data comes first, in one piece; what lies elsewhere, as its metadata, is not part of that. */
static __always_inline void widen(struct iova_range *r, __u64 at, __u64 bytes)
{
	if (bytes > ~0u - r->bytes)
		return;
	if (!r->bytes)
		r->at = at;
	else if (at + bytes == r->at)
		r->at = at;
	else if (at != r->at + r->bytes)
		return;
	r->bytes += bytes;
}

/* Of the IOMMU; the name is short. */
SEC("raw_tp/map")
int lineage_iommu(__u64 *args)
{
	struct mapping *m = mapping_now();

	if (!m)
		return 0;
	m->iommu++;
	widen(&m->range, args[0], args[2]);
	return 0;
}

/* Out of its tables; what it remembers of them is thrown away after that. */
SEC("raw_tp/unmap")
int lineage_unmap(__u64 *args)
{
	struct unmapped *u = unmapped_at(args[0], 0), *other = unmapped_at(args[0], 1);
	struct lineage_cpu *c = lineage_cpu();
	__u64 begin;

	if (!c || !u || !other || lineage_off)
		return 0;
	begin = cost_begin(c->unmaps++);
	if (u->iova != args[0] && (other->iova == args[0] || other->ns < u->ns))
		u = other;
	u->iova = args[0];
	u->ns = bpf_ktime_get_ns();
	cost_end(c, begin);
	return 0;
}

SEC("raw_tp/dma_map_sg_err")
int lineage_map_error(__u64 *args)
{
	struct mapping *m = mapping_now();

	if (m)
		m->failed = 1;
	return 0;
}

/* The end of it, with the request's issue or without. `start_ns`: of the request. */
static __always_inline void mapping_over(struct mapping *from, __u64 start_ns, bool issued)
{
	__u64 now = bpf_ktime_get_ns(), rq = from->rq, ns = now - from->start_ns;
	struct mapped *m = mapped_of(rq);
	__u32 failed = from->failed | !issued;
	bool again = m && m->issue_ns >= start_ns; /* this is not its first time */

	from->rq = 0;
	if (again)
		failed += m->failed;
	if (!m)
		m = mapped_at(rq, 0);
	if (m && m->rq && m->rq != rq)
		m = mapped_at(rq, 1);
	if (!m)
		return;
	m->rq = rq;
	m->issue_ns = now;
	m->ns = !issued ? 0 : ns < 1 ? 1 : ns > ~0u ? ~0u : ns;
	m->bounced = from->bounced;
	m->iommu = from->iommu;
	m->failed = failed;
	m->last = from->range.at;
	if (!again || !m->first.bytes)
		m->first = from->range;
}

/* When its last mapping was taken back, on this CPU, since it was issued; 0: not seen. */
static __always_inline __u32 unmap_took(const struct mapped *m, __u64 now)
{
	struct unmapped *u = m->iommu ? unmapped_at(m->last, 0) : NULL;

	if (u && u->iova != m->last)
		u = unmapped_at(m->last, 1);
	if (!u || u->iova != m->last || u->ns < m->issue_ns || u->ns > now)
		return 0;
	now -= u->ns;
	return now < 1 ? 1 : now > ~0u ? ~0u : now;
}

#endif
