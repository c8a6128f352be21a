// SPDX-License-Identifier: Apache-2.0
/* Once a second: the accounts of storage and its slow requests, from the kernel into the store. */
#include "agent/storage.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/tagging.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/names.h"
#include "lineage/lineage.h"
#include "store/write_io.h"
#include "wire/tag.h"

#define ROWS_MAX 256 /* accounts stored one by one in a second; the rest are summed up by owner */
#define SINGLES_MAX 200 /* requests stored one by one in a second */
#define SLOW_NS 10000000ull
#define SAMPLES 10 /* a second and CPU, of requests that are not slow */
#define OFF_MAX 10 /* seconds without a look */
#define NAMES_MAX 1024 /* of disks and control groups; then all are forgotten */

struct name {
	bool asked;
	char text[256];
};

struct account {
	struct lineage_flow flow;
	struct lineage_maps maps;
};

struct storage {
	struct lineage *lineage;
	struct hash *disks, *cgroups; /* number -> struct name */
	struct tagging *tagging; /* may be NULL */
	struct hash *met; /* struct tag_file -> nothing: files that were written */
	struct account *flows; /* of this second */
	size_t flow_count, flow_cap;
	struct lineage_event singles[SINGLES_MAX];
	size_t single_count;
	struct lineage_stats told; /* as stored already */
	double budget;
	int cpus;
	uint64_t at_ns; /* of the last second */
	uint64_t off_ns; /* not looked at since then; 0: it is */
	uint32_t off_left; /* seconds of that */
	double off_pct; /* what it cost, which made it necessary */
	/* While storing: */
	struct store *store;
	uint64_t now;
	int err;
};

static int share_tags(struct bpf_object *object, void *arg)
{
	int err = tagging_share(arg, object);

	return err ? err : 1;
}

struct storage *storage_new(bool wanted, double budget, struct tagging *tagging)
{
	struct lineage_opts opts = { .slow_ns = SLOW_NS,
				     .quota = SAMPLES,
				     .share_tags = tagging ? share_tags : NULL,
				     .share_arg = tagging };
	struct lineage *lineage;
	struct storage *s;
	int err;

