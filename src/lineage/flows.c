// SPDX-License-Identifier: Apache-2.0
/* What was added to the kernel's accounts since the last look, and giving up those at rest. */
#include <stdlib.h>

#include "base/util.h"
#include "lineage/lineage_int.h"

#define REST 60 /* looks without anything new, then a place is given up, */
#define REST_CROWDED 2 /* ... or so many where every second place is taken */

/* An account as it was at the last look. */
struct before {
	uint32_t serial, rests;
	__u64 untimed, merged, bytes, total_ns, device_ns, slow, errors, requeues;
	uint32_t hist[HIST_BUCKETS];
	struct lineage_maps maps;
};

struct flows {
	struct lineage_flow *shared;
	struct lineage_maps *maps; /* NULL: there are none */
	struct before before[LINEAGE_FLOWS];
};

struct flows *flows_new(struct lineage_flow *shared, struct lineage_maps *maps)
{
	struct flows *f = xcalloc(1, sizeof(*f));

	f->shared = shared;
	f->maps = maps;
	return f;
}

void flows_free(struct flows *f)
{
	free(f);
}

static uint64_t since(const __u64 *now, __u64 *before)
{
	uint64_t value = __atomic_load_n(now, __ATOMIC_RELAXED), added = value - *before;

	*before = value;
	return added;
}

static void since_hist(const __u32 now[HIST_BUCKETS], uint32_t before[HIST_BUCKETS],
		       __u32 ret[HIST_BUCKETS])
{
	for (int i = 0; i < HIST_BUCKETS; i++) {
		uint32_t value = __atomic_load_n(&now[i], __ATOMIC_RELAXED);

		ret[i] = value - before[i];
		before[i] = value;
	}
}

static void added_maps(struct lineage_maps *maps, struct lineage_maps *b, struct lineage_maps *ret)
{
	ret->ns = since(&maps->ns, &b->ns);
	ret->bounced = since(&maps->bounced, &b->bounced);
	ret->iommu = since(&maps->iommu, &b->iommu);
	ret->failed = since(&maps->failed, &b->failed);
	ret->unmapped = since(&maps->unmapped, &b->unmapped);
	ret->unmap_ns = since(&maps->unmap_ns, &b->unmap_ns);
	if (ret->unmapped)
		ret->unmap_max_ns = __atomic_exchange_n(&maps->unmap_max_ns, 0, __ATOMIC_RELAXED);
	if (!ret->ns)
		return;
	ret->max_ns = __atomic_exchange_n(&maps->max_ns, 0, __ATOMIC_RELAXED);
	since_hist(maps->hist, b->hist, ret->hist);
}

/* False: nothing is new. */
static bool added(struct lineage_flow *flow, struct before *b, struct lineage_flow *ret)
{
	*ret = (struct lineage_flow){ .serial = flow->serial,
				      .key = flow->key,
				      .cgroup = flow->cgroup,
				      .tid = flow->tid,
				      .sharer = { flow->sharer[0], flow->sharer[1] } };
	memcpy(ret->comm, flow->comm, sizeof(ret->comm));
	ret->comm[sizeof(ret->comm) - 1] = '\0';
	ret->untimed = since(&flow->untimed, &b->untimed);
	ret->merged = since(&flow->merged, &b->merged);
	ret->bytes = since(&flow->bytes, &b->bytes);
	ret->total_ns = since(&flow->total_ns, &b->total_ns);
	ret->device_ns = since(&flow->device_ns, &b->device_ns);
	ret->slow = since(&flow->slow, &b->slow);
	ret->errors = since(&flow->errors, &b->errors);
	ret->requeues = since(&flow->requeues, &b->requeues);
	if (!ret->untimed && !ret->total_ns && !ret->bytes && !ret->errors)
		return false;
	ret->max_ns = __atomic_exchange_n(&flow->max_ns, 0, __ATOMIC_RELAXED);
	since_hist(flow->hist, b->hist, ret->hist);
	ret->requests = lineage_timed(ret) + ret->untimed;
	ret->requests -= min_u64(ret->requests, ret->merged); /* read one after the other */
	return true;
}

/* Nobody has found it for one look, so nobody is at it any more. */
static void give_up(struct lineage_flow *flow, struct lineage_maps *maps, struct before *b)
{
	if (maps)
		*maps = (struct lineage_maps){ 0 };
	flow->serial = 0; /* a request that is still under way will not know it */
	memset(&flow->requests, 0, sizeof(*flow) - offsetof(struct lineage_flow, requests));
	*b = (struct before){ 0 };
	__atomic_store_n(&flow->state, FLOW_FREE, __ATOMIC_RELEASE);
}

void flows_take(struct flows *f, flow_fn fn, void *arg)
{
	uint32_t used = 0, rest;

	for (uint32_t i = 0; i < LINEAGE_FLOWS; i++)
		used += f->shared[i].state != FLOW_FREE;
	rest = used > LINEAGE_FLOWS / 2 ? REST_CROWDED : REST;
	for (uint32_t i = 0; i < LINEAGE_FLOWS; i++) {
		struct lineage_flow *flow = &f->shared[i], fresh;
		uint32_t state = __atomic_load_n(&flow->state, __ATOMIC_ACQUIRE);
		struct lineage_maps *maps = f->maps ? &f->maps[i] : NULL, fresh_maps = { 0 };
		struct before *b = &f->before[i];

		if (state != FLOW_LIVE && state != FLOW_RETIRING)
			continue;
		if (b->serial != flow->serial)
			*b = (struct before){ .serial = flow->serial };
		b->rests++;
		if (flow->key.class < LINEAGE_CLASS_COUNT &&
		    flow->key.owner < LINEAGE_OWNER_COUNT && added(flow, b, &fresh)) {
			b->rests = 0;
			if (maps)
				added_maps(maps, &b->maps, &fresh_maps);
			fn(&fresh, &fresh_maps, arg);
		}
		if (state == FLOW_RETIRING)
			give_up(flow, maps, b);
		else if (b->rests >= rest)
			__atomic_store_n(&flow->state, FLOW_RETIRING, __ATOMIC_RELEASE);
	}
}

static uint64_t sum(const __u32 hist[HIST_BUCKETS])
{
	uint64_t all = 0;

	for (int i = 0; i < HIST_BUCKETS; i++)
		all += hist[i];
	return all;
}

uint64_t lineage_timed(const struct lineage_flow *flow)
{
	return sum(flow->hist);
}

uint64_t lineage_mapped(const struct lineage_maps *maps)
{
	return sum(maps->hist);
}
