// SPDX-License-Identifier: Apache-2.0
/*
 * Chains that nothing refers to any more. All references are read, a few at a time, into a set that may
 * have more in it than was put there, but never less; then chains that are not in it go. Those that are
 * written meanwhile are put there, too.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "store/store_int.h"

#define SET_BITS (1u << 25) /* 4 MB: of a million chains, one in two thousand is kept for nothing */
#define AT_ONCE 500
#define KEYS 4

/* Where chains are referred to; the chain is the last column, what the walk goes by the first ones. */
static const struct {
	const char *sql;
	int keys, chain;
} walks[] = {
	{ "SELECT thread, at_ns, op, chain FROM wait_second WHERE (thread, at_ns, op, chain) >"
	  " (?1, ?2, ?3, ?4) ORDER BY thread, at_ns, op, chain LIMIT ?5",
	  4, 3 },
	{ "SELECT thread, at_ns, chain FROM idle_second WHERE (thread, at_ns, chain) >"
	  " (?1, ?2, ?3) ORDER BY thread, at_ns, chain LIMIT ?5",
	  3, 2 },
	{ "SELECT rowid, chain FROM call_wait WHERE rowid > ?1 ORDER BY rowid LIMIT ?5", 1, 1 },
	{ "SELECT id FROM chain WHERE id > ?1 ORDER BY id LIMIT ?5", 1,
	  0 }, /* the last: to remove */
};

#define REMOVE ((int)ARRAY_LEN(walks) - 1)

struct sweep {
	uint64_t set[SET_BITS / 64];
	int walk; /* of walks */
	int64_t key[KEYS]; /* where it is */
	int64_t gone[AT_ONCE]; /* to be removed */
	int gones, rows; /* rows: of this step */
};

void store_sweep_free(struct store *s)
{
	free(s->sweep);
	s->sweep = NULL;
}

/* Two bits for each. */
static uint64_t bit_of(int64_t chain, int n)
{
	uint64_t hash = (uint64_t)chain * (n ? 0xff51afd7ed558ccdull : 0x9e3779b97f4a7c15ull);

	return (hash >> 32) % SET_BITS;
}

void store_sweep_spare(struct store *s, int64_t chain)
{
	for (int n = 0; s->sweep && n < 2; n++) {
		uint64_t bit = bit_of(chain, n);

		s->sweep->set[bit / 64] |= 1ull << bit % 64;
	}
}

static bool is_spared(const struct sweep *w, int64_t chain)
{
	bool all = true;

	for (int n = 0; n < 2; n++) {
		uint64_t bit = bit_of(chain, n);

		all &= w->set[bit / 64] >> bit % 64 & 1;
	}
	return all;
}

static int walk_row(sqlite3_stmt *stmt, void *arg)
{
	struct store *s = arg;
	struct sweep *w = s->sweep;
	int64_t chain = sqlite3_column_int64(stmt, walks[w->walk].chain);

	for (int i = 0; i < walks[w->walk].keys; i++)
		w->key[i] = sqlite3_column_int64(stmt, i);
	w->rows++;
	if (w->walk != REMOVE)
		store_sweep_spare(s, chain);
	else if (!is_spared(w, chain))
		w->gone[w->gones++] = chain;
	return 0;
}

static int remove_chain(struct store *s, int64_t chain)
{
	static const char *const sql[] = { "DELETE FROM hop WHERE chain=?3",
					   "DELETE FROM chain WHERE id=?3" };
	sqlite3_stmt *stmt;
	int err = 0;

	if (s->chains)
		hash_drop(s->chains, &chain); /* it is written again when it comes again */
	for (size_t i = 0; !err && i < ARRAY_LEN(sql); i++) {
		err = store_query(s, sql[i], (struct window){ 0, 0 }, &stmt);
		if (err)
			break;
		sqlite3_bind_int64(stmt, 3, chain);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			err = store_fail(s, "prune");
		sqlite3_finalize(stmt);
	}
	return err;
}

static int walk_on(struct store *s)
{
	struct sweep *w = s->sweep;
	sqlite3_stmt *stmt;
	int err = store_query(s, walks[w->walk].sql, (struct window){ 0, 0 }, &stmt);

	if (err)
		return err;
	for (int i = 0; i < walks[w->walk].keys; i++)
		sqlite3_bind_int64(stmt, i + 1, w->key[i]);
	sqlite3_bind_int(stmt, 5, AT_ONCE);
	w->rows = w->gones = 0;
	err = store_rows(s, stmt, walk_row, s);
	if (!err && w->gones && sqlite3_get_autocommit(s->db))
		err = store_exec(s, "BEGIN");
	for (int i = 0; !err && i < w->gones; i++)
		err = remove_chain(s, w->gone[i]);
	if (!err && w->rows < AT_ONCE) {
		w->walk++;
		for (int i = 0; i < KEYS; i++)
			w->key[i] = INT64_MIN;
	}
	return err;
}

int store_sweep(struct store *s, uint64_t end)
{
	int err;

	if (!s->sweep) {
		s->sweep = xcalloc(1, sizeof(*s->sweep));
		for (int i = 0; i < KEYS; i++)
			s->sweep->key[i] = INT64_MIN;
	}
	do
		err = walk_on(s);
	while (!err && s->sweep->walk <= REMOVE && clock_boot_ns() < end);
	if (!err && s->sweep->walk <= REMOVE)
		return 1;
	store_sweep_free(s);
	return err;
}
