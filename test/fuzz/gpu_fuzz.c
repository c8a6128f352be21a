// SPDX-License-Identifier: Apache-2.0
/* Any bytes as records of the NVML helper: those that are taken hold nothing that cannot be. */
#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(const char *text, size_t cap)
{
	size_t n = strnlen(text, cap);

	if (n == cap)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			abort();
}

static void check_values(const struct gpu_values *v)
{
	if (v->known >> GPU_VALUE_COUNT)
		abort();
#define X(id, per, max)                                                                            \
	if (v->value[GPU_##id] > (max) || (!GPU_KNOWN(v, GPU_##id) && v->value[GPU_##id]))         \
		abort();
	GPU_VALUES(X)
#undef X
}

/* The first byte chooses a kind, so that the magic number need not be found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct gpu_record rec = { 0 }, got;
	size_t n = len < sizeof(rec) ? len : sizeof(rec);

	if (len)
		memcpy(&rec, data, n);
	if (len && data[0] < 200) {
		rec.magic = GPU_MAGIC;
		rec.kind = data[0] % (GPU_KINDS + 1);
	}
	if (gpu_decode(data, len, &got) == 0 && len != sizeof(rec))
		abort();
	if (gpu_decode(&rec, sizeof(rec), &got))
		return 0;
	if (got.gpu >= GPU_MAX || got.kind >= GPU_KINDS)
		abort();
	if (got.kind == GPU_HELLO) {
		check_text(got.hello.driver, sizeof(got.hello.driver));
		check_text(got.hello.text, sizeof(got.hello.text));
	}
	if (got.kind == GPU_DEVICE) {
		check_text(got.device.name, sizeof(got.device.name));
		check_text(got.device.uuid, sizeof(got.device.uuid));
		check_text(got.device.bus_id, sizeof(got.device.bus_id));
	}
	if (got.kind == GPU_SAMPLE)
		check_values(&got.values);
	if (got.kind == GPU_PROCESS_LIST && got.list.count > GPU_PROCESSES)
		abort();
	return 0;
}
