// SPDX-License-Identifier: Apache-2.0
/* Open addressing, linear probing, tombstones; rehashed when two thirds are used. */
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

enum { FREE, USED, DROPPED };

struct hash {
	size_t key_size, value_size, slot_size;
	size_t slots; /* a power of two */
	size_t used, touched; /* touched: used and dropped */
	char *slot; /* state byte padded to 8, key padded to 8, value */
};

#define STATE_SIZE 8

static size_t round8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static char *slot_at(const struct hash *h, size_t i)
{
	return h->slot + i * h->slot_size;
}

static char *slot_value(const struct hash *h, char *slot)
{
	return slot + STATE_SIZE + round8(h->key_size);
}

struct hash *hash_new(size_t key_size, size_t value_size)
{
	struct hash *h = xcalloc(1, sizeof(*h));

	h->key_size = key_size;
	h->value_size = value_size;
	h->slot_size = STATE_SIZE + round8(key_size) + round8(value_size);
	h->slots = 64;
	h->slot = xcalloc(h->slots, h->slot_size);
	return h;
}

void hash_free(struct hash *h)
{
	if (!h)
		return;
	free(h->slot);
	free(h);
}

size_t hash_count(const struct hash *h)
{
	return h->used;
}

static size_t hash_of(const struct hash *h, const void *key)
{
	const unsigned char *p = key;
	uint64_t v = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < h->key_size; i++)
		v = (v ^ p[i]) * 0x100000001b3ull;
	return (size_t)(v ^ (v >> 29));
}

/* The key's slot, or the free one where it belongs. */
static char *find(const struct hash *h, const void *key)
{
	char *reuse = NULL;

	for (size_t i = hash_of(h, key);; i++) {
		char *slot = slot_at(h, i & (h->slots - 1));

		if (slot[0] == FREE)
			return reuse ? reuse : slot;
		if (slot[0] == DROPPED)
			reuse = reuse ? reuse : slot;
		else if (!memcmp(slot + STATE_SIZE, key, h->key_size))
			return slot;
	}
}

static void grow(struct hash *h)
{
	struct hash old = *h;

	h->slots = h->used * 2 > h->slots ? h->slots * 2 : h->slots;
	h->slot = xcalloc(h->slots, h->slot_size);
	h->touched = h->used;
	for (size_t i = 0; i < old.slots; i++) {
		char *from = slot_at(&old, i);

		if (from[0] == USED)
			memcpy(find(h, from + STATE_SIZE), from, h->slot_size);
	}
	free(old.slot);
}

void *hash_get(const struct hash *h, const void *key)
{
	char *slot = find(h, key);

	return slot[0] == USED ? slot_value(h, slot) : NULL;
}

void *hash_put(struct hash *h, const void *key)
{
	char *slot;

	if ((h->touched + 1) * 3 > h->slots * 2)
		grow(h);
	slot = find(h, key);
	if (slot[0] != USED) {
		h->used++;
		h->touched += slot[0] == FREE;
		slot[0] = USED;
		memcpy(slot + STATE_SIZE, key, h->key_size);
		memset(slot_value(h, slot), 0, h->value_size);
	}
	return slot_value(h, slot);
}

void hash_drop(struct hash *h, const void *key)
{
	char *slot = find(h, key);

	if (slot[0] == USED) {
		slot[0] = DROPPED;
		h->used--;
	}
}

void hash_each(struct hash *h, bool (*fn)(const void *key, void *value, void *arg), void *arg)
{
	for (size_t i = 0; i < h->slots; i++) {
		char *slot = slot_at(h, i);

		if (slot[0] == USED && fn(slot + STATE_SIZE, slot_value(h, slot), arg)) {
			slot[0] = DROPPED;
			h->used--;
		}
	}
}
