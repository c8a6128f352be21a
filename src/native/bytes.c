// SPDX-License-Identifier: Apache-2.0
/* Numbers, strings and encoded pointers of DWARF, never read beyond their end. */
#include "native/bytes.h"

#include <string.h>

uint64_t bytes_number(struct bytes *b, size_t size)
{
	uint64_t value = 0;

	if (bytes_left(b) < size) {
		b->at = b->end;
		b->bad = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)b->at[i] << (8 * i);
	b->at += size;
	return value;
}

int64_t bytes_signed(struct bytes *b, size_t size)
{
	uint64_t value = bytes_number(b, size);
	uint64_t sign = 1ull << (8 * size - 1);

	return (int64_t)((value ^ sign) - sign);
}

uint64_t bytes_uleb(struct bytes *b)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned int shift = 0;; shift += 7) {
		byte = (uint8_t)bytes_number(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

int64_t bytes_sleb(struct bytes *b)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)bytes_number(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~0ull << shift;
	return (int64_t)value;
}

struct bytes bytes_take(struct bytes *b, uint64_t size)
{
	struct bytes part = { b->at, b->at, false };

	if (size > bytes_left(b)) {
		b->at = b->end;
		b->bad = part.bad = true;
		return part;
	}
	b->at += size;
	part.end = b->at;
	return part;
}

const char *bytes_string(struct bytes *b)
{
	const uint8_t *nul = bytes_left(b) ? memchr(b->at, 0, bytes_left(b)) : NULL;
	const char *start = (const char *)b->at;

	if (!nul) {
		b->at = b->end;
		b->bad = true;
		return "";
	}
	b->at = nul + 1;
	return start;
}

size_t pointer_size(uint8_t encoding)
{
	switch (encoding & PTR_FORMAT) {
	case PTR_ABSOLUTE:
	case PTR_U8:
	case PTR_S8:
		return 8;
	case PTR_U4:
	case PTR_S4:
		return 4;
	case PTR_U2:
	case PTR_S2:
		return 2;
	default:
		return 0;
	}
}

static bool pointer_value(struct bytes *b, uint8_t encoding, uint64_t *ret)
{
	switch (encoding & PTR_FORMAT) {
	case PTR_ULEB:
		*ret = bytes_uleb(b);
		return true;
	case PTR_SLEB:
		*ret = (uint64_t)bytes_sleb(b);
		return true;
	case PTR_ABSOLUTE:
	case PTR_U2:
	case PTR_U4:
	case PTR_U8:
		*ret = bytes_number(b, pointer_size(encoding));
		return true;
	case PTR_S2:
	case PTR_S4:
	case PTR_S8:
		*ret = (uint64_t)bytes_signed(b, pointer_size(encoding));
		return true;
	default:
		return false;
	}
}

bool bytes_pointer(struct bytes *b, uint8_t encoding, uint64_t pc, uint64_t data, uint64_t *ret)
{
	uint64_t value;

	if (encoding == PTR_OMIT)
		return false;
	if ((encoding & PTR_BASE) == PTR_ALIGNED) {
		bytes_take(b, -pc & 7);
		*ret = bytes_number(b, 8);
		return !b->bad;
	}
	if (!pointer_value(b, encoding, &value))
		return false;
	switch (encoding & PTR_BASE) {
	case 0:
		break;
	case PTR_PCREL:
		value += pc;
		break;
	case PTR_DATAREL:
		value += data;
		break;
	default: /* nobody writes those for 64-bit ELF */
		return false;
	}
	*ret = value;
	return !b->bad;
}
