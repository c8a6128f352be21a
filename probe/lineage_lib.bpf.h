/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the probes of storage share: knobs, the tables, loads without helper calls. */
#ifndef PROBE_LINEAGE_LIB_BPF_H
#define PROBE_LINEAGE_LIB_BPF_H

#include "probe/base.bpf.h"
#include "probe/tag.bpf.h"
#include "wire/lineage.h"

/* Set before load. */
const volatile __u64 lineage_slow_ns = 100000000; /* a request from this length on is told of */
const volatile __u32 lineage_quota = 0; /* others: so many per CPU in a tenth of a second */
const volatile __u32 lineage_dev = 0; /* only this disk; 0: all */
const volatile bool lineage_waits = false; /* also who is woken by them */
const volatile bool lineage_issues = false; /* when each was issued */
const volatile bool lineage_tags = false; /* somebody hears of tags: there may be any */
const volatile bool lineage_mapping = false; /* how long NVMe takes to map them, see lineage_map */
const volatile __u32 lineage_nvme_status = 0; /* offsets in a request of NVMe; 0: not known */
const volatile __u32 lineage_nvme_retries = 0;

/* Set by user space while they would cost too much: what is queued is not looked at. */
bool lineage_off = false;

/*
 * Follow any address as a kernel type without a helper call per field: this is what keeps a request
 * cheap. Kernels before 6.2 have no such function and pay for the helper. It compiles to nothing.
 */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

#define AS(type, p)                                                                                \
	((struct type *)bpf_rdonly_cast((const void *)(p), bpf_core_type_id_kernel(struct type)))
/* Through a variable: a member of a struct of ours would be looked for in the kernel's. */
#define GET(type, p, field)                                                                        \
	({                                                                                         \
		const void *at_ = (const void *)(p);                                               \
                                                                                                   \
		bpf_rdonly_cast ? AS(type, at_)->field : BPF_CORE_READ((struct type *)at_, field); \
	})

/* Addresses as the device sees them, in one piece; bytes 0: none. */
struct iova_range {
	__u64 at;
	__u32 bytes;
	__u32 pad;
};

/* The request that the NVMe driver is making ready on this CPU. */
struct mapping {
	__u64 rq; /* its address; 0: none */
	__u64 start_ns;
	__u32 tid; /* of who does it: what others do here meanwhile is theirs */
	__u32 bounced, iommu, failed;
	__u64 count; /* of all on this CPU */
	struct iova_range range;
};

/* A request that was issued. */
struct mapped {
	__u64 rq; /* 0: none */
	__u64 issue_ns;
	__u32 ns; /* 0: it never came to its issue, or nobody knows */
	__u32 bounced, iommu, failed;
	/*
	 * A request that is tried again has new addresses: the last ones are what is unmapped in the end, the
	 * first ones are those whose trouble made it be tried again.
	 */
	struct iova_range first;
	__u64 last; /* where it begins; of no meaning where iommu is 0 */
	__u32 unmap_ns; /* when it is done; 0: not known */
	__u32 pad;
};

/* The account of the direct I/O that was queued before on this CPU: mostly, the next one has the same. */
struct lineage_before {
	__u64 ino;
	__u32 dev, fs_dev, gen;
	__u32 op; /* + 1, and of readahead; 0: there was none, or its work had a tag */
	__u32 pid, tid;
	__u32 flow, serial; /* the place of its account, and which use of that */
};

/* Room for one CPU. Each program has its own: one may interrupt another. */
struct lineage_cpu {
	volatile __u64 number; /* block_bio_queue: see number_of() */
	volatile __u64 done_number; /* block_rq_complete, */
	volatile __u64 issue_number; /* ... block_rq_issue */
	__u64 window_ns; /* events told since then, */
	__u32 window_told; /* ... so many */
	__u32 pad;
	__u64 serial; /* of requests that were told */
	__u64 waking; /* the request that is being completed, if it was told; 0: none */
	struct lineage_before before;
	struct lineage_key key;
	struct lineage_key done_key;
	struct mapping mapping;
	__u64 unmaps; /* of all devices */
	struct mapped done_mapped;
	struct lineage_stats stats;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lineage_cpu);
} lineage_cpus SEC(".maps");

/* What these probes cost is measured where it arises: one of 64 times stands for the others. */
#define COST_EVERY 64

static __always_inline __u64 cost_begin(__u64 n)
{
	return likely(n & (COST_EVERY - 1)) ? 0 : bpf_ktime_get_ns();
}

static __always_inline void cost_end(struct lineage_cpu *c, __u64 begin)
{
	if (unlikely(begin))
		c->stats.cost_ns += (bpf_ktime_get_ns() - begin) * COST_EVERY;
}

/* Is it, or is it part of, the disk that is asked for? */
static __always_inline bool is_wanted(struct block_device *part)
{
	return !lineage_dev || part->bd_dev == lineage_dev ||
	       part->bd_disk->part0->bd_dev == lineage_dev;
}

static __always_inline struct lineage_cpu *lineage_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&lineage_cpus, &zero);
}

/* The verifier refuses to calculate with a kernel pointer; what was in memory is a number. */
static __always_inline __u64 number_of(volatile __u64 *room, const void *p)
{
	*room = (__u64)p;
	return *room;
}

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} lineage_ring SEC(".maps");

/* Somebody who made data: kept for as long as it may be unwritten. */
struct lineage_who {
	__u32 tid; /* 0: several threads of it */
	__u32 pid; /* behind it, as the kernel tells both at once */
	__u64 tag, cgroup;
	char comm[LINEAGE_COMM];
};

