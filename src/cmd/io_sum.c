// SPDX-License-Identifier: Apache-2.0
/* Sums of requests, by disk, and by file and owner; with what was lost. */
#include "cmd/io_sum.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "lineage/lineage.h"
#include "tag/tag.h"

#define SUMS_MAX 65536
#define SHOWN 30

/* A disk: file and owner are empty. Zeroed before it is filled in, as its bytes are compared. */
struct sum_key {
	char disk[32];
	char file[200];
	char owner[48];
	uint64_t tag;
	uint8_t op, class, how, pad[5];
};

struct sum {
	uint64_t requests, merged, bytes, total_ns, max_ns, slow, errors, requeues, timed;
	uint32_t hist[HIST_BUCKETS];
	struct lineage_maps maps;
};

struct io_sums {
	struct hash *sums;
};

struct io_sums *io_sums_new(void)
{
	struct io_sums *s = xcalloc(1, sizeof(*s));

	s->sums = hash_new(sizeof(struct sum_key), sizeof(struct sum));
	return s;
}

void io_sums_free(struct io_sums *s)
{
	if (!s)
		return;
	hash_free(s->sums);
	free(s);
}

static void add(struct io_sums *s, const struct sum_key *key, const struct lineage_flow *f,
		const struct lineage_maps *m)
{
	struct sum *sum = hash_put(s->sums, key);

	sum->requests += f->requests;
	sum->merged += f->merged;
	sum->bytes += f->bytes;
	sum->timed += lineage_timed(f);
	sum->total_ns += f->total_ns;
	sum->slow += f->slow;
	sum->errors += f->errors;
	sum->requeues += f->requeues;
	sum->max_ns = max_u64(sum->max_ns, f->max_ns);
	sum->maps.ns += m->ns;
	sum->maps.max_ns = max_u64(sum->maps.max_ns, m->max_ns);
	sum->maps.bounced += m->bounced;
	sum->maps.iommu += m->iommu;
	sum->maps.unmapped += m->unmapped;
	sum->maps.unmap_ns += m->unmap_ns;
	sum->maps.unmap_max_ns = max_u64(sum->maps.unmap_max_ns, m->unmap_max_ns);
	sum->maps.failed += m->failed;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		sum->hist[i] += f->hist[i];
		sum->maps.hist[i] += m->hist[i];
	}
}

void io_sums_add(struct io_sums *s, const char *disk, const char *file, const char *owner,
		 const struct lineage_flow *added, const struct lineage_maps *maps)
{
	struct sum_key key;
	size_t len = strlen(file);

	memset(&key, 0, sizeof(key));
	str_copy(key.disk, sizeof(key.disk), disk);
	key.op = added->key.op;
	add(s, &key, added, maps);
	if (hash_count(s->sums) >= SUMS_MAX)
		file = owner = "(the rest)";
	else if (len >= sizeof(key.file)) /* the end tells more */
		file += len - (sizeof(key.file) - 1);
	str_copy(key.file, sizeof(key.file), file);
	str_copy(key.owner, sizeof(key.owner), owner);
	key.tag = added->key.tag;
	key.class = added->key.class;
	key.how = added->key.owner;
	add(s, &key, added, maps);
}

/* ---- showing ---- */

struct row {
	struct sum_key key;
	struct sum sum;
};

struct rows {
	struct row *row;
	size_t count;
};

static bool collect(const void *key, void *value, void *arg)
{
	struct rows *r = arg;

	memcpy(&r->row[r->count].key, key, sizeof(r->row->key));
	memcpy(&r->row[r->count++].sum, value, sizeof(r->row->sum));
	return false;
}

static int by_time(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (!a->key.file[0] != !b->key.file[0])
		return a->key.file[0] ? 1 : -1;
	if (a->sum.total_ns != b->sum.total_ns)
		return a->sum.total_ns > b->sum.total_ns ? -1 : 1;
	return a->sum.bytes > b->sum.bytes ? -1 : a->sum.bytes < b->sum.bytes;
}

static void print_times(const struct sum *s)
{
	static const double quantile[] = { 0.5, 0.99, 0.999 };
	char text[UNITS_CAP];

	for (size_t i = 0; i < ARRAY_LEN(quantile); i++)
		printf(" %9s",
		       s->timed ? format_ns(text, sizeof(text),
					    min_u64(hist_quantile(s->hist, quantile[i]), s->max_ns))
				: "-");
	printf(" %9s", s->timed ? format_ns(text, sizeof(text), s->max_ns) : "-");
}

static uint64_t map_quantile(const struct lineage_maps *m, double q)
{
	return min_u64(hist_quantile(m->hist, q), m->max_ns);
}

/* Of a disk, if its driver tells; of a file only that it was bounced. */
static void print_maps(const struct lineage_maps *m, bool disk)
{
	char p99[UNITS_CAP], max[UNITS_CAP], bytes[UNITS_CAP];

	if (m->ns && disk)
		printf("  mapping p99 %s, max %s",
		       format_ns(p99, sizeof(p99), map_quantile(m, 0.99)),
		       format_ns(max, sizeof(max), m->max_ns));
	if (m->bounced)
		printf("  %s bounced", format_bytes(bytes, sizeof(bytes), m->bounced));
}

