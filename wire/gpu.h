/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the NVML helper writes into its pipe and the agent reads. One size for all records; each is
 * written at once. Nothing here is believed: see src/gpu/decode.c.
 */
#ifndef WIRE_GPU_H
#define WIRE_GPU_H

#include <linux/types.h>

#define GPU_MAGIC 0x3175706743ull /* "Cgpu1": the version is part of it */
#define GPU_PIPE_FD 3 /* of the helper; its standard output is nobody's: libraries print there */
#define GPU_MAX 64
#define GPU_PROCESSES 28 /* in one record */

/*
 * Everything that a GPU is asked for: name, what it is divided by to get the unit of its column, and
 * the largest that makes sense. What the library does not answer, or answers with more, is not known.
 */
#define GPU_VALUES(X)                                                                              \
	X(util_pct, 1000, 100000) /* "utilisation": some kernel ran */                             \
	X(mem_util_pct, 1000, 100000) /* memory was read or written */                             \
	X(mem_used, 1, 1ull << 50) /* bytes */                                                     \
	X(mem_total, 1, 1ull << 50)                                                                \
	X(sm_mhz, 1, 100000)                                                                       \
	X(sm_max_mhz, 1, 100000)                                                                   \
	X(mem_mhz, 1, 100000)                                                                      \
	X(reasons, 1, 0xffff) /* why clocks are not higher: GPU_REASON_* */                        \
	X(power_w, 1000, 100000000)                                                                \
	X(power_limit_w, 1000, 100000000) /* in force */                                           \
	X(power_default_w, 1000, 100000000) /* as delivered */                                     \
	X(temp_c, 1, 1000)                                                                         \
	X(pcie_tx, 1, 1ull << 50) /* bytes per second, out of the GPU */                           \
	X(pcie_rx, 1, 1ull << 50)                                                                  \
	X(pcie_replays, 1, 1ull << 50) /* since the driver was loaded, as the next two */          \
	X(ecc_corrected, 1, 1ull << 50)                                                            \
	X(ecc_uncorrected, 1, 1ull << 50)                                                          \
	X(sm_active_pct, 1000, 100000) /* multiprocessors with work, over time */                  \
	X(occupancy_pct, 1000, 100000) /* their places taken */                                    \
	X(tensor_pct, 1000, 100000) /* tensor cores at work */                                     \
	X(dram_pct, 1000, 100000) /* of the memory's bandwidth */

enum gpu_value {
#define X(id, per, max) GPU_##id,
	GPU_VALUES(X)
#undef X
		GPU_VALUE_COUNT,
};

struct gpu_values {
	__u64 known; /* bit per value */
	__u64 value[GPU_VALUE_COUNT];
};

#define GPU_KNOWN(v, id) ((v)->known >> (id)&1)

/* NVML's bits. The first two are no throttling: nothing to do, or somebody asked for it. */
#define GPU_REASON_IDLE 0x1
#define GPU_REASON_SETTING 0x2
#define GPU_REASON_POWER_CAP 0x4
#define GPU_REASON_HW_SLOWDOWN 0x8
#define GPU_REASON_SYNC_BOOST 0x10
#define GPU_REASON_SW_THERMAL 0x20
#define GPU_REASON_HW_THERMAL 0x40
#define GPU_REASON_POWER_BRAKE 0x80
#define GPU_REASON_DISPLAY 0x100

enum gpu_kind {
	GPU_HELLO, /* first of all: is there a library? */
	GPU_DEVICE, /* once for each GPU */
	GPU_SAMPLE,
	GPU_PROCESS_LIST,
	GPU_BEAT, /* all GPUs were asked, whether they answered or not: it is alive */
	GPU_KINDS,
};

struct gpu_hello {
	__u32 gpus;
	__u32 ready; /* 0: why not is in text, and the helper ends */
	char driver[80];
	char text[256];
};

struct gpu_device {
	char name[96], uuid[96], bus_id[32];
};

#define GPU_BYTES_UNKNOWN (~0ull)

struct gpu_process {
	__u32 pid, pad;
	__u64 bytes; /* or GPU_BYTES_UNKNOWN */
};

struct gpu_process_list {
	__u32 count; /* in this record */
	__u32 total; /* in all; more than fit are left out */
	struct gpu_process process[GPU_PROCESSES];
};

struct gpu_record {
	__u64 magic;
	__u32 kind; /* enum gpu_kind */
	__u32 gpu; /* its index */
	__u64 at_ns; /* boot time */
	__u64 cpu_ns; /* that the helper itself has used so far */
	union {
		struct gpu_hello hello;
		struct gpu_device device;
		struct gpu_values values;
		struct gpu_process_list list;
		__u8 room[480];
	};
};

_Static_assert(sizeof(struct gpu_record) == 512, "struct gpu_record");
_Static_assert(sizeof(struct gpu_process) == 16, "struct gpu_process");

#endif
