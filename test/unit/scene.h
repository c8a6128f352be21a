/* SPDX-License-Identifier: Apache-2.0 */
/* Facts for tests of explain/, built in memory: a training loop, second by second, and its waits. */
#ifndef TEST_UNIT_SCENE_H
#define TEST_UNIT_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/facts.h"
#include "test/test.h"

#define MS 1000000ull
#define S 1000000000ull
#define AT(n) (1000 * S + (n)*S) /* the end of second n */

#define SCENE_THREADS 4
#define SCENE_SECONDS 16
#define SCENE_WAITS 8
#define SCENE_CHAINS 32

#define TRAINER 4821 /* pid and tid of the thread that all is about */
#define WORKER 4900 /* pid of its child */
#define STRANGER 7000

struct scene {
	struct facts f;
	struct thread_facts thread[SCENE_THREADS];
	struct second second[SCENE_THREADS][SCENE_SECONDS];
	struct wait wait[SCENE_THREADS][SCENE_SECONDS][SCENE_WAITS];
	struct chain_facts chain[SCENE_CHAINS];
	struct host_facts event[8];
	struct system_info system[SCENE_SECONDS];
};

static inline struct thread_facts *scene_thread(struct scene *sc, uint32_t pid, uint32_t tid,
						const char *comm)
{
	struct thread_facts *t = &sc->thread[sc->f.threads];

	*t = (struct thread_facts){ .id = sc->f.threads + 1,
				    .process = pid,
				    .pid = pid,
				    .tid = tid,
				    .node = "gpu-node-01",
				    .second = sc->second[sc->f.threads],
				    .feeds = true };
	str_copy(t->process_comm, sizeof(t->process_comm), comm);
	str_copy(t->comm, sizeof(t->comm), comm);
	sc->f.threads++;
	return t;
}

/* One thread, python3, and nothing else. */
static inline void scene_init(struct scene *sc)
{
	memset(sc, 0, sizeof(*sc));
	sc->f = (struct facts){ .window = { AT(0), AT(10) },
				.cpus = 16,
				.thread = sc->thread,
				.chain = sc->chain,
				.event = sc->event,
				.system = sc->system };
	(void)scene_thread(sc, TRAINER, TRAINER, "python3");
}

/* The next second of a thread, empty. */
static inline struct second *scene_second(struct scene *sc, int thread)
{
	struct thread_facts *t = &sc->thread[thread];
	int n = t->seconds++;

	t->second[n].at_ns = AT(n + 1);
	t->second[n].wait = sc->wait[thread][n];
	return &t->second[n];
}

/* Between calls, in this state. */
static inline void in_gap(struct second *s, enum state state, uint64_t ns)
{
	s->state_ns[state] += ns;
	s->gap_ns[state] += ns;
}

/* Inside calls of this class: timed, outermost. */
static inline void in_call(struct second *s, enum op_class class, enum state state, uint64_t ns)
{
	s->state_ns[state] += ns;
	s->class[class].ns += ns;
	s->class[class].total_ns += ns;
	if (class == CLASS_SYNC) {
		s->sync_wait_ns += ns;
		s->sync_state_ns[state] += ns;
	}
	if (STATE_BLOCKED(state))
		s->gpu_blocked_ns += ns;
}

static inline void called(struct second *s, enum op_class class, uint64_t calls)
{
	s->class[class].calls[LAYER_RUNTIME] += calls;
	s->calls += calls;
	if (class == CLASS_LAUNCH)
		s->launches += calls;
}

/* What is left of a second where `used` has another explanation: a loop of 10 ms, half GPU. */
static inline void loop_in(struct second *s, uint64_t used)
{
	uint64_t rest = S - used, steps = rest / (10 * MS);

	in_gap(s, STATE_RUN, rest * 45 / 100);
	in_gap(s, STATE_WAKE, rest * 5 / 1000);
	in_call(s, CLASS_SYNC, STATE_RUN, rest - rest * 45 / 100 - rest * 5 / 1000);
	called(s, CLASS_LAUNCH, steps * 56);
	called(s, CLASS_SYNC, steps);
	s->steps = steps;
	s->step_ns = rest;
	s->idle_ns = rest * 40 / 100 + used;
}

/* A second where nothing is wrong. */
static inline struct second *scene_healthy(struct scene *sc)
{
	struct second *s = scene_second(sc, 0);

	loop_in(s, 0);
	return s;
}

/* ---- chains ---- */

static inline struct hop hop_of(uint32_t pid, uint32_t tid, enum state state, enum waker by)
{
	struct hop h = { .pid = pid, .tid = tid, .state = state, .by = by, .nr = -1 };

	str_copy(h.comm, sizeof(h.comm),
		 pid == STRANGER ? "stranger"
		 : pid == WORKER ? "loader"
				 : "python3");
	h.relation = pid == TRAINER  ? RELATION_self
		     : pid == WORKER ? RELATION_child
				     : RELATION_foreign;
	return h;
}

/* The thread itself, blocked like this until somebody ended it. */
static inline struct hop self(enum state state, enum waker by)
{
	return hop_of(TRAINER, TRAINER, state, by);
}

