// SPDX-License-Identifier: Apache-2.0
/*
 * Where in the code it was. A wait has the line where its thread stopped, and the lines of those whom
 * it waited for. What the thread did by itself has those of the looks at it, or of its stored calls.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "explain/explain_int.h"

/* ---- how much time each stack has ---- */

struct tally_stacks {
	struct hash *ns; /* stack -> ns */
	uint64_t total;
};

static struct tally_stacks tally_new(void)
{
	return (struct tally_stacks){ .ns = hash_new(sizeof(uint64_t), sizeof(uint64_t)) };
}

static void tally_free(struct tally_stacks *t)
{
	hash_free(t->ns);
}

static void tally(struct tally_stacks *t, uint64_t stack, uint64_t ns)
{
	*(uint64_t *)hash_put(t->ns, &stack) += ns;
	t->total += ns;
}

/* ---- what a finding consists of ---- */

static const struct thread_facts *thread_of(const struct facts *f, int64_t id)
{
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].id == id)
			return &f->thread[i];
	return NULL;
}

static bool within(const struct finding *found, const struct second *s)
{
	return s->at_ns > found->first_ns && s->at_ns <= found->last_ns;
}

static uint64_t stack_of(const struct facts *f, const struct wait *w, int hop)
{
	return w->path < f->paths ? f->path[w->path].stack[hop] : 0;
}

static bool same_hop(const struct hop *a, const struct hop *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->state == b->state;
}

/* Does this wait go through the chain that is shown, as far as this hop? */
static bool goes_through(const struct chain *c, const struct chain *shown, int hop)
{
	for (int i = 0; i <= hop; i++)
		if (i >= c->hops || i >= shown->hops || !same_hop(&c->hop[i], &shown->hop[i]))
			return false;
	return true;
}

/* Everything that the waits of one finding tell. */
struct waits_of {
	struct tally_stacks own; /* of the thread that waited */
	struct tally_stacks hop[HOPS_MAX]; /* along the chain that is shown */
	struct tally_stacks culprit[CULPRITS_MAX];
};

static void add_wait(const struct facts *f, const struct finding *found, const struct wait *w,
		     struct waits_of *of)
{
	const struct chain *c = &f->chain[w->chain].chain;
	int who = w->verdict.who;

	tally(&of->own, stack_of(f, w, 0), w->ns);
	for (int h = 0; h < found->chain.hops && goes_through(c, &found->chain, h); h++)
		tally(&of->hop[h], stack_of(f, w, h), w->ns);
	for (int i = 0; who >= 0 && who < c->hops && i < found->culprits; i++)
		if (found->culprit[i].pid == c->hop[who].pid)
			tally(&of->culprit[i], stack_of(f, w, who), w->ns);
}

/* A wait for another rank looks like any wait for the GPU. */
static bool is_about(const struct finding *found, const struct wait *w)
{
	if (streq(found->cause, cause_name(CAUSE_straggler)))
		return w->verdict.healthy == HEALTHY_gpu;
	return w->verdict.cause && streq(cause_name(w->verdict.cause), found->cause);
}

static void add_waits(const struct facts *f, const struct thread_facts *t,
		      const struct finding *found, struct waits_of *of)
{
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		for (int k = 0; within(found, s) && k < s->waits; k++) {
			const struct wait *w = &s->wait[k];

			if (is_about(found, w) && found->places >> w->place & 1)
				add_wait(f, found, w, of);
		}
	}
}

static void add_looks(const struct thread_facts *t, const struct finding *found, uint32_t places,
		      uint32_t states, struct tally_stacks *ret)
{
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		for (int k = 0; within(found, s) && k < s->looks; k++)
			if (places >> s->look[k].place & states >> s->look[k].state & 1)
				tally(ret, s->look[k].stack, s->look[k].ns);
	}
}

/* ---- calls ---- */

