// SPDX-License-Identifier: Apache-2.0
/* A writer of protocol buffers that is told anything, in little room. */
#include <stdlib.h>
#include <string.h>

#include "export/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPEN_MAX 16

static void write_field(struct proto *p, const uint8_t *data, size_t left)
{
	unsigned int field = 1 + data[1] % 70;
	uint64_t value = (uint64_t)data[2] << (data[1] & 56);

	switch (data[0] % 4) {
	case 0:
		proto_u64(p, field, value);
		break;
	case 1:
		proto_fixed64(p, field, value);
		break;
	case 2:
		proto_double(p, field, (double)value);
		break;
	default:
		proto_bytes(p, field, data, left < data[2] ? left : data[2]);
	}
}

/* Exactly as much memory as it is told of: the sanitizer sees every byte beyond. */
static void write_all(const uint8_t *data, size_t size)
{
	size_t cap = data[0], open[OPEN_MAX];
	uint8_t *memory = malloc(cap ? cap : 1);
	int depth = 0;
	struct proto p;

	if (!memory)
		return;
	proto_init(&p, memory, cap);
	for (size_t i = 1; i + 3 <= size; i += 3) {
		if (data[i] % 8 == 7 && depth < OPEN_MAX)
			open[depth++] = proto_open(&p, 1 + data[i + 1]);
		else if (data[i] % 8 == 6 && depth)
			proto_close(&p, open[--depth]);
		else
			write_field(&p, data + i, size - i);
		if (proto_len(&p) > cap)
			abort();
	}
	while (depth)
		proto_close(&p, open[--depth]);
	free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		write_all(data, size);
	return 0;
}
