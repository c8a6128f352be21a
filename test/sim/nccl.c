// SPDX-License-Identifier: Apache-2.0
/*
 * Ranks that meet: a communicator is a piece of memory that its ranks share, whatever process they are
 * in; a collective is over when all of them have queued it. Nobody waits for ever: see SIM_MEET_MS.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "sim.h"
#include "wire/nccl.h"

#define RANKS 32
#define MEETS 64 /* collectives that ranks may be apart */
#define COMMS 256 /* of one process */
#define MAGIC 0x316c63636e6d6973l /* "simnccl1" */
#define BAD_ARGUMENT 4 /* ncclInvalidArgument */
#define NOBODY_CAME 6 /* ncclRemoteError */

/* As in nccl.h: 128 bytes, passed by value. */
struct unique_id {
	long word[NCCL_ID_WORDS];
};

struct meet {
	long number, end_ns; /* 0: not over */
	int arrived;
	long own_end_ns[RANKS]; /* the device of each is ready then, or ... */
	long since_ns[RANKS]; /* ... so long after the meeting before this */
};

struct part {
	int color, key;
};

struct sim_room {
	_Atomic int lock, joined, broken;
	_Atomic int split[MEETS]; /* arrived at each */
	struct part part[MEETS][RANKS];
	struct meet meet[MEETS];
	int nranks;
	long name;
};

struct comm {
	struct sim_room *room;
	long seq, splits;
	int rank;
};

static const struct nccl_args rows[OP_SLOTS] = {
#define COLL NCCL_ARGS_COLL
#define COMM NCCL_ARGS_COMM
#define NCCL NCCL_ARGS_OTHER
#include "wire/nccl.def"
};

static struct comm comms[COMMS];
static _Thread_local int group;

/* ---- one after another, across processes; a rank that was killed does not stop the others */

static void take(struct sim_room *room)
{
	long end = sim_now_ns() + sim_meet_ns();
	int zero = 0;

	while (!atomic_compare_exchange_weak(&room->lock, &zero, 1) && sim_now_ns() < end) {
		zero = 0;
		sched_yield();
	}
}

static void give(struct sim_room *room)
{
	atomic_store(&room->lock, 0);
}

/* Until *count is at least `want`; false: in vain. */
static bool reaches(_Atomic int *count, int want)
{
	long end = sim_now_ns() + sim_meet_ns();

	while (atomic_load(count) < want) {
		if (sim_now_ns() > end)
			return false;
		sim_doze();
	}
	return true;
}

/* ---- collectives */

static struct meet *meet_of(struct sim_room *room, long seq)
{
	return &room->meet[seq % MEETS];
}

/* When the meeting is over; 0: somebody is missing. */
static long over(struct sim_room *room, long seq)
{
	struct meet *m = meet_of(room, seq);
	long end;

	take(room);
	end = m->number == seq ? m->end_ns : m->number > seq; /* in its place: long over */
	give(room);
	return end;
}

long sim_meet_end(struct sim_room *room, long seq)
{
	long give_up = sim_now_ns() + sim_meet_ns(), end;

	while (!(end = over(room, seq)) && !atomic_load(&room->broken)) {
		if (sim_now_ns() > give_up) {
			(void)fprintf(stderr, "sim: collective %ld: not all ranks came\n", seq);
			atomic_store(&room->broken, 1); /* nobody waits here again */
		}
		sim_doze();
	}
	return end ? end : sim_now_ns();
}

static long latest(const struct meet *m, const struct meet *before, int nranks)
{
	long end = 0;

	for (int r = 0; r < nranks; r++) {
		long behind = before ? before->end_ns + m->since_ns[r] : 0;

		end = m->own_end_ns[r] > end ? m->own_end_ns[r] : end;
		end = behind > end ? behind : end;
	}
	return end;
}

static void arrive(struct comm *c, const struct sim_queued *q, long dur_ns)
{
	struct sim_room *room = c->room;
	long seq = ++c->seq;
	struct meet *m = meet_of(room, seq);

	if (seq >= MEETS) /* nobody needs what is in its place any more */
		(void)sim_meet_end(room, seq - MEETS + 1);
	take(room);
	if (m->number != seq)
		*m = (struct meet){ .number = seq };
	m->own_end_ns[c->rank] = q->own_end_ns;
	m->since_ns[c->rank] = q->since_ns;
	if (++m->arrived == room->nranks)
		m->end_ns =
			dur_ns + latest(m, seq > 1 ? meet_of(room, seq - 1) : NULL, room->nranks);
	give(room);
}

