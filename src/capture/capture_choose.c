// SPDX-License-Identifier: Apache-2.0
/* Events that not every kernel has, and what is lost without them is only detail. */
#include "base/log.h"
#include "base/util.h"
#include "capture/capture_int.h"
#include "capture/kernel.h"

void capture_choose_tracepoints(struct probe *p)
{
	const struct {
		struct bpf_program *prog;
		const char *name;
		bool pointer; /* older kernels pass a number */
	} optional[] = {
		{ p->progs.irq_entry, "irq_handler_entry", false },
		{ p->progs.irq_exit, "irq_handler_exit", false },
		{ p->progs.soft_entry, "softirq_entry", false },
		{ p->progs.soft_exit, "softirq_exit", false },
		{ p->progs.clock_entry, "local_timer_entry", false },
		{ p->progs.clock_exit, "local_timer_exit", false },
		{ p->progs.timer_entry, "hrtimer_expire_entry", false },
		{ p->progs.timer_exit, "hrtimer_expire_exit", false },
		{ p->progs.reclaim_begin, "mm_vmscan_direct_reclaim_begin", false },
		{ p->progs.reclaim_end, "mm_vmscan_direct_reclaim_end", false },
		{ p->progs.memcg_reclaim_begin, "mm_vmscan_memcg_reclaim_begin", false },
		{ p->progs.memcg_reclaim_end, "mm_vmscan_memcg_reclaim_end", false },
		{ p->progs.compact_begin, "mm_compaction_begin", false },
		{ p->progs.compact_end, "mm_compaction_end", false },
		{ p->progs.oom_kill, "mark_victim", true },
		{ p->progs.retransmit, "tcp_retransmit_skb", true },
		{ p->progs.process_exec, "sched_process_exec", true },
		{ p->progs.tenant_moved, "cgroup_attach_task", true },
		{ p->progs.disk_used, "block_rq_issue", true },
		{ p->progs.block_issue, "block_rq_issue", true },
		{ p->progs.block_done, "block_rq_complete", true },
		{ p->progs.block_error, "block_rq_error", true },
		{ p->progs.block_requeue, "block_rq_requeue", true },
		{ p->progs.bounced, "swiotlb_bounced", true },
		{ p->progs.iommu_fault, "io_page_fault", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(optional); i++) {
		bool has = kernel_has_tracepoint(optional[i].name, optional[i].pointer);

		if (!has)
			log_debug("this kernel has no tracepoint %s", optional[i].name);
		bpf_program__set_autoload(optional[i].prog, has);
	}
}
