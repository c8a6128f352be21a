// SPDX-License-Identifier: Apache-2.0
/* Communicators by number, with their rows; collectives go through the joiner into the store. */
#include "agent/ranks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/util.h"
#include "capture/environ.h"
#include "rank/join.h"

#define LATE_NS 10000000000ull /* a collective that nobody waits for is told after so long */
#define COMMS_MAX 16384 /* communicators remembered; then all are introduced again */
#define SPLIT_RANKS 64 /* ranks of a split whose new numbers are worked out */
#define SPLITS_MAX 256

/* A communicator of one process, as last heard of. */
struct comm {
	struct communicator_row about;
	int64_t row; /* 0: not stored */
	struct communicator_counts seen; /* stored so far */
};

/* A split is known in full once every rank of the parent has told its color. */
struct split_key {
	uint64_t parent, seq;
};

struct split {
	int64_t nranks; /* of the parent; 0: not known */
	int parts;
	struct part {
		uint32_t number; /* of the new communicator; 0: none */
		int64_t rank; /* in the parent */
		int32_t color, key;
	} part[SPLIT_RANKS];
};

struct ranks {
	struct store *store;
	struct joiner *joiner;
	struct hash *comms; /* number -> struct comm */
	struct hash *splits; /* struct split_key -> struct split */
	struct hash *told; /* processes whose environment was looked at */
	uint64_t now;
	int err; /* the first of this second */
};

static void note(struct ranks *r, int err)
{
	if (err && !r->err)
		r->err = err;
}

/* ---- communicators ---- */

