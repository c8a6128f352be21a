// SPDX-License-Identifier: Apache-2.0
/* Reads what the rules need, each row once, each chain once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "explain/facts.h"

#define WARM_UP_NS 2000000000ull /* after the device was opened, or code was loaded */
#define FEEDS_PCT 10.0 /* of the launches of its process */

struct loading {
	struct facts *f;
	struct hash *chains, *paths; /* id -> index + 1 */
};

/* Room for one more, doubled when it is used up. */
static void *grow(void *ptr, int n, size_t size)
{
	return n & (n - 1) ? ptr : xrealloc(ptr, n ? 2 * (size_t)n : 1, size);
}

/* ---- threads and their seconds ---- */

static int on_thread(const struct thread_info *info, void *arg)
{
	struct facts *f = ((struct loading *)arg)->f;
	struct thread_facts *t;

	f->thread = grow(f->thread, f->threads, sizeof(*f->thread));
	t = &f->thread[f->threads++];
	*t = (struct thread_facts){
		.id = info->thread, .process = info->process, .pid = info->pid, .tid = info->tid
	};
	/* Names come from tenants: made harmless here, printed anywhere. */
	text_safe(t->node, sizeof(t->node), info->node);
	text_safe(t->process_comm, sizeof(t->process_comm), info->process_comm);
	text_safe(t->comm, sizeof(t->comm), info->comm);
	text_safe(t->cmdline, sizeof(t->cmdline), info->cmdline);
	text_safe(t->python_note, sizeof(t->python_note), info->python_note);
	text_safe(t->cgroup, sizeof(t->cgroup), info->cgroup);
	return 0;
}

