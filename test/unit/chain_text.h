/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of chains: threads called by a letter, stops in one line, pieces as text. */
#ifndef TEST_UNIT_CHAIN_TEXT_H
#define TEST_UNIT_CHAIN_TEXT_H

#include <stdarg.h>
#include <stdio.h>

#include "base/util.h"
#include "chain/chain.h"

/*
 * Thread 'A' has serial 1, pid 101, tid 201, thread pointer 0x1000 and the name "A"; 'B' has 2, 102,
 * 202, 0x2000.
 */
static inline uint32_t serial_of(int who)
{
	return (uint32_t)(who - 'A' + 1);
}

static inline void follow(struct timeline *t, int who, uint64_t adopted_ns)
{
	uint32_t serial = serial_of(who);
	struct task_info info = { .pid = 100 + serial,
				  .tid = 200 + serial,
				  .adopted_ns = adopted_ns,
				  .tp = 0x1000ull * serial,
				  .comm = { (char)who } };

	timeline_thread(t, serial, &info);
}

/* The threads of this string, all followed since time 0. */
static inline struct timeline *timeline_of(const char *threads)
{
	struct timeline *t = timeline_new();

	for (; *threads; threads++)
		follow(t, *threads, 0);
	return t;
}

/* Blocked from..wake, ended by `by`; in the queue until `run`. */
static inline struct stop ended(int who, uint64_t from, uint64_t wake, uint64_t run,
				enum state state, enum waker by)
{
	return (struct stop){ .serial = serial_of(who),
			      .from_ns = from,
			      .wake_ns = wake,
			      .run_ns = run,
			      .state = (uint8_t)state,
			      .by = (uint8_t)by,
			      .irq = -1,
			      .nr = -1,
			      .fd = -1,
			      .op = OP_GAP };
}

/* Blocked in a futex or the like until `waker` ended that, and back at once. */
static inline struct stop woken(int who, uint64_t from, uint64_t wake, enum state state, int waker)
{
	struct stop s = ended(who, from, wake, wake, state, WAKER_task);

	s.waker_serial = serial_of(waker);
	s.waker_pid = 100 + s.waker_serial;
	s.waker = 200 + s.waker_serial;
	s.waker_comm[0] = (char)waker;
	return s;
}

static inline struct stop preempted(int who, uint64_t from, uint64_t run, uint32_t cpu_pid)
{
	struct stop s = ended(who, from, from, run, STATE_PREEMPTED, WAKER_nobody);

	s.cpu = 3;
	s.cpu_pid = cpu_pid;
	s.cpu_ns = run - from;
	return s;
}

static inline struct stop overlay(int who, uint64_t from, uint64_t run, enum state state)
{
	struct stop s = ended(who, from, from, run, state, WAKER_nobody);

	s.flags = STOP_OVERLAY;
	return s;
}

/* A look at a thread that ran. */
static inline struct stop look(int who, uint64_t at, uint64_t stack)
{
	struct stop s = ended(who, at, at, at, STATE_RUN, WAKER_nobody);

	s.flags = STOP_SAMPLE;
	s.stack = stack;
	return s;
}

static inline void add(struct timeline *t, struct stop s)
{
	timeline_add(t, &s);
}

struct text {
	char s[8192];
	size_t len;
	int pieces;
	uint64_t ns;
	struct piece first, last;
};

static inline void text_add(struct text *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static inline void text_add(struct text *text, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text->s + text->len, sizeof(text->s) - text->len, fmt, ap);
	va_end(ap);
	text->len = min_u64(text->len + (size_t)n, sizeof(text->s) - 1);
}

/*
 * "0-9 A.futex B.read/block" and so on, "; " between pieces, "#300" after the hop whose stack that is,
 * "?" after what is not complete.
 */
static inline void text_piece(const struct piece *p, void *arg)
{
	struct text *text = arg;

	text_add(text, "%s%llu-%llu", text->pieces ? "; " : "", (unsigned long long)p->from_ns,
		 (unsigned long long)p->to_ns);
	for (int i = 0; i < p->chain.hops; i++) {
		const struct hop *h = &p->chain.hop[i];

		text_add(text, " %s.%s", h->comm, state_names[h->state]);
		if (h->by != WAKER_nobody && i == p->chain.hops - 1)
			text_add(text, "/%s", waker_names[h->by]);
		if (h->cpu_pid)
			text_add(text, "@%u", h->cpu_pid);
		if (h->stack)
			text_add(text, "#%llu", (unsigned long long)h->stack);
	}
	text_add(text, "%s", p->chain.complete ? "" : "?");
	if (!text->pieces++)
		text->first = *p;
	text->last = *p;
	text->ns += p->to_ns - p->from_ns;
}

/* Valid until the next call. */
static inline const struct text *text_walk(const struct timeline *t, int who, uint64_t from,
					   uint64_t to)
{
	static struct text text;

	text = (struct text){ 0 };
	chain_walk(t, serial_of(who), from, to, text_piece, &text);
	return &text;
}

static inline const struct text *text_stop(const struct timeline *t, struct stop s)
{
	static struct text text;

	text = (struct text){ 0 };
	chain_of_stop(t, &s, text_piece, &text);
	return &text;
}

#endif
