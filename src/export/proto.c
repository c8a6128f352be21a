// SPDX-License-Identifier: Apache-2.0
/* Fields of protocol buffers, written into memory of a fixed size. */
#include "export/proto.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX 10 /* bytes of the longest */

void proto_init(struct proto *p, uint8_t *memory, size_t len)
{
	p->at = memory;
	p->start = memory;
	p->end = memory + len;
	p->full = false;
}

static size_t varint(uint8_t dst[VARINT_MAX], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		dst[n++] = (uint8_t)(value | 0x80);
	dst[n++] = (uint8_t)value;
	return n;
}

static bool room(struct proto *p, size_t len)
{
	if (p->full || len > (size_t)(p->end - p->at))
		p->full = true;
	return !p->full;
}

static void put(struct proto *p, const void *bytes, size_t len)
{
	if (!len || !room(p, len))
		return;
	memcpy(p->at, bytes, len);
	p->at += len;
}

static void put_varint(struct proto *p, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	size_t len = varint(bytes, value);

	put(p, bytes, len);
}

static void put_tag(struct proto *p, unsigned int field, enum wire wire)
{
	put_varint(p, (uint64_t)field << 3 | wire);
}

void proto_u64(struct proto *p, unsigned int field, uint64_t value)
{
	put_tag(p, field, WIRE_VARINT);
	put_varint(p, value);
}

void proto_i64(struct proto *p, unsigned int field, int64_t value)
{
	proto_u64(p, field, (uint64_t)value);
}

void proto_fixed64(struct proto *p, unsigned int field, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	put_tag(p, field, WIRE_FIXED64);
	put(p, bytes, sizeof(bytes));
}

void proto_double(struct proto *p, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(p, field, bits);
}

void proto_bytes(struct proto *p, unsigned int field, const void *bytes, size_t len)
{
	put_tag(p, field, WIRE_BYTES);
	put_varint(p, len);
	put(p, bytes, len);
}

void proto_str(struct proto *p, unsigned int field, const char *text)
{
	proto_bytes(p, field, text, strlen(text));
}

size_t proto_open(struct proto *p, unsigned int field)
{
	put_tag(p, field, WIRE_BYTES);
	put_varint(p, 0); /* most are shorter than 128 bytes: their length fits here */
	return proto_len(p);
}

void proto_close(struct proto *p, size_t opened)
{
	size_t len = proto_len(p) - opened, n;
	uint8_t bytes[VARINT_MAX];

	if (p->full)
		return;
	n = varint(bytes, len);
	if (!room(p, n - 1))
		return;
	memmove(p->start + opened + n - 1, p->start + opened, len);
	memcpy(p->start + opened - 1, bytes, n);
	p->at += n - 1;
}
