/* SPDX-License-Identifier: Apache-2.0 */
/* The few helpers that C forgot: checked allocation, string tests, bounded copy. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Allocation that cannot fail: it aborts. Never called on the capture path. Release with free(). */
void *xcalloc(size_t n, size_t size);
char *xstrdup(const char *s);

/* Room for n elements of size bytes; what ptr had not before is uninitialised. */
void *xrealloc(void *ptr, size_t n, size_t size);

/* Copy as much of src as fits; dst ends in NUL unless cap is 0. False: src was cut. */
bool str_copy(char *dst, size_t cap, const char *src);

/* Add to the text in dst, as far as there is room. */
void str_add(char *dst, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
