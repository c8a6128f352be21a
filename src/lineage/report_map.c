// SPDX-License-Identifier: Apache-2.0
/* The part of the report about mapping for DMA: how long it took, and whose bytes were bounced. */
#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "lineage/report.h"

#define MAP_LONG_NS 1000000ull /* p99 from here on is slow: usual are a few microseconds */
#define MAP_NOTABLE_NS 100000ull /* from here on it is where it takes so much of the requests: */
#define MAP_SHARE 0.1

const char *const report_map_names[] = {
	[REPORT_MAP_UNKNOWN] = "not-measured",
	[REPORT_MAP_NORMAL] = "normal",
	[REPORT_MAP_SLOW] = "slow",
};

void report_add_maps(struct io_maps *to, const struct io_maps *m)
{
	to->mapped += m->mapped;
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

/* Of all requests of a disk. */
static struct io_maps maps_of(const struct report_disk *d)
{
	struct io_maps maps = d->read.map;

	report_add_maps(&maps, &d->write.map);
	return maps;
}

static uint64_t quantile(const struct io_maps *m, double q)
{
	return min_u64(hist_quantile(m->hist, q), m->max_ns);
}

enum report_map report_judge_maps(const struct report_disk *d)
{
	struct io_maps m = maps_of(d);
	uint64_t p99 = quantile(&m, 0.99), total_ns = d->read.total_ns + d->write.total_ns;

	if (!m.mapped)
		return REPORT_MAP_UNKNOWN;
	if (p99 >= MAP_LONG_NS ||
	    (p99 >= MAP_NOTABLE_NS && (double)m.ns >= MAP_SHARE * (double)total_ns))
		return REPORT_MAP_SLOW;
	return REPORT_MAP_NORMAL;
}

/* Only NVMe's driver has a tracepoint where mapping begins. */
static const char *why_unknown(const struct report_disk *d)
{
	return starts_with(d->name, "nvme")
		       ? "the kernel has no tracepoint nvme_setup_cmd, or the drive is not on PCIe"
		       : "it is no NVMe drive, and other drivers do not tell when they map";
}

static void say_disk(const struct report_disk *d, FILE *out)
{
	char p50[UNITS_CAP], p99[UNITS_CAP], max[UNITS_CAP];
	enum report_map verdict = report_judge_maps(d);
	struct io_maps m = maps_of(d);

	if (verdict == REPORT_MAP_UNKNOWN) {
		fprintf(out, "  DMA mapping on %s: not measured: %s\n", d->name, why_unknown(d));
		return;
	}
	fprintf(out, "  DMA mapping on %s: %s, p50 %s, p99 %s, max %s", d->name,
		report_map_names[verdict], format_ns(p50, sizeof(p50), quantile(&m, 0.5)),
		format_ns(p99, sizeof(p99), quantile(&m, 0.99)),
		format_ns(max, sizeof(max), m.max_ns));
	if (m.iommu)
		fprintf(out, ", %.1f mappings of the IOMMU a request",
			(double)m.iommu / (double)m.mapped);
	putc('\n', out);
	if (m.unmapped)
		fprintf(out,
			"  IOMMU unmapping on %s: %" PRIu64 " requests gave theirs back, %s each "
			"at most, max %s\n",
			d->name, m.unmapped, format_ns(p50, sizeof(p50), m.unmap_ns / m.unmapped),
			format_ns(max, sizeof(max), m.unmap_max_ns));
	if (m.failed)
		fprintf(out,
			"  %" PRIu64 " requests of %s could not be mapped at first, or at all\n",
			m.failed, d->name);
}

/* The file that most of it hit; -1: nothing was bounced. */
static int most_bounced(const struct report *r)
{
	int best = -1;

	for (int i = 0; i < r->files; i++)
		if (r->file[i].sum.map.bounced &&
		    (best < 0 || r->file[i].sum.map.bounced > r->file[best].sum.map.bounced))
			best = i;
	return best;
}

static void say_bounced(const struct report *r, FILE *out)
{
	char bytes[UNITS_CAP], file[4 * 512 + 1], comm[4 * REPORT_COMM + 1], tag[TAG_LABEL_MAX];
	const struct report_file *f;
	int most = most_bounced(r);

	if (most < 0)
		return;
	f = &r->file[most];
	fprintf(out, "  bounced: %s of %s", format_bytes(bytes, sizeof(bytes), f->sum.map.bounced),
		text_safe(file, sizeof(file), f->path[0] ? f->path : "no file"));
	if (f->pid)
		fprintf(out, ", data of %s (pid %u)", text_safe(comm, sizeof(comm), f->comm),
			f->pid);
	if (f->tag)
		fprintf(out, ", tag %s", report_tag_words(r, f->tag, tag, sizeof(tag)));
	putc('\n', out);
}

static bool is_told(const struct report *r, int disk)
{
	enum report_map verdict = report_judge_maps(&r->disk[disk]);

	if (r->primary >= 0)
		return disk == r->primary_disk || verdict == REPORT_MAP_SLOW;
	return verdict != REPORT_MAP_UNKNOWN;
}

void report_say_maps(const struct report *r, FILE *out)
{
	int told = 0;

	for (int i = 0; i < r->disks; i++) {
		if (is_told(r, i)) {
			say_disk(&r->disk[i], out);
			told++;
		}
	}
	if (!told)
		fprintf(out, "  DMA mapping: not measured: no requests of an NVMe drive whose "
			     "driver tells it\n");
	say_bounced(r, out);
}

void report_put_maps(struct json *j, const struct report_disk *d)
{
	struct io_maps m = maps_of(d);
	enum report_map verdict = report_judge_maps(d);

	json_open(j, "dma_map", '{');
	json_str(j, "verdict", report_map_names[verdict]);
	if (verdict == REPORT_MAP_UNKNOWN) {
		json_str(j, "reason", why_unknown(d));
	} else {
		json_u64(j, "requests", m.mapped);
		json_u64(j, "total_ns", m.ns);
		json_u64(j, "p50_ns", quantile(&m, 0.5));
		json_u64(j, "p99_ns", quantile(&m, 0.99));
		json_u64(j, "max_ns", m.max_ns);
		json_u64(j, "failed", m.failed);
		json_u64(j, "bounced_bytes", m.bounced);
		json_u64(j, "iommu_maps", m.iommu);
		json_u64(j, "iommu_unmaps", m.unmapped);
		json_u64(j, "unmap_ns", m.unmap_ns);
		json_u64(j, "unmap_max_ns", m.unmap_max_ns);
	}
	json_close(j, '}');
}

void report_put_bounced(struct json *j, const struct report *r)
{
	int most = most_bounced(r);

	if (most < 0) {
		json_null(j, "bounced");
		return;
	}
	json_open(j, "bounced", '{');
	json_u64(j, "bytes", r->file[most].sum.map.bounced);
	json_str(j, "file", r->file[most].path);
	json_u64(j, "pid", r->file[most].pid);
	json_str(j, "comm", r->file[most].comm);
	json_u64(j, "tag", r->file[most].tag);
	json_close(j, '}');
}
