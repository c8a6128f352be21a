// SPDX-License-Identifier: Apache-2.0
/*
 * A libnvidia-ml.so.1 whose GPUs say what a file says: beside the library, with ".conf" behind its
 * name, read at every call. Lines of "key value"; see README.md. "-" is what this GPU does not tell.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/nvml.h"
#include "wire/gpu.h"

#define EXPORT __attribute__((visibility("default")))
#define NOT_SUPPORTED 3
#define INVALID 2
#define DEVICES 8

static char devices[DEVICES]; /* a handle is the address of one of these */

/* The value of a key; false: it has none. */
static bool conf(const char *key, char *dst, size_t cap)
{
	char path[PATH_MAX], line[512];
	size_t n = strlen(key);
	bool found = false;
	Dl_info self;
	FILE *file;

	if (!dladdr(devices, &self))
		return false;
	(void)snprintf(path, sizeof(path), "%s.conf", self.dli_fname);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, key, n) == 0 && line[n] == ' ';
		line[strcspn(line, "\n")] = '\0';
		if (found)
			(void)snprintf(dst, cap, "%s", line + n + 1);
	}
	if (file)
		(void)fclose(file);
	return found;
}

static void scribble(void)
{
	char junk[5000];

	memset(junk, 0xee, sizeof(junk));
	(void)!write(GPU_PIPE_FD, junk, sizeof(junk));
}

/* What may go wrong in a driver's library does so here. */
static void misbehave(void)
{
	char mode[16] = "";

	(void)conf("mode", mode, sizeof(mode));
	if (strcmp(mode, "crash") == 0)
		abort();
	while (strcmp(mode, "hang") == 0)
		(void)pause();
	if (strcmp(mode, "scribble") == 0)
		scribble();
}

static bool lies(void)
{
	char mode[16] = "";

	return conf("mode", mode, sizeof(mode)) && strcmp(mode, "lies") == 0;
}

/* Of one GPU: "temp 35", or of the second alone "1.temp 80". */
static int number(nvml_device d, const char *key, double preset, double *ret)
{
	char own[64], text[64] = "";
	char *end;

	(void)snprintf(own, sizeof(own), "%d.%s", (int)((char *)d - devices), key);
	*ret = preset;
	if (lies())
		*ret = 1e300;
	else if (conf(own, text, sizeof(text)) || conf(key, text, sizeof(text)))
		*ret = strtod(text, &end);
	else
		return 0;
	return text[0] == '-' && !lies() ? NOT_SUPPORTED : 0;
}

static int count32(nvml_device d, const char *key, double preset, unsigned *ret)
{
	double value;
	int status = number(d, key, preset, &value);

	*ret = value > UINT_MAX ? UINT_MAX : (unsigned)value;
	return status;
}

static int count64(nvml_device d, const char *key, double preset, nvml_u64 *ret)
{
	double value;
	int status = number(d, key, preset, &value);

	*ret = value > 1e19 ? ~0ull : (nvml_u64)value;
	return status;
}

static int words(const char *key, const char *preset, char *dst, unsigned cap)
{
	if (lies())
		memset(dst, 0x1b, cap); /* escapes, and no end */
	else if (!conf(key, dst, cap))
		(void)snprintf(dst, cap, "%s", preset);
	return 0;
}

/* ---- the interface ---- */

EXPORT int nvmlInit_v2(void)
{
	char status[16];

	misbehave();
	return conf("init", status, sizeof(status)) ? (int)strtol(status, NULL, 10) : 0;
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned cap)
{
	return words("driver", "580.0.sim", text, cap);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *ret)
{
	char text[16];

	*ret = conf("gpus", text, sizeof(text)) ? (unsigned)strtoul(text, NULL, 10) : 1;
	return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *ret)
{
	*ret = &devices[index % DEVICES];
	return index < DEVICES ? 0 : INVALID;
}

EXPORT int nvmlDeviceGetName(nvml_device d, char *text, unsigned cap)
{
	(void)d;
	return words("name", "Simulated GPU", text, cap);
}

EXPORT int nvmlDeviceGetUUID(nvml_device d, char *text, unsigned cap)
{
	char uuid[64];

	(void)snprintf(uuid, sizeof(uuid), "GPU-00000000-0000-0000-0000-%012d",
		       (int)((char *)d - devices));
	return words("uuid", uuid, text, cap);
}

EXPORT int nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci *ret)
{
	*ret = (struct nvml_pci){ .bus = 0x1b + (unsigned)((char *)d - devices) };
	(void)snprintf(ret->bus_id, sizeof(ret->bus_id), "00000000:%02X:00.0", ret->bus);
	return 0;
}

