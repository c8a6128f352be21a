// SPDX-License-Identifier: Apache-2.0
/*
 * Which collectives of different processes are the same: by the communicator's hash and the sequence
 * number. Communicators from before the trace have neither. But no rank's wait ends before the last
 * one came, and all end together: where the ends of two processes fall on each other, one by one, they
 * belong to one communicator, and the distance of their numbers is known.
 */
#include <stdlib.h>

#include "base/util.h"
#include "explain/facts.h"

#define TOGETHER_NS 3000000ull /* ends that are no farther apart fall on each other, ... */
#define TOGETHER_PART 8 /* ... if that is this part of the time between two of them at most */
#define ALIGN_MIN 12 /* waits that must agree, ... */
#define ALIGN_PCT 70.0 /* ... and so many of those that lie in the same time */
#define ALIGN_ROWS 512 /* that are looked at */

/* ---- order ---- */

static int by_meeting(const void *x, const void *y)
{
	const struct coll_facts *a = x, *b = y;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return a->communicator < b->communicator ? -1 : a->communicator > b->communicator;
}

static int by_communicator(const void *x, const void *y)
{
	const struct coll_facts *a = x, *b = y;

	if (!a->hash != !b->hash)
		return a->hash ? 1 : -1; /* those without a name first */
	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* ---- communicators without a name ---- */

/* The waits of one communicator of one process, by sequence number. */
struct series {
	struct coll_facts *at;
	int n;
};

/* The wait of s that ends next to this time. */
static const struct coll_facts *nearest(const struct series *s, uint64_t end_ns)
{
	int lo = 0, hi = s->n - 1;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (s->at[mid].sync_end_ns < end_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && end_ns - min_u64(end_ns, s->at[lo - 1].sync_end_ns) <
			  max_u64(s->at[lo].sync_end_ns, end_ns) - end_ns)
		lo--;
	return &s->at[lo];
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* How close is close: less than the usual time between two waits. */
static uint64_t tolerance(const struct series *s)
{
	uint64_t span = s->at[s->n - 1].sync_end_ns - s->at[0].sync_end_ns;

	return min_u64(TOGETHER_NS, span / (uint64_t)s->n / TOGETHER_PART);
}

/* Do the waits of b end with those of a, all at one distance of their numbers? */
static bool aligned(const struct series *a, const struct series *b, int64_t *ret)
{
	int first = b->n > ALIGN_ROWS ? b->n - ALIGN_ROWS : 0, most = 0, shared = 0;
	uint64_t close = tolerance(a);

	for (int i = first; i < b->n; i++) {
		const struct coll_facts *it = &b->at[i], *other = nearest(a, it->sync_end_ns);
		int64_t shift = (int64_t)(other->seq - it->seq);
		int same = 0;

		if (it->sync_end_ns + close < a->at[0].sync_end_ns ||
		    it->sync_end_ns > a->at[a->n - 1].sync_end_ns + close)
			continue; /* the other was not there then */
		shared++;
		if (apart(other->sync_end_ns, it->sync_end_ns) > close)
			continue;
		if (most && shift == *ret) {
			most++;
			continue;
		}
		for (int k = i; !most && k < b->n; k++) { /* is this the distance of most? */
			const struct coll_facts *next = nearest(a, b->at[k].sync_end_ns);

			same += (int64_t)(next->seq - b->at[k].seq) == shift &&
				apart(next->sync_end_ns, b->at[k].sync_end_ns) <= close;
		}
		if (same >= ALIGN_MIN && same * 2 > b->n - i) {
			*ret = shift;
			most = 1;
		}
	}
	return most >= ALIGN_MIN && percent((uint64_t)most, (uint64_t)shared) >= ALIGN_PCT;
}

static void name(struct series *s, uint64_t hash, int64_t shift)
{
	for (int i = 0; i < s->n; i++) {
		s->at[i].hash = hash;
		s->at[i].seq += (uint64_t)shift;
		s->at[i].aligned = true;
	}
}

/* Every one without a name that fits to this one gets the same. */
static void align_to(struct series *a, struct series *series, int n)
{
	bool found = false;
	int64_t shift = 0;

	for (struct series *b = series; b < series + n; b++) {
		if (b == a || b->at->hash || b->n < ALIGN_MIN || b->at->process == a->at->process ||
		    !aligned(a, b, &shift))
			continue;
		name(b, (uint64_t)a->at->communicator, shift);
		found = true;
	}
	if (found)
		name(a, (uint64_t)a->at->communicator, 0);
}

static void align(struct facts *f)
{
	struct series *series = NULL;
	int n = 0;

	qsort(f->coll, (size_t)f->colls, sizeof(*f->coll), by_communicator);
	for (int i = 0; i < f->colls && !f->coll[i].hash; i++) {
		if (!i || f->coll[i].communicator != f->coll[i - 1].communicator) {
			series = xrealloc(series, (size_t)n + 1, sizeof(*series));
			series[n++] = (struct series){ .at = &f->coll[i] };
		}
		series[n - 1].n++;
	}
	for (int i = 0; i < n; i++)
		if (!series[i].at->hash && series[i].n >= ALIGN_MIN)
			align_to(&series[i], series, n);
	free(series);
}

/* ---- all of them ---- */

/* The rank is the communicator's or, where that is not known, the one that the launcher gave. */
static void take_rank(const struct facts *f, struct coll_facts *c)
{
	for (int i = 0; i < f->threads && c->rank < 0; i++)
		if (f->thread[i].process == c->process && f->thread[i].ranked)
			c->rank = f->thread[i].rank;
}

void facts_meet(struct facts *f)
{
	if (!f->colls)
		return;
	align(f);
	for (int i = 0; i < f->colls; i++)
		if (f->coll[i].aligned)
			take_rank(f, &f->coll[i]);
	qsort(f->coll, (size_t)f->colls, sizeof(*f->coll), by_meeting);
}

static bool takes_part(const struct facts *f, int at, int64_t process)
{
	for (int i = at; i < f->colls && f->coll[i].hash == f->coll[at].hash; i++)
		if (f->coll[i].process == process)
			return true;
	return false;
}

bool facts_same_job(const struct facts *f, int64_t process, int64_t other)
{
	for (int i = 0; i < f->colls; i++) {
		if (!f->coll[i].hash || (i && f->coll[i - 1].hash == f->coll[i].hash))
			continue;
		if (takes_part(f, i, process) && takes_part(f, i, other))
			return true;
	}
	return false;
}
