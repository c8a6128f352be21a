// SPDX-License-Identifier: Apache-2.0
/* Follows a file: which ranges were written, by whom, and what was made durable when. */
#include "integrity/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define WRITERS_MAX 16

/* Written bytes, sorted, apart from each other unless by different processes. */
struct range {
	uint64_t from, to;
	uint32_t pid, pad;
};

/* Whose writes come before those of all others, or after, shares nothing with them. */
struct writer {
	uint32_t pid, pad; /* 0: an unused slot */
	uint64_t first, last;
	uint64_t pending; /* bytes of it that were overwritten: shared, if it writes again */
};

struct follow {
	struct checkpoint now;
	struct range *range;
	size_t count;
	struct writer writer[WRITERS_MAX];
	bool ranges_full;
};

struct follow *follow_new(const struct tag_file *file, uint32_t generation)
{
	struct follow *f = xcalloc(1, sizeof(*f));

	f->now.file = *file;
	f->now.file.pad = 0;
	f->now.generation = generation;
	return f;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	free(f->range);
	free(f);
}

struct checkpoint *follow_checkpoint(struct follow *f)
{
	return &f->now;
}

void follow_again(struct follow *f)
{
	struct checkpoint was = f->now;

	f->now = (struct checkpoint){ .file = was.file,
				      .generation = was.generation,
				      .tag = was.tag,
				      .dense = was.dense,
				      .has_size = was.has_size,
				      .declared = was.declared,
				      .unseen = was.unseen };
	f->count = 0;
	f->ranges_full = false;
	memset(f->writer, 0, sizeof(f->writer));
}

/* ---- ranges ---- */

static void range_insert(struct follow *f, size_t at, const struct range *r)
{
	if (f->count == RANGES_MAX) {
		f->ranges_full = true;
		return;
	}
	if (!(f->count & (f->count - 1))) /* a power of two: full */
		f->range = xrealloc(f->range, f->count ? f->count * 2 : 1, sizeof(*f->range));
	memmove(f->range + at + 1, f->range + at, (f->count - at) * sizeof(*f->range));
	f->range[at] = *r;
	f->count++;
}

static void range_drop(struct follow *f, size_t at)
{
	f->count--;
	memmove(f->range + at, f->range + at + 1, (f->count - at) * sizeof(*f->range));
}

static struct writer *writer_of(struct follow *f, uint32_t pid)
{
	for (uint32_t i = 0; i < WRITERS_MAX; i++)
		if (f->writer[i].pid == pid)
			return &f->writer[i];
	return NULL;
}

/* Bytes of `was` are written by `pid` now. */
static void note_overlap(struct follow *f, uint64_t bytes, uint32_t was, uint32_t pid)
{
	struct writer *before = writer_of(f, was), *now = writer_of(f, pid);

	f->now.overwritten += bytes;
	if (was == pid)
		return;
	/* No slot: more writers than can be told apart. */
	if (!before || !now || before->last > now->first)
		f->now.shared += bytes;
	else
		before->pending += bytes;
}

/* Take [from, to) out of what is there, counting what was written before. */
static size_t cut_out(struct follow *f, uint64_t from, uint64_t to, uint32_t pid)
{
	size_t i = 0;

	while (i < f->count && f->range[i].to <= from)
		i++;
	while (i < f->count && f->range[i].from < to) {
		struct range *r = &f->range[i];
		uint64_t low = max_u64(r->from, from), high = min_u64(r->to, to);

		if (pid)
			note_overlap(f, high - low, r->pid, pid);
		if (r->from < from && r->to > to) {
			struct range tail = { to, r->to, r->pid, 0 };

			r->to = from;
			range_insert(f, i + 1, &tail);
			return i + 1;
		}
		if (r->from < from) {
			r->to = from;
			i++;
		} else if (r->to > to) {
			r->from = to;
		} else {
			range_drop(f, i);
		}
	}
	return i;
}

static void add_range(struct follow *f, uint64_t from, uint64_t to, uint32_t pid)
{
	struct range fresh = { from, to, pid, 0 };
	size_t at = cut_out(f, from, to, pid);

	if (at < f->count && f->range[at].from == to && f->range[at].pid == pid) {
		fresh.to = f->range[at].to;
		range_drop(f, at);
	}
	if (at && f->range[at - 1].to == from && f->range[at - 1].pid == pid) {
		f->range[at - 1].to = fresh.to;
		return;
	}
	range_insert(f, at, &fresh);
}

void follow_gaps(struct follow *f)
{
	struct checkpoint *c = &f->now;
	uint64_t at = 0;

	c->gaps = c->gap_bytes = 0;
	if (!c->closed_ns || !c->from_start || f->ranges_full)
		return;
	for (size_t i = 0; i <= f->count; i++) {
		uint64_t next = i < f->count ? min_u64(f->range[i].from, c->size) : c->size;

		if (next > at) {
			c->gaps++;
			c->gap_bytes += next - at;
		}
		if (i < f->count)
			at = max_u64(at, f->range[i].to);
	}
}

/* ---- events ---- */