EXPORT int nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilisation *ret)
{
	int status;

	misbehave();
	status = count32(d, "util", 21, &ret->gpu);
	(void)count32(d, "mem_util", 3, &ret->memory);
	return status;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct nvml_memory_v2 *ret)
{
	if (ret->version != NVML_MEMORY_V2)
		return INVALID;
	(void)count64(d, "mem_total", 150e9, &ret->total);
	return count64(d, "mem_used", 2e9, &ret->used);
}

EXPORT int nvmlDeviceGetClockInfo(nvml_device d, int which, unsigned *mhz)
{
	return which == NVML_CLOCK_SM ? count32(d, "sm_mhz", 1980, mhz)
				      : count32(d, "mem_mhz", 3201, mhz);
}

EXPORT int nvmlDeviceGetMaxClockInfo(nvml_device d, int which, unsigned *mhz)
{
	return which == NVML_CLOCK_SM ? count32(d, "sm_max_mhz", 1980, mhz) : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device d, nvml_u64 *bits)
{
	return count64(d, "reasons", 0, bits);
}

EXPORT int nvmlDeviceGetPowerUsage(nvml_device d, unsigned *mw)
{
	return count32(d, "power_mw", 120000, mw);
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(nvml_device d, unsigned *mw)
{
	return count32(d, "power_limit_mw", 700000, mw);
}

EXPORT int nvmlDeviceGetPowerManagementDefaultLimit(nvml_device d, unsigned *mw)
{
	return count32(d, "power_default_mw", 700000, mw);
}

EXPORT int nvmlDeviceGetTemperature(nvml_device d, int sensor, unsigned *c)
{
	return sensor == NVML_TEMPERATURE_GPU ? count32(d, "temp", 35, c) : INVALID;
}

EXPORT int nvmlDeviceGetPcieReplayCounter(nvml_device d, unsigned *n)
{
	return count32(d, "replays", 0, n);
}

EXPORT int nvmlDeviceGetTotalEccErrors(nvml_device d, int kind, int counter, nvml_u64 *n)
{
	if (counter != NVML_ECC_VOLATILE)
		return INVALID;
	return count64(d, kind == NVML_ECC_CORRECTED ? "ecc_corrected" : "ecc_uncorrected", 0, n);
}

/* "pids 12:1000000,13:-" */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned *count,
						   struct nvml_process *list)
{
	char text[512] = "", *at = text, *end;
	unsigned n = 0;

	(void)d;
	(void)conf("pids", text, sizeof(text));
	while (*at) {
		unsigned long pid = strtoul(at, &end, 10);

		if (end == at || *end != ':')
			break;
		if (n == *count)
			return NVML_TOO_SMALL;
		list[n] = (struct nvml_process){ .pid = (unsigned)pid, .bytes = NVML_NO_VALUE };
		at = end + 1;
		if (*at != '-')
			list[n].bytes = strtoull(at, &end, 10);
		n++;
		at = end + strcspn(end, ",");
		at += *at == ',';
	}
	*count = n;
	return 0;
}

EXPORT int nvmlGpmQueryDeviceSupport(nvml_device d, struct nvml_gpm_support *ret)
{
	unsigned yes;

	if (ret->version != NVML_GPM_VERSION)
		return INVALID;
	if (count32(d, "gpm", 1, &yes))
		return NOT_SUPPORTED;
	ret->supported = yes;
	return 0;
}

EXPORT int nvmlGpmSampleAlloc(nvml_gpm_sample *ret)
{
	*ret = calloc(1, sizeof(nvml_device));
	return *ret ? 0 : INVALID;
}

/* A sample remembers whose it is. */
EXPORT int nvmlGpmSampleGet(nvml_device d, nvml_gpm_sample sample)
{
	memcpy(sample, &d, sizeof(d));
	return 0;
}

EXPORT int nvmlGpmMetricsGet(struct nvml_gpm_metrics *m)
{
	static const struct {
		unsigned id;
		const char *key;
		double preset;
	} metrics[] = {
		{ NVML_GPM_SM_ACTIVE, "sm_active", 8.5 }, { NVML_GPM_OCCUPANCY, "occupancy", 1.4 },
		{ NVML_GPM_TENSOR, "tensor", 0.2 },       { NVML_GPM_DRAM, "dram", 0.6 },
		{ NVML_GPM_PCIE_TX, "pcie_tx", 10 },      { NVML_GPM_PCIE_RX, "pcie_rx", 140 },
	};
	nvml_device d;

	if (m->version != NVML_GPM_VERSION || m->count > NVML_GPM_MAX || !m->first || !m->second)
		return INVALID;
	memcpy(&d, m->second, sizeof(d));
	for (unsigned i = 0; i < m->count; i++) {
		m->metric[i].status = NOT_SUPPORTED;
		for (size_t k = 0; k < sizeof(metrics) / sizeof(*metrics); k++)
			if (metrics[k].id == m->metric[i].id)
				m->metric[i].status = number(d, metrics[k].key, metrics[k].preset,
							     &m->metric[i].value);
	}
	return 0;
}
