// SPDX-License-Identifier: Apache-2.0
/* Reads the probes' balances and keeps what was written last, so that only changes are. */
#include "agent/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"

struct seen {
	struct memory_count count; /* as written last */
	int64_t process; /* its row; 0: not known yet */
};

struct memory {
	struct hash *seen; /* struct memory_key -> struct seen */
	/* While storing: */
	const struct roster *roster;
	struct store *store;
	uint64_t now;
	int err;
};

struct memory *memory_new(void)
{
	struct memory *m = xcalloc(1, sizeof(*m));

	m->seen = hash_new(sizeof(struct memory_key), sizeof(struct seen));
	return m;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	hash_free(m->seen);
	free(m);
}

static void on_memory(const struct memory_key *key, const struct memory_count *count, void *arg)
{
	struct memory *m = arg;
	struct seen *seen = hash_put(m->seen, key);
	const struct person *who = roster_find(m->roster, count->serial);

	if (who)
		seen->process = who->process;
	if (m->err || !seen->process || key->kind >= KIND_COUNT ||
	    !memcmp(&seen->count, count, sizeof(*count)))
		return;
	m->err = store_memory_second(m->store, seen->process, m->now, key, count);
	seen->count = *count;
}

int memory_store(struct memory *m, struct capture *capture, const struct roster *roster,
		 struct store *store, uint64_t now)
{
	m->roster = roster;
	m->store = store;
	m->now = now;
	m->err = 0;
	capture_each_memory(capture, on_memory, m);
	return m->err;
}

static bool undo(const void *key, void *value, void *arg)
{
	struct seen *seen = value;

	(void)key;
	(void)arg;
	*seen = (struct seen){ 0 };
	return false;
}

void memory_rollback(struct memory *m)
{
	hash_each(m->seen, undo, NULL);
}

/* ---- forgetting ---- */

struct leaving {
	struct capture *capture;
	uint32_t pid;
	struct memory_owner owner; /* told to the probes already */
};

static bool leave(const void *key, void *value, void *arg)
{
	const struct memory_key *k = key;
	struct leaving *l = arg;

	(void)value;
	if (k->owner.pid != l->pid)
		return false;
	if (memcmp(&l->owner, &k->owner, sizeof(l->owner)) != 0)
		capture_forget_memory(l->capture, &k->owner);
	l->owner = k->owner;
	return true;
}

void memory_gone(struct memory *m, struct capture *capture, uint32_t pid)
{
	struct leaving l = { .capture = capture, .pid = pid };

	hash_each(m->seen, leave, &l);
}
