/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of fixed-size keys and values, both copied in. Grows; never shrinks. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>

struct hash;

/* Keys are compared byte by byte: no padding in them. */
struct hash *hash_new(size_t key_size, size_t value_size);
void hash_free(struct hash *h);
size_t hash_count(const struct hash *h);

/* The value, or NULL. Borrowed until the next hash_put(). */
void *hash_get(const struct hash *h, const void *key);

/* The value, made of zeros if there was none. */
void *hash_put(struct hash *h, const void *key);

/* Forget a key; unknown ones are fine. */
void hash_drop(struct hash *h, const void *key);

/* Call fn for every entry; it may change the value; true drops the entry. */
void hash_each(struct hash *h, bool (*fn)(const void *key, void *value, void *arg), void *arg);

#endif