static struct comm *comm_of(long handle)
{
	for (int i = 0; i < COMMS; i++)
		if (comms[i].room && (long)&comms[i] == handle)
			return &comms[i];
	return NULL;
}

long sim_nccl_bytes(enum op_id id, const long *args)
{
	static const int sizes[] = {
#define X(name, bytes) bytes,
		NCCL_TYPES(X)
#undef X
	};
	long type = rows[id].type ? (int)args[rows[id].type - 1] : -1;

	return args[sim_rows[id].args.size - 1] *
	       (type >= 0 && type < NCCL_TYPE_COUNT ? sizes[type] : 4);
}

bool sim_nccl_meets(enum op_id id, const long *args, long dur_ns)
{
	const struct op *op = &sim_rows[id];
	struct comm *c = op->class == CLASS_COLL ? comm_of(args[op->args.aux - 1]) : NULL;
	struct sim_queued q;

	if (!c)
		return false;
	sim_queue_meet(args[op->args.stream - 1], c->room, c->seq + 1, &q);
	arrive(c, &q, dur_ns);
	return true;
}

/* ---- communicators */

static struct comm *comm_new(struct sim_room *room, int rank)
{
	for (int i = 0; i < COMMS; i++) {
		if (comms[i].room)
			continue;
		comms[i] = (struct comm){ .room = room, .rank = rank };
		return &comms[i];
	}
	return NULL;
}