	if (!wanted)
		return NULL;
	err = lineage_open(&opts, &lineage);
	if (err) {
		log_warn("disk requests are not followed to their files: %s", why(err));
		return NULL;
	}
	if (lineage_limits(lineage)[0])
		log_warn("on this kernel %s", lineage_limits(lineage));
	s = xcalloc(1, sizeof(*s));
	s->lineage = lineage;
	s->tagging = tagging;
	s->met = hash_new(sizeof(struct tag_file), sizeof(char));
	s->budget = budget;
	s->cpus = (int)max_u64(1, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	s->at_ns = clock_boot_ns();
	s->disks = hash_new(sizeof(uint64_t), sizeof(struct name));
	s->cgroups = hash_new(sizeof(uint64_t), sizeof(struct name));
	return s;
}

void storage_free(struct storage *s)
{
	if (!s)
		return;
	lineage_close(s->lineage);
	hash_free(s->disks);
	hash_free(s->cgroups);
	hash_free(s->met);
	free(s->flows);
	free(s);
}

void storage_detach(struct storage *s)
{
	if (s)
		lineage_detach(s->lineage);
}

/* ---- reading ---- */

static bool is_worth_more(const struct lineage_event *a, const struct lineage_event *b)
{
	if (!a->error != !b->error)
		return a->error;
	return a->queue_ns + a->device_ns > b->queue_ns + b->device_ns;
}

/* The worst are kept; all are in the accounts. */
static void on_event(const struct lineage_event *event, void *arg)
{
	struct storage *s = arg;
	size_t least = 0;

	if (s->single_count < SINGLES_MAX) {
		s->singles[s->single_count++] = *event;
		return;
	}
	for (size_t i = 1; i < SINGLES_MAX; i++)
		if (is_worth_more(&s->singles[least], &s->singles[i]))
			least = i;
	if (is_worth_more(event, &s->singles[least]))
		s->singles[least] = *event;
}

void storage_read(struct storage *s)
{
	struct lineage_fns fns = { .event = on_event, .arg = s };

	if (s)
		(void)lineage_read(s->lineage, &fns);
}

/* ---- storing ---- */

static bool forget(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

static const char *name_of(struct hash *names, uint64_t number,
			   bool (*ask)(uint64_t, char *, size_t))
{
	struct name *n;

	if (!number)
		return "";
	if (hash_count(names) > NAMES_MAX)
		hash_each(names, forget, NULL);
	n = hash_put(names, &number);
	if (!n->asked)
		(void)ask(number, n->text, sizeof(n->text)); /* "" where it is gone */
	n->asked = true;
	return n->text;
}

static struct io_what what_of(struct storage *s, const struct lineage_key *key, const char *comm,
			      uint64_t cgroup, char file[LINEAGE_PATH])
{
	return (struct io_what){
		.disk = name_of(s->disks, key->dev, names_disk),
		.op = lineage_op(key->op),
		.class = lineage_class_names[key->class],
		.fs = lineage_fs(s->lineage, key),
		.file = lineage_file(s->lineage, key, file, LINEAGE_PATH),
		.owner = lineage_owner_names[key->owner],
		.comm = comm,
		.cgroup = name_of(s->cgroups, cgroup, names_cgroup),
		.dev = key->dev,
		.fs_dev = key->fs_dev,
		.gen = key->gen,
		.pid = key->pid,
		.ino = key->ino,
		.tag = key->tag,
		.readahead = key->flags & LINEAGE_READAHEAD,
	};
}

static void note(struct storage *s, int err)
{
	if (err && !s->err)
		s->err = err;
}

/* Its attributes may be older than we are. */
static void meet(struct storage *s, const struct lineage_key *key, const char *path)
{
	struct tag_file file = { .dev = key->fs_dev, .ino = key->ino };

	if (!s->tagging || !key->ino || key->tag || path[0] != '/' || /* its journal */
	    !streq(lineage_op(key->op), "write") || hash_get(s->met, &file))
		return;
	if (hash_count(s->met) >= NAMES_MAX)
		hash_each(s->met, forget, NULL);
	(void)hash_put(s->met, &file);
	tagging_met(s->tagging, path);
}

static void store_flow(struct storage *s, const struct account *a)
{
	const struct lineage_flow *f = &a->flow;
	char file[LINEAGE_PATH];
	struct io_what what = what_of(s, &f->key, f->comm, f->cgroup, file);
	struct io_counts counts = {
		.requests = f->requests,
		.merged = f->merged,
		.bytes = f->bytes,
		.timed = lineage_timed(f),
		.total_ns = f->total_ns,
		.max_ns = f->max_ns,
		.slow = f->slow,
		.errors = f->errors,
		.requeues = f->requeues,
		.map = { .mapped = lineage_mapped(&a->maps),
			 .ns = a->maps.ns,
			 .max_ns = a->maps.max_ns,
			 .failed = a->maps.failed,
			 .bounced = a->maps.bounced,
			 .iommu = a->maps.iommu,
			 .unmapped = a->maps.unmapped,
			 .unmap_ns = a->maps.unmap_ns,
			 .unmap_max_ns = a->maps.unmap_max_ns },
	};

	meet(s, &f->key, what.file);
	memcpy(counts.hist, f->hist, sizeof(counts.hist));
	memcpy(counts.map.hist, a->maps.hist, sizeof(counts.map.hist));
	note(s, store_io_second(s->store, s->now, &what, &counts));
}

static void store_single(struct storage *s, const struct lineage_event *e)
{
	char file[LINEAGE_PATH];
	struct io_what what = what_of(s, &e->key, e->comm, e->cgroup, file);
	struct io_single one = {
		.done_ns = e->done_ns,
		.total_ns = e->queue_ns + e->device_ns,
		.device_ns = e->device_ns,
		.because = e->because,
		.part = e->part,
		.queue = e->queue,
		.rq_tag = e->rq_tag,
		.flags = e->rq_flags,
		.sector = e->sector,
		.bytes = e->bytes,
		.file_offset = e->offset,
		.tid = e->tid,
		.submitter_pid = e->sub_pid,
		.submitter_tid = e->sub_tid,
		.requeues = e->requeues,
		.error = e->error,
		.map_ns = e->map_ns,
		.bounced = e->bounced,
		.iommu = e->iommu,
		.iova = e->iova,
		.iova_bytes = e->iova_bytes,
		.unmap_ns = e->unmap_ns,
		.nvme_status = lineage_tells_nvme(s->lineage, e) ? e->nvme_status : -1,
		.nvme_retries = lineage_tells_nvme(s->lineage, e) ? e->nvme_retries : -1,
	};

	note(s, store_io_request(s->store, &what, &one));
}

static void on_flow(const struct lineage_flow *added, const struct lineage_maps *maps, void *arg)
{
	struct storage *s = arg;

	if (s->flow_count == s->flow_cap) {
		s->flow_cap = s->flow_cap ? 2 * s->flow_cap : 64;
		s->flows = xrealloc(s->flows, s->flow_cap, sizeof(*s->flows));
	}
	s->flows[s->flow_count++] = (struct account){ *added, *maps };
}

/* Time counts, and trouble before it. */
static int by_weight(const void *x, const void *y)
{
	const struct lineage_flow *a = &((const struct account *)x)->flow;
	const struct lineage_flow *b = &((const struct account *)y)->flow;

	if (!a->errors != !b->errors)
		return a->errors ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

static void add_flow(struct lineage_flow *to, const struct lineage_flow *f)
{
	to->requests += f->requests;
	to->merged += f->merged;
	to->bytes += f->bytes;
	to->total_ns += f->total_ns;
	to->device_ns += f->device_ns;
	to->max_ns = max_u64(to->max_ns, f->max_ns);
	to->slow += f->slow;
	to->errors += f->errors;
	to->requeues += f->requeues;
	for (int i = 0; i < HIST_BUCKETS; i++)
		to->hist[i] += f->hist[i];
}

static void add_maps(struct lineage_maps *to, const struct lineage_maps *m)
{
	to->ns += m->ns;
	to->max_ns = max_u64(to->max_ns, m->max_ns);
	to->failed += m->failed;
	to->bounced += m->bounced;
	to->iommu += m->iommu;
	to->unmapped += m->unmapped;
	to->unmap_ns += m->unmap_ns;
	to->unmap_max_ns = max_u64(to->unmap_max_ns, m->unmap_max_ns);
	for (int i = 0; i < HIST_BUCKETS; i++)
		to->hist[i] += m->hist[i];
}

/* The rest of an owner's files as one. */
static void fold(struct hash *folded, const struct account *account)
{
	const struct lineage_flow *f = &account->flow;
	struct lineage_key key = f->key;
	struct account *sum;
	struct lineage_flow *to;

	key.ino = key.gen = key.fs_dev = 0;
	key.flags |= LINEAGE_FOLDED;
	sum = hash_put(folded, &key);
	to = &sum->flow;
	if (!to->key.flags) {
		to->key = key;
		to->cgroup = f->cgroup;
		memcpy(to->comm, f->comm, sizeof(to->comm));
	}
	add_flow(to, f);
	add_maps(&sum->maps, &account->maps);
}

static bool store_folded(const void *key, void *value, void *arg)
{
	(void)key;
	store_flow(arg, value);
	return true;
}

static void store_flows(struct storage *s)
{
	struct hash *folded = NULL;

	s->flow_count = 0;
	lineage_each_flow(s->lineage, on_flow, s);
	if (s->flow_count)
		qsort(s->flows, s->flow_count, sizeof(*s->flows), by_weight);
	for (size_t i = 0; i < s->flow_count && i < ROWS_MAX; i++)
		store_flow(s, &s->flows[i]);
	if (s->flow_count <= ROWS_MAX)
		return;
	folded = hash_new(sizeof(struct lineage_key), sizeof(struct account));
	for (size_t i = ROWS_MAX; i < s->flow_count; i++)
		fold(folded, &s->flows[i]);
	hash_each(folded, store_folded, s);
	hash_free(folded);
	free(s->flows); /* so many are rare, and large */
	s->flows = NULL;
	s->flow_count = s->flow_cap = 0;
}

/* Requests without a file have accounts of their own, which say so: nothing of them is lost. */
static bool is_counted(int loss)
{
	return loss == LINEAGE_LOSS_unseen || loss == LINEAGE_LOSS_recycled ||
	       loss == LINEAGE_LOSS_folded;
}

/* ---- the limit ---- */

static void store_off(struct storage *s, uint64_t now)
{
	struct shed_row row = {
		.what = "io", .from_ns = s->off_ns, .to_ns = now, .cost_pct = s->off_pct
	};

	if (s->off_ns)
		note(s, store_shed(s->store, &row));
}

/* A second that cost n times what it may is followed by n - 1 in which nothing is looked at. */
static void keep_limit(struct storage *s, const struct lineage_stats *stats)
{
	uint64_t ns = s->now > s->at_ns ? s->now - s->at_ns : 0;
	double share = ns ? (double)(stats->cost_ns - s->told.cost_ns) / (double)ns / s->cpus : 0;

	s->at_ns = s->now;
	store_off(s, s->now);
	if (s->off_ns && --s->off_left)
		return;
	if (s->off_ns) {
		s->off_ns = 0;
		lineage_look(s->lineage, true);
	} else if (s->budget > 0 && share > s->budget) {
		s->off_pct = 100 * share;
		s->off_left = (uint32_t)min_u64(OFF_MAX, (uint64_t)(share / s->budget) + 1);
		s->off_ns = s->now;
		lineage_look(s->lineage, false);
	}
}

uint64_t storage_cost_ns(const struct storage *s)
{
	return s ? s->told.cost_ns : 0;
}

static void store_losses(struct storage *s)
{
	struct lineage_stats stats;

	lineage_stats(s->lineage, &stats);
	keep_limit(s, &stats);
	for (int i = 0; i < LINEAGE_LOSS_COUNT; i++)
		if (stats.loss[i] > s->told.loss[i] && !is_counted(i))
			note(s, store_loss(s->store, s->now, lineage_loss_names[i],
					   stats.loss[i] - s->told.loss[i]));
	s->told = stats;
}

int storage_store(struct storage *s, struct store *store, uint64_t now)
{
	if (!s)
		return 0;
	s->store = store;
	s->now = now;
	s->err = 0;
	storage_read(s);
	store_flows(s);
	for (size_t i = 0; i < s->single_count; i++)
		store_single(s, &s->singles[i]);
	s->single_count = 0;
	store_losses(s);
	return s->err;
}
