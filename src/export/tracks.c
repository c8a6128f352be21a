// SPDX-License-Identifier: Apache-2.0
/* Tracks: made on first use, each with its place below a thread, a process or a node. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "export/timeline.h"

#define PROGRESS_NS 200000000ull
#define PROGRESS_EVERY 256 /* looks at the clock are not free */

struct kind_key {
	uint64_t parent, name; /* the name by its hash */
};

static uint64_t name_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

static uint64_t add_track(struct timeline_out *t, struct track *def)
{
	/* Processes and threads are as many as the trace has: the rest is bounded. */
	if (t->tracks >= TRACKS_MAX && (def->kind == TRACK_SLICES || def->kind == TRACK_COUNTER))
		return 0;
	def->id = ++t->tracks;
	sink_track(&t->sink, def);
	return def->id;
}

/* ---- nodes, processes, threads ---- */

uint64_t tl_node_track(struct timeline_out *t, int node)
{
	struct tl_node *n = &t->node[node];
	char name[96];

	if (!n->track) {
		snprintf(name, sizeof(name), "node %s", n->name);
		n->track = add_track(t, &(struct track){ .kind = TRACK_GROUP, .name = name });
	}
	return n->track;
}

uint64_t tl_process_track(struct timeline_out *t, struct tl_process *p)
{
	struct track def = { .kind = TRACK_PROCESS, .pid = p->shown_pid, .cmdline = p->cmdline };
	char name[192], rank[40] = "", pid[40] = "";

	if (p->track)
		return p->track;
	if (p->rank >= 0)
		snprintf(rank, sizeof(rank), " rank %lld", (long long)p->rank);
	if (p->pid != p->shown_pid)
		snprintf(pid, sizeof(pid), " (pid %u)", p->pid);
	snprintf(name, sizeof(name), "%s%s: %s%s%s", t->node[p->node].name, rank, p->comm, pid,
		 p->traced ? "" : ", not traced");
	def.name = name;
	p->track = add_track(t, &def);
	return p->track;
}

/* A number of its own: that of a first thread is that of its process. */
static uint32_t shown_tid(struct timeline_out *t, const struct tl_process *p, uint32_t tid)
{
	if (tid == p->pid)
		return p->shown_pid;
	if (tid > INT32_MAX || hash_get(t->taken, &tid))
		return ++t->made_up;
	*(char *)hash_put(t->taken, &tid) = 1;
	return tid;
}

static struct lanes *thread_lanes(struct timeline_out *t, struct tl_thread *thread)
{
	struct tl_process *p = &t->process[thread->process];
	struct lanes *l = xcalloc(1, sizeof(*l));
	struct kind_key key;

	l->def = (struct track){ .kind = TRACK_THREAD,
				 .parent = tl_process_track(t, p),
				 .pid = p->shown_pid,
				 .tid = shown_tid(t, p, thread->tid) };
	l->name = xstrdup(thread->comm);
	l->def.name = l->name;
	l->lane[0].track = add_track(t, &l->def);
	l->def.id = l->lane[0].track;
	l->count = l->def.id ? 1 : 0;
	key = (struct kind_key){ l->def.id, 0 }; /* kept there for tl_release() alone */
	*(struct lanes **)hash_put(t->kinds, &key) = l;
	return l;
}

uint64_t tl_thread_track(struct timeline_out *t, struct tl_thread *thread)
{
	if (!thread->calls)
		thread->calls = thread_lanes(t, thread);
	return thread->calls->def.id;
}

/* ---- what lies below them ---- */

uint64_t tl_group(struct timeline_out *t, uint64_t parent, const char *name)
{
	struct kind_key key = { parent, name_hash(name) ^ TRACK_GROUP };
	uint64_t *id = hash_put(t->ids, &key);

	if (!*id)
		*id = add_track(
			t, &(struct track){ .kind = TRACK_GROUP, .parent = parent, .name = name });
	return *id;
}

