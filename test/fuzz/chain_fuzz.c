// SPDX-License-Identifier: Apache-2.0
/*
 * Any stops in any order: pieces never overlap, lie inside their interval, and cover exactly the time
 * that was added, less what was given up.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { THREADS = 12, TIMES = 2048 }; /* few of each, so that they meet */

struct input {
	const uint8_t *p;
	size_t len;
};

/* Beside the timeline: what it should know. */
struct model {
	struct timeline *t;
	bool stopped[THREADS][TIMES], overlaid[THREADS][TIMES], looked[THREADS][TIMES];
	uint64_t since[THREADS]; /* adopted, or first heard of */
	bool introduced[THREADS], heard_of[THREADS];
	uint64_t lost; /* exact only from here on */
	bool overrun; /* bounds were met: nothing is exact any more */
	int bursts;
};

static void need(bool cond)
{
	if (!cond)
		abort();
}

static uint32_t take(struct input *in, size_t bytes)
{
	uint32_t v = 0;

	for (; bytes && in->len; bytes--, in->len--)
		v = v << 8 | *in->p++;
	return v;
}

/* ---- what comes out */

struct seen {
	uint64_t at_ns, to_ns, stop_ns, overlay_ns;
	uint32_t serial;
	int pieces;
};

static void check_hop(const struct hop *h, bool last)
{
	need(h->state < STATE_COUNT && h->by < WAKER_COUNT);
	need(strnlen(h->comm, COMM_LEN) < COMM_LEN);
	need(!h->relation && !h->name[0]); /* for others to fill in */
	need(!h->object || (h->object == OBJECT_gil && h->state == STATE_FUTEX));
	need(last ||
	     (h->by == WAKER_task && (STATE_BLOCKED(h->state) || h->state == STATE_UNKNOWN)));
}

static void check_piece(const struct piece *p, void *arg)
{
	struct seen *seen = arg;
	const struct chain *c = &p->chain;
	const struct hop *last;

	need(p->from_ns >= seen->at_ns && p->from_ns < p->to_ns && p->to_ns <= seen->to_ns);
	need(p->whole_ns >= p->to_ns - p->from_ns);
	seen->at_ns = p->to_ns;
	need(c->hops >= 1 && c->hops <= HOPS_MAX);
	need(c->hop[0].serial == seen->serial);
	for (int i = 0; i < c->hops; i++) {
		check_hop(&c->hop[i], i == c->hops - 1);
		for (int k = 0; k < i; k++) /* nobody waits for himself */
			need(!c->hop[i].serial || c->hop[i].serial != c->hop[k].serial);
	}
	last = &c->hop[c->hops - 1];
	need(!c->complete || (last->state != STATE_UNKNOWN && last->by != WAKER_task));
	need(chain_id(c));
	if (c->hops == 1 && STATE_ON_CPU(c->hop[0].state))
		seen->overlay_ns += p->to_ns - p->from_ns;
	else
		seen->stop_ns += p->to_ns - p->from_ns;
	seen->pieces++;
}

static void walk(const struct model *m, uint32_t serial, uint64_t from, uint64_t to)
{
	struct seen seen = { .at_ns = from, .to_ns = to, .serial = serial };
	uint64_t stop_ns = 0, overlay_ns = 0;

	chain_walk(m->t, serial, from, to, check_piece, &seen);
	if (m->overrun || serial >= THREADS || from < m->lost || to > TIMES)
		return;
	for (uint64_t i = from; i < to; i++) {
		bool stopped = m->stopped[serial][i];

		stop_ns += stopped;
		overlay_ns += m->overlaid[serial][i] && !stopped && i >= m->since[serial];
	}
	need(seen.stop_ns == stop_ns && seen.overlay_ns == overlay_ns);
}

static void check_run(const struct run *r, void *arg)
{
	struct seen *seen = arg;

	need(r->from_ns >= seen->at_ns && r->from_ns < r->to_ns && r->to_ns <= seen->to_ns);
	seen->at_ns = r->to_ns;
}

