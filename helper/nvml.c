// SPDX-License-Identifier: Apache-2.0
/*
 * The only program here that loads a driver library, so that nothing but this program can crash or
 * hang with it. Asks each GPU once in an interval and writes records of fixed size (wire/gpu.h).
 * Usage: helper INTERVAL_MS [LIBRARY]; the agent starts it from memory with the pipe as GPU_PIPE_FD.
 */
#define _GNU_SOURCE
#include "helper/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "helper/old_glibc.h"
#include "wire/gpu.h"

#define LISTED 256 /* processes of one GPU */

struct gpu {
	nvml_device device;
	nvml_gpm_sample sample[2]; /* the one before, and room for the next; NULL: no such thing */
	bool sampled; /* there is one before */
};

static struct nvml nvml;
static struct gpu gpus[GPU_MAX];

/* ---- the pipe ---- */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static struct gpu_record record_of(enum gpu_kind kind, unsigned gpu)
{
	struct gpu_record rec;

	memset(&rec, 0, sizeof(rec));
	rec.magic = GPU_MAGIC;
	rec.kind = kind;
	rec.gpu = gpu;
	return rec;
}

/* A pipe takes a record as a whole or, when nobody reads any more, ends us. */
static void send_record(struct gpu_record *rec)
{
	rec->at_ns = clock_ns(CLOCK_BOOTTIME);
	rec->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (write(GPU_PIPE_FD, rec, sizeof(*rec)) != (ssize_t)sizeof(*rec))
		_exit(1);
}

static void give_up(const char *what, const char *why)
{
	struct gpu_record rec = record_of(GPU_HELLO, 0);

	(void)snprintf(rec.hello.text, sizeof(rec.hello.text), "%s%s%s", what, why ? ": " : "",
		       why ? why : "");
	send_record(&rec);
	_exit(0);
}

/* ---- the library ---- */

static void *find_library(const char *path)
{
	static const char *const places[] = {
		"libnvidia-ml.so.1",
		"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
		"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
		"/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
		"/usr/lib64/libnvidia-ml.so.1",
		"/usr/lib/nvidia/current/libnvidia-ml.so.1",
		"/usr/lib/wsl/lib/libnvidia-ml.so.1",
		"/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
		"/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
		"/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",
	};
	static char first[200];
	const char *said;
	void *lib;

	if (path[0]) {
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!lib)
			give_up("cannot be loaded", dlerror());
		return lib;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		lib = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
		if (lib)
			return lib;
		said = dlerror();
		if (!i)
			(void)snprintf(first, sizeof(first), "%s", said ? said : "");
		else if (!access(places[i], F_OK))
			give_up("cannot be loaded", said); /* it is there and does not work */
	}
	give_up(first, NULL);
	return NULL;
}

static void *function_of(void *lib, const char *symbol, const char *older)
{
	void *found = dlsym(lib, symbol);

	return found || !older[0] ? found : dlsym(lib, older);
}

static void load(const char *path)
{
	void *lib = find_library(path), *found;

#define X(name, symbol, older, params)                                                             \
	found = function_of(lib, symbol, older);                                                   \
	memcpy(&nvml.name, &found, sizeof(found));
	NVML_FUNCTIONS(X)
#undef X
	if (!nvml.init || !nvml.count || !nvml.handle)
		give_up("the library is no NVML", NULL);
}

static unsigned begin(void)
{
	struct gpu_record rec = record_of(GPU_HELLO, 0);
	unsigned n = 0;
	char text[64];
	int status = nvml.init();

	if (!status)
		status = nvml.count(&n);
	if (status) {
		(void)snprintf(text, sizeof(text), "NVML answers with error %d%s", status,
			       status == 9 ? " (driver not loaded)" : "");
		give_up(text, NULL);
	}
	if (!n)
		give_up("NVML sees no GPU", NULL);
	if (n > GPU_MAX)
		n = GPU_MAX;
	rec.hello.ready = 1;
	rec.hello.gpus = n;
	if (nvml.driver)
		(void)nvml.driver(rec.hello.driver, sizeof(rec.hello.driver)); /* "" else */
	send_record(&rec);
	return n;
}

static bool has_gpm(nvml_device device)
{
	struct nvml_gpm_support support = { .version = NVML_GPM_VERSION };

	return nvml.gpm_support && nvml.gpm_alloc && nvml.gpm_get && nvml.gpm_metrics &&
	       !nvml.gpm_support(device, &support) && support.supported;
}

