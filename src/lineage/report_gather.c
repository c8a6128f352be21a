// SPDX-License-Identifier: Apache-2.0
/* The rows of a trace that the report is made of, summed up. */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/util.h"
#include "lineage/report.h"
#include "store/read_io.h"

static void add(struct report_sum *to, const struct io_counts *c)
{
	to->requests += c->requests + c->merged;
	to->bytes += c->bytes;
	to->timed += c->timed;
	to->total_ns += c->total_ns;
	to->max_ns = max_u64(to->max_ns, c->max_ns);
	to->slow += c->slow;
	to->errors += c->errors;
	to->requeues += c->requeues;
	for (int i = 0; i < HIST_BUCKETS; i++)
		to->hist[i] += c->hist[i];
	report_add_maps(&to->map, &c->map);
}

/* ---- waits ---- */

static struct report_wait *wait_of(struct report *r, const struct io_wait_info *w)
{
	struct report_wait *to;

	for (int i = 0; i < r->waits; i++) {
		to = &r->wait[i];
		if (to->ino == w->ino && to->fs_dev == w->fs_dev && to->pid == w->pid &&
		    to->tid == w->tid && to->process_pid == w->process_pid &&
		    streq(to->state, w->state) && (w->ino || streq(to->name, w->name)))
			return to;
	}
	if (r->waits == REPORT_WAITS) {
		r->lost_rows++;
		return NULL;
	}
	to = &r->wait[r->waits++];
	to->ino = w->ino;
	to->fs_dev = w->fs_dev;
	to->pid = w->pid;
	to->tid = w->tid;
	to->process_pid = w->process_pid;
	str_copy(to->state, sizeof(to->state), w->state);
	str_copy(to->name, sizeof(to->name), w->name);
	str_copy(to->comm, sizeof(to->comm), w->comm);
	str_copy(to->process_comm, sizeof(to->process_comm), w->process_comm);
	to->first_ns = w->at_ns;
	return to;
}

static int on_wait(const struct io_wait_info *w, void *arg)
{
	struct report *r = arg;
	struct report_wait *to = wait_of(r, w);

	r->storage_wait_ns += w->ns;
	if (!to)
		return 0;
	to->ns += w->ns;
	to->count += w->count;
	to->max_ns = max_u64(to->max_ns, w->max_ns);
	to->first_ns = min_u64(to->first_ns, w->at_ns);
	to->last_ns = max_u64(to->last_ns, w->at_ns);
	if (w->ns > to->stack_ns) {
		to->stack_ns = w->ns;
		to->stack = w->stack;
	}
	return 0;
}

static int on_idle_wait(const struct io_wait_info *w, void *arg)
{
	struct report *r = arg;
	struct report_wait *to = wait_of(r, w);

	r->storage_idle_ns += w->ns;
	if (to) {
		to->idle_ns += w->ns;
		to->idle_max_ns = max_u64(to->idle_max_ns, w->max_ns);
	}
	return 0;
}

static int on_idle(const struct wait_info *w, void *arg)
{
	struct report *r = arg;

	r->idle_ns += w->ns;
	return 0;
}

/* ---- only one tag ---- */

static bool is_tagged(const struct report *r, uint64_t ino, uint64_t fs_dev)
{
	for (int i = 0; i < r->tagged; i++)
		if (r->tagged_file[i].ino == ino && r->tagged_file[i].fs_dev == fs_dev)
			return true;
	return false;
}

static int on_tagged(const struct io_second_info *s, void *arg)
{
	struct report *r = arg;

	if (s->what.tag != r->tag || !s->what.ino || is_tagged(r, s->what.ino, s->what.fs_dev))
		return 0;
	if (r->tagged == REPORT_TAGGED) {
		r->lost_rows++;
		return 0;
	}
	r->tagged_file[r->tagged].ino = s->what.ino;
	r->tagged_file[r->tagged++].fs_dev = s->what.fs_dev;
	return 0;
}

/* The file that cost the GPUs most, or where nobody knows of their idleness, its thread. */
static int find_primary(const struct report *r)
{
	int best = -1;

	for (int i = 0; i < r->waits; i++) {
		const struct report_wait *w = &r->wait[i], *b = best < 0 ? NULL : &r->wait[best];

		if (r->tag && !is_tagged(r, w->ino, w->fs_dev))
			continue;
		if (!b || w->idle_ns > b->idle_ns || (w->idle_ns == b->idle_ns && w->ns > b->ns))
			best = i;
	}
	return best;
}

