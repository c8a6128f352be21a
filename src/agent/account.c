// SPDX-License-Identifier: Apache-2.0
/* What was lost and what it cost, second by second. */
#include "agent/agent_int.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"

void agent_stored(struct agent *a, int err)
{
	if (err && !a->store_bad) {
		a->store_bad = true;
		log_warn("not stored: %s", why(err));
	}
}

void agent_note_losses(struct agent *a)
{
	uint64_t dropped = a->last.dropped;
	struct stats stats;

	capture_stats(a->capture, &stats);
	stats.loss[LOSS_no_verdict] = stalls_skipped(a->stalls);
	stats.loss[LOSS_no_news] += lines_skipped(a->lines);
	stats.loss[LOSS_no_tenant] = tenants_unknown(a->tenants);
	for (int i = 0; i < LOSS_COUNT; i++) {
		uint64_t fresh = i == LOSS_ring_full ? dropped : stats.loss[i] - a->loss[i];

		if (fresh)
			agent_stored(a, store_loss(a->store, a->now, loss_names[i], fresh));
		if (i != LOSS_ring_full)
			a->loss[i] = stats.loss[i];
	}
	if (a->unstored_untold)
		agent_stored(a,
			     store_loss(a->store, a->now, "unstored_seconds", a->unstored_untold));
	a->last.filtered += stats.foreign - a->foreign;
	a->last.seen += stats.foreign - a->foreign;
	a->foreign = stats.foreign;
}

static bool longest_thread(const void *key, void *value, void *arg)
{
	const struct thread_time *time = value;
	struct agent *a = arg;
	uint64_t *most = hash_put(a->process_time, &time->process);

	(void)key;
	*most = max_u64(*most, time->ns);
	return true;
}

static bool add_process_time(const void *key, void *value, void *arg)
{
	struct agent *a = arg;

	(void)key;
	a->last.traced_ns += *(uint64_t *)value;
	return true;
}

void agent_note_account(struct agent *a)
{
	struct gpu_helper_status helper;
	uint64_t cpu;

	gpus_status(a->gpus, &helper);
	cpu = clock_cpu_ns() + helper.cpu_ns;
	/* Threads of a process mostly wait for each other: its time is that of the longest one. */
	hash_each(a->thread_time, longest_thread, a);
	hash_each(a->process_time, add_process_time, a);
	a->last.agent_ns = cpu - a->agent_ns;
	a->agent_ns = cpu;
	agent_note_cost(a);
	agent_note_shed(a);
	agent_stored(a, store_account(a->store, a->now, &a->last));
	a->total.seen += a->last.seen;
	a->total.submitted += a->last.submitted;
	a->total.filtered += a->last.filtered;
	a->total.dropped += a->last.dropped;
	a->total.received += a->last.received;
	a->total.probe_ns += a->last.probe_ns;
	a->total.agent_ns += a->last.agent_ns;
	a->total.traced_ns += a->last.traced_ns;
}
