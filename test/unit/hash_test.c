// SPDX-License-Identifier: Apache-2.0
/* Tests of base/hash.c, against a plain array that cannot be wrong. */
#include "base/hash.h"

#include <stdlib.h>

#include "base/util.h"
#include "test/test.h"

enum { KEYS = 5000 };

/* 12 bytes: neither a power of two nor a multiple of eight. */
struct key {
	uint32_t a, b, c;
};

static struct key key_of(uint32_t i)
{
	return (struct key){ i, i * 2654435761u, ~i };
}

/* What the table should hold: value[i] of key i, 0 = not there. */
struct model {
	uint64_t value[KEYS];
	size_t count;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

struct seen {
	const struct model *model;
	size_t count;
	int wrong;
	unsigned char times[KEYS];
};

static bool look(const void *key, void *value, void *arg)
{
	struct seen *seen = arg;
	struct key k;
	uint64_t v;

	memcpy(&k, key, sizeof(k));
	memcpy(&v, value, sizeof(v));
	seen->count++;
	if (k.a >= KEYS || k.c != ~k.a || seen->times[k.a]++ || v != seen->model->value[k.a])
		seen->wrong++;
	return false;
}

/* Every key, present or not, by get and by each. */
static int same(struct hash *h, const struct model *m)
{
	struct seen seen = { .model = m };

	CHECK_U64(hash_count(h), m->count);
	for (uint32_t i = 0; i < KEYS; i++) {
		struct key k = key_of(i);
		const uint64_t *v = hash_get(h, &k);

		CHECK(!v == !m->value[i]);
		if (v)
			CHECK_U64(*v, m->value[i]);
	}
	hash_each(h, look, &seen);
	CHECK_U64(seen.count, m->count);
	CHECK_U64(seen.wrong, 0);
	return 0;
}

static void put(struct hash *h, struct model *m, uint32_t i, uint64_t v)
{
	struct key k = key_of(i);

	*(uint64_t *)hash_put(h, &k) = v;
	m->count += !m->value[i];
	m->value[i] = v;
}

static void drop(struct hash *h, struct model *m, uint32_t i)
{
	struct key k = key_of(i);

	hash_drop(h, &k);
	m->count -= m->value[i] != 0;
	m->value[i] = 0;
}

static struct hash *hash; /* of the test that runs */
static struct model model;

static int fresh(int (*test)(void))
{
	int failed;

	hash = hash_new(sizeof(struct key), sizeof(uint64_t));
	model = (struct model){ 0 };
	failed = test();
	hash_free(hash);
	hash = NULL;
	return failed;
}

/* A test with an empty table and model, freed however it ends. */
#define HASH_TEST(name)                                                                            \
	static int name##_body(void);                                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		return fresh(name##_body);                                                         \
	}                                                                                          \
	static int name##_body(void)

HASH_TEST(hash_grows_and_keeps_every_key)
{
	for (uint32_t i = 0; i < KEYS; i++)
		put(hash, &model, i, 1 + i);
	CHECK_U64(hash_count(hash), KEYS);
	return same(hash, &model);
}

HASH_TEST(hash_put_of_a_new_key_gives_zeros_and_of_an_old_one_its_value)
{
	struct key k = key_of(1);
	uint64_t *v = hash_put(hash, &k);

	CHECK_U64(*v, 0);
	*v = 42;
	CHECK_U64(*(uint64_t *)hash_put(hash, &k), 42);
	CHECK_U64(hash_count(hash), 1);
	hash_drop(hash, &k);
	CHECK_U64(*(uint64_t *)hash_put(hash, &k), 0); /* not what was there before */
	return 0;
}

HASH_TEST(hash_agrees_with_a_model_after_any_mix_of_puts_and_drops)
{
	uint64_t seed = 20240607;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 5000; i++) {
			uint64_t r = next_random(&seed);
			uint32_t key = (uint32_t)(r >> 4) % KEYS;

			/* Phases of growth and of decay. */
			if ((r & 15) < (round % 4 < 2 ? 11u : 4u))
				put(hash, &model, key, 1 + r);
			else
				drop(hash, &model, key);
		}
		if (same(hash, &model))
			return 1;
	}
	CHECK(model.count > 100);
	return 0;
}

/* A key that lies behind a dropped one must be found, not put a second time. */
HASH_TEST(hash_finds_keys_past_dropped_ones)
{
	for (uint32_t i = 0; i < 40; i++)
		put(hash, &model, i, 1 + i);
	for (uint32_t i = 0; i < 40; i += 2)
		drop(hash, &model, i);
	for (uint32_t i = 1; i < 40; i += 2)
		put(hash, &model, i, 100 + i);
	return same(hash, &model);
}

/* Dropped slots are taken again: this would otherwise fill up and never end. */
HASH_TEST(hash_survives_far_more_keys_than_it_ever_holds)
{
	for (uint32_t i = 0; i < 200000; i++) {
		struct key k = key_of(i), old = key_of(i - 30);

		*(uint64_t *)hash_put(hash, &k) = i + 1;
		if (i >= 30) {
			CHECK_U64(*(uint64_t *)hash_get(hash, &old), i - 29);
			hash_drop(hash, &old);
			CHECK(!hash_get(hash, &old));
		}
		CHECK_U64(hash_count(hash), i < 30 ? i + 1 : 30);
	}
	return 0;
}

HASH_TEST(hash_drop_of_an_unknown_key_changes_nothing)
{
	struct key k = key_of(4999);

	hash_drop(hash, &k);
	CHECK_U64(hash_count(hash), 0);
	put(hash, &model, 1, 5);
	hash_drop(hash, &k);
	return same(hash, &model);
}

static bool drop_odd(const void *key, void *value, void *arg)
{
	struct key k;

	(void)arg;
	memcpy(&k, key, sizeof(k));
	++*(uint64_t *)value;
	return k.a & 1;
}

HASH_TEST(hash_each_drops_what_it_is_told_to_and_keeps_changes_to_the_rest)
{
	for (uint32_t i = 0; i < KEYS; i++)
		put(hash, &model, i, 1 + i);
	hash_each(hash, drop_odd, NULL);
	for (uint32_t i = 0; i < KEYS; i++)
		model.value[i] = i & 1 ? 0 : 2 + i;
	model.count = KEYS / 2;
	if (same(hash, &model))
		return 1;
	for (uint32_t i = 0; i < KEYS; i++) /* and there is room for them again */
		put(hash, &model, i, 7 + i);
	return same(hash, &model);
}

HASH_TEST(hash_values_and_keys_of_any_size_do_not_touch_each_other)
{
	for (size_t key_size = 1; key_size <= 17; key_size++) {
		for (size_t value_size = 1; value_size <= 17; value_size++) {
			struct hash *h = hash_new(key_size, value_size);
			unsigned char key[17], want[17];
			int wrong = 0;

			for (int i = 0; i < 100; i++) {
				memset(key, i, key_size);
				memset(hash_put(h, key), ~i, value_size);
			}
			for (int i = 0; i < 100; i++) {
				const void *got;

				memset(key, i, key_size);
				memset(want, ~i, value_size);
				got = hash_get(h, key);
				wrong += !got || memcmp(got, want, value_size) != 0;
			}
			wrong += hash_count(h) != 100;
			hash_free(h);
			CHECK(!wrong);
		}
	}
	return 0;
}

TEST(hash_free_of_nothing_does_nothing)
{
	hash_free(NULL);
	CHECK(!hash);
	return 0;
}
