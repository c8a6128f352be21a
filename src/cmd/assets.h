/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the binary carries; see assets.S. */
#ifndef CMD_ASSETS_H
#define CMD_ASSETS_H

/* The demo's stage: the simulated GPU and the training loops. Ends with a NULL name. */
struct asset {
	const char *name;
	const char *start, *end;
};

extern const struct asset assets[];

/* Recordings of scenarios, terminated. */
extern const char asset_incident_sql[], asset_cold_start_sql[], asset_memcpy_bottleneck_sql[],
	asset_periodic_spike_sql[], asset_cpu_contention_sql[], asset_gpu_steal_sql[];

#endif