static void run(const struct model *m, uint32_t serial, uint64_t from, uint64_t to)
{
	struct seen seen = { .at_ns = from, .to_ns = to };

	chain_runs(m->t, serial, from, to, check_run, &seen);
}

static void one_stop(const struct model *m, const struct stop *s)
{
	struct seen seen = { .at_ns = s->from_ns, .to_ns = s->run_ns, .serial = s->serial };

	chain_of_stop(m->t, s, check_piece, &seen);
	need(seen.pieces <= PIECES_MAX);
	need(!seen.pieces || seen.stop_ns + seen.overlay_ns == s->run_ns - s->from_ns);
	if (s->serial && s->from_ns < s->run_ns && !(s->flags & (STOP_OVERLAY | STOP_SAMPLE)))
		need(seen.pieces);
}

/* ---- what goes in */

static void hear_of(struct model *m, uint32_t serial, uint64_t since)
{
	if (m->heard_of[serial])
		return;
	m->heard_of[serial] = true;
	m->since[serial] = since;
}

static void add_look(struct model *m, const struct stop *s)
{
	if (!s->serial || s->serial >= THREADS || !s->from_ns)
		return;
	if (s->from_ns >= TIMES) {
		m->overrun = true;
		return;
	}
	hear_of(m, s->serial, s->from_ns);
	m->looked[s->serial][s->from_ns] = true;
}

static void add(struct model *m, const struct stop *s)
{
	bool overlay = s->flags & STOP_OVERLAY;
	uint32_t serial = s->serial;

	timeline_add(m->t, s);
	if (s->flags & STOP_SAMPLE) {
		add_look(m, s);
		return;
	}
	if (!serial || serial >= THREADS || s->from_ns >= s->run_ns)
		return;
	if (overlay && (!STATE_ON_CPU(s->state) || s->state == STATE_RUN))
		return;
	if (s->run_ns > TIMES) {
		m->overrun = true;
		return;
	}
	hear_of(m, serial, s->from_ns);
	memset((overlay ? m->overlaid : m->stopped)[serial] + s->from_ns, true,
	       s->run_ns - s->from_ns);
}

static struct stop small_stop(struct input *in)
{
	struct stop s = { .serial = take(in, 1) % THREADS, .irq = -1, .nr = -1, .fd = -1 };

	s.from_ns = take(in, 2) % TIMES;
	s.wake_ns = s.from_ns + take(in, 1);
	s.run_ns = s.wake_ns + take(in, 1) % 16;
	s.run_ns = s.run_ns < TIMES ? s.run_ns : TIMES;
	s.state = (uint8_t)take(in, 1);
	if (s.state & 0x40) /* what chains are made of */
		s.state = STATE_FUTEX;
	s.by = (uint8_t)(s.state & 0x80 ? take(in, 1) : take(in, 1) % WAKER_COUNT);
	s.state &= 0x3f;
	s.waker_serial = take(in, 1) % THREADS;
	s.waker = s.waker_serial ? 0 : take(in, 1) % THREADS;
	s.obj = (uint64_t)take(in, 1) * 16;
	s.cpu_pid = take(in, 1);
	s.stack = 3ull * take(in, 1);
	s.holder = s.cpu_pid & 1 ? take(in, 1) % THREADS : 0;
	s.holder_stack = s.cpu_pid & 2 ? 1000 : 0;
	return s;
}

static struct stop raw_stop(struct input *in)
{
	struct stop s = { 0 };
	size_t n = in->len < sizeof(s) ? in->len : sizeof(s);

	memcpy(&s, in->p, n);
	in->p += n;
	in->len -= n;
	return s;
}