static struct sim_room *room_map(int fd, int nranks, long name)
{
	struct sim_room *room = mmap(NULL, sizeof(*room), PROT_READ | PROT_WRITE,
				     fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (room == MAP_FAILED)
		return NULL;
	room->nranks = nranks;
	room->name = name;
	return room;
}

/* Everybody opens it; the last one to join takes the name away again. */
static struct sim_room *room_open(long name, int nranks, bool wait)
{
	struct sim_room *room = NULL;
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/dev/shm/sim-nccl-%016lx", (unsigned long)name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && !ftruncate(fd, (off_t)sizeof(*room)))
		room = room_map(fd, nranks, name);
	if (fd >= 0)
		(void)close(fd);
	if (!room)
		return NULL;
	if (atomic_fetch_add(&room->joined, 1) + 1 == nranks)
		(void)unlink(path);
	if (wait && !reaches(&room->joined, nranks)) {
		(void)unlink(path);
		return NULL;
	}
	return room;
}

static int hand_out(long out, struct comm *c)
{
	if (!c)
		return NOBODY_CAME;
	*(struct comm **)out = c; /* NOLINT(performance-no-int-to-ptr) */
	return 0;
}

static long name_of(const struct unique_id *id)
{
	unsigned long long hash = NCCL_HASH_SEED;

	for (int i = 0; i < NCCL_ID_WORDS; i++)
		hash = nccl_mix(hash, (unsigned long long)id->word[i]);
	return (long)hash;
}

/* An id that is not one of ours leads to a handle alone: nobody meets anybody. */
static int join(long out, int nranks, const struct unique_id *id, int rank)
{
	struct sim_room *room;

	if (!out || !id || nranks < 1 || nranks > RANKS || id->word[0] != MAGIC)
		return 0;
	if (rank < 0 || rank >= nranks)
		return BAD_ARGUMENT;
	room = room_open(name_of(id), nranks, !group);
	return room ? hand_out(out, comm_new(room, rank)) : NOBODY_CAME;
}

static int join_all(long out, int nranks)
{
	struct sim_room *room;
	int err = 0;

	if (!out || nranks < 1 || nranks > RANKS)
		return 0;
	room = room_map(-1, nranks, 0);
	for (int i = 0; room && !err && i < nranks; i++)
		err = hand_out(out + i * 8l, comm_new(room, i));
	return room ? err : NOBODY_CAME;
}

static bool comes_before(const struct part *a, int rank_a, const struct part *b, int rank_b)
{
	return a->key < b->key || (a->key == b->key && rank_a < rank_b);
}

static int split(struct comm *c, struct part mine, long out)
{
	struct sim_room *room = c->room, *to;
	long n = ++c->splits;
	struct part *part = room->part[n % MEETS];
	int nranks = 0, rank = 0;

	part[c->rank] = mine;
	atomic_fetch_add(&room->split[n % MEETS], 1);
	/* The count of a place grows with each round. */
	if (!reaches(&room->split[n % MEETS], (int)((n - 1) / MEETS + 1) * room->nranks))
		return NOBODY_CAME;
	for (int r = 0; r < room->nranks; r++) {
		nranks += part[r].color == mine.color;
		rank += part[r].color == mine.color && r != c->rank &&
			comes_before(&part[r], r, &mine, c->rank);
	}
	if (mine.color == NCCL_NO_COLOR) {
		memset((void *)out, 0, sizeof(long)); /* NOLINT(performance-no-int-to-ptr) */
		return 0;
	}
	to = room_open(
		(long)nccl_mix(nccl_mix((unsigned long long)room->name, (unsigned long long)n),
			       (unsigned int)mine.color),
		nranks, true);
	return to ? hand_out(out, comm_new(to, rank)) : NOBODY_CAME;
}

int sim_nccl(enum op_id id, const long *args)
{
	struct comm *c;

	switch (id) {
	case OP_ncclCommInitRankScalable:
		if (args[3] < 1 || !args[4])
			return 0;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		return join(args[0], (int)args[1], (const struct unique_id *)args[4], (int)args[2]);
	case OP_ncclCommInitAll:
		return join_all(args[0], (int)args[1]);
	case OP_ncclCommSplit:
		c = comm_of(args[0]);
		return c && args[3] ? split(c, (struct part){ (int)args[1], (int)args[2] }, args[3])
				    : 0;
	case OP_ncclCommDestroy:
	case OP_ncclCommAbort:
		c = comm_of(args[0]);
		if (c)
			*c = (struct comm){ 0 };
		return 0;
	case OP_ncclGroupStart:
		group++;
		return 0;
	case OP_ncclGroupEnd:
		group -= group > 0;
		return 0;
	default:
		return 0;
	}
}

/* ---- entry points that the generated ones cannot stand for: see nccl.h for their arguments */

#ifdef SIM_NCCL

SIM_EXPORT int ncclGetUniqueId(struct unique_id *ret);
int ncclGetUniqueId(struct unique_id *ret)
{
	if (getrandom(ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret))
		return NOBODY_CAME;
	ret->word[0] = MAGIC;
	return 0;
}

static int init_rank(enum op_id id, void **comm, int nranks, const struct unique_id *unique,
		     int rank)
{
	const long args[SIM_ARGS] = { (long)comm, nranks, rank };
	int err = sim_call(id, args);

	return err ? err : join((long)comm, nranks, unique, rank);
}

SIM_EXPORT int ncclCommInitRank(void **comm, int nranks, struct unique_id id, int rank);
int ncclCommInitRank(void **comm, int nranks, struct unique_id id, int rank)
{
	return init_rank(OP_ncclCommInitRank, comm, nranks, &id, rank);
}

SIM_EXPORT int ncclCommInitRankConfig(void **comm, int nranks, struct unique_id id, int rank,
				      void *config);
int ncclCommInitRankConfig(void **comm, int nranks, struct unique_id id, int rank, void *config)
{
	(void)config;
	return init_rank(OP_ncclCommInitRankConfig, comm, nranks, &id, rank);
}

SIM_EXPORT int ncclBroadcast(long send, long recv, long count, long type, long root, long comm,
			     long stream, long h, long i, long j);

/* As the real one: made of the other. */
SIM_EXPORT int ncclBcast(long buff, long count, long type, long root, long comm, long stream);
int ncclBcast(long buff, long count, long type, long root, long comm, long stream)
{
	const long args[SIM_ARGS] = { buff, 0, type, root, 0, stream };
	int err = sim_call(OP_ncclBcast, args);

	return err ? err : ncclBroadcast(buff, buff, count, type, root, comm, stream, 0, 0, 0);
}

#endif
