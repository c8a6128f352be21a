// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks and their weights, by thread. The outermost frame is the process, the innermost what the
 * thread did there or, of lost time, the cause.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/util.h"
#include "explain/explain.h"
#include "explain/facts.h"
#include "export/export_int.h"
#include "store/scope.h"

struct sample_key {
	uint64_t stack;
	int64_t thread;
	uint64_t end; /* what the innermost frame says, by number */
};

struct weighed {
	struct sample_key key;
	uint64_t ns;
};

struct gathering {
	struct store *store;
	struct flame *flame;
	struct hash *weights; /* struct sample_key -> ns */
	struct hash *stacks; /* id -> struct stack *, NULL: not stored */
	struct hash *names; /* hash of a frame -> index + 1 */
	struct weighed *list;
	size_t listed;
	const struct facts *facts;
	bool several; /* nodes: each is named */
	int64_t *node;
	int nodes;
	int err;
};

/* ---- the innermost frame ---- */

/* 0: nobody looked. Else a state, or a cause behind the states; and the class of call it was in. */
static uint64_t end_state(enum state state, enum op_class place)
{
	return 1 + (uint64_t)state + ((uint64_t)place << 16);
}

static uint64_t end_cause(const char *cause)
{
	for (int i = 0; causes[i].id; i++)
		if (streq(causes[i].id, cause))
			return 1 + STATE_COUNT + (uint64_t)i + ((uint64_t)CLASS_GAP << 16);
	return 0;
}

static void end_name(uint64_t end, char *dst, size_t cap)
{
	uint64_t number = end & 0xffff;

	dst[0] = '\0';
	if (number && number <= STATE_COUNT)
		snprintf(dst, cap, "[%s]", state_texts[number - 1]);
	else if (number)
		snprintf(dst, cap, "[%s]", causes[number - 1 - STATE_COUNT].id);
}

/* ---- weights ---- */

static const struct stack *stack_of(struct gathering *g, uint64_t id)
{
	struct stack **slot = hash_get(g->stacks, &id), *stack = NULL;
	int err;

	if (slot)
		return *slot;
	err = store_find_stack(g->store, id, &stack);
	if (err && err != -ENOENT)
		g->err = err;
	*(struct stack **)hash_put(g->stacks, &id) = stack;
	return stack;
}

static void weigh(struct gathering *g, int64_t thread, uint64_t stack, uint64_t end, uint64_t ns)
{
	struct sample_key key = { .stack = stack, .thread = thread, .end = end };

	if (stack >= STACK_REASONS && !stack_of(g, stack))
		key.stack = NO_STACK_lost;
	if (ns)
		*(uint64_t *)hash_put(g->weights, &key) += ns;
}

/* What neither a stop nor a look has is running that nobody looked at, or stops of no length. */
static void weigh_second(struct gathering *g, const struct thread_facts *t, const struct second *s)
{
	const struct facts *f = g->facts;
	uint64_t left = second_total(s);

	for (int i = 0; i < s->waits; i++) {
		const struct wait *w = &s->wait[i];
		const struct chain *c = &f->chain[w->chain].chain;
		enum state state = c->hops ? c->hop[0].state : STATE_UNKNOWN;

		weigh(g, t->id, f->path[w->path].stack[0], end_state(state, w->place), w->ns);
		left -= min_u64(left, w->ns);
	}
	for (int i = 0; i < s->looks; i++) {
		const struct look *l = &s->look[i];

		weigh(g, t->id, l->stack, end_state(STATE_RUN, l->place), l->ns);
		left -= min_u64(left, l->ns);
	}
	weigh(g, t->id, NO_STACK_not_looked, 0, left);
}

static void weigh_wall(struct gathering *g, const struct export_opts *opts)
{
	for (int i = 0; i < g->facts->threads; i++) {
		const struct thread_facts *t = &g->facts->thread[i];

		for (int k = 0; k < t->seconds; k++)
			if (!opts->pid || t->pid == opts->pid)
				weigh_second(g, t, &t->second[k]);
	}
}

