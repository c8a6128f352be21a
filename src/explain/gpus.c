// SPDX-License-Identifier: Apache-2.0
/* How the GPUs were, beside what the programs did: utilisation, and what it hides. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/explain_int.h"
#include "gpu/gpu.h"

bool facts_uses_gpu(const struct facts *f, uint32_t pid, const struct gpu_facts *gpu,
		    bool *ret_assumed)
{
	bool listed = false;

	*ret_assumed = false;
	for (int i = 0; i < gpu->users; i++)
		if (gpu->user[i].pid == pid)
			return true;
	for (int i = 0; i < f->gpus; i++)
		for (int k = 0; k < f->gpu[i].users; k++)
			listed |= f->gpu[i].user[k].pid == pid;
	*ret_assumed = f->gpus == 1 && !listed;
	return *ret_assumed;
}

char *gpu_title(const struct gpu_facts *gpu, char *dst, size_t cap)
{
	snprintf(dst, cap, "GPU %u (%.48s)", gpu->index, gpu->name[0] ? gpu->name : "no name");
	return dst;
}

/* Limits and counts as they were at last; the rest is a mean. */
static bool is_last(enum gpu_value id)
{
	return id == GPU_mem_used || id == GPU_mem_total || id == GPU_sm_max_mhz ||
	       id == GPU_power_limit_w || id == GPU_power_default_w || id == GPU_pcie_replays ||
	       id == GPU_ecc_corrected || id == GPU_ecc_uncorrected;
}

static void summarise_value(const struct gpu_facts *gpu, enum gpu_value id, struct gpu_values *ret)
{
	uint64_t sum = 0, most = 0, last = 0, n = 0;

	for (int i = 0; i < gpu->seconds; i++) {
		const struct gpu_values *v = &gpu->second[i].values;

		if (!GPU_KNOWN(v, id))
			continue;
		n++;
		last = v->value[id];
		most = max_u64(most, last);
		sum += last;
	}
	if (!n || id == GPU_reasons)
		return;
	ret->known |= 1ull << id;
	ret->value[id] = is_last(id) ? last : id == GPU_temp_c ? most : sum / n;
}

/* Counters begin anew when the driver is loaded anew: only what they grew by counts. */
static uint64_t growth(const struct gpu_facts *gpu, enum gpu_value id)
{
	uint64_t before = 0, grown = 0;
	bool seen = false;

	for (int i = 0; i < gpu->seconds; i++) {
		const struct gpu_values *v = &gpu->second[i].values;

		if (!GPU_KNOWN(v, id))
			continue;
		if (seen && v->value[id] > before)
			grown += v->value[id] - before;
		before = v->value[id];
		seen = true;
	}
	return grown;
}

static void summarise_reasons(const struct gpu_facts *gpu, struct gpu_summary *ret)
{
	uint64_t told = 0, throttled = 0;

	for (int i = 0; i < gpu->seconds; i++) {
		const struct gpu_values *v = &gpu->second[i].values;

		if (!GPU_KNOWN(v, GPU_reasons))
			continue;
		told++;
		throttled += (v->value[GPU_reasons] & GPU_REASONS_THROTTLE) != 0;
		ret->reasons |= v->value[GPU_reasons];
	}
	ret->throttled_pct = told ? percent(throttled, told) : -1;
}

void add_gpus(const struct facts *f, struct explanation *e)
{
	if (f->gpus)
		e->gpu = xcalloc((size_t)f->gpus, sizeof(*e->gpu));
	for (int i = 0; i < f->gpus; i++) {
		const struct gpu_facts *gpu = &f->gpu[i];
		struct gpu_summary *to = &e->gpu[e->gpus++];

		to->index = gpu->index;
		to->samples = gpu->seconds;
		to->processes = gpu->users;
		memcpy(to->name, gpu->name, sizeof(to->name));
		memcpy(to->uuid, gpu->uuid, sizeof(to->uuid));
		memcpy(to->bus_id, gpu->bus_id, sizeof(to->bus_id));
		for (int id = 0; id < GPU_VALUE_COUNT; id++)
			summarise_value(gpu, (enum gpu_value)id, &to->values);
		summarise_reasons(gpu, to);
		to->new_replays = growth(gpu, GPU_pcie_replays);
		to->new_corrected = growth(gpu, GPU_ecc_corrected);
		to->new_uncorrected = growth(gpu, GPU_ecc_uncorrected);
	}
	if (f->gpu_errors) {
		e->gpu_errors = f->gpu_errors;
		e->gpu_error = xcalloc((size_t)f->gpu_errors, sizeof(*e->gpu_error));
		memcpy(e->gpu_error, f->gpu_error, (size_t)f->gpu_errors * sizeof(*e->gpu_error));
	}
}
