/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/native: symbols as people read them, kept until the end, in bounded memory. */
#ifndef NATIVE_NAMES_H
#define NATIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define SYMBOL_CAP 1025 /* with NUL, as it is in the file; libiberty reads no longer ones */
#define NAMES_BYTES_MAX (4u << 20)

struct hash;
struct names_block;

struct names {
	struct hash *known; /* hash of the text -> const char * */
	struct names_block *blocks;
	size_t bytes;
};

void names_init(struct names *n);
void names_release(struct names *n);

/* No more names can be kept. */
bool names_full(const struct names *n);

/* The same text for ever, made harmless and cut to some hundred bytes; "" once memory is spent. */
const char *names_keep(struct names *n, const char *text);

/* A symbol, demangled, into dst. */
void names_demangle(const char *symbol, char *dst, size_t cap);

#endif
