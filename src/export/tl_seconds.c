// SPDX-License-Identifier: Apache-2.0
/*
 * What is known by the second alone: the states of a thread, who had the CPU, the chains that it waited
 * on. Sums, shown as long as the interval and named so: when in it something was is not stored.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "export/tl_chains.h"

#define PART_MIN_PCT 1 /* of an interval: less is not shown by itself */

struct seconds {
	struct timeline_out *t;
	struct chain_book *book;
	int64_t thread;
	uint64_t last_ns; /* end of the interval before */
};

struct part {
	enum state state;
	uint64_t ns;
};

static int most_first(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (int)a->state - (int)b->state;
}

/* "runnable, metrics-agent has the CPU"; "blocked: waiting on a pipe". */
static void state_name(char *dst, size_t cap, enum state state, const struct interval *i)
{
	const struct interval_blame *who = i->blames ? &i->blame[0] : NULL;
	char comm[COMM_LEN * 4];

	if (state == STATE_RUN)
		snprintf(dst, cap, "running");
	else if (STATE_ON_CPU(state))
		snprintf(dst, cap, "running: %s", state_texts[state]);
	else if (STATE_RUNNABLE(state) && who && who->pid && who->pid != PID_IRQ)
		snprintf(dst, cap, "runnable: %s, most of it %s (pid %u) had", state_texts[state],
			 text_safe(comm, sizeof(comm), who->comm), who->pid);
	else if (STATE_RUNNABLE(state))
		snprintf(dst, cap, "runnable: %s", state_texts[state]);
	else if (STATE_BLOCKED(state))
		snprintf(dst, cap, "blocked: %s", state_texts[state]);
	else
		snprintf(dst, cap, "%s", state_texts[state]);
}

static void put_blames(struct mark *m, const struct interval *i, char text[][96])
{
	for (int k = 0; k < i->blames && k < 6; k++) {
		const struct interval_blame *b = &i->blame[k];
		char comm[COMM_LEN * 4];

		if (b->pid == PID_IRQ)
			snprintf(text[k], 96, "interrupts on cpu %u, %.3f ms", b->cpu,
				 (double)b->ns / 1e6);
		else
			snprintf(text[k], 96, "%s (pid %u) on cpu %u, %.3f ms",
				 b->pid ? text_safe(comm, sizeof(comm), b->comm)
					: "nobody: it was idle",
				 b->pid, b->cpu, (double)b->ns / 1e6);
		mark_str(m, "had the CPU", text[k]);
	}
}

static void put_states(struct seconds *s, struct lanes *lanes, const struct interval *i,
		       uint64_t from_ns, uint64_t whole_ns)
{
	struct part part[STATE_COUNT];
	char name[160], blame[6][96];
	struct mark m;

	for (int k = 0; k < STATE_COUNT; k++)
		part[k] = (struct part){ (enum state)k, i->state_ns[k] };
	qsort(part, STATE_COUNT, sizeof(part[0]), most_first);
	for (int k = 0; k < STATE_COUNT; k++) {
		if (!part[k].ns || part[k].ns < whole_ns / 100 * PART_MIN_PCT)
			break;
		state_name(name, sizeof(name), part[k].state, i);
		mark_init(&m, 0, from_ns, i->at_ns, name, "state");
		mark_f64(&m, "ms", (double)part[k].ns / 1e6);
		mark_f64(&m, "percent", 100.0 * (double)part[k].ns / (double)whole_ns);
		if (STATE_RUNNABLE(part[k].state))
			put_blames(&m, i, blame);
		if (tl_place(s->t, lanes, &m))
			sink_mark(&s->t->sink, &m);
	}
}

static int put_waits(struct seconds *s, struct tl_thread *thread, const struct interval *i,
		     uint64_t from_ns, uint64_t whole_ns)
{
	struct lanes *lanes =
		tl_lanes(s->t, tl_thread_track(s->t, thread), "waits (sums per second)");
	struct chain_use use = {
		.kind = "sums per second",
		.length = "that of the interval; when in it the waiting was is not stored",
		.from_ns = from_ns,
		.to_ns = i->at_ns,
		.node = tl_process_of(s->t, thread)->node,
		.tid = thread->tid,
	};
	uint64_t rest_ns = i->rest_wait_ns, rest = i->rest_waits;
	struct mark m;
	int err = 0;

	str_copy(use.comm, sizeof(use.comm), thread->comm);
	for (int k = 0; !err && k < i->waits; k++) {
		const struct interval_wait *w = &i->wait[k];

		if (w->ns < whole_ns / 100 * PART_MIN_PCT) {
			rest_ns += w->ns;
			rest++;
			continue;
		}
		use.chain = w->chain;
		use.ns = w->ns;
		use.count = w->count;
		use.max_ns = w->max_ns;
		use.shade = shade_of(w->ns, whole_ns);
		err = chain_put(s->t, s->book, lanes, &use);
	}
	if (err || !rest)
		return err;
	mark_init(&m, 0, from_ns, i->at_ns, "other waits, each of them short", "chain");
	m.shade = SHADE_LOW;
	mark_f64(&m, "ms", (double)rest_ns / 1e6);
	mark_u64(&m, "chains", rest);
	if (tl_place(s->t, lanes, &m))
		sink_mark(&s->t->sink, &m);
	return 0;
}

/* It accounts for its states: as long as these, but not before the interval in front of it. */
static int on_interval(const struct interval *i, void *arg)
{
	struct seconds *s = arg;
	struct tl_thread *thread = tl_thread(s->t, i->thread);
	uint64_t whole = 0, from;
	struct lanes *lanes;
	int err;

	if (!thread)
		return 0;
	if (i->thread != s->thread) {
		tl_thread_sequence(s->t, thread);
		s->last_ns = s->t->w.from_ns;
	}
	s->thread = i->thread;
	for (int k = 0; k < STATE_COUNT; k++)
		whole += min_u64(i->state_ns[k], INT64_MAX / STATE_COUNT);
	from = max_u64(s->last_ns, i->at_ns - min_u64(i->at_ns, whole));
	s->last_ns = max_u64(s->last_ns, i->at_ns);
	if (!whole || from >= i->at_ns)
		return 0;
	lanes = tl_lanes(s->t, tl_thread_track(s->t, thread), "state (sums per second)");
	put_states(s, lanes, i, from, whole);
	err = put_waits(s, thread, i, from, whole);
	return err ? err : tl_progress(s->t, i->at_ns);
}

int tl_intervals(struct timeline_out *t)
{
	struct seconds s = { .t = t, .book = chain_book_new(), .thread = -1 };
	int err = store_each_interval(t->store, t->w, on_interval, &s);

	chain_book_free(s.book);
	return err;
}
