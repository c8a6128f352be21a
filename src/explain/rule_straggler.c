// SPDX-License-Identifier: Apache-2.0
/*
 * straggler: in the collectives of a communicator one rank is last again and again, and the others wait
 * for it in their synchronisations, from their own arrival to its. Told once, of the rank that waits
 * longest. Where everybody is last now and then, nobody is a straggler.
 */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/util.h"
#include "explain/measure.h"

#define LAST_MIN_PCT 80.0 /* of the meetings that cost time, and of that time */
#define SMALL_PART 10 /* a meeting that costs less than this part of the usual does not count */
#define MEETINGS_MIN 10
#define RANKS_MAX 1024 /* of a communicator on one host */
#define TAIL_PART 4 /* all go on when it has come: soon, compared with how late it was */

/* One rank of a communicator. */
struct member {
	const struct coll_facts *any; /* who it is */
	uint64_t lost_by_it; /* all that others lost to it */
};

/* A communicator: its rows, and the ranks in them. */
struct cohort {
	const struct coll_facts *at;
	int n;
	struct member *member;
	int members;
};

/* ---- meetings ---- */

/* How many rows from this one on are of the same meeting. */
static int meeting(const struct cohort *c, int at)
{
	int n = 1;

	while (at + n < c->n && c->at[at + n].seq == c->at[at].seq)
		n++;
	return n;
}

static const struct coll_facts *last_of(const struct coll_facts *rows, int n)
{
	const struct coll_facts *last = rows;

	for (int i = 1; i < n; i++)
		if (rows[i].start_ns > last->start_ns)
			last = &rows[i];
	return last;
}

/* What a rank lost: waiting, having arrived itself, until the last one arrived. */
static uint64_t lost_to(const struct coll_facts *row, const struct coll_facts *last)
{
	/* A wait that was over before that was for something else. */
	if (row == last || row->sync_end_ns < last->start_ns ||
	    last->start_ns <= row->sync_start_ns)
		return 0;
	return last->start_ns - row->sync_start_ns;
}

static struct member *member_of(struct cohort *c, int64_t communicator)
{
	for (int i = 0; i < c->members; i++)
		if (c->member[i].any->communicator == communicator)
			return &c->member[i];
	return NULL;
}

static void find_members(struct cohort *c)
{
	for (int i = 0; i < c->n && c->members < RANKS_MAX; i++) {
		if (member_of(c, c->at[i].communicator))
			continue;
		c->member = xrealloc(c->member, (size_t)c->members + 1, sizeof(*c->member));
		c->member[c->members++] = (struct member){ .any = &c->at[i] };
	}
}

/* ---- who is suspected ---- */

static struct member *suspect_of(struct cohort *c)
{
	struct member *worst = NULL;

	for (int i = 0, n; i < c->n; i += n) {
		const struct coll_facts *last;
		struct member *m;

		n = meeting(c, i);
		last = last_of(&c->at[i], n);
		m = n > 1 ? member_of(c, last->communicator) : NULL;
		for (int k = i; m && k < i + n; k++)
			m->lost_by_it += lost_to(&c->at[k], last);
	}
	for (int i = 0; i < c->members; i++)
		if (!worst || c->member[i].lost_by_it > worst->lost_by_it)
			worst = &c->member[i];
	return worst;
}

/* ---- the seconds of the one that waits longest ---- */

static const struct thread_facts *thread_of(const struct facts *f, int64_t id)
{
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].id == id)
			return &f->thread[i];
	return NULL;
}

struct judged {
	const struct thread_facts *thread; /* that waits */
	const struct coll_facts *victim, *late; /* a row of each */
	uint64_t lost, lost_all, affected, first, last; /* all: to anybody, in the same seconds */
	/* Meetings in these seconds that cost time; those to which it came last: */
	int meetings, late_count;
	uint64_t late_ns;
	uint64_t tail; /* ... from its arrival to the end of the wait */
	int waiting_ranks;
	bool guessed, aligned; /* that it waited for this; that it is the same */
};