/* Causes that are about calls, not about waits or work: see their rules. */
static const struct {
	enum cause_id cause;
	uint32_t places;
	bool count; /* how many, not how long: they are not timed, or it is their number */
	uint32_t root; /* of these: whose line is told, however little of the time they take */
} call_causes[] = {
	{ CAUSE_sync_too_often, 1u << CLASS_SYNC, true, 0 },
	{ CAUSE_copy_bound, 1u << CLASS_COPY, false, 0 },
	/* What was not freed would not be allocated again. */
	{ CAUSE_alloc_churn, 1u << CLASS_ALLOC | 1u << CLASS_FREE, false, 1u << CLASS_FREE },
	{ CAUSE_cold_start, 1u << CLASS_INIT | 1u << CLASS_MODULE, false, 0 },
	{ CAUSE_gpu_shared, 1u << CLASS_SYNC, false, 0 },
	{ CAUSE_gpu_throttled, 1u << CLASS_SYNC, false, 0 },
	{ CAUSE_gpu_error, 1u << CLASS_SYNC | 1u << CLASS_COPY, false, 0 },
	{ CAUSE_straggler, 1u << CLASS_SYNC, false, 0 },
	{ CAUSE_launch_bound, 1u << CLASS_LAUNCH, true, 0 },
};

struct calls_query {
	const struct explanation *e;
	struct tally_stacks *of; /* each finding */
	struct tally_stacks *root; /* likewise, of calls whose line is told */
	int *row; /* of call_causes */
};

static int on_call_stack(const struct call_stack_info *row, void *arg)
{
	struct calls_query *q = arg;
	enum op_class class = CLASS_COUNT;

	for (int i = 0; i < CLASS_COUNT; i++)
		if (streq(class_names[i], row->class))
			class = (enum op_class)i;
	for (int i = 0; class < CLASS_COUNT && i < q->e->findings; i++) {
		const struct finding *found = &q->e->finding[i];
		int r = q->row[i];

		if (r < 0 || found->thread != row->thread || row->first_ns > found->last_ns ||
		    row->first_ns < found->first_ns - min_u64(found->first_ns, 1000000000) ||
		    !(call_causes[r].places >> class & 1))
			continue;
		tally(&q->of[i], row->stack, call_causes[r].count ? row->fair : row->ns);
		if (call_causes[r].root >> class & 1)
			tally(&q->root[i], row->stack, row->ns);
	}
	return 0;
}

static int query_calls(struct store *s, struct explanation *e, struct calls_query *q)
{
	bool any = false;

	for (int i = 0; i < e->findings; i++) {
		q->of[i] = tally_new();
		q->root[i] = tally_new();
		q->row[i] = -1;
		for (int k = 0; k < (int)ARRAY_LEN(call_causes); k++)
			if (streq(cause_name(call_causes[k].cause), e->finding[i].cause))
				q->row[i] = k;
		any |= q->row[i] >= 0;
	}
	return any ? store_each_call_stack(s, e->window, on_call_stack, q) : 0;
}

/* ---- from stacks to lines ---- */

struct spot {
	const struct frame *frame; /* NULL: no line, for this reason: */
	enum no_stack why;
	uint64_t ns, stack, stack_ns; /* stack: with most of it */
};

struct spots {
	struct book *book;
	struct spot *spot;
	int n, err;
};

static bool add_spot(const void *key, void *value, void *arg)
{
	uint64_t stack = *(const uint64_t *)key, ns = *(uint64_t *)value;
	struct spots *g = arg;
	const struct frame *frame;
	struct spot *to = NULL;
	enum no_stack why;

	g->err = g->err ? g->err : book_read(g->book, stack);
	frame = book_line(g->book, stack, &why);
	for (int i = 0; i < g->n && !to; i++)
		if (frame ? g->spot[i].frame && g->spot[i].frame->id == frame->id
			  : !g->spot[i].frame && g->spot[i].why == why)
			to = &g->spot[i];
	if (!to) {
		g->spot = xrealloc(g->spot, (size_t)g->n + 1, sizeof(*g->spot));
		to = &g->spot[g->n++];
		*to = (struct spot){ .frame = frame, .why = why };
	}
	to->ns += ns;
	if (ns >= to->stack_ns) {
		to->stack = stack;
		to->stack_ns = ns;
	}
	return false;
}

