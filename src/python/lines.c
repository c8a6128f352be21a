// SPDX-License-Identifier: Apache-2.0
/*
 * The three ways in which CPython has written down which bytecode belongs to which line. A table is
 * read from a process and may hold anything: sums are kept in 64 bits, which 2^31 bytes of table
 * cannot overflow, and whatever does not fit an int in the end is no line.
 */
#include "python/python.h"

#include <limits.h>

#define NO_LINE_310 (-128)

static int line_of(int64_t line)
{
	return line < 0 || line > INT_MAX ? -1 : (int)line;
}

/* 3.9, co_lnotab: by how much the address and the line grow. */
static int line_39(const uint8_t *table, size_t size, int first_line, int lasti)
{
	int64_t line = first_line, addr = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		addr += table[i];
		if (addr > lasti)
			break;
		line += (int8_t)table[i + 1];
	}
	return line_of(line);
}

/* 3.10, co_linetable: how far this line reaches, by how much it differs from the one before. */
static int line_310(const uint8_t *table, size_t size, int first_line, int lasti)
{
	int64_t line = first_line, end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		end += table[i];
		if (delta != NO_LINE_310)
			line += delta;
		if (lasti < end)
			return delta == NO_LINE_310 ? 0 : line_of(line);
	}
	return -1;
}

/* What is left of a table. */
struct cursor {
	const uint8_t *at, *end;
};

/* Six bits per byte, the lowest first; the seventh says that more follow. */
static bool take_varint(struct cursor *c, uint32_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		if (c->at == c->end || shift > 30)
			return false;
		byte = *c->at++;
		value |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	*ret = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* The lowest bit is the sign. */
static bool take_signed(struct cursor *c, int64_t *ret)
{
	uint32_t value;

	if (!take_varint(c, &value))
		return false;
	*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return true;
}

static bool skip(struct cursor *c, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	c->at += n;
	return true;
}

/* Behind the first byte of an entry: by how much the line grows; columns are stepped over. */
static bool take_entry(struct cursor *c, unsigned kind, int64_t *ret_delta)
{
	uint32_t ignored;

	*ret_delta = 0;
	if (kind < 10)
		return skip(c, 1);
	if (kind < 13) {
		*ret_delta = kind - 10;
		return skip(c, 2);
	}
	if (kind == 15)
		return true;
	if (!take_signed(c, ret_delta))
		return false;
	for (int i = 0; kind == 14 && i < 3; i++) {
		if (!take_varint(c, &ignored))
			return false;
	}
	return true;
}

/* 3.11 and newer: entries that begin with 1kkkklll, lll + 1 code units of kind k. */
static int line_311(const uint8_t *table, size_t size, int first_line, int lasti)
{
	struct cursor c = { table, size ? table + size : table }; /* without one it is NULL */
	int64_t line = first_line, end = 0, delta;

	while (c.at < c.end) {
		uint8_t byte = *c.at++;
		unsigned kind = byte >> 3 & 15;

		if (!(byte & 0x80) || !take_entry(&c, kind, &delta))
			return -1;
		line += delta;
		end += ((byte & 7) + 1) * 2ll;
		if (lasti < end)
			return kind == 15 ? 0 : line_of(line);
	}
	return -1;
}

int py_line(unsigned version, const uint8_t *table, size_t size, int first_line, int lasti)
{
	if (lasti < 0)
		return line_of(first_line);
	if (version < 0x30a)
		return line_39(table, size, first_line, lasti);
	if (version == 0x30a)
		return line_310(table, size, first_line, lasti);
	return line_311(table, size, first_line, lasti);
}