static void note_writer(struct follow *f, const struct checked_event *e)
{
	uint64_t since = e->since ? e->since : e->at;
	struct writer *w = writer_of(f, e->pid);

	f->now.writer = e->pid;
	if (!w) {
		f->now.writers++;
		w = writer_of(f, 0);
		if (!w)
			return;
		*w = (struct writer){ .pid = e->pid, .first = since };
	}
	f->now.shared += w->pending;
	w->pending = 0;
	w->first = min_u64(w->first, since);
	w->last = max_u64(w->last, e->at);
}

/* Writes may be told after the close that they came before. */
static void reopen(struct checkpoint *c, uint64_t at)
{
	if (at > c->closed_ns)
		c->closed_ns = 0;
}

static void on_write(struct follow *f, const struct checked_event *e)
{
	struct checkpoint *c = &f->now;

	if (e->a >= e->b)
		return;
	if (!c->began_ns)
		c->began_ns = e->since ? e->since : e->at;
	c->last_ns = max_u64(c->last_ns, e->at);
	reopen(c, e->at);
	note_writer(f, e);
	if (e->event == TAG_EVENT_MAPPED) {
		c->mapped++;
	} else {
		c->bytes += e->b - e->a;
		c->writes += e->count ? e->count : 1;
		c->stretches++;
	}
	add_range(f, e->a, e->b, e->pid);
}

static void on_sync(struct checkpoint *c, const struct checked_event *e)
{
	int64_t ret = (int64_t)e->a;

	if (ret < 0)
		c->sync_error = (int32_t)(ret < -4095 ? -4095 : ret);
	else if (!c->sync_error)
		c->synced_ns = max_u64(c->synced_ns, e->b ? e->b : e->at);
}

static bool writes(const struct checked_event *e)
{
	return e->event == TAG_EVENT_WRITE || e->event == TAG_EVENT_MAPPED ||
	       e->event == TAG_EVENT_TRUNCATE || e->event == TAG_EVENT_WRITE_FAILED;
}

bool follow_ended(struct follow *f, const struct checked_event *e)
{
	struct checkpoint *c = &f->now;

	if (!c->hashed_ns || !writes(e) || e->at <= c->closed_ns)
		return false;
	if (e->event == TAG_EVENT_TRUNCATE && !e->a)
		return true;
	if (writer_of(f, e->pid) && !c->changed_ns) {
		c->hashed_ns = 0;
		c->digest = (struct digest){ 0 };
	} else if (!c->changed_ns) {
		c->changed_ns = e->at;
		c->changer = e->pid;
	}
	return false;
}

bool follow_event(struct follow *f, const struct checked_event *e)
{
	struct checkpoint *c = &f->now;

	if (e->tag)
		c->tag = e->tag;
	if (e->flags & CHECKED_EMPTY && !c->began_ns)
		c->from_start = true;
	if (c->changed_ns && writes(e))
		return true; /* what was finished stays as it was */
	switch (e->event) {
	case TAG_EVENT_WRITE:
	case TAG_EVENT_MAPPED:
		on_write(f, e);
		return true;
	case TAG_EVENT_WRITE_FAILED:
		c->failed++;
		c->last_ns = max_u64(c->last_ns, e->at);
		note_writer(f, e);
		return true;
	case TAG_EVENT_TRUNCATE:
		if (e->a) {
			cut_out(f, e->a, UINT64_MAX, 0);
		} else {
			uint64_t closed = c->closed_ns, size = c->size;

			follow_again(f);
			c->closed_ns = closed;
			c->size = size;
		}
		c->from_start |= !e->a;
		c->last_ns = max_u64(c->last_ns, e->at);
		reopen(c, e->at);
		return true;
	case TAG_EVENT_SYNC:
		on_sync(c, e);
		return true;
	case TAG_EVENT_SYNC_ALL:
		if (!checkpoint_dirty(c) && !checkpoint_name_dirty(c))
			return false;
		c->synced_ns = max_u64(c->synced_ns, e->at);
		c->name_synced_ns = max_u64(c->name_synced_ns, e->at);
		return true;
	case TAG_EVENT_SYNC_DIR:
		if ((int64_t)e->a < 0 || !checkpoint_name_dirty(c))
			return false;
		c->name_synced_ns = max_u64(c->name_synced_ns, e->at);
		return true;
	case TAG_EVENT_RENAME:
		c->renamed_ns = e->at;
		c->renamed_dirty = checkpoint_dirty(c);
		return true;
	case TAG_EVENT_EXIT:
		/* A file that was closed, or is durable, did not suffer. */
		if (!writer_of(f, e->pid) || !(e->a & 0x7f) || !checkpoint_dirty(c) ||
		    (c->closed_ns && c->closed_ns < e->at))
			return false;
		c->signal = (int32_t)(e->a & 0x7f);
		return true;
	default:
		return false;
	}
}

void follow_closed(struct follow *f, uint64_t at, uint64_t size)
{
	struct checkpoint *c = &f->now;

	c->closed_ns = at;
	c->size = size;
}
