// SPDX-License-Identifier: Apache-2.0
/* A queue of slow calls that wait for their history. */
#include "agent/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define QUEUE 256 /* more at once say nothing new; the sums per second have them all */
#define SHARES 16 /* chains kept per stall */

struct queued {
	struct record rec;
	struct person person;
	int64_t call;
};

struct stalls {
	struct queued queue[QUEUE];
	size_t n;
	uint64_t skipped;
	struct lines *lines;
	stall_fn fn;
	void *arg;
};

struct stalls *stalls_new(struct lines *lines, stall_fn fn, void *arg)
{
	struct stalls *s = xcalloc(1, sizeof(*s));

	s->lines = lines;
	s->fn = fn;
	s->arg = arg;
	return s;
}

void stalls_free(struct stalls *s)
{
	free(s);
}

void stalls_forget(struct stalls *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->queue[i].call = 0;
}

uint64_t stalls_skipped(const struct stalls *s)
{
	return s->skipped;
}

void stalls_add(struct stalls *s, const struct record *rec, const struct person *person,
		int64_t call)
{
	if (s->n == QUEUE) {
		s->skipped++;
		return;
	}
	s->queue[s->n++] = (struct queued){ *rec, *person, call };
}

static int judge(struct stalls *s, const struct queued *q, struct waits *waits, struct store *store)
{
	const struct record *rec = &q->rec;
	struct share share[SHARES];
	struct chain chain[SHARES];
	uint64_t ns[SHARES];
	struct stall stall;
	char where[160], by[160];
	size_t n = waits_of_span(waits, rec->serial, rec->start_ns, rec->start_ns + rec->dur_ns,
				 share, SHARES);
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t id;

		chain[i] = share[i].chain;
		ns[i] = share[i].ns;
		err = lines_store_chain(s->lines, store, &chain[i], &id);
		if (!err && q->call)
			err = store_call_wait(store, q->call, id, ns[i]);
		if (err)
			return err;
	}
	if (!s->fn)
		return 0;
	stall_judge(rec, chain, ns, (int)n, &stall);
	stall_tell(&stall, lines_say(s->lines, stall.stack, where, sizeof(where)),
		   lines_say(s->lines, stall.culprit_stack, by, sizeof(by)));
	stall.call = q->call;
	stall.pid = q->person.pid;
	stall.tid = q->person.tid;
	memcpy(stall.comm, q->person.comm, sizeof(stall.comm));
	s->fn(&stall, s->arg);
	return 0;
}

int stalls_judge(struct stalls *s, struct waits *waits, struct store *store)
{
	size_t kept = 0;
	int err, first = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct record *rec = &s->queue[i].rec;

		if (rec->start_ns + rec->dur_ns >= waits_until(waits)) {
			s->queue[kept++] = s->queue[i];
			continue;
		}
		err = judge(s, &s->queue[i], waits, store);
		if (err && !first)
			first = err;
	}
	s->n = kept;
	return first;
}
