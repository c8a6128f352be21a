// SPDX-License-Identifier: Apache-2.0
/*
 * The part of the report about memory that the IOMMU refused a drive: whose it was. A fault has an address and
 * a time, between two looks at the kernel's log; a request has the addresses at which the drive saw its data
 * when it was first mapped, and was under way for a known time.
 */
#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "lineage/report.h"
#include "wire/lineage.h"

#define LATE_NS                                                                                    \
	120000000000ull /* a request that was refused memory may be tried again for so long */
#define LOOK_MAX 4096 /* requests, those that failed and the longest first */

const char *const report_hit_names[] = {
	[REPORT_HIT_NONE] = "none",
	[REPORT_HIT_UNDER_WAY] = "under-way",
	[REPORT_HIT_ADDRESS] = "address",
};

/* ---- which requests ---- */

bool report_fault_has(const struct report_fault *f, uint32_t dev)
{
	for (int i = 0; i < f->devs; i++)
		if (f->dev[i] == dev)
			return true;
	return false;
}

static bool in_range(uint64_t at, uint32_t bytes, uint64_t address)
{
	return address >= at && address - at < bytes;
}

enum report_hit report_fault_meets(const struct report_fault *f, const struct io_request_info *q)
{
	const struct io_single *one = &q->one;
	uint64_t begin = one->done_ns - min_u64(one->done_ns, one->total_ns);

	if (!report_fault_has(f, q->what.dev) || one->done_ns < f->from_ns || begin > f->to_ns)
		return REPORT_HIT_NONE;
	if (in_range(one->iova, one->iova_bytes, f->address))
		return REPORT_HIT_ADDRESS;
	return one->because & (LINEAGE_BECAUSE_SLOW | LINEAGE_BECAUSE_FAILED) ? REPORT_HIT_UNDER_WAY
									      : REPORT_HIT_NONE;
}

/* Addresses are used again at once; the request that was refused its own has failed, or is tried again. */
static unsigned weight(enum report_hit hit, const struct io_single *one)
{
	if (hit == REPORT_HIT_ADDRESS && one->because & LINEAGE_BECAUSE_FAILED)
		return REPORT_HIT_ADDRESS + 1;
	return hit;
}

static void take_request(struct report_fault *f, enum report_hit hit,
			 const struct io_request_info *q)
{
	f->one = q->one;
	f->pid = q->what.pid;
	f->tag = q->what.tag;
	str_copy(f->op, sizeof(f->op), q->what.op);
	str_copy(f->file, sizeof(f->file), q->what.file);
	str_copy(f->comm, sizeof(f->comm), q->what.comm);
	f->hit = hit;
}

void report_fault_add(struct report_fault *f, const struct io_request_info *q)
{
	enum report_hit hit = report_fault_meets(f, q);
	unsigned now = weight(hit, &q->one), before = weight(f->hit, &f->one);

	if (hit == REPORT_HIT_NONE || now < before)
		return;
	if (now > before)
		f->requests = f->parts = 0;
	if (f->requests && q->one.part)
		f->parts++; /* a row of a request that was counted with its first part */
	else
		f->requests++;
	if (now > before || q->one.total_ns > f->one.total_ns)
		take_request(f, hit, q);
}

/* ---- out of the trace ---- */

/* A fault has a row for each disk and partition of its drive. */
static struct report_fault *fault_of(struct report *r, const struct host_event_row *e)
{
	struct report_fault *f;

	for (int i = 0; i < r->faults; i++) {
		f = &r->fault[i];
		if (f->to_ns == e->at_ns && f->address == e->value && streq(f->device, e->name))
			return f;
	}
	if (r->faults == REPORT_FAULTS) {
		r->more_faults += e->count;
		return NULL;
	}
	f = &r->fault[r->faults++];
	f->address = e->value;
	f->from_ns = min_u64(e->first_ns, e->at_ns);
	f->to_ns = e->at_ns;
	str_copy(f->device, sizeof(f->device), e->name);
	return f;
}

static int on_fault(const struct host_event_row *e, void *arg)
{
	struct report *r = arg;
	struct report_fault *f;

	if (!streq(e->event, "iommu_fault") || !store_is_fault_of_disk(e->obj, e->name))
		return 0;
	f = fault_of(r, e);
	if (!f)
		return 0;
	f->count += e->count;
	if (f->devs < REPORT_FAULT_DEVS)
		f->dev[f->devs++] = (uint32_t)e->obj;
	return 0;
}

static int on_request(const struct io_request_info *q, void *arg)
{
	report_fault_add(arg, q);
	return 0;
}

void report_find_faults(struct store *s, struct report *r)
{
	(void)store_each_host_event(s, r->window, on_fault, r); /* the rest is worth telling */
	for (int i = 0; i < r->faults; i++) {
		struct report_fault *f = &r->fault[i];
		struct window w = { f->from_ns ? f->from_ns - 1 : 0,
				    f->to_ns + min_u64(LATE_NS, UINT64_MAX - f->to_ns) };

		(void)store_each_io_request(s, w, LOOK_MAX, on_request, f);
		for (int k = 0; k < r->disks && !f->disk[0]; k++)
			if (report_fault_has(f, r->disk[k].dev))
				str_copy(f->disk, sizeof(f->disk), r->disk[k].name);
	}
}

