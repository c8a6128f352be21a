// SPDX-License-Identifier: Apache-2.0
/*
 * Launches that were not looked at, to cost less. Where they are seen for a part of the time only,
 * their number and the lengths of the gaps between them are taken from that part, and called an
 * estimate; where there is not enough of it they are not known, and no rule rests on them.
 */
#include <stdlib.h>

#include "base/util.h"
#include "explain/explain_int.h"

#define AROUND 5 /* seconds to either side that are looked at together at most */
#define SIGHT_MIN_NS 20000000ull /* of these: less tells nothing */

/* What was seen while launches were looked at. */
struct sight {
	uint64_t ns, launches, brief_ns, brief_count, long_ns;
};

/* Those of the window, to the nearest: of a span that is all in it, each. */
static uint64_t shed_calls(const struct shed_row *row, struct window w)
{
	uint64_t from = max_u64(row->from_ns, w.from_ns), to = min_u64(row->to_ns, w.to_ns);

	return from < to ? (uint64_t)(0.5 + (double)row->calls * (double)(to - from) /
						    (double)(row->to_ns - row->from_ns))
			 : 0;
}

static int on_span(const struct shed_row *row, void *arg)
{
	struct facts *f = arg;

	if (!streq(row->what, shed_names[SHED_launches]) || row->to_ns <= row->from_ns)
		return 0;
	f->shed = xrealloc(f->shed, (size_t)f->sheds + 1, sizeof(*f->shed));
	f->shed[f->sheds++] =
		(struct shed_facts){ row->from_ns, row->to_ns, shed_calls(row, f->window) };
	return 0;
}

int facts_load_shed(struct store *s, struct facts *f)
{
	return store_each_shed(s, f->window, on_span, f);
}

/* A gap that was not over when its second was stored is in a later one. */
#define LATE_NS 3000000000ull

static bool near_span(const struct facts *f, int first, uint64_t from, uint64_t to)
{
	return first < f->sheds && f->shed[first].from_ns < to && f->shed[first].to_ns > from;
}

static uint64_t gaps_of(const struct second *s)
{
	uint64_t ns = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		ns += s->gap_ns[i];
	return ns;
}

/*
 * The probes keep gaps in which launches may be hidden out of the distribution: what is in it was
 * seen, and of the time in calls as much. Both lists go forward in time, so each is walked once.
 */
static void find_hidden(const struct facts *f, struct thread_facts *t)
{
	int first = 0;

	for (int k = 0; k < t->seconds; k++) {
		struct second *s = &t->second[k];
		uint64_t from = second_start(s), gaps = gaps_of(s), total = second_total(s);

		from -= min_u64(from, LATE_NS);
		while (first < f->sheds && f->shed[first].to_ns <= from)
			first++;
		s->launches_seen = s->launches;
		if (!near_span(f, first, from, s->at_ns) || gaps <= s->gap_hist_ns)
			continue;
		s->hidden_ns =
			(uint64_t)((double)total * (1 - (double)s->gap_hist_ns / (double)gaps));
	}
}

static void add_sight(struct sight *to, const struct sight *s)
{
	to->ns += s->ns;
	to->launches += s->launches;
	to->brief_ns += s->brief_ns;
	to->brief_count += s->brief_count;
	to->long_ns += s->long_ns;
}

/* Of the second itself, and of as many to either side as are needed: it may change any time. */
static struct sight look_around(const struct thread_facts *t, const struct sight seen[], int k)
{
	struct sight sum = { 0 };

	for (int away = 0; away <= AROUND && sum.ns < SIGHT_MIN_NS; away++) {
		for (int i = k - away; i <= k + away; i += away ? 2 * away : 1)
			if (i >= 0 && i < t->seconds && t->second[i].hidden_ns)
				add_sight(&sum, &seen[i]);
	}
	return sum;
}

static uint64_t scale(uint64_t part, const struct sight *of, uint64_t total)
{
	return (uint64_t)((double)part / (double)of->ns * (double)total);
}

static void estimate(struct second *s, const struct sight *around)
{
	uint64_t total = second_total(s), gaps = gaps_of(s);

	s->gap_hist_ns = gaps; /* the time is known, only its pieces are not */
	s->launches_unknown = around->ns < SIGHT_MIN_NS;
	if (s->launches_unknown) {
		s->short_gap = (struct short_sum){ 0 };
		s->long_gap_ns = 0;
		return;
	}
	s->launches = max_u64(s->launches_seen, scale(around->launches, around, total));
	s->short_gap.ns = min_u64(scale(around->brief_ns, around, total), gaps);
	s->short_gap.count = scale(around->brief_count, around, total);
	/* A long gap says that the GPU was not fed: never claimed where most of the time is unseen. */
	s->long_gap_ns =
		s->hidden_ns > total / 2 ? 0 : min_u64(scale(around->long_ns, around, total), gaps);
}

static void scale_thread(const struct facts *f, struct thread_facts *t)
{
	struct sight *seen;

	find_hidden(f, t);
	if (!f->sheds || !t->seconds)
		return;
	seen = xcalloc((size_t)t->seconds, sizeof(*seen));
	for (int k = 0; k < t->seconds; k++) {
		const struct second *s = &t->second[k];

		seen[k] = (struct sight){ .ns = second_total(s) - s->hidden_ns,
					  .launches = s->launches,
					  .brief_ns = s->short_gap.ns,
					  .brief_count = s->short_gap.count,
					  .long_ns = s->long_gap_ns };
	}
	for (int k = 0; k < t->seconds; k++) {
		struct sight around = look_around(t, seen, k);

		if (t->second[k].hidden_ns)
			estimate(&t->second[k], &around);
	}
	free(seen);
}

/* How many there were in all is known better than how many each thread made: see throttle.c. */
static void share_out(struct facts *f)
{
	uint64_t all = 0, ours = 0;

	for (int i = 0; i < f->sheds; i++)
		all += f->shed[i].calls;
	for (int i = 0; i < f->threads; i++)
		for (int k = 0; k < f->thread[i].seconds; k++)
			ours += f->thread[i].second[k].launches -
				f->thread[i].second[k].launches_seen;
	for (int i = 0; all && ours && i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++) {
			struct second *s = &f->thread[i].second[k];
			double more = (double)(s->launches - s->launches_seen);

			s->launches =
				s->launches_seen + (uint64_t)(more * (double)all / (double)ours);
		}
	}
}

void facts_scale(struct facts *f)
{
	for (int i = 0; i < f->threads; i++)
		scale_thread(f, &f->thread[i]);
	share_out(f);
}

/* ---- what is said of it ---- */

static int on_sum(const struct shed_row *row, void *arg)
{
	struct explanation *e = arg;
	uint64_t from = max_u64(row->from_ns, e->window.from_ns);
	uint64_t to = min_u64(row->to_ns, e->window.to_ns);

	for (int i = 0; i < SHED_COUNT; i++) {
		struct shed_sum *sum = &e->shed[i];

		if (!streq(row->what, shed_names[i]) || to <= from)
			continue;
		sum->ns += to - from;
		sum->spans++;
		sum->calls += shed_calls(row, e->window);
		sum->first_ns = sum->first_ns ? sum->first_ns : from;
		sum->last_ns = max_u64(sum->last_ns, to);
		sum->cost_pct = row->cost_pct > sum->cost_pct ? row->cost_pct : sum->cost_pct;
	}
	return 0;
}

int add_shed(struct store *s, struct explanation *e)
{
	return store_each_shed(s, e->window, on_sum, e);
}