static int explain_lost(struct gathering *g, const struct export_opts *opts)
{
	struct explanation e;
	int err = explain(g->store, opts->window, &e);

	if (err)
		return err;
	for (int i = 0; i < e.findings; i++) {
		const struct finding *f = &e.finding[i];

		for (int k = 0; k < f->shares; k++)
			if (!opts->pid || f->pid == opts->pid)
				weigh(g, f->thread, f->share[k].stack, end_cause(f->cause),
				      f->share[k].ns);
	}
	explain_free(&e);
	return 0;
}

static int on_node(int64_t node, const char *name, void *arg)
{
	struct gathering *g = arg;

	(void)name;
	g->node = xrealloc(g->node, (size_t)g->nodes + 1, sizeof(*g->node));
	g->node[g->nodes++] = node;
	return 0;
}

/* Each node by itself: what happens on one explains nothing on another. */
static int weigh_lost(struct gathering *g, const struct export_opts *opts)
{
	int err = 0, found = 0;

	if (!g->several)
		return explain_lost(g, opts);
	for (int i = 0; !err && i < g->nodes; i++) {
		err = store_scope(g->store, g->node[i]);
		if (!err)
			err = explain_lost(g, opts);
		found += !err;
		err = err == -ENODATA ? 0 : err;
	}
	if (!err)
		err = store_scope(g->store, 0);
	return !err && !found ? fail(-ENODATA, "nothing was traced in that time") : err;
}

/* ---- frames ---- */

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

static int frame_index(struct gathering *g, const struct flame_frame *frame)
{
	struct flame *f = g->flame;
	uint64_t hash = mix_text(mix_text((uint64_t)frame->line, frame->name), frame->file);
	int *index = hash_put(g->names, &hash);

	if (!*index) {
		f->frame = xrealloc(f->frame, (size_t)f->frames + 1, sizeof(*f->frame));
		f->frame[f->frames] = *frame;
		*index = ++f->frames;
	}
	return *index - 1;
}

static void add_frame(struct gathering *g, struct flame_sample *s, const struct flame_frame *frame)
{
	s->frame = xrealloc(s->frame, (size_t)s->frames + 1, sizeof(*s->frame));
	s->frame[s->frames++] = frame_index(g, frame);
}

static void add_made_up(struct gathering *g, struct flame_sample *s, const char *name)
{
	struct flame_frame frame = { 0 };

	str_copy(frame.name, sizeof(frame.name), name);
	add_frame(g, s, &frame);
}

/* "Net.forward train.py", and the line beside it; "at::add libtorch.so". */
static void add_code(struct gathering *g, struct flame_sample *s, const struct frame *from)
{
	const char *base = strrchr(from->file, '/');
	struct flame_frame frame = { .line = from->line };

	snprintf(frame.name, sizeof(frame.name), "%.300s %.200s", from->func[0] ? from->func : "?",
		 base ? base + 1 : from->file);
	str_copy(frame.file, sizeof(frame.file), from->file);
	add_frame(g, s, &frame);
}

static void add_stack(struct gathering *g, struct flame_sample *s, uint64_t id)
{
	static const char *const texts[NO_STACK_COUNT] = {
#define X(name, text) "[line not known: " text "]",
		NO_STACKS(X)
#undef X
	};
	const struct stack *stack = id < STACK_REASONS ? NULL : stack_of(g, id);

	for (int i = stack ? stack->frames - 1 : -1; i >= 0; i--)
		add_code(g, s, stack->frame[i]);
	if (!stack)
		add_made_up(g, s, texts[id < NO_STACK_COUNT ? id : NO_STACK_not_looked]);
}

/* ---- samples ---- */

static int profile_of(struct gathering *g, const struct thread_facts *t)
{
	struct flame *f = g->flame;
	struct flame_profile *p;

	for (int i = 0; i < f->profiles; i++)
		if (f->profile[i].thread == t->id)
			return i;
	f->profile = xrealloc(f->profile, (size_t)f->profiles + 1, sizeof(*f->profile));
	p = &f->profile[f->profiles];
	*p = (struct flame_profile){ .thread = t->id };
	snprintf(p->name, sizeof(p->name), "%s%s%s %u, thread %u %s", g->several ? t->node : "",
		 g->several ? ": " : "", t->process_comm, t->pid, t->tid, t->comm);
	return f->profiles++;
}

static const struct thread_facts *thread_of(const struct facts *f, int64_t id)
{
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].id == id)
			return &f->thread[i];
	return NULL;
}

