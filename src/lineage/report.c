// SPDX-License-Identifier: Apache-2.0
/* The AI I/O Stall Report as people read it. */
#include "lineage/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"

static int on_tag(uint64_t tag, const char *label, void *arg)
{
	struct report *r = arg;

	for (int i = 0; i < r->tag_count; i++)
		if (r->tags[i].tag == tag)
			text_safe(r->tags[i].label, sizeof(r->tags[i].label), label);
	return 0;
}

int report_make(struct store *s, struct window w, uint64_t tag, struct report **ret)
{
	struct report *r = xcalloc(1, sizeof(*r));
	struct window span;
	int err;

	r->window = w;
	r->tag = tag;
	r->file = xcalloc(REPORT_FILES, sizeof(*r->file));
	r->wait = xcalloc(REPORT_WAITS, sizeof(*r->wait));
	r->owner = xcalloc(REPORT_OWNERS, sizeof(*r->owner));
	r->tags = xcalloc(REPORT_TAGS, sizeof(*r->tags));
	err = store_span(s, &span);
	if (!err) {
		r->window.from_ns = max_u64(w.from_ns, span.from_ns);
		r->window.to_ns = w.to_ns ? min_u64(w.to_ns, span.to_ns) : span.to_ns;
		(void)store_last_run(s, &r->run);
		err = report_gather(s, r);
	}
	if (!err)
		err = store_each_tag(s, on_tag, r);
	if (err) {
		report_free(r);
		return err;
	}
	report_judge(s, r);
	*ret = r;
	return 0;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	free(r->file);
	free(r->wait);
	free(r->owner);
	free(r->tags);
	free(r);
}

static char *utc(char *dst, size_t cap, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(dst, cap, "%Y-%m-%dT%H:%M:%SZ", &tm))
		str_copy(dst, cap, "?");
	return dst;
}

static const char *safe(char *dst, size_t cap, const char *src)
{
	return text_safe(dst, cap, src);
}

static void say_gpus(const struct report *r, FILE *out)
{
	fprintf(out, "GPU: ");
	for (int i = 0; i < r->gpus; i++)
		fprintf(out, "%s%u", i ? ", " : "", r->gpu[i].n);
	fprintf(out, "%s\n",
		r->gpus ? "" : "no samples of any (NVML was not asked, or there is none)");
}

static void say_symptom(const struct report *r, FILE *out)
{
	const struct report_wait *w = r->primary < 0 ? NULL : &r->wait[r->primary];
	char lost[UNITS_CAP], idle[UNITS_CAP], most[UNITS_CAP], comm[4 * REPORT_COMM + 1];

	if (!w) {
		fprintf(out,
			"Symptom: none that storage has made; GPUs without work %s, of that waiting for "
			"storage %s\n",
			format_ns(idle, sizeof(idle), r->idle_ns),
			format_ns(lost, sizeof(lost), r->storage_idle_ns));
		return;
	}
	fprintf(out, "Symptom: %s (pid %u) waited %s for storage, up to %s at once",
		safe(comm, sizeof(comm), w->process_comm), w->process_pid,
		format_ns(lost, sizeof(lost), r->group_ns),
		format_ns(most, sizeof(most), r->group_max_ns));
	if (r->group_idle_ns)
		fprintf(out, "; the GPU had nothing to do for %s of it",
			format_ns(idle, sizeof(idle), r->group_idle_ns));
	putc('\n', out);
	for (int i = 0; i < r->gpus; i++) {
		const struct report_gpu *g = &r->gpu[i];
		double before = g->before >= 0 ? g->before : g->after;

		if (g->during >= 0 && before >= 0)
			fprintf(out, "  GPU %u: %s %s from %.0f%% to %.0f%% meanwhile%s\n", g->n,
				g->sm ? "SM activity" : "utilization",
				g->during < before ? "fell" : "went", before, g->during,
				g->after >= 0 && g->before >= 0 ? "" : " (one side only)");
	}
}

const char *report_tag_words(const struct report *r, uint64_t tag, char *dst, size_t cap)
{
	for (int i = 0; i < r->tag_count; i++) {
		if (r->tags[i].tag == tag && r->tags[i].label[0]) {
			text_safe(dst, cap, r->tags[i].label);
			return dst;
		}
	}
	snprintf(dst, cap, "%" PRIu64, tag);
	return dst;
}