static inline struct hop worker(enum state state, enum waker by)
{
	return hop_of(WORKER, WORKER, state, by);
}

static inline struct hop named(struct hop h, enum object object, const char *name)
{
	h.object = object;
	str_copy(h.name, sizeof(h.name), name);
	return h;
}

/* Waiting for a CPU that pid had. */
static inline struct hop robbed(struct hop h, uint32_t pid, const char *name)
{
	h.state = STATE_PREEMPTED;
	h.cpu = 3;
	h.cpu_pid = pid;
	str_copy(h.name, sizeof(h.name), name);
	return h;
}

#define CHAIN(...)                                                                                 \
	((struct chain){                                                                           \
		.hop = { __VA_ARGS__ },                                                            \
		.hops = (int)(sizeof((struct hop[]){ __VA_ARGS__ }) / sizeof(struct hop)),         \
		.complete = true })

static inline int scene_chain(struct scene *sc, struct chain c)
{
	int n = sc->f.chains++;

	sc->chain[n] = (struct chain_facts){ .id = 100 + n, .chain = c };
	return n;
}

/* So many waits that took so long in all; the states of the second get them, too. */
static inline void scene_wait(struct scene *sc, struct second *s, int chain, uint64_t ns,
			      uint64_t count)
{
	in_gap(s, sc->chain[chain].chain.hop[0].state, ns);
	s->wait[s->waits++] = (struct wait){ .place = CLASS_GAP,
					     .chain = chain,
					     .ns = ns,
					     .count = count,
					     .max_ns = count ? ns / count : 0 };
}

/* Two healthy seconds, then four that lose lost_ns each in 25 waits on this chain. */
static inline void scene_stalls(struct scene *sc, struct chain c, uint64_t lost_ns)
{
	int chain = scene_chain(sc, c);

	for (int i = 0; i < 2; i++)
		(void)scene_healthy(sc);
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(sc, 0);

		loop_in(s, lost_ns);
		scene_wait(sc, s, chain, lost_ns, 25);
	}
}

/* Six seconds, each with so many waits on this chain that take `ns` of it. */
static inline void scene_seconds(struct scene *sc, struct chain c, uint64_t ns, uint64_t count)
{
	int chain = scene_chain(sc, c);

	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(sc, 0);

		loop_in(s, ns);
		scene_wait(sc, s, chain, ns, count);
	}
}

static inline void scene_event(struct scene *sc, enum host_event event, uint32_t pid, uint64_t obj,
			       uint64_t at_ns)
{
	struct host_facts *e = &sc->event[sc->f.events++];

	*e = (struct host_facts){ .event = event,
				  .pid = pid,
				  .obj = obj,
				  .count = 10,
				  .first_ns = at_ns,
				  .at_ns = at_ns };
	str_copy(e->comm, sizeof(e->comm), pid == WORKER ? "loader" : "python3");
}

static inline void scene_swap(struct scene *sc, int64_t pages)
{
	for (int i = 0; i < 10; i++)
		sc->system[sc->f.systems++] =
			(struct system_info){ .at_ns = AT(i) + S / 2,
					      .row = { .swap_in_pages = pages } };
}

/* The rule's judgement of the first process. */
static inline bool scene_judge(struct scene *sc, rule_fn rule, struct finding *ret)
{
	bool found;
	int n = 1;

	while (n < sc->f.threads && sc->thread[n].process == sc->thread[0].process)
		n++;
	sc->f.kills = sc->f.resends = sc->f.failures = 0;
	facts_classify(&sc->f);
	found = rule(&sc->f, sc->thread, n, ret);
	free(sc->f.descent);
	sc->f.descent = NULL;
	sc->f.descents = 0;
	return found;
}

/* How many rules have something to say; the name of the last of them goes to *ret_cause. */
static inline int scene_findings(struct scene *sc, const char **ret_cause)
{
	static const rule_fn rules[] = {
#define X(name) rule_##name,
		RULES(X)
#undef X
	};
	int found = 0;

	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct finding f;

		if (!scene_judge(sc, rules[i], &f))
			continue;
		found++;
		if (ret_cause)
			*ret_cause = f.cause;
	}
	return found;
}

/* The scene has exactly one finding, with this cause. */
#define CHECK_ONLY(scene, want)                                                                    \
	do {                                                                                       \
		const char *cause_ = "none";                                                       \
		int found_ = scene_findings(scene, &cause_);                                       \
		if (found_ != 1 || strcmp(cause_, want) != 0)                                      \
			return test_fail(__FILE__, __LINE__, "%d findings, the last is %s",        \
					 found_, cause_);                                          \
	} while (0)

#define CHECK_NONE(scene)                                                                          \
	do {                                                                                       \
		const char *cause_ = "none";                                                       \
		int found_ = scene_findings(scene, &cause_);                                       \
		if (found_)                                                                        \
			return test_fail(__FILE__, __LINE__, "%d findings, the last is %s",        \
					 found_, cause_);                                          \
	} while (0)

#endif