static __always_inline bool any_tags(void)
{
	struct tag_gate *gate = lineage_tags ? tag_gate() : NULL;

	return gate && gate->files | gate->dirs | gate->tasks;
}

/*
 * The tag that work on this inode by this task carries; 0: none. The tag of the file comes before the
 * tag of the task.
 */
static __always_inline __u64 lineage_tag_of(struct inode *inode, struct task_struct *task)
{
	__u64 tag = 0;

	if (lineage_tags)
		tag = tag_of_inode(inode);
	if (lineage_tags && !tag)
		tag = tag_of_task(task);
	return tag;
}

/* An io_uring's worker works for the thread that asked; both are of one process. */
static __always_inline __u32 tid_behind(struct task_struct *task)
{
	struct io_worker *worker;
	struct io_wq_work *work;
	struct task_struct *asked = NULL;
	void *req;

	if (!(task->flags & PF_IO_WORKER))
		return task->pid;
	worker = BPF_CORE_READ(task, worker_private);
	work = BPF_CORE_READ(worker, cur_work);
	if (!work)
		return task->pid;
	req = (void *)work - bpf_core_field_offset(struct io_kiocb, work);
	if (bpf_core_field_exists(((struct io_kiocb *)0)->tctx))
		asked = BPF_CORE_READ((struct io_kiocb *)req, tctx, task);
	else if (bpf_core_field_exists(((struct io_kiocb___old *)0)->task))
		asked = BPF_CORE_READ((struct io_kiocb___old *)req, task);
	return asked ? (__u32)BPF_CORE_READ(asked, pid) : (__u32)task->pid;
}

static __always_inline void who_is(struct lineage_who *w, struct task_struct *task, __u64 tag)
{
	const __u64 *comm = (const __u64 *)__builtin_preserve_access_index(&task->comm);

	w->pid = task->tgid;
	w->tid = tid_behind(task);
	w->tag = tag;
	w->cgroup = task->cgroups->dfl_cgrp->kn->id;
	((__u64 *)w->comm)[0] = comm[0];
	((__u64 *)w->comm)[1] = comm[1];
}

/* ---- bios under way: a table by address, two places each, cleared when they are done ---- */

#define SLOTS 32768

struct lineage_slot {
	__u64 bio; /* 0: free */
	__u64 sector, offset;
	__u64 issue_ns; /* 0: not known */
	__u32 size;
	__u32 flow, serial; /* the place of its account, and which use of that */
	__u32 tid; /* of the owner; 0: several threads of it */
	__u32 sub_pid, sub_tid;
	__u32 requeues;
	__u32 pad;
};

_Static_assert(sizeof(struct lineage_slot) == 64, "a cache line");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* nobody does: but each is one cache line then */
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct lineage_slot);
} lineage_slots SEC(".maps");

static __always_inline struct lineage_slot *slot_at(__u64 bio, __u32 way)
{
	__u32 i = ((bio * 0x9e3779b97f4a7c15ull) >> 49) ^ way;

	return bpf_map_lookup_elem(&lineage_slots, &i);
}

static __always_inline struct lineage_slot *slot_of(__u64 bio)
{
	struct lineage_slot *slot = slot_at(bio, 0);

	if (likely(slot && slot->bio == bio))
		return slot;
	slot = slot_at(bio, 1);
	return slot && slot->bio == bio ? slot : NULL;
}

/* ---- accounts ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LINEAGE_FLOWS);
	__type(key, __u32);
	__type(value, struct lineage_flow);
} lineage_flows SEC(".maps");

__u32 lineage_serials = 0;

static __always_inline bool same_key(const struct lineage_key *a, const struct lineage_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4];
}

static __always_inline struct lineage_flow *flow_at(__u32 index)
{
	return bpf_map_lookup_elem(&lineage_flows, &index);
}

#define FLOW_WAYS 8

/*
 * The account of a key; *ret_fresh: it is new, and its place is the caller's to fill in until he sets
 * it live. A place that is being filled in is passed over: two accounts of one key add up.
 */
static __always_inline struct lineage_flow *flow_of(const struct lineage_key *key, __u32 *ret_index,
						    bool *ret_fresh)
{
	const __u64 *word = (const __u64 *)key;
	__u64 hash = mix(mix(word[0], word[1] ^ word[3]), word[2] ^ word[4] << 7);
	struct lineage_flow *flow, *empty = NULL;
	__u32 free = 0;

	*ret_fresh = false;
	for (__u32 way = 0; way < FLOW_WAYS; way++) {
		__u32 index = (hash + way) & (LINEAGE_FLOWS - 1);

		flow = flow_at(index);
		if (!flow)
			return NULL;
		if (flow->state == FLOW_LIVE && same_key(&flow->key, key)) {
			*ret_index = index;
			return flow;
		}
		if (flow->state == FLOW_FREE && !empty) {
			empty = flow;
			free = index;
		}
	}
	if (!empty || __sync_val_compare_and_swap(&empty->state, FLOW_FREE, FLOW_TAKEN))
		return NULL;
	empty->key = *key;
	empty->serial = __sync_fetch_and_add(&lineage_serials, 1) + 1;
	*ret_index = free;
	*ret_fresh = true;
	return empty;
}

/* Filled in: a barrier as well, so that nobody sees it half done. */
static __always_inline void flow_ready(struct lineage_flow *flow)
{
	(void)__sync_val_compare_and_swap(&flow->state, FLOW_TAKEN, FLOW_LIVE);
}

#endif
