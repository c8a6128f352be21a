/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to src/native: reading DWARF's numbers from memory that ends somewhere. Reading beyond the
 * end yields zeros and sets `bad`, so that a parser checks once, when it is done.
 */
#ifndef NATIVE_BYTES_H
#define NATIVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

static inline struct bytes bytes_of(const void *data, size_t size)
{
	const uint8_t *at = data;

	return (struct bytes){ at, at + size, false };
}

/* A little-endian number of 1 to 8 bytes. */
uint64_t bytes_number(struct bytes *b, size_t size);
int64_t bytes_signed(struct bytes *b, size_t size);
uint64_t bytes_uleb(struct bytes *b);
int64_t bytes_sleb(struct bytes *b);

/* The next size bytes, as a range of its own. */
struct bytes bytes_take(struct bytes *b, uint64_t size);

/* A string that ends in NUL; "" and bad where none does. */
const char *bytes_string(struct bytes *b);

/* DW_EH_PE_*: how an address in .eh_frame is written. */
enum {
	PTR_ABSOLUTE = 0x00,
	PTR_ULEB = 0x01,
	PTR_U2 = 0x02,
	PTR_U4 = 0x03,
	PTR_U8 = 0x04,
	PTR_SLEB = 0x09,
	PTR_S2 = 0x0a,
	PTR_S4 = 0x0b,
	PTR_S8 = 0x0c,
	PTR_FORMAT = 0x0f,
	PTR_PCREL = 0x10,
	PTR_TEXTREL = 0x20,
	PTR_DATAREL = 0x30,
	PTR_FUNCREL = 0x40,
	PTR_ALIGNED = 0x50,
	PTR_BASE = 0x70,
	PTR_INDIRECT = 0x80,
	PTR_OMIT = 0xff,
};

/*
 * An address; `pc` is the virtual address of its first byte, `data` what DATAREL refers to. An indirect
 * one is the address of the address. False: an encoding that we do not know, or a base we have not.
 */
bool bytes_pointer(struct bytes *b, uint8_t encoding, uint64_t pc, uint64_t data, uint64_t *ret);

/* How many bytes such a pointer has, 0 if that varies. */
size_t pointer_size(uint8_t encoding);

#endif