/* A GPU that has fallen off its bus keeps its place in the list; it is asked again. */
static void introduce(unsigned i)
{
	struct gpu_record rec = record_of(GPU_DEVICE, i);
	struct nvml_pci pci = { .bus_id = "" };
	struct gpu *g = &gpus[i];

	if (g->device)
		return;
	if (nvml.handle(i, &g->device)) {
		g->device = NULL;
		return;
	}
	if (nvml.name)
		(void)nvml.name(g->device, rec.device.name, sizeof(rec.device.name));
	if (nvml.uuid)
		(void)nvml.uuid(g->device, rec.device.uuid, sizeof(rec.device.uuid));
	if (nvml.pci && !nvml.pci(g->device, &pci))
		memcpy(rec.device.bus_id, pci.bus_id, sizeof(rec.device.bus_id));
	send_record(&rec);
	if (has_gpm(g->device) && (nvml.gpm_alloc(&g->sample[0]) || nvml.gpm_alloc(&g->sample[1])))
		g->sample[0] = NULL;
}

/* ---- one look ---- */

static void put(struct gpu_values *v, enum gpu_value id, uint64_t value, int status)
{
	if (status != NVML_OK)
		return;
	v->value[id] = value;
	v->known |= 1ull << id;
}

static void look_memory(const struct gpu *g, struct gpu_values *v)
{
	struct nvml_memory_v2 now = { .version = NVML_MEMORY_V2 };
	struct nvml_memory old = { 0 };
	int status = nvml.memory_v2 ? nvml.memory_v2(g->device, &now) : -1;

	if (status && nvml.memory) {
		status = nvml.memory(g->device, &old);
		now.used = old.used;
		now.total = old.total;
	}
	put(v, GPU_mem_used, now.used, status);
	put(v, GPU_mem_total, now.total, status);
}

static void look_speed(const struct gpu *g, struct gpu_values *v)
{
	struct nvml_utilisation busy = { 0 };
	nvml_u64 reasons = 0;
	unsigned n = 0;
	int status;

	if (nvml.utilisation) {
		status = nvml.utilisation(g->device, &busy);
		put(v, GPU_util_pct, busy.gpu * 1000ull, status);
		put(v, GPU_mem_util_pct, busy.memory * 1000ull, status);
	}
	if (nvml.clock) {
		status = nvml.clock(g->device, NVML_CLOCK_SM, &n);
		put(v, GPU_sm_mhz, n, status);
		status = nvml.clock(g->device, NVML_CLOCK_MEM, &n);
		put(v, GPU_mem_mhz, n, status);
	}
	if (nvml.max_clock) {
		status = nvml.max_clock(g->device, NVML_CLOCK_SM, &n);
		put(v, GPU_sm_max_mhz, n, status);
	}
	if (nvml.reasons) {
		status = nvml.reasons(g->device, &reasons);
		put(v, GPU_reasons, reasons, status);
	}
}

static void look_heat(const struct gpu *g, struct gpu_values *v)
{
	unsigned n = 0;
	int status;

	if (nvml.power) {
		status = nvml.power(g->device, &n);
		put(v, GPU_power_w, n, status);
	}
	if (nvml.power_limit) {
		status = nvml.power_limit(g->device, &n);
		put(v, GPU_power_limit_w, n, status);
	}
	if (nvml.power_default) {
		status = nvml.power_default(g->device, &n);
		put(v, GPU_power_default_w, n, status);
	}
	if (nvml.temperature) {
		status = nvml.temperature(g->device, NVML_TEMPERATURE_GPU, &n);
		put(v, GPU_temp_c, n, status);
	}
}

static void look_errors(const struct gpu *g, struct gpu_values *v)
{
	nvml_u64 errors = 0;
	unsigned n = 0;
	int status;

	if (nvml.replays) {
		status = nvml.replays(g->device, &n);
		put(v, GPU_pcie_replays, n, status);
	}
	if (nvml.ecc) {
		status = nvml.ecc(g->device, NVML_ECC_CORRECTED, NVML_ECC_VOLATILE, &errors);
		put(v, GPU_ecc_corrected, errors, status);
		status = nvml.ecc(g->device, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &errors);
		put(v, GPU_ecc_uncorrected, errors, status);
	}
}

