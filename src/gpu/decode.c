// SPDX-License-Identifier: Apache-2.0
/* Records of the helper. A driver library may have written anything into it, so nothing is believed. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "base/util.h"
#include "gpu/gpu.h"

static const uint64_t value_max[GPU_VALUE_COUNT] = {
#define X(id, per, max) max,
	GPU_VALUES(X)
#undef X
};

/* In place: n bytes that may lack their end. */
static void make_safe(char *text, size_t n)
{
	char copy[256];

	memcpy(copy, text, n);
	copy[n - 1] = '\0';
	memset(text, 0, n);
	(void)text_safe(text, n, copy);
}

static void make_known(struct gpu_values *v)
{
	v->known &= (1ull << GPU_VALUE_COUNT) - 1;
	for (int i = 0; i < GPU_VALUE_COUNT; i++) {
		if (v->value[i] > value_max[i])
			v->known &= ~(1ull << i);
		if (!GPU_KNOWN(v, i))
			v->value[i] = 0;
	}
}

int gpu_decode(const void *bytes, size_t len, struct gpu_record *ret)
{
	struct gpu_record rec;

	if (len != sizeof(rec))
		return fail(-EBADMSG, "a record of %zu bytes", len);
	memcpy(&rec, bytes, len);
	if (rec.magic != GPU_MAGIC || rec.kind >= GPU_KINDS || rec.gpu >= GPU_MAX)
		return fail(-EBADMSG, "no record of the NVML helper");
	switch ((enum gpu_kind)rec.kind) {
	case GPU_HELLO:
		if (rec.hello.gpus > GPU_MAX)
			return fail(-EBADMSG, "%u GPUs", rec.hello.gpus);
		make_safe(rec.hello.driver, sizeof(rec.hello.driver));
		make_safe(rec.hello.text, sizeof(rec.hello.text));
		break;
	case GPU_DEVICE:
		make_safe(rec.device.name, sizeof(rec.device.name));
		make_safe(rec.device.uuid, sizeof(rec.device.uuid));
		make_safe(rec.device.bus_id, sizeof(rec.device.bus_id));
		break;
	case GPU_SAMPLE:
		make_known(&rec.values);
		break;
	case GPU_PROCESS_LIST:
		if (rec.list.count > GPU_PROCESSES || rec.list.total < rec.list.count)
			return fail(-EBADMSG, "%u processes", rec.list.count);
		break;
	case GPU_BEAT:
	case GPU_KINDS:
		break;
	}
	*ret = rec;
	return 0;
}