const struct report_fault *report_fault_of(const struct report *r, uint32_t dev,
					   uint64_t *ret_count)
{
	const struct report_fault *best = NULL;

	*ret_count = 0;
	for (int i = 0; i < r->faults; i++) {
		const struct report_fault *f = &r->fault[i];

		if (!report_fault_has(f, dev))
			continue;
		*ret_count += f->count;
		if (!best || weight(f->hit, &f->one) > weight(best->hit, &best->one))
			best = f;
	}
	return best;
}

/* ---- words ---- */

static bool is_of_another_tag(const struct report *r, const struct report_fault *f)
{
	return r->tag && f->hit != REPORT_HIT_NONE && f->tag != r->tag;
}

static void say_request(const struct report *r, const struct report_fault *f, FILE *out)
{
	char file[4 * 512 + 1], comm[4 * REPORT_COMM + 1], tag[TAG_LABEL_MAX], bytes[UNITS_CAP];
	char op[4 * sizeof(f->op) + 1];

	if (is_of_another_tag(r, f)) {
		fprintf(out, "without the tag of this report");
		return;
	}
	fprintf(out, "a %s of %s of %s at offset %" PRIu64, text_safe(op, sizeof(op), f->op),
		format_bytes(bytes, sizeof(bytes), f->one.bytes),
		text_safe(file, sizeof(file), f->file[0] ? f->file : "no file"),
		f->one.file_offset);
	if (f->pid)
		fprintf(out, ", data of %s (pid %u)", text_safe(comm, sizeof(comm), f->comm),
			f->pid);
	if (f->tag)
		fprintf(out, ", tag %s", report_tag_words(r, f->tag, tag, sizeof(tag)));
	if (f->hit == REPORT_HIT_ADDRESS && f->requests == 1 && f->parts)
		fprintf(out, ", or of one of %" PRIu64 " other parts of it", f->parts);
}

static void say_fault(const struct report *r, const struct report_fault *f, FILE *out)
{
	char device[4 * sizeof(f->device) + 1], disk[4 * sizeof(f->disk) + 1];

	text_safe(disk, sizeof(disk), f->disk[0] ? f->disk : "its disk");
	fprintf(out, "  IOMMU fault: %s was refused 0x%" PRIx64 ": ",
		text_safe(device, sizeof(device), f->device), f->address);
	switch (f->hit) {
	case REPORT_HIT_NONE:
		fprintf(out, "no slow or failed request of %s was under way then\n", disk);
		return;
	case REPORT_HIT_UNDER_WAY:
		fprintf(out,
			"not the data of a request that is known; under way on %s then: %" PRIu64
			" %s ",
			disk, f->requests, f->requests == 1 ? "request," : "requests, the longest");
		break;
	case REPORT_HIT_ADDRESS:
		if (f->requests > 1)
			fprintf(out, "one of %" PRIu64 " requests that had it then, the longest ",
				f->requests);
		else
			fprintf(out, "memory of ");
		break;
	}
	say_request(r, f, out);
	if (f->hit == REPORT_HIT_ADDRESS && !(f->one.because & LINEAGE_BECAUSE_FAILED))
		fprintf(out, "; it was not tried again, and did not fail");
	putc('\n', out);
}

void report_say_faults(const struct report *r, FILE *out)
{
	for (int i = 0; i < r->faults; i++)
		say_fault(r, &r->fault[i], out);
	if (r->more_faults)
		fprintf(out, "  and %" PRIu64 " more IOMMU faults of disks\n", r->more_faults);
}

static void put_request(struct json *j, const struct report *r, const struct report_fault *f)
{
	if (f->hit == REPORT_HIT_NONE || is_of_another_tag(r, f)) {
		json_null(j, "request");
		return;
	}
	json_open(j, "request", '{');
	json_str(j, "op", f->op);
	json_str(j, "file", f->file);
	json_u64(j, "offset", f->one.file_offset);
	json_u64(j, "bytes", f->one.bytes);
	json_u64(j, "done_ns", f->one.done_ns);
	json_u64(j, "total_ns", f->one.total_ns);
	if (f->one.iova_bytes) {
		json_u64(j, "iova", f->one.iova);
		json_u64(j, "iova_bytes", f->one.iova_bytes);
	}
	json_u64(j, "pid", f->pid);
	json_str(j, "comm", f->comm);
	json_u64(j, "tag", f->tag);
	json_close(j, '}');
}

void report_put_faults(struct json *j, const struct report *r)
{
	json_open(j, "iommu_faults", '[');
	for (int i = 0; i < r->faults; i++) {
		const struct report_fault *f = &r->fault[i];

		json_open(j, NULL, '{');
		json_str(j, "device", f->device);
		json_str(j, "disk", f->disk[0] ? f->disk : NULL);
		json_u64(j, "address", f->address);
		json_u64(j, "from_ns", f->from_ns);
		json_u64(j, "to_ns", f->to_ns);
		json_u64(j, "count", f->count);
		json_str(j, "hit", report_hit_names[f->hit]);
		json_u64(j, "requests", f->requests);
		json_u64(j, "other_parts", f->parts);
		put_request(j, r, f);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_u64(j, "iommu_faults_left_out", r->more_faults);
}