/* What the hardware's own counters say of the time since the last look. */
static void look_counters(struct gpu *g, struct gpu_values *v)
{
	static const struct {
		unsigned id;
		enum gpu_value value;
		double scale;
	} wanted[] = {
		{ NVML_GPM_SM_ACTIVE, GPU_sm_active_pct, 1000 },
		{ NVML_GPM_OCCUPANCY, GPU_occupancy_pct, 1000 },
		{ NVML_GPM_TENSOR, GPU_tensor_pct, 1000 },
		{ NVML_GPM_DRAM, GPU_dram_pct, 1000 },
		{ NVML_GPM_PCIE_TX, GPU_pcie_tx, 1 << 20 },
		{ NVML_GPM_PCIE_RX, GPU_pcie_rx, 1 << 20 },
	};
	static struct nvml_gpm_metrics m; /* large */
	nvml_gpm_sample before = g->sample[0];
	bool compare = g->sampled;

	if (!before)
		return;
	g->sampled = nvml.gpm_get(g->device, g->sample[1]) == NVML_OK;
	if (!g->sampled)
		return;
	g->sample[0] = g->sample[1];
	g->sample[1] = before;
	if (!compare)
		return;
	memset(&m, 0, sizeof(m));
	m.version = NVML_GPM_VERSION;
	m.first = before;
	m.second = g->sample[0];
	m.count = sizeof(wanted) / sizeof(*wanted);
	for (unsigned i = 0; i < m.count; i++)
		m.metric[i].id = wanted[i].id;
	if (nvml.gpm_metrics(&m))
		return;
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		double value = m.metric[i].value * wanted[i].scale;

		if (wanted[i].scale == 1000 && value > 100000 && value < 105000)
			value = 100000; /* of two readings, one is a little later */
		if (value >= 0 && value < 1e15)
			put(v, wanted[i].value, (uint64_t)value, m.metric[i].status);
	}
}

/* Takes 20 ms each: only where the counters have not said it. */
static void look_bus(const struct gpu *g, struct gpu_values *v)
{
	unsigned kb = 0;
	int status;

	if (GPU_KNOWN(v, GPU_pcie_tx) || g->sample[0] || !nvml.pcie)
		return;
	status = nvml.pcie(g->device, NVML_PCIE_TX, &kb);
	put(v, GPU_pcie_tx, kb * 1000ull, status);
	status = nvml.pcie(g->device, NVML_PCIE_RX, &kb);
	put(v, GPU_pcie_rx, kb * 1000ull, status);
}

static void send_processes(unsigned i)
{
	static struct nvml_process list[LISTED];
	struct gpu_record rec;
	unsigned n = LISTED;

	if (!nvml.processes || nvml.processes(gpus[i].device, &n, list) || n > LISTED)
		return; /* not told, which is not "nobody" */
	for (unsigned at = 0; !at || at < n; at += GPU_PROCESSES) {
		unsigned part = n - at < GPU_PROCESSES ? n - at : GPU_PROCESSES;

		rec = record_of(GPU_PROCESS_LIST, i);
		rec.list.total = n;
		rec.list.count = part;
		for (unsigned k = 0; k < part; k++)
			rec.list.process[k] = (struct gpu_process){ .pid = list[at + k].pid,
								    .bytes = list[at + k].bytes };
		send_record(&rec);
	}
}

static void look(unsigned i)
{
	struct gpu_record rec = record_of(GPU_SAMPLE, i);
	struct gpu *g = &gpus[i];

	introduce(i);
	if (!g->device)
		return;
	look_memory(g, &rec.values);
	look_speed(g, &rec.values);
	look_heat(g, &rec.values);
	look_errors(g, &rec.values);
	look_counters(g, &rec.values);
	look_bus(g, &rec.values);
	send_record(&rec);
	send_processes(i);
}

int main(int argc, char **argv)
{
	long interval = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct timespec next;
	unsigned n;

	(void)prctl(PR_SET_NAME, "culprit-nvml");
	if (interval < 1 || interval > 3600000)
		return 2;
	load(argc > 2 ? argv[2] : "");
	n = begin();
	if (clock_gettime(CLOCK_MONOTONIC, &next))
		return 1;
	for (;;) {
		struct gpu_record beat = record_of(GPU_BEAT, 0);

		for (unsigned i = 0; i < n; i++)
			look(i);
		send_record(&beat);
		if (clock_ns(CLOCK_MONOTONIC) >
		    (uint64_t)(next.tv_sec + interval / 1000 + 1) * 1000000000ull)
			(void)clock_gettime(CLOCK_MONOTONIC, &next); /* late: do not catch up */
		next.tv_nsec += interval % 1000 * 1000000;
		next.tv_sec += interval / 1000 + next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