static int by_ns(const void *x, const void *y)
{
	const struct spot *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* The lines of a tally, and the reasons for having none, most first. Free the groups. */
static struct spots spots_of(struct book *book, const struct tally_stacks *t)
{
	struct spots g = { .book = book };

	hash_each(t->ns, add_spot, &g);
	if (g.n)
		qsort(g.spot, (size_t)g.n, sizeof(*g.spot), by_ns);
	return g;
}

static void fill_line(const struct spot *from, uint64_t total, struct line *ret)
{
	*ret = (struct line){ .why = from->why };
	if (!from->frame)
		return;
	str_copy(ret->file, sizeof(ret->file), from->frame->file);
	str_copy(ret->func, sizeof(ret->func), from->frame->func);
	ret->line = from->frame->line;
	ret->stack = from->stack;
	ret->share = percent(from->ns, total);
}

/* The line with most of it, however much has none; that is said by its share. */
static int choose(struct book *book, const struct tally_stacks *t, struct line *ret)
{
	struct spots g = spots_of(book, t);
	const struct spot *best = NULL, *none = NULL;

	*ret = (struct line){ .why = NO_STACK_not_looked };
	for (int i = g.n - 1; i >= 0; i--)
		*(g.spot[i].frame ? &best : &none) = &g.spot[i];
	if (best || none)
		fill_line(best ? best : none, t->total, ret);
	if (none)
		ret->why = none->why;
	free(g.spot);
	return g.err;
}

/* How much of a tally this line has, in percent. */
static double share_of(struct book *book, const struct tally_stacks *t, const struct line *line)
{
	struct spots g = spots_of(book, t);
	uint64_t ns = 0;

	for (int i = 0; i < g.n; i++)
		if (g.spot[i].frame && g.spot[i].frame->line == line->line &&
		    streq(g.spot[i].frame->file, line->file))
			ns += g.spot[i].ns;
	free(g.spot);
	return percent(ns, t->total);
}

/* Where the root of it is, if that is known, with its share of the whole. */
static int choose_root(struct book *book, const struct tally_stacks *root,
		       const struct tally_stacks *whole, struct line *ret)
{
	struct line line;
	int err = root->total ? choose(book, root, &line) : 0;

	if (err || !root->total || !line.file[0])
		return err;
	line.share = share_of(book, whole, &line);
	*ret = line;
	return 0;
}

/* ---- lost time by line ---- */

static struct line_sum *sum_of(struct explanation *e, const struct finding *found,
			       const struct line *line)
{
	struct line_sum *sum;

	for (int i = 0; i < e->lines; i++) {
		sum = &e->line[i];
		if (sum->pid == found->pid && sum->line.line == line->line &&
		    streq(sum->line.file, line->file) && streq(sum->line.func, line->func) &&
		    (line->file[0] || sum->line.why == line->why))
			return sum;
	}
	e->line = xrealloc(e->line, (size_t)e->lines + 1, sizeof(*e->line));
	sum = &e->line[e->lines++];
	*sum = (struct line_sum){ .line = *line, .pid = found->pid };
	memcpy(sum->comm, found->comm, sizeof(sum->comm));
	return sum;
}

static uint64_t scaled(uint64_t part, uint64_t whole, uint64_t to)
{
	return whole ? (uint64_t)((double)part / (double)whole * (double)to) : 0;
}

static int sum_lines(struct explanation *e, const struct tally_stacks *t,
		     const struct finding *found)
{
	struct spots g = spots_of(e->book, t);
	struct line unknown = { .why = NO_STACK_not_looked };

	for (int i = 0; i < (t->total ? g.n : 1); i++) {
		uint64_t ns = found->lost_ns;
		struct line_sum *sum;

		if (t->total) {
			fill_line(&g.spot[i], t->total, &unknown);
			ns = scaled(g.spot[i].ns, t->total, found->lost_ns);
		}
		sum = sum_of(e, found, &unknown);
		sum->ns += ns;
		if (ns >= sum->cause_ns) {
			sum->cause = found->cause;
			sum->cause_ns = ns;
		}
	}
	free(g.spot);
	return g.err;
}

struct sharing {
	struct finding *found;
	const struct tally_stacks *t;
};

static bool add_share(const void *key, void *value, void *arg)
{
	struct sharing *s = arg;
	struct finding *f = s->found;

	f->share = xrealloc(f->share, (size_t)f->shares + 1, sizeof(*f->share));
	f->share[f->shares++] =
		(struct stack_share){ *(const uint64_t *)key,
				      scaled(*(uint64_t *)value, s->t->total, f->lost_ns) };
	return false;
}

static int by_share(const void *x, const void *y)
{
	const struct stack_share *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* What rounding leaves goes to the largest. */
static void share_out(const struct tally_stacks *t, struct finding *found)
{
	struct sharing s = { found, t };
	uint64_t sum = 0;

	if (t->total) {
		hash_each(t->ns, add_share, &s);
	} else {
		found->share = xcalloc(1, sizeof(*found->share)); /* not looked at */
		found->shares = 1;
	}
	qsort(found->share, (size_t)found->shares, sizeof(*found->share), by_share);
	for (int i = 0; i < found->shares; i++)
		sum += found->share[i].ns;
	found->share[0].ns += found->lost_ns - min_u64(sum, found->lost_ns);
}

static int by_lost(const void *x, const void *y)
{
	const struct line_sum *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static void rank_lines(struct explanation *e)
{
	uint64_t total = 0;

	if (e->lines)
		qsort(e->line, (size_t)e->lines, sizeof(*e->line), by_lost);
	for (int i = 0; i < e->lines; i++)
		total += e->line[i].ns;
	for (int i = 0; i < e->lines; i++)
		e->line[i].line.share = percent(e->line[i].ns, total);
}

/* ---- one finding ---- */

/* Mostly what the thread did by itself, with few waits or none. */
static bool is_work(const char *cause)
{
	static const enum cause_id work[] = { CAUSE_host_bound,     CAUSE_launch_bound,
					      CAUSE_page_fault,     CAUSE_swap,
					      CAUSE_memory_reclaim, CAUSE_python_gc };

	for (size_t i = 0; i < ARRAY_LEN(work); i++)
		if (streq(cause_name(work[i]), cause))
			return true;
	return false;
}

/* Memory is waited for on the CPU, too: while the page is made, or taken from compressed swap. */
static uint32_t looks_at(const char *cause)
{
	if (streq(cause, cause_name(CAUSE_page_fault)) || streq(cause, cause_name(CAUSE_swap)))
		return 1u << STATE_FAULT;
	if (streq(cause, cause_name(CAUSE_memory_reclaim)))
		return 1u << STATE_RECLAIM;
	return streq(cause, cause_name(CAUSE_python_gc)) ? 1u << STATE_GC : 1u << STATE_RUN;
}

/* Where it waited for the GPU, if none of these calls was stored: on the CPU, or asleep. */
static void add_syncs(const struct facts *f, const struct thread_facts *t,
		      const struct finding *found, struct tally_stacks *ret)
{
	uint32_t place = found->places & 1u << CLASS_SYNC;

	add_looks(t, found, place, 1u << STATE_RUN, ret);
	for (int i = 0; i < t->seconds; i++) {
		const struct second *s = &t->second[i];

		for (int k = 0; within(found, s) && k < s->waits; k++)
			if (place >> s->wait[k].place & 1)
				tally(ret, stack_of(f, &s->wait[k], 0), s->wait[k].ns);
	}
}

/* The victim's own: its calls, its waits, or what it did, whichever the finding is made of. */
static const struct tally_stacks *own_of(const struct facts *f, const struct thread_facts *t,
					 const struct finding *found, bool about_calls,
					 struct tally_stacks *calls, struct tally_stacks *waits)
{
	if (about_calls && !calls->total)
		add_syncs(f, t, found, calls);
	if (about_calls && calls->total && calls->total >= waits->total)
		return calls;
	if (!is_work(found->cause) || waits->total * 2 >= found->lost_ns)
		return waits;
	calls->total = 0;
	add_looks(t, found, 1u << CLASS_GAP, looks_at(found->cause), calls);
	if (!calls->total)
		add_looks(t, found, 1u << CLASS_GAP, ~0u, calls);
	return calls->total ? calls : waits;
}

/* What there is to see at the line, as the first thing to do. */
static void add_line_fix(struct finding *found)
{
	static const struct {
		enum cause_id cause;
		bool culprits; /* line, or else the victim's */
		const char *text;
	} words[] = {
		{ CAUSE_self_sleep, false, "the sleep is there" },
		{ CAUSE_lock, true, "the lock is held there" },
		{ CAUSE_gil, true, "the interpreter lock is held there" },
		{ CAUSE_data_loader, true, "the worker spends that time there" },
		{ CAUSE_disk_read, true, "the file is read there" },
		{ CAUSE_disk_write, true, "the file is written there" },
		{ CAUSE_host_bound, false, "the work is done there" },
		{ CAUSE_python_gc, false, "the collections begin there" },
		{ CAUSE_page_fault, false, "the memory is touched there" },
		{ CAUSE_sync_too_often, false, "it waits for the GPU there" },
		{ CAUSE_launch_bound, false, "the launches are made there" },
		{ CAUSE_copy_bound, false, "the copies are made there" },
		{ CAUSE_alloc_churn, false,
		  "the memory is given back there, and has to be asked for again" },
	};
	char at[512];

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const struct line *line =
			words[i].culprits ? &found->culprit[0].line : &found->where;

		if (!streq(cause_name(words[i].cause), found->cause) || !line->file[0])
			continue;
		if (found->fixes == FIXES_MAX)
			found->fixes--;
		memmove(found->fix[1], found->fix[0], sizeof(found->fix[0]) * (size_t)found->fixes);
		found->fixes++;
		snprintf(found->fix[0], sizeof(found->fix[0]), "look at %.300s first: %s",
			 line_text(line, "", at, sizeof(at)), words[i].text);
	}
}

static int add_lines_to(const struct facts *f, struct explanation *e, struct finding *found,
			bool about_calls, struct tally_stacks *calls,
			const struct tally_stacks *root)
{
	const struct thread_facts *t = thread_of(f, found->thread);
	struct waits_of of = { .own = tally_new() };
	const struct tally_stacks *own;
	int err;

	for (int i = 0; i < HOPS_MAX; i++)
		of.hop[i] = tally_new();
	for (int i = 0; i < CULPRITS_MAX; i++)
		of.culprit[i] = tally_new();
	if (t)
		add_waits(f, t, found, &of);
	own = t ? own_of(f, t, found, about_calls, calls, &of.own) : &of.own;
	err = choose(e->book, own, &found->where);
	if (!err)
		err = choose_root(e->book, root, own, &found->where);
	for (int i = 0; !err && i < found->chain.hops; i++)
		err = choose(e->book, &of.hop[i], &found->hop_line[i]);
	for (int i = 0; !err && i < found->culprits; i++) {
		bool self = !of.culprit[i].total && found->culprit[i].pid == found->pid;

		err = choose(e->book, self ? own : &of.culprit[i], &found->culprit[i].line);
	}
	add_line_fix(found);
	if (!err)
		err = sum_lines(e, own, found);
	share_out(own, found);
	tally_free(&of.own);
	for (int i = 0; i < HOPS_MAX; i++)
		tally_free(&of.hop[i]);
	for (int i = 0; i < CULPRITS_MAX; i++)
		tally_free(&of.culprit[i]);
	return err;
}

int add_lines(struct store *s, const struct facts *f, struct explanation *e)
{
	size_t n = (size_t)e->findings;
	struct calls_query q = { .e = e };
	int err;

	if (!n)
		return 0;
	q.of = xcalloc(n, sizeof(*q.of));
	q.root = xcalloc(n, sizeof(*q.root));
	q.row = xcalloc(n, sizeof(*q.row));
	e->book = book_new(s);
	err = query_calls(s, e, &q);
	for (int i = 0; i < e->findings; i++) {
		if (!err)
			err = add_lines_to(f, e, &e->finding[i], q.row[i] >= 0, &q.of[i],
					   &q.root[i]);
		tally_free(&q.of[i]);
		tally_free(&q.root[i]);
	}
	free(q.of);
	free(q.root);
	free(q.row);
	rank_lines(e);
	return err;
}
