// SPDX-License-Identifier: Apache-2.0
/* Each process is looked up once, and again when one of that pid has ended: pids come back. */
#include "agent/blamed.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tenants.h"
#include "base/hash.h"
#include "base/util.h"

#define KNOWN_MAX 8192 /* then all are forgotten, and told again */

struct known {
	uint64_t told_ns;
	char comm[COMM_LEN];
	bool told;
};

struct blamed {
	struct tenants *tenants;
	struct hash *known; /* pid -> struct known */
};

struct blamed *blamed_new(struct tenants *tenants)
{
	struct blamed *b = xcalloc(1, sizeof(*b));

	b->tenants = tenants;
	b->known = hash_new(sizeof(uint32_t), sizeof(struct known));
	return b;
}

void blamed_free(struct blamed *b)
{
	if (!b)
		return;
	hash_free(b->known);
	free(b);
}

void blamed_forget(struct blamed *b)
{
	hash_free(b->known);
	b->known = hash_new(sizeof(uint32_t), sizeof(struct known));
}

void blamed_forget_one(struct blamed *b, uint32_t pid)
{
	hash_drop(b->known, &pid);
}

int blamed_note(struct blamed *b, struct store *store, uint32_t pid, const char *comm, uint64_t now)
{
	struct told_group group;
	struct known *known;

	if (!pid || pid == PID_IRQ)
		return 0;
	if (hash_count(b->known) > KNOWN_MAX)
		blamed_forget(b);
	known = hash_put(b->known, &pid);
	if (known->told && !strncmp(known->comm, comm, sizeof(known->comm) - 1) &&
	    !tenants_ended(b->tenants, pid, known->told_ns))
		return 0;
	known->told = true;
	known->told_ns = now;
	str_copy(known->comm, sizeof(known->comm), comm);
	if (tenants_find(b->tenants, pid, 0, &group)) /* else "", which is said */
		(void)tenants_container(b->tenants, group.path, group.id, now);
	return store_blamed(store, now, pid, known->comm, group.path);
}

int blamed_chain(struct blamed *b, struct store *store, const struct chain *chain, uint64_t now)
{
	int err = 0;

	for (int i = 0; !err && i < chain->hops; i++) {
		const struct hop *hop = &chain->hop[i];
		uint32_t pid = hop->pid;

		/* Threads of a process have names of their own: only its first one counts. */
		if (i && pid != chain->hop[0].pid && !hash_get(b->known, &pid))
			err = blamed_note(b, store, pid, hop->comm, now);
		if (!err && hop->cpu_pid && !hash_get(b->known, &hop->cpu_pid))
			err = blamed_note(b, store, hop->cpu_pid, hop->name, now);
	}
	return err;
}
