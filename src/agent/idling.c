// SPDX-License-Identifier: Apache-2.0
/* One machine per process; its intervals are walked like any other span of a thread. */
#include "agent/idling.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"
#include "step/idle.h"

/* A call that submits something is seen when it returns; mostly that is long before this. */
#define LAG_NS 500000000ull
#define FORGET_NS (60 * 1000000000ull) /* a process without calls for so long */

struct machine {
	struct idle *idle;
	uint64_t fed_ns;
};

struct share_key {
	uint64_t chain;
	uint32_t serial, pad;
};

struct idling {
	struct hash *machines; /* process -> struct machine */
	struct hash *shares; /* struct share_key -> struct share, of the present second */
	/* While judging: */
	struct waits *waits;
	uint64_t now;
	uint32_t serial;
	bool last;
};

struct idling *idling_new(void)
{
	struct idling *i = xcalloc(1, sizeof(*i));

	i->machines = hash_new(sizeof(int64_t), sizeof(struct machine));
	i->shares = hash_new(sizeof(struct share_key), sizeof(struct share));
	return i;
}

static bool drop_machine(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	idle_free(((struct machine *)value)->idle);
	return true;
}

void idling_free(struct idling *i)
{
	if (!i)
		return;
	hash_each(i->machines, drop_machine, NULL);
	hash_free(i->machines);
	hash_free(i->shares);
	free(i);
}

void idling_beats(struct idling *i, const struct person *p, uint32_t serial,
		  const struct beat *beats, size_t n, bool broken)
{
	struct machine *m = hash_put(i->machines, &p->process);

	if (!m->idle)
		m->idle = idle_new();
	if (broken)
		idle_break(m->idle, beats[0].start_ns);
	for (size_t k = 0; k < n; k++)
		idle_add(m->idle, serial, &beats[k]);
	idle_open(m->idle, serial, &beats[n]);
	m->fed_ns = max_u64(m->fed_ns, beats[n].end_ns);
}

void idling_blind(struct idling *i, const struct person *p, uint64_t ns)
{
	struct machine *m = hash_put(i->machines, &p->process);

	if (!m->idle)
		m->idle = idle_new();
	idle_break(m->idle, ns);
	m->fed_ns = max_u64(m->fed_ns, ns);
}

static void on_piece(const struct chain *chain, uint64_t ns, void *arg)
{
	struct idling *i = arg;
	struct share_key key = { .chain = chain_id(chain), .serial = i->serial };
	struct share *share = hash_put(i->shares, &key);

	if (!share->count)
		share->chain = *chain;
	share->ns += ns;
	share->count++;
	share->max_ns = max_u64(share->max_ns, ns);
}

static void on_interval(uint32_t thread, uint64_t from_ns, uint64_t to_ns, void *arg)
{
	struct idling *i = arg;

	i->serial = thread;
	waits_walk(i->waits, thread, from_ns, to_ns, on_piece, i);
}

static bool judge(const void *key, void *value, void *arg)
{
	struct machine *m = value;
	struct idling *i = arg;

	(void)key;
	if (i->last)
		idle_end(m->idle, i->now, on_interval, i);
	else
		idle_run(m->idle, i->now - LAG_NS, on_interval, i);
	if (m->fed_ns + FORGET_NS > i->now)
		return false;
	idle_free(m->idle);
	return true;
}

void idling_judge(struct idling *i, struct waits *waits, uint64_t now, bool last)
{
	i->waits = waits;
	i->now = now;
	i->last = last;
	hash_each(i->machines, judge, i);
}

struct storing {
	const struct roster *roster;
	struct lines *lines;
	struct store *store;
	uint64_t now;
	int err;
};

static bool store_share(const void *key, void *value, void *arg)
{
	const struct share_key *k = key;
	struct share *share = value;
	struct storing *s = arg;
	const struct person *p = roster_find(s->roster, k->serial);
	struct wait_row row = { .ns = share->ns, .count = share->count, .max_ns = share->max_ns };
	int err;

	if (!p)
		return true;
	err = lines_store_chain(s->lines, s->store, &share->chain, &row.chain);
	if (!err)
		err = store_idle_second(s->store, p->thread, s->now, &row);
	if (err && !s->err)
		s->err = err;
	return true;
}

int idling_store(struct idling *i, const struct roster *roster, struct lines *lines,
		 struct store *store, uint64_t now)
{
	struct storing s = { .roster = roster, .lines = lines, .store = store, .now = now };

	hash_each(i->shares, store_share, &s);
	return s.err;
}