static void print_row(const struct row *r)
{
	char count[UNITS_CAP], bytes[UNITS_CAP];
	bool disk = !r->key.file[0];

	printf("%-10s %-7s %10s %9s", r->key.disk, lineage_op(r->key.op),
	       format_count(count, sizeof(count), r->sum.requests + (disk ? 0 : r->sum.merged)),
	       format_bytes(bytes, sizeof(bytes), r->sum.bytes));
	print_times(&r->sum);
	if (!disk)
		printf("  %-22s %s", r->key.owner, r->key.file);
	if (r->key.tag)
		printf("  tag %" PRIu64, r->key.tag);
	if (r->sum.errors)
		printf("  %" PRIu64 " failed", r->sum.errors);
	if (r->sum.requeues)
		printf("  %" PRIu64 " requeued", r->sum.requeues);
	print_maps(&r->sum.maps, disk);
	putchar('\n');
}

static void print_losses(const struct lineage_stats *stats)
{
	for (int i = 0; i < LINEAGE_LOSS_COUNT; i++)
		if (stats->loss[i])
			printf("%" PRIu64 " %s\n", (uint64_t)stats->loss[i], lineage_loss_texts[i]);
}

static void print_text(const struct rows *rows, const struct lineage_stats *stats, uint64_t shown)
{
	size_t disks = 0;

	printf("\n%-10s %-7s %10s %9s %9s %9s %9s %9s\n", "DISK", "OP", "REQUESTS", "BYTES", "p50",
	       "p99", "p99.9", "max");
	while (disks < rows->count && !rows->row[disks].key.file[0])
		print_row(&rows->row[disks++]);
	printf("\n%-10s %-7s %10s %9s %9s %9s %9s %9s  %-22s %s\n", "DISK", "OP", "REQUESTS",
	       "BYTES", "p50", "p99", "p99.9", "max", "OWNER", "FILE");
	for (size_t i = disks; i < rows->count && i < disks + SHOWN; i++)
		print_row(&rows->row[i]);
	if (rows->count > disks + SHOWN)
		printf("... and %zu more; --json has all of them\n", rows->count - disks - SHOWN);
	printf("\n%" PRIu64 " requests completed, %" PRIu64 " shown one by one.\n",
	       (uint64_t)stats->requests, shown);
	print_losses(stats);
}

/* Only of NVMe is it known. */
static void maps_json(struct json *j, const struct lineage_maps *m)
{
	if (!m->ns && !m->failed)
		return;
	json_u64(j, "mapped", lineage_mapped(m));
	json_u64(j, "map_ns", m->ns);
	json_u64(j, "map_p50_ns", map_quantile(m, 0.5));
	json_u64(j, "map_p99_ns", map_quantile(m, 0.99));
	json_u64(j, "map_max_ns", m->max_ns);
	json_u64(j, "map_failed", m->failed);
	json_u64(j, "bounced", m->bounced);
	json_u64(j, "iommu_maps", m->iommu);
	json_u64(j, "iommu_unmaps", m->unmapped);
	json_u64(j, "unmap_ns", m->unmap_ns);
	json_u64(j, "unmap_max_ns", m->unmap_max_ns);
}

static void row_json(const struct row *r)
{
	struct json j = JSON_TO(stdout);

	json_open(&j, NULL, '{');
	json_str(&j, "type", r->key.file[0] ? "sum" : "disk");
	json_str(&j, "disk", r->key.disk);
	json_str(&j, "op", lineage_op(r->key.op));
	if (r->key.file[0]) {
		json_str(&j, "class", lineage_class_names[r->key.class]);
		json_str(&j, "file", r->key.file);
		json_str(&j, "owner", lineage_owner_names[r->key.how]);
		json_str(&j, "who", r->key.owner);
		json_u64(&j, "tag", r->key.tag);
	}
	json_u64(&j, "requests", r->sum.requests);
	json_u64(&j, "merged", r->sum.merged);
	json_u64(&j, "bytes", r->sum.bytes);
	json_u64(&j, "slow", r->sum.slow);
	json_u64(&j, "errors", r->sum.errors);
	json_u64(&j, "requeues", r->sum.requeues);
	json_u64(&j, "total_ns", r->sum.total_ns);
	if (r->sum.timed) {
		json_u64(&j, "p50_ns", min_u64(hist_quantile(r->sum.hist, 0.5), r->sum.max_ns));
		json_u64(&j, "p99_ns", min_u64(hist_quantile(r->sum.hist, 0.99), r->sum.max_ns));
		json_u64(&j, "p999_ns", min_u64(hist_quantile(r->sum.hist, 0.999), r->sum.max_ns));
		json_u64(&j, "max_ns", r->sum.max_ns);
	}
	maps_json(&j, &r->sum.maps);
	json_close(&j, '}');
	putchar('\n');
}

static void print_json(const struct rows *rows, const struct lineage_stats *stats, uint64_t shown)
{
	struct json j = JSON_TO(stdout);

	for (size_t i = 0; i < rows->count; i++)
		row_json(&rows->row[i]);
	json_open(&j, NULL, '{');
	json_str(&j, "type", "end");
	json_u64(&j, "requests", stats->requests);
	json_u64(&j, "shown", shown);
	json_open(&j, "loss", '{');
	for (int i = 0; i < LINEAGE_LOSS_COUNT; i++)
		json_u64(&j, lineage_loss_names[i], stats->loss[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	putchar('\n');
}

void io_sums_print(struct io_sums *s, const struct lineage_stats *stats, uint64_t shown, bool json)
{
	struct rows rows = { .row = xcalloc(hash_count(s->sums) + 1, sizeof(*rows.row)) };

	hash_each(s->sums, collect, &rows);
	qsort(rows.row, rows.count, sizeof(*rows.row), by_time);
	if (json)
		print_json(&rows, stats, shown);
	else
		print_text(&rows, stats, shown);
	free(rows.row);
}

int io_tag(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (end == text || *end || errno || text[0] == '-')
		value = tag_hash(text); /* then it is a label */
	*ret = value;
	return 0;
}
