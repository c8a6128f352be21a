// SPDX-License-Identifier: Apache-2.0
/* The host's own numbers and events, into the store. */
#include "agent/hostside.h"

#include <stdlib.h>

#include "base/util.h"
#include "capture/system.h"

struct hostside {
	struct system_sampler *sampler;
	/* While storing: */
	struct capture *capture;
	struct store *store;
	int err;
};

struct hostside *hostside_new(void)
{
	struct hostside *h = xcalloc(1, sizeof(*h));

	h->sampler = system_new();
	return h;
}

void hostside_free(struct hostside *h)
{
	if (!h)
		return;
	system_free(h->sampler);
	free(h);
}

static void note(struct hostside *h, int err)
{
	if (err && !h->err)
		h->err = err;
}

static void on_event(const struct host_key *key, const struct host_count *count, void *arg)
{
	struct hostside *h = arg;

	note(h, store_host_event(h->store, key, count));
	capture_forget_host_event(h->capture, key);
}

static void store_sample(struct hostside *h, uint64_t now)
{
	const struct core_sample *core;
	struct system_sample s;
	struct system_row row;
	size_t cores;

	if (!h->sampler || system_sample(h->sampler, &s))
		return; /* a host that does not tell: no row */
	row = (struct system_row){
		.busy_pct = s.busy_pct,
		.iowait_pct = s.iowait_pct,
		.steal_pct = s.steal_pct,
		.load1 = s.load1,
		.running = s.running,
		.blocked = s.blocked,
		.mem_total_kb = s.mem_total_kb,
		.mem_available_kb = s.mem_available_kb,
		.swap_used_kb = s.swap_used_kb,
		.swap_in_pages = s.swap_in_pages,
		.swap_out_pages = s.swap_out_pages,
		.major_faults = s.major_faults,
		.psi_cpu_us = s.psi_cpu_us,
		.psi_memory_us = s.psi_memory_us,
		.psi_io_us = s.psi_io_us,
	};
	note(h, store_system_second(h->store, now, &row));
	cores = system_cores(h->sampler, &core);
	for (size_t i = 0; i < cores; i++)
		note(h,
		     store_core_second(h->store, now, core[i].cpu, core[i].busy_pct, core[i].mhz));
}

int hostside_store(struct hostside *h, struct capture *capture, struct store *store, uint64_t now)
{
	h->capture = capture;
	h->store = store;
	h->err = 0;
	capture_each_host_event(capture, on_event, h);
	store_sample(h, now);
	return h->err;
}