static void say_lineage(const struct report *r, FILE *out)
{
	const struct report_wait *w = &r->wait[r->primary];
	const struct report_file *f = r->primary_file < 0 ? NULL : &r->file[r->primary_file];
	char text[4 * 512 + 1], ns[UNITS_CAP], bytes[UNITS_CAP], device[UNITS_CAP];

	fprintf(out, "\nWorkload lineage:\n");
	if (f && f->tag)
		fprintf(out, "  ai_tag:  %s\n", report_tag_words(r, f->tag, text, sizeof(text)));
	else
		fprintf(out, "  ai_tag:  none\n");
	fprintf(out, "  file:    %s\n",
		safe(text, sizeof(text),
		     f && f->path[0] == '/' ? f->path
		     : w->name[0]           ? w->name
					    : "not known"));
	fprintf(out, "  waited:  %s (pid %u, thread %u), %s\n", safe(text, sizeof(text), w->comm),
		w->pid, w->tid,
		streq(w->state, "fsync")   ? "flushing it"
		: streq(w->state, "write") ? "writing it"
					   : "reading it");
	if (f && f->pid && f->pid != w->pid)
		fprintf(out, "  owner:   %s (pid %u), who %s the data\n",
			safe(text, sizeof(text), f->comm), f->pid,
			streq(f->op, "write") ? "wrote" : "asked for");
	else if (f && streq(f->how, "shared"))
		fprintf(out, "  owner:   several processes wrote it\n");
	if (r->source[0])
		fprintf(out, "  line:    %s:%d in %s()\n", r->source, r->line, r->func);
	if (r->has_worst) {
		const struct io_single *q = &r->worst.one;

		fprintf(out,
			"  worst request: %s of %s at offset %" PRIu64 ", sector %" PRIu64
			" of %s, queue %u, tag %d, %s",
			r->worst.what.op, format_bytes(bytes, sizeof(bytes), q->bytes),
			q->file_offset, q->sector, r->worst.what.disk, q->queue, q->rq_tag,
			format_ns(ns, sizeof(ns), q->total_ns));
		if (q->device_ns)
			fprintf(out, " (%s in the device)",
				format_ns(device, sizeof(device), q->device_ns));
		if (q->map_ns)
			fprintf(out, ", mapped for DMA in %s",
				format_ns(ns, sizeof(ns), q->map_ns));
		if (q->bounced)
			fprintf(out, ", bounced");
		if (q->error)
			fprintf(out, ", failed");
		if (q->nvme_status > 0)
			fprintf(out, ", NVMe status 0x%x after %d retries",
				(unsigned)q->nvme_status, q->nvme_retries);
		putc('\n', out);
	}
}

static void say_sum(const char *name, const char *what, const struct report_sum *s, FILE *out)
{
	static const double q[] = { 0.5, 0.99, 0.999 };
	char count[UNITS_CAP], bytes[UNITS_CAP], ns[UNITS_CAP];

	if (!s->requests && !s->bytes)
		return;
	fprintf(out, "  %-14s %-6s %10s %9s", name, what,
		format_count(count, sizeof(count), s->requests),
		format_bytes(bytes, sizeof(bytes), s->bytes));
	for (size_t i = 0; i < ARRAY_LEN(q); i++)
		fprintf(out, " %9s",
			s->timed ? format_ns(ns, sizeof(ns),
					     min_u64(hist_quantile(s->hist, q[i]), s->max_ns))
				 : "-");
	fprintf(out, " %9s", s->timed ? format_ns(ns, sizeof(ns), s->max_ns) : "-");
	if (s->errors)
		fprintf(out, "  %" PRIu64 " failed", s->errors);
	putc('\n', out);
}

static void say_disks(const struct report *r, FILE *out)
{
	char tag[TAG_LABEL_MAX + 8], label[TAG_LABEL_MAX];

	fprintf(out, "\nDisks: %21s %9s %9s %9s %9s %9s\n", "requests", "bytes", "p50", "p99",
		"p99.9", "max");
	for (int i = 0; i < r->disks; i++) {
		say_sum(r->disk[i].name, "read", &r->disk[i].read, out);
		say_sum(r->disk[i].name, "write", &r->disk[i].write, out);
	}
	for (int i = 0; i < r->tag_count; i++) {
		snprintf(tag, sizeof(tag), "tag %s",
			 report_tag_words(r, r->tags[i].tag, label, sizeof(label)));
		say_sum(tag, "read", &r->tags[i].read, out);
		say_sum(tag, "write", &r->tags[i].write, out);
	}
}

/* A disk whose tail grew while the GPU waited is called out; others are not blamed. */
static void say_bursts(const struct report *r, FILE *out)
{
	char in[UNITS_CAP], other[UNITS_CAP];

	for (int i = 0; i < r->disks; i++) {
		const struct report_disk *d = &r->disk[i];
		uint64_t now = min_u64(hist_quantile(d->stalled.hist, 0.99), d->stalled.max_ns);
		uint64_t usual = min_u64(hist_quantile(d->else_.hist, 0.99), d->else_.max_ns);

		if (r->primary >= 0 && d->stalled.timed && d->else_.timed && now > 3 * usual)
			fprintf(out,
				"  %s: tail burst, p99 %s while the GPU waited, %s otherwise\n",
				d->name, format_ns(in, sizeof(in), now),
				format_ns(other, sizeof(other), usual));
		else if (r->primary >= 0 && i == r->primary_disk)
			fprintf(out, "  %s: no tail burst, p99 %s while the GPU waited\n", d->name,
				d->stalled.timed ? format_ns(in, sizeof(in), now) : "not known");
		else if (!d->read.errors && !d->write.errors)
			fprintf(out, "  %s: normal%s\n", d->name,
				r->primary >= 0 ? ", not involved" : "");
	}
}

