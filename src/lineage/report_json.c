// SPDX-License-Identifier: Apache-2.0
/* The AI I/O Stall Report for programs. */
#include "base/json.h"
#include "base/util.h"
#include "decode/decode.h"
#include "lineage/report.h"

static void put_sum(struct json *j, const char *key, const struct report_sum *s)
{
	static const struct {
		const char *name;
		double q;
	} quantile[] = { { "p50_ns", 0.5 }, { "p99_ns", 0.99 }, { "p999_ns", 0.999 } };

	json_open(j, key, '{');
	json_u64(j, "requests", s->requests);
	json_u64(j, "bytes", s->bytes);
	json_u64(j, "total_ns", s->total_ns);
	json_u64(j, "slow", s->slow);
	json_u64(j, "errors", s->errors);
	json_u64(j, "requeues", s->requeues);
	for (size_t i = 0; i < ARRAY_LEN(quantile); i++) {
		if (s->timed)
			json_u64(j, quantile[i].name,
				 min_u64(hist_quantile(s->hist, quantile[i].q), s->max_ns));
		else
			json_null(j, quantile[i].name);
	}
	if (s->timed)
		json_u64(j, "max_ns", s->max_ns);
	else
		json_null(j, "max_ns");
	json_close(j, '}');
}

static void put_pct(struct json *j, const char *key, double pct)
{
	if (pct >= 0)
		json_f64(j, key, pct);
	else
		json_null(j, key);
}