static void introduce(struct model *m, struct input *in)
{
	uint32_t serial = take(in, 1) % THREADS;
	struct task_info info = { .pid = take(in, 1) % 2, .tid = take(in, 1) % THREADS };

	info.tp = info.tid;

	info.adopted_ns = take(in, 2) % TIMES;
	memset(info.comm, 'x', sizeof(info.comm));
	timeline_thread(m->t, serial, &info);
	m->introduced[serial] = m->heard_of[serial] = serial;
	m->since[serial] = info.adopted_ns;
}

static void forget(struct model *m, uint32_t serial)
{
	timeline_forget(m->t, serial);
	m->introduced[serial] = m->heard_of[serial] = false;
	memset(m->stopped[serial], 0, sizeof(m->stopped[serial]));
	memset(m->overlaid[serial], 0, sizeof(m->overlaid[serial]));
	memset(m->looked[serial], 0, sizeof(m->looked[serial]));
}

static void prune(struct model *m, uint64_t before)
{
	timeline_prune(m->t, before);
	m->lost = before > m->lost ? before : m->lost;
	for (int i = 0; i < THREADS; i++) {
		size_t left = TIMES - before;

		if (!m->introduced[i] && !memchr(m->stopped[i] + before, true, left) &&
		    !memchr(m->overlaid[i] + before, true, left) &&
		    (left < 2 || !memchr(m->looked[i] + before + 1, true, left - 1)))
			m->heard_of[i] = false; /* nothing is left of it */
	}
}

static void gap(struct model *m, uint64_t before)
{
	timeline_gap(m->t, before);
	m->lost = before > m->lost ? before : m->lost;
}

/* Enough to meet the bound of a thread. */
static void burst(struct model *m, struct input *in)
{
	struct stop s = small_stop(in);
	uint64_t step = take(in, 1) % 16;

	if (m->bursts++ > 1)
		return;
	m->overrun = true;
	for (int i = 0; i < 9000; i++) {
		timeline_add(m->t, &s);
		s.from_ns += step;
		s.wake_ns += step;
		s.run_ns += step;
	}
	need(timeline_count(m->t) <= 131072); /* as chain.h says */
}

static void act(struct model *m, struct input *in)
{
	struct stop s;
	uint64_t from;

	switch (take(in, 1) % 16) {
	case 0:
		introduce(m, in);
		break;
	case 1:
		forget(m, take(in, 1) % THREADS);
		break;
	case 2:
		prune(m, take(in, 2) % TIMES);
		break;
	case 3:
		gap(m, take(in, 2) % TIMES);
		break;
	case 4:
		s = raw_stop(in);
		add(m, &s);
		one_stop(m, &s);
		break;
	case 5:
		s = small_stop(in);
		one_stop(m, &s);
		break;
	case 6:
		from = take(in, 2) % TIMES;
		walk(m, take(in, 1) % THREADS, from, from + take(in, 2) % (TIMES - from));
		break;
	case 7:
		s = small_stop(in);
		s.state = s.state & 1 ? STATE_GC : STATE_RECLAIM;
		s.flags = STOP_OVERLAY;
		add(m, &s);
		break;
	case 8:
		if (take(in, 1) == 'b') /* slow, hence rare */
			burst(m, in);
		break;
	case 9:
		s = small_stop(in);
		s.flags = STOP_SAMPLE;
		add(m, &s);
		break;
	case 10:
		from = take(in, 2) % TIMES;
		run(m, take(in, 1) % THREADS, from, from + take(in, 2) % (TIMES - from));
		break;
	default:
		s = small_stop(in);
		add(m, &s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	struct model *m = calloc(1, sizeof(*m));

	m->t = timeline_new();
	while (in.len)
		act(m, &in);
	for (uint32_t serial = 0; serial < THREADS; serial++) {
		walk(m, serial, m->lost, TIMES);
		walk(m, serial, 0, UINT64_MAX);
	}
	timeline_prune(m->t, UINT64_MAX);
	need(timeline_count(m->t) == 0);
	timeline_free(m->t);
	free(m);
	return 0;
}
