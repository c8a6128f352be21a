// SPDX-License-Identifier: Apache-2.0
/* What happens in each scenario. */
#include "base/util.h"
#include "cmd/assets.h"
#include "cmd/demo.h"

const struct scenario scenarios[] = {
	{
		.name = "incident",
		.summary = "a monitoring agent takes the CPU of a training loop",
		.story =
			"A training loop. After a while a process called metrics-agent starts to spin on\n"
			"its CPU, then stops.\n",
		.cause = "cpu-contention",
		.recording = asset_incident_sql,
		.calm_s = 4,
		.fault_s = 4,
		.intruder = { "metrics-agent" },
	},
	{
		.name = "cold-start",
		.summary = "opening the GPU and loading code takes the first seconds",
		.story =
			"A training loop, traced from its first moment: it opens the GPU, loads its code,\n"
			"and only then trains.\n",
		.cause = "cold-start",
		.recording = asset_cold_start_sql,
		.fault_s = 6,
		.train = { "--cold", "300" },
		.knob = { "SIM_DRIVER", "1", "SIM_INIT_MS", "900", "CUDA_CACHE_DISABLE", "1" },
	},
	{
		.name = "memcpy-bottleneck",
		.summary = "batches are copied from memory that is not pinned",
		.story =
			"A training loop. After a while its batches are larger and come from memory that is\n"
			"not pinned, so that each copy blocks; then they do not any more.\n",
		.cause = "copy-bound",
		.recording = asset_memcpy_bottleneck_sql,
		.calm_s = 4,
		.fault_s = 4,
		.train = { "--pageable-after", "5", "--pageable-for", "4" },
		.knob = { "SIM_COPY_GBPS", "3" },
	},
	{
		.name = "periodic-spike",
		.summary = "a small job runs again and again on the CPU of a training loop",
		.story =
			"A training loop. After a while a process called log-compactor does 200 ms of work\n"
			"in every second, on the same CPU: most steps are as they were, some are not.\n",
		.cause = "cpu-contention",
		.recording = asset_periodic_spike_sql,
		.calm_s = 4,
		.fault_s = 6,
		.intruder = { "log-compactor" },
		.spin_ms = 200,
		.rest_ms = 800,
	},
	{
		.name = "cpu-contention",
		.summary = "several processes crowd the CPU of a training loop",
		.story =
			"A training loop. After a while three processes, node-exporter, fluent-bit and\n"
			"jupyter-kernel, start to spin on its CPU, then stop.\n",
		.cause = "cpu-contention",
		.recording = asset_cpu_contention_sql,
		.calm_s = 4,
		.fault_s = 2,
		.intruder = { "node-exporter", "fluent-bit", "jupyter-kernel" },
	},
	{
		.name = "gpu-steal",
		.summary = "another process uses the same GPU",
		.story =
			"A training loop. After a while a process called batch-infer uses the same GPU,\n"
			"then stops.\n",
		.cause = "gpu-shared",
		.recording = asset_gpu_steal_sql,
		.calm_s = 5,
		.fault_s = 6,
		.tenant = "batch-infer",
	},
	{ 0 },
};

const struct scenario *scenario_find(const char *name)
{
	for (const struct scenario *sc = scenarios; sc->name; sc++)
		if (streq(sc->name, name))
			return sc;
	return NULL;
}