static bool forget_entry(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

void ranks_forget(struct ranks *r)
{
	/* Processes have other rows from now on; who goes on is introduced again. */
	hash_each(r->comms, forget_entry, NULL);
	hash_each(r->told, forget_entry, NULL);
}

static void introduce(struct ranks *r, struct comm *c)
{
	if (!c->row && c->about.process)
		note(r, store_communicator(r->store, &c->about, &c->row));
}

/* Each record says who its communicator is: one that was lost is made up for by the next. */
static struct comm *comm_of(struct ranks *r, const struct nccl_record *rec, int64_t process)
{
	struct comm *c = hash_get(r->comms, &rec->number);

	if (c)
		return c;
	if (hash_count(r->comms) >= COMMS_MAX)
		hash_each(r->comms, forget_entry, NULL);
	c = hash_put(r->comms, &rec->number);
	c->about = (struct communicator_row){
		.process = process,
		.handle = rec->comm,
		.hash = rec->hash,
		.parent = rec->parent,
		.rank = rec->rank,
		.nranks = rec->nranks,
	};
	return c;
}

/* ---- splits ---- */

struct parent_query {
	uint64_t hash;
	int64_t process;
	const struct comm *found;
};

static bool match_parent(const void *key, void *value, void *arg)
{
	struct parent_query *q = arg;
	const struct comm *c = value;

	(void)key;
	if (c->about.hash == q->hash && c->about.process == q->process)
		q->found = c;
	return false;
}

/* Its place among those of its color: by key, then by rank in the parent. */
static void number_parts(struct ranks *r, const struct split *s)
{
	for (int i = 0; i < s->parts; i++) {
		const struct part *me = &s->part[i];
		struct comm *c = me->number ? hash_get(r->comms, &me->number) : NULL;
		int64_t rank = 0, nranks = 0;

		for (int k = 0; k < s->parts; k++) {
			const struct part *p = &s->part[k];

			if (p->color != me->color)
				continue;
			nranks++;
			rank += p->key < me->key || (p->key == me->key && p->rank < me->rank);
		}
		if (!c)
			continue;
		c->about.rank = rank;
		c->about.nranks = nranks;
		if (c->row)
			note(r, store_communicator_rank(r->store, c->row, rank, nranks));
	}
}

static void take_part(struct ranks *r, const struct nccl_record *rec, int64_t process)
{
	struct parent_query q = { .hash = rec->parent, .process = process };
	struct split_key key = { rec->parent, rec->seq };
	struct split *s;

	if (!rec->parent)
		return;
	hash_each(r->comms, match_parent, &q);
	if (!q.found || q.found->about.rank < 0)
		return;
	if (hash_count(r->splits) >= SPLITS_MAX)
		hash_each(r->splits, forget_entry, NULL);
	s = hash_put(r->splits, &key);
	s->nranks = q.found->about.nranks;
	if (s->nranks > SPLIT_RANKS || s->parts == SPLIT_RANKS)
		return;
	s->part[s->parts++] =
		(struct part){ rec->number, q.found->about.rank, rec->color, rec->key };
	if (s->parts != s->nranks)
		return;
	number_parts(r, s);
	hash_drop(r->splits, &key);
}

static void made(struct ranks *r, const struct nccl_record *rec, int64_t process)
{
	struct comm *c = rec->number ? comm_of(r, rec, process) : NULL;

	if (c) {
		c->about.made_by = rec->op;
		c->about.made_boot_ns = rec->start_ns;
		introduce(r, c);
	}
	if (nccl_args[rec->op - op_table].how == NCCL_HOW_SPLIT)
		take_part(r, rec, process);
}

/* ---- operations ---- */

static void on_collective(const struct collective *c, void *arg)
{
	struct ranks *r = arg;
	struct comm *comm = comm_of(r, &c->call, c->process);

	introduce(r, comm);
	if (comm->row && c->thread)
		note(r, store_collective(r->store, comm->row, c));
}

/* Once for each process that uses NCCL. */
static void read_environment(struct ranks *r, const struct person *who)
{
	struct rank_env env;

	if (!who->process || hash_get(r->told, &who->process))
		return;
	hash_put(r->told, &who->process);
	rank_env_read((int)who->pid, &env);
	if (env.rank >= 0)
		note(r, store_rank_env(r->store, who->process, env.rank, env.local_rank, env.world,
				       env.from));
}

static void count(struct ranks *r, struct comm *c, const struct communicator_counts *now)
{
	struct communicator_counts d = {
		now->collectives - c->seen.collectives,
		now->p2p - c->seen.p2p,
		now->bytes - c->seen.bytes,
		now->told - c->seen.told,
	};

	if (!d.collectives && !d.p2p)
		return;
	introduce(r, c);
	if (!c->row)
		return;
	c->seen = *now;
	note(r, store_communicator_second(r->store, c->row, r->now, &d));
}

static void gone(struct ranks *r, const struct nccl_record *rec, int64_t process)
{
	struct comm *c = comm_of(r, rec, process);
	struct communicator_counts last = { rec->seq, rec->p2p, rec->bytes, rec->sent };

	count(r, c, &last);
	if (c->row)
		note(r, store_communicator_gone(r->store, c->row, rec->end_ns));
}

void ranks_record(struct ranks *r, const struct nccl_record *rec, const struct person *who)
{
	struct collective c = { .call = *rec, .process = who->process, .thread = who->thread };

	r->now = max_u64(r->now, rec->end_ns);
	read_environment(r, who);
	switch (rec->kind) {
	case NCCL_EVENT_CALL:
		introduce(r, comm_of(r, rec, who->process));
		joiner_call(r->joiner, &c);
		break;
	case NCCL_EVENT_SYNC:
		joiner_sync(r->joiner, who->process, rec);
		break;
	case NCCL_EVENT_MADE:
		made(r, rec, who->process);
		break;
	case NCCL_EVENT_GONE:
		gone(r, rec, who->process);
		break;
	case NCCL_EVENT_KINDS:
		break;
	}
}

/* ---- once a second ---- */

static void on_comm(const struct nccl_key *key, const struct nccl_comm *now, void *arg)
{
	struct communicator_counts counts = { now->calls, now->p2p, now->bytes, now->sent };
	struct ranks *r = arg;
	struct comm *c = hash_get(r->comms, &now->number);

	(void)key;
	if (c) /* else nothing was told of it: next time */
		count(r, c, &counts);
}

int ranks_store(struct ranks *r, struct capture *capture, uint64_t now, bool ending)
{
	int err;

	r->now = now;
	joiner_flush(r->joiner, ending ? UINT64_MAX : now - min_u64(now, LATE_NS));
	capture_each_comm(capture, on_comm, r);
	err = r->err;
	r->err = 0;
	return err;
}

/* ---- life ---- */

struct ranks *ranks_new(struct store *store)
{
	struct ranks *r = xcalloc(1, sizeof(*r));

	r->store = store;
	r->joiner = joiner_new(on_collective, r);
	r->comms = hash_new(sizeof(uint32_t), sizeof(struct comm));
	r->splits = hash_new(sizeof(struct split_key), sizeof(struct split));
	r->told = hash_new(sizeof(int64_t), sizeof(bool));
	return r;
}

void ranks_free(struct ranks *r)
{
	if (!r)
		return;
	joiner_free(r->joiner);
	hash_free(r->comms);
	hash_free(r->splits);
	hash_free(r->told);
	free(r);
}