static void put_gpus(struct json *j, const struct report *r)
{
	json_open(j, "gpus", '[');
	for (int i = 0; i < r->gpus; i++) {
		json_open(j, NULL, '{');
		json_u64(j, "gpu", r->gpu[i].n);
		json_str(j, "measure", r->gpu[i].sm ? "sm_active_pct" : "util_pct");
		put_pct(j, "before", r->gpu[i].before);
		put_pct(j, "during", r->gpu[i].during);
		put_pct(j, "after", r->gpu[i].after);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_told(struct json *j, const char *key, int32_t value)
{
	if (value < 0)
		json_null(j, key);
	else
		json_i64(j, key, value);
}

static void put_worst(struct json *j, const struct report *r)
{
	const struct io_single *q = &r->worst.one;

	if (!r->has_worst) {
		json_null(j, "worst_request");
		return;
	}
	json_open(j, "worst_request", '{');
	json_str(j, "disk", r->worst_disk);
	json_str(j, "file", r->worst_file);
	json_u64(j, "done_ns", q->done_ns);
	json_u64(j, "total_ns", q->total_ns);
	if (q->device_ns)
		json_u64(j, "device_ns", q->device_ns);
	else
		json_null(j, "device_ns");
	json_u64(j, "sector", q->sector);
	json_u64(j, "bytes", q->bytes);
	json_u64(j, "offset", q->file_offset);
	json_u64(j, "queue", q->queue);
	json_i64(j, "request_tag", q->rq_tag);
	json_u64(j, "error", q->error);
	json_u64(j, "requeues", q->requeues);
	if (q->map_ns)
		json_u64(j, "map_ns", q->map_ns);
	else
		json_null(j, "map_ns");
	json_u64(j, "bounced", q->bounced);
	json_u64(j, "iommu_maps", q->iommu);
	if (q->iova_bytes) {
		json_u64(j, "iova", q->iova);
		json_u64(j, "iova_bytes", q->iova_bytes);
	}
	if (q->unmap_ns)
		json_u64(j, "unmap_ns", q->unmap_ns);
	put_told(j, "nvme_status", q->nvme_status);
	put_told(j, "nvme_retries", q->nvme_retries);
	json_close(j, '}');
}

static void put_lineage(struct json *j, const struct report *r)
{
	const struct report_wait *w = &r->wait[r->primary];
	const struct report_file *f = r->primary_file < 0 ? NULL : &r->file[r->primary_file];
	char path[300];

	json_open(j, "lineage", '{');
	json_u64(j, "tag", f ? f->tag : 0);
	json_str(j, "file", f && f->path[0] == '/' ? f->path : w->name[0] ? w->name : NULL);
	json_u64(j, "ino", w->ino);
	json_str(j, "disk", r->primary_disk < 0 ? NULL : r->disk[r->primary_disk].name);
	json_str(j, "state", w->state);
	json_u64(j, "waiter_pid", w->pid);
	json_u64(j, "waiter_tid", w->tid);
	json_str(j, "waiter_comm", w->comm);
	json_u64(j, "process_pid", w->process_pid);
	json_str(j, "process_comm", w->process_comm);
	json_u64(j, "owner_pid", f ? f->pid : 0);
	json_str(j, "owner_comm", f ? f->comm : NULL);
	json_str(j, "owner", f ? f->how : "none");
	json_str(j, "source", r->source[0] ? r->source : NULL);
	json_u64(j, "line", (uint64_t)r->line);
	json_str(j, "func", r->func[0] ? r->func : NULL);
	json_u64(j, "file_wait_ns", w->ns);
	json_u64(j, "files",
		 (uint64_t)r->group_files); /* waited for alike: the rest is of all of them */
	json_u64(j, "wait_ns", r->group_ns);
	json_u64(j, "wait_max_ns", r->group_max_ns);
	json_u64(j, "waits", r->group_count);
	json_u64(j, "gpu_idle_ns", r->group_idle_ns);
	put_worst(j, r);
	json_close(j, '}');
	report_path(r, path, sizeof(path));
	json_str(j, "kernel_path", path);
}

static void put_disks(struct json *j, const struct report *r)
{
	json_open(j, "disks", '[');
	for (int i = 0; i < r->disks; i++) {
		json_open(j, NULL, '{');
		json_str(j, "disk", r->disk[i].name);
		json_bool(j, "blamed",
			  i == r->primary_disk && r->verdict != REPORT_BEFORE_DISK &&
				  r->verdict != REPORT_NO_STALL);
		put_sum(j, "read", &r->disk[i].read);
		put_sum(j, "write", &r->disk[i].write);
		put_sum(j, "in_stall", &r->disk[i].stalled);
		put_sum(j, "otherwise", &r->disk[i].else_);
		report_put_maps(j, &r->disk[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "tags", '[');
	for (int i = 0; i < r->tag_count; i++) {
		json_open(j, NULL, '{');
		json_u64(j, "tag", r->tags[i].tag);
		json_str(j, "label", r->tags[i].label);
		put_sum(j, "read", &r->tags[i].read);
		put_sum(j, "write", &r->tags[i].write);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_neighbours(struct json *j, const struct report *r)
{
	json_open(j, "same_disk", '[');
	for (int i = 0; i < r->owners && r->primary_disk >= 0; i++) {
		if (r->owner[i].dev != r->disk[r->primary_disk].dev)
			continue;
		json_open(j, NULL, '{');
		json_u64(j, "pid", r->owner[i].pid);
		json_str(j, "comm", r->owner[i].comm);
		json_u64(j, "bytes", r->owner[i].bytes);
		json_u64(j, "requests", r->owner[i].requests);
		json_bool(j, "blamed", i == r->neighbour && r->verdict == REPORT_NEIGHBOUR);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void report_json(const struct report *r, FILE *out)
{
	struct json j = JSON_TO(out);
	char text[1200];

	json_open(&j, NULL, '{');
	json_str(&j, "node", r->run.node);
	json_u64(&j, "from_ns", r->window.from_ns);
	json_u64(&j, "to_ns", r->window.to_ns);
	put_gpus(&j, r);
	json_u64(&j, "gpu_idle_ns", r->idle_ns);
	json_u64(&j, "storage_idle_ns", r->storage_idle_ns);
	json_u64(&j, "storage_wait_ns", r->storage_wait_ns);
	json_str(&j, "verdict", report_verdict_names[r->verdict]);
	report_cause(r, text, sizeof(text));
	json_str(&j, "cause", text);
	json_str(&j, "evidence",
		 r->verdict == REPORT_ERRORS || r->verdict == REPORT_STUCK ? "observed"
									   : "inferred");
	if (r->primary >= 0)
		put_lineage(&j, r);
	put_neighbours(&j, r);
	put_disks(&j, r);
	json_open(&j, "signals", '{');
	for (int i = 0; i < REPORT_SIGNALS; i++)
		json_u64(&j, r->signal[i].event, r->signal[i].count);
	json_close(&j, '}');
	report_put_bounced(&j, r);
	report_put_faults(&j, r);
	json_open(&j, "actions", '[');
	for (int i = 0; report_action(r, i, text, sizeof(text)); i++)
		json_str(&j, NULL, text);
	json_close(&j, ']');
	json_u64(&j, "rows_left_out", r->lost_rows);
	json_close(&j, '}');
	putc('\n', out);
}
