/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers, the writing half, as much as a trace needs: fields into a piece of memory that
 * never grows. What does not fit sets `full`, and nothing after it is written.
 */
#ifndef EXPORT_PROTO_H
#define EXPORT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	uint8_t *at; /* where the next byte goes */
	uint8_t *end; /* of the memory */
	uint8_t *start;
	bool full;
};

void proto_init(struct proto *p, uint8_t *memory, size_t len);
static inline size_t proto_len(const struct proto *p)
{
	return (size_t)(p->at - p->start);
}

void proto_u64(struct proto *p, unsigned int field, uint64_t value);
void proto_i64(struct proto *p, unsigned int field, int64_t value);
void proto_fixed64(struct proto *p, unsigned int field, uint64_t value);
void proto_double(struct proto *p, unsigned int field, double value);
void proto_bytes(struct proto *p, unsigned int field, const void *bytes, size_t len);
void proto_str(struct proto *p, unsigned int field, const char *text);

/* A message within: its fields stand between the two. proto_open() returns what proto_close() takes. */
size_t proto_open(struct proto *p, unsigned int field);
void proto_close(struct proto *p, size_t opened);

#endif