/* The same thread, waiting in the same way for the same file system. */
static bool is_alike(const struct report_wait *p, uint64_t fs_dev, uint32_t pid, uint32_t tid,
		     const char *state)
{
	return p->fs_dev == fs_dev && p->pid == pid && p->tid == tid && streq(p->state, state);
}

static void sum_group(struct report *r)
{
	const struct report_wait *p = &r->wait[r->primary], *w = r->wait;

	for (int i = 0; i < r->waits; i++, w++) {
		if (!is_alike(p, w->fs_dev, w->pid, w->tid, w->state))
			continue;
		r->group_files++;
		r->group_ns += w->ns;
		r->group_count += w->count;
		r->group_idle_ns += w->idle_ns;
		r->group_max_ns = max_u64(r->group_max_ns, w->max_ns);
	}
}

static int on_stall_second(const struct io_wait_info *w, void *arg)
{
	struct report *r = arg;

	if (!is_alike(&r->wait[r->primary], w->fs_dev, w->pid, w->tid, w->state) ||
	    r->stall_seconds == REPORT_SECONDS)
		return 0;
	if (r->stall_seconds && r->stall_second[r->stall_seconds - 1] == w->at_ns)
		return 0;
	r->stall_second[r->stall_seconds++] = w->at_ns;
	return 0;
}

/* The rows of one second are written within it, not at one instant. */
static bool in_stall(const struct report *r, uint64_t at_ns)
{
	for (int i = 0; i < r->stall_seconds; i++)
		if (at_ns + 600000000 > r->stall_second[i] &&
		    at_ns < r->stall_second[i] + 600000000)
			return true;
	return false;
}

/* ---- requests ---- */

static struct report_disk *disk_of(struct report *r, const struct io_what *what)
{
	for (int i = 0; i < r->disks; i++)
		if (r->disk[i].dev == what->dev)
			return &r->disk[i];
	if (r->disks == REPORT_DISKS)
		return NULL;
	r->disk[r->disks].dev = what->dev;
	if (what->disk[0])
		str_copy(r->disk[r->disks].name, sizeof(r->disk[0].name), what->disk);
	else
		snprintf(r->disk[r->disks].name, sizeof(r->disk[0].name), "%u:%u", what->dev >> 20,
			 what->dev & 0xfffff);
	return &r->disk[r->disks++];
}

static struct report_file *file_of(struct report *r, const struct io_what *what)
{
	bool journal = streq(what->class, "journal");
	struct report_file *f;

	for (int i = 0; i < r->files; i++) {
		f = &r->file[i];
		if (f->ino == what->ino && f->fs_dev == what->fs_dev && f->dev == what->dev &&
		    f->pid == what->pid && f->tag == what->tag && f->journal == journal &&
		    streq(f->op, what->op) && (what->ino || streq(f->path, what->file)))
			return f;
	}
	if (r->files == REPORT_FILES) {
		r->lost_rows++;
		return NULL;
	}
	f = &r->file[r->files++];
	f->ino = what->ino;
	f->fs_dev = what->fs_dev;
	f->dev = what->dev;
	f->pid = what->pid;
	f->tag = what->tag;
	f->journal = journal;
	str_copy(f->path, sizeof(f->path), what->file);
	str_copy(f->comm, sizeof(f->comm), what->comm);
	str_copy(f->fs, sizeof(f->fs), what->fs);
	str_copy(f->class, sizeof(f->class), what->class);
	str_copy(f->op, sizeof(f->op), what->op);
	str_copy(f->how, sizeof(f->how), what->owner);
	return f;
}

static void add_owner(struct report *r, const struct io_second_info *s)
{
	struct report_owner *o = NULL;

	for (int i = 0; !o && i < r->owners; i++)
		if (r->owner[i].dev == s->what.dev && r->owner[i].pid == s->what.pid)
			o = &r->owner[i];
	if (!o && r->owners < REPORT_OWNERS) {
		o = &r->owner[r->owners++];
		o->dev = s->what.dev;
		o->pid = s->what.pid;
		str_copy(o->comm, sizeof(o->comm), s->what.comm);
	}
	if (!o) {
		r->lost_rows++;
		return;
	}
	o->bytes += s->counts.bytes;
	o->requests += s->counts.requests + s->counts.merged;
	o->total_ns += s->counts.total_ns;
}