uint64_t tl_counter(struct timeline_out *t, uint64_t parent, const char *name, const char *unit)
{
	struct kind_key key = { parent, name_hash(name) ^ TRACK_COUNTER };
	uint64_t *id = hash_put(t->ids, &key);

	if (!*id)
		*id = add_track(t, &(struct track){ .kind = TRACK_COUNTER,
						    .parent = parent,
						    .name = name,
						    .unit = unit });
	return *id;
}

struct lanes *tl_lanes(struct timeline_out *t, uint64_t parent, const char *name)
{
	struct kind_key key = { parent, name_hash(name) ^ TRACK_SLICES };
	struct lanes **l = hash_put(t->kinds, &key);

	if (!*l) {
		*l = xcalloc(1, sizeof(**l));
		(*l)->name = xstrdup(name);
		(*l)->def = (struct track){ .kind = TRACK_SLICES,
					    .parent = parent,
					    .name = (*l)->name };
	}
	return *l;
}

/* ---- room ---- */

static bool fits(struct lanes *l, int i, const struct mark *m)
{
	if (m->from_ns < l->lane[i].last_ns)
		return false; /* what was open then is not known any more */
	while (l->lane[i].depth && l->lane[i].end[l->lane[i].depth - 1] <= m->from_ns)
		l->lane[i].depth--;
	return !l->lane[i].depth ||
	       (m->to_ns <= l->lane[i].end[l->lane[i].depth - 1] && l->lane[i].depth < DEPTH_MAX);
}

static void occupy(struct lanes *l, int i, const struct mark *m)
{
	l->lane[i].last_ns = m->from_ns;
	if (m->to_ns == m->from_ns)
		return;
	if (l->lane[i].depth == l->lane[i].cap) {
		l->lane[i].cap += 4;
		l->lane[i].end =
			xrealloc(l->lane[i].end, (size_t)l->lane[i].cap, sizeof(*l->lane[i].end));
	}
	l->lane[i].end[l->lane[i].depth++] = m->to_ns;
}

/* Lanes beyond the first of a thread are no threads: slices below it, of its name. */
static bool add_lane(struct timeline_out *t, struct lanes *l)
{
	struct track def = l->def;

	if (l->def.kind == TRACK_THREAD && l->count) {
		def.kind = TRACK_SLICES;
		def.parent = l->def.id;
		def.name = "overlapping calls";
	}
	l->lane[l->count].track = add_track(t, &def);
	if (!l->def.id)
		l->def.id = def.id;
	return l->lane[l->count].track && ++l->count;
}

bool tl_place(struct timeline_out *t, struct lanes *l, struct mark *m)
{
	m->from_ns = min_u64(max_u64(m->from_ns, t->w.from_ns), INT64_MAX);
	m->to_ns = min_u64(max_u64(m->to_ns, m->from_ns), INT64_MAX);
	for (int i = 0; i < LANES_MAX; i++) {
		if (i == l->count && !add_lane(t, l))
			break;
		if (!fits(l, i, m))
			continue;
		occupy(l, i, m);
		m->track = l->lane[i].track;
		return true;
	}
	t->hidden++;
	return false;
}

void tl_sequence(struct timeline_out *t, int node)
{
	sink_sequence(&t->sink, t->node[node].shift_ns);
}

void tl_thread_sequence(struct timeline_out *t, const struct tl_thread *thread)
{
	tl_sequence(t, tl_process_of(t, thread)->node);
}

int tl_progress(struct timeline_out *t, uint64_t at_ns)
{
	double span = (double)(t->end_ns - t->w.from_ns);
	uint64_t now;

	if (t->stopped || !t->opts->progress || t->asked++ % PROGRESS_EVERY)
		return t->stopped;
	now = clock_wall_ns();
	if (now - t->last_progress_ns < PROGRESS_NS)
		return 0;
	t->last_progress_ns = now;
	at_ns = max_u64(min_u64(at_ns, t->end_ns), t->w.from_ns);
	t->stopped = t->opts->progress(span > 0 ? (double)(at_ns - t->w.from_ns) / span : 0,
				       t->sink.marks, t->opts->progress_arg);
	return t->stopped;
}