/* The second of a thread in which this moment lies; -1: in none. */
static int second_at(const struct thread_facts *t, uint64_t ns)
{
	int lo = 0, hi = t->seconds;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (t->second[mid].at_ns < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->seconds ? lo : -1;
}

/* Its wait for a meeting, the last to come to it, and the second in which that was; -1: in none. */
struct seen {
	const struct coll_facts *mine, *last;
	int second;
};

static struct seen see(const struct cohort *c, int at, int n, const struct judged *who)
{
	struct seen s = { .second = -1 };

	for (int k = at; k < at + n; k++)
		if (c->at[k].communicator == who->victim->communicator)
			s.mine = &c->at[k];
	if (!s.mine || n < 2)
		return s;
	s.last = last_of(&c->at[at], n);
	s.second = second_at(who->thread, s.mine->sync_end_ns);
	return s;
}

/* What the victim lost to the suspect and to anybody, by second. */
struct lost_second {
	uint64_t ns, all_ns;
	bool counts; /* enough of it to cost time */
};

static struct lost_second *lost_by_second(const struct cohort *c, const struct judged *who)
{
	struct lost_second *ret = xcalloc((size_t)who->thread->seconds + 1, sizeof(*ret));

	for (int i = 0, n; i < c->n; i += n) {
		struct seen s;

		n = meeting(c, i);
		s = see(c, i, n, who);
		if (s.second < 0)
			continue;
		ret[s.second].all_ns += lost_to(s.mine, s.last);
		if (s.last->communicator == who->late->communicator)
			ret[s.second].ns += lost_to(s.mine, s.last);
	}
	return ret;
}

static void add_seconds(struct lost_second *lost, struct judged *j)
{
	for (int i = 0; i < j->thread->seconds; i++) {
		const struct second *s = &j->thread->second[i];
		uint64_t total = second_total(s);

		lost[i].counts = total && percent(lost[i].ns, total) >= SHARE_MIN_PCT;
		if (!lost[i].counts)
			continue;
		j->lost += lost[i].ns;
		j->lost_all += lost[i].all_ns;
		j->affected += total;
		j->last = s->at_ns;
		j->first = j->first ? j->first : second_start(s);
	}
}

/* Who came last where it mattered; where all come together somebody is last, too. */
static void add_meetings(const struct cohort *c, const struct lost_second *lost, uint64_t least,
			 struct judged *j)
{
	for (int i = 0, n; i < c->n; i += n) {
		struct seen s;
		uint64_t ns;

		n = meeting(c, i);
		s = see(c, i, n, j);
		ns = s.second >= 0 && lost[s.second].counts ? lost_to(s.mine, s.last) : 0;
		if (!ns || ns < least)
			continue;
		j->meetings++;
		if (s.last->communicator != j->late->communicator)
			continue;
		j->late_count++;
		j->late_ns += ns;
		j->tail += s.mine->sync_end_ns - s.last->start_ns;
		j->guessed |= !s.mine->sure;
		j->aligned |= s.mine->aligned;
	}
}

static void judge_victim(const struct facts *f, const struct cohort *c, struct judged *j)
{
	struct lost_second *lost;
	struct judged all;

	j->thread = thread_of(f, j->victim->thread);
	if (!j->thread)
		return;
	lost = lost_by_second(c, j);
	add_seconds(lost, j);
	all = *j;
	add_meetings(c, lost, 0, &all);
	if (all.late_count)
		add_meetings(c, lost, all.late_ns / (uint64_t)all.late_count / SMALL_PART, j);
	free(lost);
}

/* ---- is it the host of that rank? ---- */

static uint64_t idle_of(const struct facts *f, int64_t process)
{
	uint64_t ns = 0;

	for (int i = 0; i < f->threads; i++)
		for (int k = 0; f->thread[i].process == process && k < f->thread[i].idles; k++)
			ns += f->thread[i].idle[k].ns;
	return ns;
}

/*
 * A rank that queues late may have a GPU that is busy anyhow, and then nobody loses by it. It is its host
 * if all go on as soon as it has come, or if its GPU had nothing to do for so much longer than the
 * others'.
 */
static bool starves(const struct facts *f, const struct judged *j, bool *ret_idle)
{
	uint64_t late = idle_of(f, j->late->process), victim = idle_of(f, j->victim->process);

	*ret_idle = late > victim && (late - victim) * 2 >= j->lost;
	if (*ret_idle || j->tail * TAIL_PART <= j->lost)
		return true;
	return !late && j->tail <= j->lost * 2; /* when its GPU was idle is not known */
}

static bool is_straggler(const struct judged *j)
{
	return j->thread && j->lost >= LOST_MIN_NS && j->meetings >= MEETINGS_MIN &&
	       percent((uint64_t)j->late_count, (uint64_t)j->meetings) >= LAST_MIN_PCT &&
	       percent(j->lost, j->lost_all) >= LAST_MIN_PCT;
}

/* ---- the finding ---- */

static void name_rank(const struct coll_facts *c, char *dst, size_t cap)
{
	if (c->rank >= 0)
		snprintf(dst, cap, "rank %lld", (long long)c->rank);
	else
		snprintf(dst, cap, "a rank");
}

static void tell(const struct facts *f, const struct cohort *c, const struct judged *j, bool idle,
		 struct finding *ret)
{
	const struct thread_facts *late = facts_any_thread(f, j->late->thread);
	bool elsewhere = !streq(late->node, j->thread->node);
	char who[32], by[UNITS_CAP];
	struct culprit *culprit;

	*ret = (struct finding){
		.cause = cause_name(CAUSE_straggler),
		.evidence =
			idle && !j->guessed && !j->aligned ? EVIDENCE_OBSERVED : EVIDENCE_INFERRED,
		.lost_ns = j->lost,
		.affected_ns = j->affected,
		.lost_pct = percent(j->lost, j->affected),
		.gain_low_pct =
			idle ? percent(j->lost - min_u64(j->lost, j->tail), j->affected) : 0,
		.gain_high_pct = percent(j->lost, j->affected),
		.count = (uint64_t)j->late_count,
		.counted = true,
		.first_ns = j->first,
		.last_ns = j->last,
		.thread = j->thread->id,
		.culprits = 1,
		.by_rank = j->late->rank,
		.by_ranked = j->late->rank >= 0,
		.states = ~0u,
		.places = 1u << CLASS_SYNC,
	};
	culprit = &ret->culprit[0];
	*culprit = (struct culprit){ .pid = late->pid, .tid = late->tid, .ns = j->lost };
	culprit->share = 100;
	memcpy(culprit->comm, late->process_comm, sizeof(culprit->comm));
	ret->severity = severity_of(f, ret);
	name_rank(j->late, who, sizeof(who));
	snprintf(ret->title, sizeof(ret->title),
		 "Straggler: %s (%s, pid %u%s%.24s) comes %s late, %d other rank%s wait%s", who,
		 late->process_comm, late->pid, elsewhere ? " on " : "",
		 elsewhere ? late->node : "",
		 format_ns(by, sizeof(by), j->late_ns / (uint64_t)j->late_count), j->waiting_ranks,
		 j->waiting_ranks == 1 ? "" : "s", j->waiting_ranks == 1 ? "s" : "");
	snprintf(ret->basis, sizeof(ret->basis),
		 "it was the last of %d ranks in %d of %d collectives that cost time%s%s; %s",
		 c->members, j->late_count, j->meetings,
		 j->aligned ? ", which are told the same by when their waits ended" : "",
		 j->guessed ? "; that the waits are for these is assumed" : "",
		 idle ? "meanwhile its GPU had nothing to do"
		      : "that its GPU was not busy otherwise is assumed");
	if (elsewhere)
		memcpy(ret->by_node, late->node, sizeof(ret->by_node));
	add_fix(ret,
		"look at pid %u%s%s, not at the ranks that wait: they lose nothing by themselves",
		late->pid, elsewhere ? " on " : "", elsewhere ? late->node : "");
}

/* ---- all ---- */

static bool judge(const struct facts *f, struct cohort *c, const struct thread_facts *first, int n,
		  struct finding *ret)
{
	struct member *late;
	struct judged worst = { 0 };
	bool idle, found;
	int waiting = 0;

	find_members(c);
	late = c->members > 1 ? suspect_of(c) : NULL;
	for (int i = 0; late && i < c->members; i++) {
		struct judged j = { .victim = c->member[i].any, .late = late->any };

		if (&c->member[i] == late || j.victim->process == j.late->process)
			continue;
		judge_victim(f, c, &j);
		if (!is_straggler(&j))
			continue;
		waiting++;
		if (j.lost > worst.lost)
			worst = j;
	}
	worst.waiting_ranks = waiting;
	/* Once: of the one that loses most. */
	found = worst.thread && worst.thread >= first && worst.thread < first + n &&
		facts_any_thread(f, late->any->thread) && starves(f, &worst, &idle);
	if (found)
		tell(f, c, &worst, idle, ret);
	free(c->member);
	return found;
}

bool rule_straggler(const struct facts *f, const struct thread_facts *first, int n,
		    struct finding *ret)
{
	struct finding found;
	bool any = false;

	for (int i = 0, rows; i < f->colls; i += rows) {
		struct cohort c = { .at = &f->coll[i] };

		for (rows = 1; i + rows < f->colls; rows++)
			if (f->coll[i + rows].hash != f->coll[i].hash)
				break;
		c.n = rows;
		if (!c.at->hash || !judge(f, &c, first, n, &found))
			continue;
		if (!any || found.lost_ns > ret->lost_ns)
			*ret = found;
		any = true;
	}
	return any;
}