static void add_tag(struct report *r, const struct io_second_info *s)
{
	int i = 0;

	if (!s->what.tag)
		return;
	while (i < r->tag_count && r->tags[i].tag != s->what.tag)
		i++;
	if (i == REPORT_TAGS) {
		r->lost_rows++;
		return;
	}
	if (i == r->tag_count)
		r->tags[r->tag_count++].tag = s->what.tag;
	add(streq(s->what.op, "read") ? &r->tags[i].read : &r->tags[i].write, &s->counts);
}

static int on_second(const struct io_second_info *s, void *arg)
{
	struct report *r = arg;
	struct report_disk *disk = disk_of(r, &s->what);
	bool stalled = in_stall(r, s->at_ns);
	struct report_file *file;

	r->rows++;
	if (!disk) {
		r->lost_rows++;
		return 0;
	}
	add(streq(s->what.op, "read") ? &disk->read : &disk->write, &s->counts);
	add(stalled ? &disk->stalled : &disk->else_, &s->counts);
	if (stalled)
		add_owner(r, s);
	add_tag(r, s);
	if (r->tag && s->what.tag != r->tag)
		return 0;
	file = file_of(r, &s->what);
	if (file) {
		add(&file->sum, &s->counts);
		if (stalled)
			add(&file->stalled, &s->counts);
	}
	return 0;
}

/* ---- the host ---- */

static int on_gpu(const struct gpu_info *g, void *arg)
{
	struct report *r = arg;

	if (r->gpus < REPORT_GPUS)
		r->gpu[r->gpus++] = (struct report_gpu){
			.id = g->id, .n = g->index, .before = -1, .during = -1, .after = -1
		};
	return 0;
}

enum when { BEFORE, DURING, AFTER, WHENS };

struct activity {
	struct report *r;
	double sum[REPORT_GPUS][WHENS];
	uint32_t n[REPORT_GPUS][WHENS];
};

static int on_gpu_second(const struct gpu_second_info *s, void *arg)
{
	struct activity *a = arg;
	struct report *r = a->r;
	enum when when;
	double value;
	int i = 0;

	while (i < r->gpus && r->gpu[i].id != s->gpu)
		i++;
	if (i == r->gpus)
		return 0;
	if (GPU_KNOWN(&s->values, GPU_sm_active_pct)) {
		value = (double)s->values.value[GPU_sm_active_pct] / 1000;
		r->gpu[i].sm = true;
	} else if (GPU_KNOWN(&s->values, GPU_util_pct) && !r->gpu[i].sm) {
		value = (double)s->values.value[GPU_util_pct] / 1000;
	} else {
		return 0;
	}
	when = BEFORE;
	if (in_stall(r, s->at_ns))
		when = DURING;
	else if (r->stall_seconds && s->at_ns > r->stall_second[r->stall_seconds - 1])
		when = AFTER;
	a->sum[i][when] += value;
	a->n[i][when]++;
	r->gpu[i].samples++;
	return 0;
}

static int gather_gpus(struct store *s, struct report *r)
{
	struct activity *a = xcalloc(1, sizeof(*a));
	int err = store_each_gpu(s, r->window, on_gpu, r);

	a->r = r;
	if (!err)
		err = store_each_gpu_second(s, r->window, on_gpu_second, a);
	for (int i = 0; i < r->gpus; i++) {
		double *to[] = { &r->gpu[i].before, &r->gpu[i].during, &r->gpu[i].after };

		for (int k = 0; k < WHENS; k++)
			if (a->n[i][k])
				*to[k] = a->sum[i][k] / a->n[i][k];
	}
	free(a);
	return err;
}

int report_gather(struct store *s, struct report *r)
{
	int err = r->tag ? store_each_io_second(s, r->window, on_tagged, r) : 0;

	if (!err)
		err = store_each_io_wait(s, r->window, false, on_wait, r);
	if (!err)
		err = store_each_io_wait(s, r->window, true, on_idle_wait, r);
	if (!err)
		err = store_each_idle(s, r->window, on_idle, r);
	r->primary = find_primary(r);
	if (!err && r->primary >= 0) {
		sum_group(r);
		err = store_each_io_wait(s, r->window, false, on_stall_second, r);
	}
	if (!err)
		err = store_each_io_second(s, r->window, on_second, r);
	if (!err)
		err = gather_gpus(s, r);
	if (!err && !r->rows)
		err = fail(-ENODATA, "no disk requests were recorded in that time");
	return err;
}