static int thread_order(const void *x, const void *y)
{
	const struct thread_facts *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static struct thread_facts *find_thread(struct facts *f, int64_t id)
{
	struct thread_facts key = { .id = id };

	if (!f->threads)
		return NULL;
	return bsearch(&key, f->thread, (size_t)f->threads, sizeof(key), thread_order);
}

/* The interval that ends at at_ns or, a call that outlasts a second having its row later, after it. */
static struct second *find_second(struct facts *f, int64_t thread, uint64_t at_ns)
{
	struct thread_facts *t = find_thread(f, thread);
	int lo = 0, hi = t ? t->seconds : 0;

	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (t->second[mid].at_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t && lo < t->seconds ? &t->second[lo] : NULL;
}

/* Rows come by thread and time, so the interval is the last one or a new one. */
static struct second *make_second(struct thread_facts *t, uint64_t at_ns)
{
	if (!t->seconds || t->second[t->seconds - 1].at_ns != at_ns) {
		t->second = grow(t->second, t->seconds, sizeof(*t->second));
		t->second[t->seconds++] = (struct second){ .at_ns = at_ns };
	}
	return &t->second[t->seconds - 1];
}

static struct op_sum *op_of(struct thread_facts *t, const char *symbol)
{
	struct op_sum fresh = { 0 };

	text_safe(fresh.symbol, sizeof(fresh.symbol), symbol);
	for (int i = 0; i < t->ops; i++)
		if (streq(t->op[i].symbol, fresh.symbol))
			return &t->op[i];
	t->op = grow(t->op, t->ops, sizeof(*t->op));
	t->op[t->ops] = fresh;
	return &t->op[t->ops++];
}

static enum op_class class_of(const char *name)
{
	for (int i = 0; i < CLASS_COUNT; i++)
		if (streq(class_names[i], name))
			return (enum op_class)i;
	return CLASS_COUNT;
}

static enum layer layer_of(const char *symbol)
{
	return starts_with(symbol, "cu") && !starts_with(symbol, "cuda") ? LAYER_DRIVER
									 : LAYER_RUNTIME;
}

static void add_short(struct short_sum *sum, const uint32_t hist[HIST_BUCKETS], uint64_t below_ns)
{
	for (uint32_t i = 0; i < HIST_BUCKETS && hist_floor(i + 1) <= below_ns; i++) {
		sum->count += hist[i];
		sum->ns += hist[i] * ((hist_floor(i) + hist_floor(i + 1)) / 2);
	}
}

static void add_gap(struct second *s, const struct op_second_row *row)
{
	struct short_sum all = { 0 }, brief = { 0 };

	for (int i = 0; i < STATE_COUNT; i++)
		s->gap_ns[i] += row->state_ns[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		s->gap_counter[i] += row->counter[i];
	add_short(&s->short_gap, row->hist, SHORT_GAP_NS);
	add_short(&brief, row->hist, LONG_GAP_NS);
	add_short(&all, row->hist, UINT64_MAX);
	s->gap_hist_ns += all.ns;
	s->long_gap_ns += all.ns - brief.ns;
}

static void add_sync(struct second *s, const struct op_second_row *row)
{
	for (int i = 0; i < STATE_COUNT; i++) {
		if (STATE_ON_CPU(i) || STATE_BLOCKED(i)) {
			s->sync_wait_ns += row->state_ns[i];
			s->sync_state_ns[i] += row->state_ns[i];
		}
		if (STATE_RUNNABLE(i))
			s->sync_runnable_ns += row->state_ns[i];
	}
	add_short(&s->short_sync[layer_of(row->symbol)], row->hist, SHORT_SYNC_NS);
}

static bool waits_for_gpu(enum op_class class)
{
	return class == CLASS_SYNC || class == CLASS_COPY || class == CLASS_COLL ||
	       class == CLASS_P2P || class == CLASS_GRAPH || class == CLASS_FREE;
}

static void add_call(struct second *s, enum op_class class, const struct op_second_row *row)
{
	struct class_sum *sum = &s->class[class];
	enum layer layer = layer_of(row->symbol);
	uint64_t outer = row->calls - min_u64(row->nested, row->calls);

	s->calls += outer;
	sum->calls[layer] += row->calls;
	sum->bytes[layer] += row->bytes;
	sum->nested += row->nested;
	sum->nested_bytes += row->nested_bytes;
	sum->total_ns += row->total_ns;
	for (int i = 0; i < STATE_COUNT; i++) {
		if (!STATE_RUNNABLE(i) && i != STATE_THROTTLED)
			sum->ns += row->state_ns[i];
		if (STATE_BLOCKED(i) && waits_for_gpu(class))
			s->gpu_blocked_ns += row->state_ns[i];
	}
	if (class == CLASS_LAUNCH || class == CLASS_FILL)
		s->launches += row->calls;
	if (class == CLASS_SYNC)
		add_sync(s, row);
	if (class == CLASS_COPY && !strstr(row->symbol, "Async"))
		s->blocking_copies += outer;
}

/* A file can say anything: no state lasts longer than there is time. */
static struct op_second_row possible(const struct op_second_row *row)
{
	struct op_second_row ret = *row;

	for (int i = 0; i < STATE_COUNT; i++)
		if (ret.state_ns[i] > ret.at_ns)
			ret.state_ns[i] = 0;
	return ret;
}

static int on_op_second(const struct op_second_row *raw, void *arg)
{
	struct op_second_row checked = possible(raw);
	const struct op_second_row *row = &checked;
	struct thread_facts *t = find_thread(((struct loading *)arg)->f, row->thread);
	enum op_class class = class_of(row->class);
	struct op_sum *op;
	struct second *s;

	if (!t || class == CLASS_COUNT)
		return 0;
	s = make_second(t, row->at_ns);
	for (int i = 0; i < STATE_COUNT; i++)
		s->state_ns[i] += row->state_ns[i];
	for (int i = 0; i < COUNTER_COUNT; i++)
		s->counter[i] += row->counter[i];
	if (class == CLASS_GAP)
		add_gap(s, row);
	else
		add_call(s, class, row);
	op = op_of(t, row->symbol);
	op->calls += row->calls;
	op->done += row->done;
	op->total_ns += row->total_ns;
	for (int i = 0; i < HIST_BUCKETS; i++)
		op->hist[i] += row->hist[i];
	return 0;
}

static int on_blame(const struct blame_row *row, void *arg)
{
	struct second *s = find_second(((struct loading *)arg)->f, row->thread, row->at_ns);
	struct second_blame *b;

	if (!s)
		return 0;
	s->blame = grow(s->blame, s->blames, sizeof(*s->blame));
	b = &s->blame[s->blames++];
	*b = (struct second_blame){ .pid = row->pid, .cpu = row->cpu, .ns = row->ns };
	text_safe(b->comm, sizeof(b->comm), row->comm);
	return 0;
}

static int on_step_second(const struct step_info *row, void *arg)
{
	struct facts *f = ((struct loading *)arg)->f;
	struct thread_facts *t = find_thread(f, row->thread);
	struct second *s = find_second(f, row->thread, row->at_ns);
	const struct step *sum = &row->sum.sum;

	if (!t)
		return 0;
	t->steps += row->sum.steps;
	t->step_sum.dur_ns += sum->dur_ns;
	t->step_sum.host_ns += sum->host_ns;
	t->step_sum.data_ns += sum->data_ns;
	t->step_sum.copy_ns += sum->copy_ns;
	t->step_sum.sync_ns += sum->sync_ns;
	t->step_sum.coll_ns += sum->coll_ns;
	t->step_sum.other_ns += sum->other_ns;
	t->step_sum.idle_ns += sum->idle_ns;
	for (int i = 0; i < HIST_BUCKETS; i++)
		t->step_hist[i] += row->sum.hist[i];
	if (s) {
		s->steps += row->sum.steps;
		s->step_ns += sum->dur_ns;
		s->idle_ns += sum->idle_ns;
	}
	return 0;
}

/* ---- waits and their chains ---- */

static int path_index(struct loading *l, int64_t id)
{
	int *index = hash_put(l->paths, &id);
	struct facts *f = l->f;

	if (!*index) {
		f->path = grow(f->path, f->paths, sizeof(*f->path));
		f->path[f->paths] = (struct path){ .id = id };
		*index = ++f->paths;
	}
	return *index - 1;
}

static int on_idle(const struct wait_info *row, void *arg)
{
	struct loading *l = arg;
	struct thread_facts *t = find_thread(l->f, row->thread);

	if (!t)
		return 0;
	t->idle = grow(t->idle, t->idles, sizeof(*t->idle));
	t->idle[t->idles++] = (struct idle_ns){ .path = path_index(l, row->chain), .ns = row->ns };
	return 0;
}

static int on_wait(const struct wait_info *row, void *arg)
{
	struct loading *l = arg;
	struct second *s = find_second(l->f, row->thread, row->at_ns);
	enum op_class place = class_of(row->class);

	if (!s || place == CLASS_COUNT)
		return 0;
	s->wait = grow(s->wait, s->waits, sizeof(*s->wait));
	s->wait[s->waits++] = (struct wait){ .place = place,
					     .path = path_index(l, row->chain),
					     .ns = row->ns,
					     .count = row->count,
					     .max_ns = row->max_ns };
	return 0;
}

/*
 * Chains that differ only in their lines are one: what happened is the same. One that is gone stays
 * without hops: its time is charged, its cause unknown.
 */
static int load_path(struct store *s, struct loading *l, struct path *path)
{
	struct facts *f = l->f;
	struct chain raw = { 0 }, safe;
	int err = store_find_chain(s, path->id, &raw), *index;
	int64_t id = path->id;

	if (err && err != -ENOENT)
		return err;
	safe = raw;
	for (int i = 0; i < raw.hops; i++) {
		struct hop *hop = &safe.hop[i];

		text_safe(hop->comm, sizeof(hop->comm), raw.hop[i].comm);
		text_safe(hop->name, sizeof(hop->name), raw.hop[i].name);
		path->stack[i] = hop->stack;
		hop->stack = 0;
		text_safe(hop->device, sizeof(hop->device), raw.hop[i].device);
	}
	if (raw.hops)
		id = (int64_t)chain_bare_id(&raw);
	index = hash_put(l->chains, &id);
	if (!*index) {
		f->chain = grow(f->chain, f->chains, sizeof(*f->chain));
		f->chain[f->chains] = (struct chain_facts){ .id = id, .chain = safe };
		*index = ++f->chains;
	}
	path->chain = *index - 1;
	return 0;
}

static void set_chains(const struct facts *f)
{
	for (int i = 0; i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++) {
			const struct second *s = &f->thread[i].second[k];

			for (int n = 0; n < s->waits; n++)
				s->wait[n].chain = f->path[s->wait[n].path].chain;
		}
		for (int k = 0; k < f->thread[i].idles; k++)
			f->thread[i].idle[k].chain = f->path[f->thread[i].idle[k].path].chain;
	}
}

static int load_waits(struct store *s, struct loading *l)
{
	int err;

	l->chains = hash_new(sizeof(int64_t), sizeof(int));
	l->paths = hash_new(sizeof(int64_t), sizeof(int));
	err = store_each_wait(s, l->f->window, on_wait, l);
	if (!err)
		err = store_each_idle(s, l->f->window, on_idle, l);
	for (int i = 0; !err && i < l->f->paths; i++)
		err = load_path(s, l, &l->f->path[i]);
	if (!err)
		set_chains(l->f);
	hash_free(l->chains);
	hash_free(l->paths);
	return err;
}

static enum state state_of(const char *name)
{
	for (int i = 0; i < STATE_COUNT; i++)
		if (streq(state_names[i], name))
			return (enum state)i;
	return STATE_RUN;
}

/* Collections that no probe told of were counted as running. */
static void add_looked_gc(struct second *s, enum op_class place, uint64_t ns)
{
	ns = min_u64(ns, s->state_ns[STATE_RUN]);
	s->state_ns[STATE_RUN] -= ns;
	s->state_ns[STATE_GC] += ns;
	s->looked_gc_ns += ns;
	if (place == CLASS_GAP) {
		ns = min_u64(ns, s->gap_ns[STATE_RUN]);
		s->gap_ns[STATE_RUN] -= ns;
		s->gap_ns[STATE_GC] += ns;
	}
}

static int on_sample(const struct sample_info *row, void *arg)
{
	struct look *look;
	struct second *s = find_second(((struct loading *)arg)->f, row->thread, row->at_ns);
	enum op_class place = class_of(row->class);

	if (!s || place == CLASS_COUNT)
		return 0;
	s->look = grow(s->look, s->looks, sizeof(*s->look));
	look = &s->look[s->looks++];
	*look = (struct look){ .place = place,
			       .stack = row->stack,
			       .state = state_of(row->state),
			       .samples = row->samples,
			       .ns = row->ns };
	if (look->state == STATE_GC && look->samples)
		add_looked_gc(s, place, row->ns);
	return 0;
}

/* ---- the host ---- */

static int on_host_event(const struct host_event_row *row, void *arg)
{
	struct facts *f = ((struct loading *)arg)->f;
	struct host_facts *event;

	for (int i = 0; i < HOST_COUNT; i++) {
		if (!streq(row->event, host_event_names[i]))
			continue;
		if (i == HOST_exec || i == HOST_exit || i == HOST_reclaim || i == HOST_compaction ||
		    i == HOST_block_io)
			break; /* no rule asks for it */
		f->event = grow(f->event, f->events, sizeof(*f->event));
		event = &f->event[f->events++];
		*event = (struct host_facts){ .event = (enum host_event)i,
					      .pid = row->pid,
					      .at_ns = row->at_ns,
					      .first_ns = row->first_ns,
					      .obj = row->obj,
					      .count = row->count,
					      .ns = row->ns,
					      .value = row->value };
		text_safe(event->comm, sizeof(event->comm), row->comm);
		text_safe(event->name, sizeof(event->name), row->name);
		text_safe(event->cgroup, sizeof(event->cgroup), row->cgroup);
	}
	return 0;
}

static int on_system(const struct system_info *row, void *arg)
{
	struct facts *f = ((struct loading *)arg)->f;

	f->system = grow(f->system, f->systems, sizeof(*f->system));
	f->system[f->systems++] = *row;
	return 0;
}

static int on_loss(const struct loss_row *row, void *arg)
{
	struct facts *f = ((struct loading *)arg)->f;

	if (streq(row->reason, "history"))
		f->lost_stops += row->count;
	return 0;
}

/* ---- what follows from it ---- */

static int process_order(const void *x, const void *y)
{
	const struct thread_facts *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return thread_order(x, y);
}

static uint64_t fed(const struct thread_facts *t)
{
	uint64_t n = 0;

	for (int i = 0; i < t->seconds; i++)
		n += t->second[i].launches + second_calls(&t->second[i], CLASS_GRAPH) +
		     second_calls(&t->second[i], CLASS_COLL);
	return n;
}

static void mark_feeders(struct facts *f)
{
	for (int i = 0, n; i < f->threads; i += n) {
		uint64_t all = 0;

		for (n = 0; i + n < f->threads; n++) {
			if (f->thread[i + n].process != f->thread[i].process)
				break;
			all += fed(&f->thread[i + n]);
		}
		for (int k = i; k < i + n; k++)
			f->thread[k].feeds = all && percent(fed(&f->thread[k]), all) >= FEEDS_PCT;
	}
}

static void mark_warm_up(struct thread_facts *t)
{
	uint64_t until = 0;

	for (int i = 0; i < t->seconds; i++) {
		struct second *s = &t->second[i];

		if (second_calls(s, CLASS_INIT) || second_calls(s, CLASS_MODULE))
			until = s->at_ns + WARM_UP_NS;
		s->warm_up = s->at_ns <= until;
	}
}

int facts_load(struct store *s, struct window w, struct facts *ret)
{
	struct loading l = { .f = ret };
	int err;

	*ret = (struct facts){ .window = w };
	err = store_each_thread(s, w, on_thread, &l);
	if (!err)
		err = store_each_op_second(s, w, on_op_second, &l);
	if (!err)
		err = store_each_blame(s, w, on_blame, &l);
	if (!err)
		err = load_belongings(s, w, ret);
	if (!err)
		err = load_disk_uses(s, w, ret);
	if (!err)
		err = load_waits(s, &l);
	if (!err)
		err = store_each_sample(s, w, on_sample, &l);
	if (!err)
		err = store_each_step_second(s, w, on_step_second, &l);
	if (!err)
		err = store_each_host_event(s, w, on_host_event, &l);
	if (!err)
		err = store_each_system(s, w, on_system, &l);
	if (!err)
		err = store_each_loss(s, w, on_loss, &l);
	err = err ? err : facts_load_gpus(s, ret);
	err = err ? err : facts_load_io(s, ret);
	err = err ? err : load_ranks(s, w, ret);
	err = err ? err : facts_load_shed(s, ret);
	if (err) {
		facts_release(ret);
		return err;
	}
	if (ret->threads)
		qsort(ret->thread, (size_t)ret->threads, sizeof(*ret->thread), process_order);
	facts_scale(ret);
	mark_feeders(ret);
	for (int i = 0; i < ret->threads; i++)
		mark_warm_up(&ret->thread[i]);
	facts_classify(ret);
	facts_meet(ret);
	return 0;
}

void facts_release(struct facts *f)
{
	for (int i = 0; i < f->threads; i++) {
		for (int k = 0; k < f->thread[i].seconds; k++) {
			free(f->thread[i].second[k].blame);
			free(f->thread[i].second[k].wait);
			free(f->thread[i].second[k].look);
		}
		free(f->thread[i].second);
		free(f->thread[i].op);
		free(f->thread[i].idle);
	}
	free(f->thread);
	free(f->chain);
	free(f->path);
	free(f->event);
	free(f->system);
	free(f->descent);
	free(f->belonging);
	free(f->disk_use);
	facts_release_gpus(f);
	release_ranks(f);
	free(f->shed);
	free(f->io);
	*f = (struct facts){ 0 };
}