/* Its file and its tag, whether somebody waited for it or not. */
static void say_failed(const struct report *r, FILE *out)
{
	char file[4 * 512 + 1], comm[4 * REPORT_COMM + 1], tag[TAG_LABEL_MAX], bytes[UNITS_CAP];

	if (!r->failed_disk[0])
		return;
	fprintf(out, "  failed on %s: %s of %s at offset %" PRIu64 ", data of %s%s%s",
		r->failed_disk, format_bytes(bytes, sizeof(bytes), r->failed_bytes),
		safe(file, sizeof(file), r->failed_file[0] ? r->failed_file : "no file"),
		r->failed_offset, safe(comm, sizeof(comm), r->failed_comm),
		r->failed_tag ? ", tag " : "",
		r->failed_tag ? report_tag_words(r, r->failed_tag, tag, sizeof(tag)) : "");
	if (r->failed_nvme > 0)
		fprintf(out, ", NVMe status 0x%x", (unsigned)r->failed_nvme);
	putc('\n', out);
}

static void say_signals(const struct report *r, FILE *out)
{
	static const char *const words[REPORT_SIGNALS][2] = {
		{ "failed disk requests", "No failed disk request recorded" },
		{ "disk requests given to the disk again", "No disk request had to be repeated" },
		{ "disk requests of ten seconds or more",
		  "No disk request of ten seconds or more" },
		{ "SWIOTLB bounces", "No SWIOTLB bounce recorded" },
		{ "IOMMU faults", "No IOMMU fault recorded" },
		{ "requests that the disk's driver gave up waiting for",
		  "No NVMe timeout recorded" },
		{ "resets of the disk's controller", "No reset of a disk recorded" },
		{ "errors of PCIe links", "No PCIe error recorded" },
	};

	fprintf(out, "\nSecondary signals:\n");
	say_bursts(r, out);
	say_failed(r, out);
	for (int i = 0; i < REPORT_SIGNALS; i++) {
		if (r->signal[i].count)
			fprintf(out, "  %" PRIu64 " %s\n", r->signal[i].count, words[i][0]);
		else
			fprintf(out, "  %s\n", words[i][1]);
	}
	report_say_faults(r, out);
	report_say_maps(r, out);
	fprintf(out, "  Events that this kernel has no tracepoint for are not seen\n");
}

static void say_others(const struct report *r, FILE *out)
{
	char bytes[UNITS_CAP], comm[4 * REPORT_COMM + 1];
	uint32_t dev = r->primary_disk < 0 ? 0 : r->disk[r->primary_disk].dev;
	bool titled = false;

	for (int i = 0; dev && i < r->owners; i++) {
		const struct report_owner *o = &r->owner[i];

		if (o->dev != dev || !o->bytes ||
		    (i != r->neighbour && o->pid == r->wait[r->primary].pid))
			continue;
		if (!titled)
			fprintf(out, "\nOn that disk at the same time:\n");
		titled = true;
		if (o->pid)
			fprintf(out, "  %s (pid %u): %s\n", safe(comm, sizeof(comm), o->comm),
				o->pid, format_bytes(bytes, sizeof(bytes), o->bytes));
		else
			fprintf(out, "  not known, or shared: %s\n",
				format_bytes(bytes, sizeof(bytes), o->bytes));
	}
}

void report_text(const struct report *r, FILE *out)
{
	char from[40], to[40], text[1200];

	fprintf(out, "AI I/O Stall Report\n===================\n");
	fprintf(out, "Window: %s → %s\n", utc(from, sizeof(from), r->window.from_ns),
		utc(to, sizeof(to), r->window.to_ns));
	fprintf(out, "Node: %s\n", r->run.node);
	say_gpus(r, out);
	say_symptom(r, out);
	report_cause(r, text, sizeof(text));
	fprintf(out, "\nPrimary cause:\n  %s\n", text);
	if (r->primary >= 0) {
		say_lineage(r, out);
		report_path(r, text, sizeof(text));
		fprintf(out, "\nKernel path:\n  %s\n", text);
		say_others(r, out);
	}
	say_signals(r, out);
	say_disks(r, out);
	for (int i = 0; report_action(r, i, text, sizeof(text)); i++)
		fprintf(out, "%s  %d. %s\n", i ? "" : "\nRecommended next actions:\n", i + 1, text);
	if (r->lost_rows)
		fprintf(out,
			"\n%" PRIu64 " rows did not fit into this report: ask for a shorter time\n",
			r->lost_rows);
}
