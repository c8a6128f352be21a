/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVML's public interface that is used here, as its documentation describes it. */
#ifndef HELPER_NVML_H
#define HELPER_NVML_H

typedef void *nvml_device;
typedef void *nvml_gpm_sample;
typedef unsigned long long nvml_u64;

#define NVML_OK 0
#define NVML_TOO_SMALL 7 /* NVML_ERROR_INSUFFICIENT_SIZE */

#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEM 2
#define NVML_PCIE_TX 0
#define NVML_PCIE_RX 1
#define NVML_TEMPERATURE_GPU 0
#define NVML_ECC_CORRECTED 0
#define NVML_ECC_UNCORRECTED 1
#define NVML_ECC_VOLATILE 0
#define NVML_NO_VALUE (~0ull) /* of a quantity that cannot be told */

struct nvml_utilisation {
	unsigned gpu, memory; /* percent */
};

struct nvml_memory {
	nvml_u64 total, free, used;
};

/* Reserved memory is not part of `used` here, as in nvidia-smi. */
struct nvml_memory_v2 {
	unsigned version;
	nvml_u64 total, reserved, free, used;
};
#define NVML_MEMORY_V2 ((unsigned)sizeof(struct nvml_memory_v2) | 2u << 24)

struct nvml_pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};

/* Of nvmlDeviceGetComputeRunningProcesses_v2 and _v3 alike. */
struct nvml_process {
	unsigned pid;
	nvml_u64 bytes;
	unsigned gpu_instance, compute_instance;
};

#define NVML_GPM_VERSION 1
#define NVML_GPM_SM_ACTIVE 2
#define NVML_GPM_OCCUPANCY 3
#define NVML_GPM_TENSOR 5
#define NVML_GPM_DRAM 10
#define NVML_GPM_PCIE_TX 20 /* MiB/s */
#define NVML_GPM_PCIE_RX 21
#define NVML_GPM_MAX 512 /* room: the library's own limit has grown with its versions */

struct nvml_gpm_support {
	unsigned version, supported;
};

struct nvml_gpm_metric {
	unsigned id;
	int status;
	double value;
	const char *short_name, *long_name, *unit;
};

struct nvml_gpm_metrics {
	unsigned version, count;
	nvml_gpm_sample first, second;
	struct nvml_gpm_metric metric[NVML_GPM_MAX];
};

/* name, its symbols (the first that the library has), parameters */
#define NVML_FUNCTIONS(X)                                                                          \
	X(init, "nvmlInit_v2", "nvmlInit", (void))                                                 \
	X(driver, "nvmlSystemGetDriverVersion", "", (char *text, unsigned cap))                    \
	X(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", (unsigned *ret))                   \
	X(handle, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex",                   \
	  (unsigned index, nvml_device *ret))                                                      \
	X(name, "nvmlDeviceGetName", "", (nvml_device d, char *text, unsigned cap))                \
	X(uuid, "nvmlDeviceGetUUID", "", (nvml_device d, char *text, unsigned cap))                \
	X(pci, "nvmlDeviceGetPciInfo_v3", "", (nvml_device d, struct nvml_pci * ret))              \
	X(utilisation, "nvmlDeviceGetUtilizationRates", "",                                        \
	  (nvml_device d, struct nvml_utilisation * ret))                                          \
	X(memory, "nvmlDeviceGetMemoryInfo", "", (nvml_device d, struct nvml_memory * ret))        \
	X(memory_v2, "nvmlDeviceGetMemoryInfo_v2", "",                                             \
	  (nvml_device d, struct nvml_memory_v2 * ret))                                            \
	X(clock, "nvmlDeviceGetClockInfo", "", (nvml_device d, int which, unsigned *mhz))          \
	X(max_clock, "nvmlDeviceGetMaxClockInfo", "", (nvml_device d, int which, unsigned *mhz))   \
	X(reasons, "nvmlDeviceGetCurrentClocksEventReasons",                                       \
	  "nvmlDeviceGetCurrentClocksThrottleReasons", (nvml_device d, nvml_u64 * bits))           \
	X(power, "nvmlDeviceGetPowerUsage", "", (nvml_device d, unsigned *mw))                     \
	X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", "", (nvml_device d, unsigned *mw))       \
	X(power_default, "nvmlDeviceGetPowerManagementDefaultLimit", "",                           \
	  (nvml_device d, unsigned *mw))                                                           \
	X(temperature, "nvmlDeviceGetTemperature", "", (nvml_device d, int sensor, unsigned *c))   \
	X(pcie, "nvmlDeviceGetPcieThroughput", "", (nvml_device d, int which, unsigned *kb))       \
	X(replays, "nvmlDeviceGetPcieReplayCounter", "", (nvml_device d, unsigned *n))             \
	X(ecc, "nvmlDeviceGetTotalEccErrors", "",                                                  \
	  (nvml_device d, int kind, int counter, nvml_u64 *n))                                     \
	X(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                    \
	  "nvmlDeviceGetComputeRunningProcesses_v2",                                               \
	  (nvml_device d, unsigned *count, struct nvml_process *list))                             \
	X(gpm_support, "nvmlGpmQueryDeviceSupport", "",                                            \
	  (nvml_device d, struct nvml_gpm_support * ret))                                          \
	X(gpm_alloc, "nvmlGpmSampleAlloc", "", (nvml_gpm_sample * ret))                            \
	X(gpm_get, "nvmlGpmSampleGet", "", (nvml_device d, nvml_gpm_sample sample))                \
	X(gpm_metrics, "nvmlGpmMetricsGet", "", (struct nvml_gpm_metrics * ret))

/* A function that the library does not have is NULL. */
struct nvml {
#define X(name, symbol, older, params) int(*name) params;
	NVML_FUNCTIONS(X)
#undef X
};

#endif