static void add_sample(struct gathering *g, const struct weighed *from)
{
	const struct sample_key *k = &from->key;
	const struct thread_facts *t = thread_of(g->facts, k->thread);
	struct flame *f = g->flame;
	enum op_class place = (enum op_class)(k->end >> 16);
	struct flame_sample s = { .ns = from->ns };
	char text[FLAME_TEXT];

	if (!t)
		return;
	s.profile = profile_of(g, t);
	f->profile[s.profile].ns += s.ns;
	if (g->several) {
		snprintf(text, sizeof(text), "node %s", t->node);
		add_made_up(g, &s, text);
	}
	snprintf(text, sizeof(text), "%s %u", t->process_comm, t->pid);
	add_made_up(g, &s, text);
	snprintf(text, sizeof(text), "thread %u %s", t->tid, t->comm);
	add_made_up(g, &s, text);
	add_stack(g, &s, k->stack);
	if (k->end && place != CLASS_GAP) {
		snprintf(text, sizeof(text), "[%s call]", class_names[place]);
		add_made_up(g, &s, text);
	}
	end_name(k->end, text, sizeof(text));
	if (k->end)
		add_made_up(g, &s, text);
	f->sample = xrealloc(f->sample, (size_t)f->samples + 1, sizeof(*f->sample));
	f->sample[f->samples++] = s;
}

static bool list_weight(const void *key, void *value, void *arg)
{
	struct gathering *g = arg;

	g->list = xrealloc(g->list, g->listed + 1, sizeof(*g->list));
	g->list[g->listed].key = *(const struct sample_key *)key;
	g->list[g->listed++].ns = *(uint64_t *)value;
	return false;
}

/* Thread by thread, most first, and the same every time. */
static int order(const void *x, const void *y)
{
	const struct weighed *a = x, *b = y;

	if (a->key.thread != b->key.thread)
		return a->key.thread < b->key.thread ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->key.stack != b->key.stack)
		return a->key.stack < b->key.stack ? -1 : 1;
	return a->key.end < b->key.end ? -1 : a->key.end > b->key.end;
}

static void add_samples(struct gathering *g)
{
	hash_each(g->weights, list_weight, g);
	if (g->listed)
		qsort(g->list, g->listed, sizeof(*g->list), order);
	for (size_t i = 0; i < g->listed; i++)
		add_sample(g, &g->list[i]);
	free(g->list);
}

/* ---- all of it ---- */

static bool free_stack(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	free(*(struct stack **)value);
	return true;
}

static int clip(struct store *s, struct window *w)
{
	struct window span;
	int err = store_span(s, &span);

	if (err)
		return err;
	w->from_ns = max_u64(w->from_ns, span.from_ns);
	w->to_ns = w->to_ns ? min_u64(w->to_ns, span.to_ns) : span.to_ns;
	return 0;
}

int flame_gather(struct store *s, const struct export_opts *opts, struct flame *ret)
{
	struct window w = opts->window;
	struct facts facts = { 0 };
	struct gathering g = { .store = s, .flame = ret, .facts = &facts };
	int err = clip(s, &w);

	*ret = (struct flame){ 0 };
	if (!err)
		err = store_each_node(s, on_node, &g);
	g.several = g.nodes > 1;
	if (!err)
		err = facts_load(s, w, &facts);
	if (err) {
		free(g.node);
		return err;
	}
	g.weights = hash_new(sizeof(struct sample_key), sizeof(uint64_t));
	g.stacks = hash_new(sizeof(uint64_t), sizeof(struct stack *));
	g.names = hash_new(sizeof(uint64_t), sizeof(int));
	if (opts->weight == EXPORT_WALL)
		weigh_wall(&g, opts);
	else
		err = weigh_lost(&g, opts);
	if (!err) {
		add_samples(&g);
		err = g.err;
	}
	hash_each(g.stacks, free_stack, NULL);
	hash_free(g.weights);
	hash_free(g.stacks);
	hash_free(g.names);
	facts_release(&facts);
	free(g.node);
	return err;
}

void flame_release(struct flame *f)
{
	for (int i = 0; i < f->samples; i++)
		free(f->sample[i].frame);
	free(f->sample);
	free(f->frame);
	free(f->profile);
	*f = (struct flame){ 0 };
}
