// SPDX-License-Identifier: Apache-2.0
/* What the sums mean: whom to blame, and whom not. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "lineage/lineage.h"
#include "lineage/report.h"

#define STALL_MIN_NS 100000000ull /* below that nobody has lost anything to storage, */
#define STALL_MIN_SHARE 0.01 /* ... nor below this share of the time, */
#define STALL_LONG_NS 20000000ull /* ... nor if no wait was that long, */
#define STALL_MOST_SHARE 0.05 /* ... unless there were so many of them */
#define SLOW_SHARE 0.25 /* one request took so much of the longest wait: the disk was slow */
#define BUSY_SHARE 0.5 /* requests of the disk cover so much of the wait: it was at work */
#define NEIGHBOUR_SHARE 0.5 /* so much of what the disk did was for somebody else */
#define STUCK_NS (10 * 1000000000ull)
#define WORST_LOOK 256

const char *const report_verdict_names[] = {
	[REPORT_NO_STALL] = "no-stall",       [REPORT_ERRORS] = "disk-error",
	[REPORT_STUCK] = "disk-stuck",        [REPORT_DISK_SLOW] = "disk-slow",
	[REPORT_DISK_BUSY] = "disk-busy",     [REPORT_NEIGHBOUR] = "neighbour",
	[REPORT_BEFORE_DISK] = "before-disk",
};

static uint64_t happened(const struct report *r, const char *event)
{
	for (int i = 0; i < REPORT_SIGNALS; i++)
		if (streq(r->signal[i].event, event))
			return r->signal[i].count;
	return 0;
}

static const struct report_disk no_disk;

static const struct report_disk *disk_at(const struct report *r)
{
	return r->primary_disk < 0 ? &no_disk : &r->disk[r->primary_disk];
}

/* Of another disk than the one in question it means nothing here. */
static int on_event(const struct host_event_row *e, void *arg)
{
	struct report *r = arg;

	if (starts_with(e->event, "disk_") && r->primary_disk >= 0 &&
	    !streq(e->name, r->disk[r->primary_disk].name))
		return 0;
	for (int i = 0; i < REPORT_SIGNALS; i++) {
		if (streq(r->signal[i].event, e->event)) {
			r->signal[i].count += e->count;
			r->signal[i].ns += e->ns;
		}
	}
	return 0;
}

static void look_at_signals(struct store *s, struct report *r)
{
	static const char *const events[REPORT_SIGNALS] = { "disk_error",  "disk_requeue",
							    "disk_slow",   "bounce",
							    "iommu_fault", "disk_timeout",
							    "disk_reset",  "pci_error" };

	for (int i = 0; i < REPORT_SIGNALS; i++)
		r->signal[i].event = events[i];
	(void)store_each_host_event(s, r->window, on_event, r); /* the rest is worth telling */
}

static bool is_write(const struct report_wait *w)
{
	return streq(w->state, "write") || streq(w->state, "fsync");
}

/* The requests of the file that was waited for: of its kind, and the most of them. */
static int find_file(const struct report *r, const struct report_wait *w)
{
	const char *op = is_write(w) ? "write" : "read";
	int best = -1;

	for (int i = 0; w->ino && i < r->files; i++) {
		const struct report_file *f = &r->file[i];

		if (f->ino != w->ino || f->fs_dev != w->fs_dev || !streq(f->op, op) || f->journal)
			continue;
		if (best < 0 || f->stalled.total_ns > r->file[best].stalled.total_ns)
			best = i;
	}
	return best;
}

static int find_disk(const struct report *r, const struct report_wait *w)
{
	uint32_t dev = r->primary_file >= 0 ? r->file[r->primary_file].dev : 0;

	for (int i = 0; !dev && w->ino && i < r->files; i++) /* its journal, then */
		if (r->file[i].ino == w->ino && r->file[i].fs_dev == w->fs_dev)
			dev = r->file[i].dev;
	for (int i = 0; i < r->disks; i++)
		if (r->disk[i].dev == (dev ? dev : (uint32_t)w->fs_dev))
			return i;
	return -1;
}

/* Somebody else for whom the disk worked most of that time. */
static int find_neighbour(const struct report *r, const struct report_wait *w, uint32_t dev)
{
	uint64_t all = 0;
	int best = -1;

	for (int i = 0; i < r->owners; i++) {
		const struct report_owner *o = &r->owner[i];

		if (o->dev != dev)
			continue;
		all += o->bytes;
		if (o->pid && o->pid != w->pid && o->pid != w->process_pid &&
		    (best < 0 || o->bytes > r->owner[best].bytes))
			best = i;
	}
	return best >= 0 && (double)r->owner[best].bytes > NEIGHBOUR_SHARE * (double)all ? best
											 : -1;
}

static bool is_stall(const struct report *r)
{
	uint64_t whole =
		r->window.to_ns > r->window.from_ns ? r->window.to_ns - r->window.from_ns : 0;
	uint64_t lost = max_u64(r->group_idle_ns, r->group_ns);

	return lost >= STALL_MIN_NS && (double)lost >= STALL_MIN_SHARE * (double)whole &&
	       (r->group_max_ns >= STALL_LONG_NS ||
		(double)lost >= STALL_MOST_SHARE * (double)whole);
}

/* The IOMMU refused the disk of the stall its memory, so often; NULL: it did not. */
static const struct report_fault *refused(const struct report *r, uint64_t *ret_count)
{
	*ret_count = 0;
	return r->primary_disk < 0 ? NULL : report_fault_of(r, disk_at(r)->dev, ret_count);
}

static enum report_verdict judge(struct report *r, const struct report_wait *w)
{
	const struct report_disk *d = disk_at(r);
	const struct report_fault *fault;
	uint64_t max_ns, count;

	if (d->read.errors + d->write.errors)
		return REPORT_ERRORS;
	if (d->dev && (d->stalled.max_ns >= STUCK_NS || happened(r, "disk_slow") ||
		       happened(r, "disk_timeout") || happened(r, "disk_reset")))
		return REPORT_STUCK;
	fault = refused(r, &count); /* and one of the requests it may have hit is as long as that */
	if (fault && fault->hit != REPORT_HIT_NONE &&
	    (double)fault->one.total_ns >= SLOW_SHARE * (double)r->group_max_ns)
		return REPORT_STUCK;
	if (!d->stalled.timed)
		return REPORT_BEFORE_DISK;
	max_ns = d->stalled.max_ns;
	r->neighbour = find_neighbour(r, w, d->dev);
	if ((double)d->stalled.total_ns < BUSY_SHARE * (double)r->group_ns)
		return REPORT_BEFORE_DISK;
	if (r->neighbour >= 0)
		return REPORT_NEIGHBOUR;
	return (double)max_ns >= SLOW_SHARE * (double)r->group_max_ns ? REPORT_DISK_SLOW
								      : REPORT_DISK_BUSY;
}

/* ---- details ---- */

static void find_line(struct store *s, struct report *r)
{
	const struct frame *frame;
	struct stack *stack;

	if (r->wait[r->primary].stack < STACK_REASONS ||
	    store_find_stack(s, r->wait[r->primary].stack, &stack))
		return;
	frame = stack_user_frame(stack);
	if (frame) {
		str_copy(r->func, sizeof(r->func), frame->func);
		str_copy(r->source, sizeof(r->source), frame->file);
		r->line = frame->line;
	}
	free(stack);
}

static int on_request(const struct io_request_info *q, void *arg)
{
	struct report *r = arg;
	const struct report_wait *w = r->primary < 0 ? NULL : &r->wait[r->primary];

	if (r->primary_disk < 0 || q->what.dev != r->disk[r->primary_disk].dev)
		return 0;
	if (!q->one.error && w && w->ino && (q->what.ino != w->ino || q->what.fs_dev != w->fs_dev))
		return 0;
	r->worst = *q;
	str_copy(r->worst_file, sizeof(r->worst_file), q->what.file);
	str_copy(r->worst_disk, sizeof(r->worst_disk), q->what.disk);
	str_copy(r->worst_comm, sizeof(r->worst_comm), q->what.comm);
	r->worst.what = (struct io_what){ .disk = r->worst_disk,
					  .file = r->worst_file,
					  .comm = r->worst_comm,
					  .op = streq(q->what.op, "read") ? "read" : "write",
					  .dev = q->what.dev,
					  .pid = q->what.pid,
					  .ino = q->what.ino,
					  .tag = q->what.tag };
	r->has_worst = true;
	return 1; /* they come worst first */
}

static int on_failed(const struct io_request_info *q, void *arg)
{
	struct report *r = arg;

	if (!q->one.error)
		return 1; /* they come first */
	str_copy(r->failed_file, sizeof(r->failed_file), q->what.file);
	str_copy(r->failed_disk, sizeof(r->failed_disk), q->what.disk);
	str_copy(r->failed_comm, sizeof(r->failed_comm), q->what.comm);
	r->failed_bytes = q->one.bytes;
	r->failed_offset = q->one.file_offset;
	r->failed_tag = q->what.tag;
	r->failed_nvme = q->one.nvme_status;
	return 1;
}

void report_judge(struct store *s, struct report *r)
{
	const struct report_wait *w = r->primary < 0 ? NULL : &r->wait[r->primary];

	r->primary_file = r->primary_disk = r->neighbour = -1;
	r->verdict = REPORT_NO_STALL;
	(void)store_each_io_request(s, r->window, 1, on_failed, r);
	report_find_faults(s, r);
	if (!w || !is_stall(r)) {
		r->primary = -1;
		look_at_signals(s, r);
		return;
	}
	r->primary_file = find_file(r, w);
	r->primary_disk = find_disk(r, w);
	look_at_signals(s, r);
	r->verdict = judge(r, w);
	find_line(s, r);
	(void)store_each_io_request(s, r->window, WORST_LOOK, on_request, r);
}

/* ---- words ---- */

static const char *file_name(const struct report *r)
{
	const struct report_wait *w = &r->wait[r->primary];

	if (r->primary_file >= 0 && r->file[r->primary_file].path[0] == '/')
		return r->file[r->primary_file].path;
	return w->name[0] ? w->name : "a file";
}

static const char *disk_name(const struct report *r)
{
	return r->primary_disk < 0 ? "its disk" : r->disk[r->primary_disk].name;
}

static uint64_t quantile(const struct report_sum *s, double q)
{
	return min_u64(hist_quantile(s->hist, q), s->max_ns);
}

/* What a disk that was stuck or failed did, and why where that is known. */
static void say_trouble(const struct report *r, char *dst, size_t cap)
{
	const struct report_disk *d = disk_at(r);
	uint64_t timeouts = happened(r, "disk_timeout"), resets = happened(r, "disk_reset"), count;
	const struct report_fault *fault = refused(r, &count);
	char max[UNITS_CAP], why[160] = "";

	if (fault)
		snprintf(why, sizeof(why),
			 "the IOMMU refused %.60s its memory %" PRIu64 " times, at 0x%" PRIx64 ": ",
			 d->name, count, fault->address);
	format_ns(max, sizeof(max), d->stalled.max_ns);
	if (r->verdict == REPORT_ERRORS)
		snprintf(dst, cap, "%s%" PRIu64 " requests failed on %s", why,
			 d->read.errors + d->write.errors, d->name);
	else if (timeouts || resets)
		snprintf(dst, cap,
			 "%s%s did not answer: its driver gave up %" PRIu64
			 " requests and reset it %" PRIu64 " times; the longest took %s",
			 why, d->name, timeouts, resets, max);
	else
		snprintf(dst, cap, "%srequests stuck on %s: the longest took %s", why, d->name,
			 max);
}

void report_cause(const struct report *r, char *dst, size_t cap)
{
	const struct report_disk *d = disk_at(r);
	const struct report_sum own =
		r->file && r->primary_file >= 0 ? r->file[r->primary_file].stalled : d->stalled;
	char p99[UNITS_CAP], max[UNITS_CAP], bytes[UNITS_CAP], other[UNITS_CAP];
	const char *disk = disk_name(r);

	format_ns(p99, sizeof(p99), quantile(&own, 0.99));
	format_ns(max, sizeof(max), own.max_ns);
	format_bytes(bytes, sizeof(bytes), own.bytes);
	switch (r->verdict) {
	case REPORT_NO_STALL:
		snprintf(dst, cap, "none: no thread that feeds a GPU waited long for storage");
		return;
	case REPORT_ERRORS:
	case REPORT_STUCK:
		say_trouble(r, dst, cap);
		return;
	case REPORT_DISK_SLOW:
		snprintf(dst, cap, "%s is slow: a request of this file took up to %s, p99 %s", disk,
			 max, p99);
		return;
	case REPORT_DISK_BUSY:
		snprintf(dst, cap,
			 "%s had more to do than it can: %s of this file, each request up to %s",
			 disk, bytes, max);
		return;
	case REPORT_NEIGHBOUR:
		snprintf(dst, cap,
			 "%s worked for somebody else: %s (pid %u) moved %s there meanwhile", disk,
			 r->owner[r->neighbour].comm, r->owner[r->neighbour].pid,
			 format_bytes(other, sizeof(other), r->owner[r->neighbour].bytes));
		return;
	case REPORT_BEFORE_DISK:
		break;
	}
	if (own.timed)
		snprintf(
			dst, cap,
			"lost before the disk was asked: %s answered each request within %s; an I/O limit "
			"of the control group, dirty-page throttling or a lock of the file system",
			disk, max);
	else
		snprintf(dst, cap,
			 "waits for a file, without a request of a disk that explains them: a "
			 "network or user-space file system, or a lock");
}

void report_path(const struct report *r, char *dst, size_t cap)
{
	const struct report_wait *w = &r->wait[r->primary];
	const struct report_file *f = r->primary_file < 0 ? NULL : &r->file[r->primary_file];
	const char *fs = f && f->fs[0] ? f->fs : "file system";
	bool direct = f && streq(f->class, "direct");
	char disk[96];

	snprintf(disk, sizeof(disk), "blk-mq dispatch → %s", disk_name(r));
	if (streq(w->state, "fsync"))
		snprintf(dst, cap, "VFS fsync → %s writeback → %s → journal commit", fs, disk);
	else if (streq(w->state, "write"))
		snprintf(dst, cap, "VFS write → %s%s → %s", fs,
			 direct ? " direct I/O" : " page cache", disk);
	else if (streq(w->state, "fault"))
		snprintf(dst, cap, "page fault in a mapped file → %s read → %s", fs, disk);
	else if (streq(w->state, "path"))
		snprintf(dst, cap, "VFS look-up → %s metadata read → %s", fs, disk);
	else
		snprintf(dst, cap, "VFS read → %s%s → %s", fs,
			 direct ? " direct I/O" : " page cache miss", disk);
}

bool report_action(const struct report *r, int n, char *dst, size_t cap)
{
	const char *disk = disk_name(r), *file = r->primary < 0 ? "" : file_name(r);
	const struct report_wait *w = r->primary < 0 ? NULL : &r->wait[r->primary];
	bool writes = w && is_write(w), failed;
	uint64_t count;

	if (!w)
		return false;
	failed = r->verdict == REPORT_ERRORS || r->verdict == REPORT_STUCK;
	if (failed && refused(r, &count) && n-- == 0) {
		snprintf(
			dst, cap,
			"find out why the IOMMU refuses %s its memory: `dmesg | grep -iE "
			"'DMAR|AMD-Vi|iommu|nvme'`; a driver that gives memory back while the drive "
			"still uses it, or the drive's firmware: update both",
			disk);
		return true;
	}
	if (n == 0 && failed) {
		snprintf(
			dst, cap,
			"check the health of %s: `smartctl -a`, `nvme smart-log`, `nvme error-log`, "
			"the kernel log and PCIe AER",
			disk);
		return true;
	}
	if (n == 0 && r->verdict == REPORT_NEIGHBOUR) {
		snprintf(dst, cap,
			 "give %s (pid %u) another disk, or limit it: io.max of its control group",
			 r->owner[r->neighbour].comm, r->owner[r->neighbour].pid);
		return true;
	}
	if (n == 0 && r->verdict == REPORT_BEFORE_DISK) {
		snprintf(dst, cap,
			 "look at io.max and io.pressure of the control group of pid %u, and at "
			 "vm.dirty_bytes; the disk is not to blame",
			 w->pid);
		return true;
	}
	if (n == 0) {
		snprintf(dst, cap,
			 "compare p99.9 of %s in and out of %s windows: `culprit io report --from "
			 "--to`",
			 disk, writes ? "checkpoint" : "reading");
		return true;
	}
	if (n == 1 && writes) {
		snprintf(dst, cap,
			 "write %.200s in the background, from a copy, so that the loop goes on",
			 file);
		return true;
	}
	if (n == 1) {
		snprintf(dst, cap,
			 "read %.200s ahead: more data workers, a larger prefetch, "
			 "posix_fadvise(WILLNEED), or a faster disk",
			 file);
		return true;
	}
	if (n == 2) {
		snprintf(dst, cap, "consider separate disks for checkpoints and for the dataset");
		return true;
	}
	if (n == 3 && (report_judge_maps(disk_at(r)) == REPORT_MAP_SLOW ||
		       disk_at(r)->read.map.failed || disk_at(r)->write.map.failed)) {
		snprintf(
			dst, cap,
			"mapping requests of %s for DMA takes long, or fails: look for swiotlb=force or too "
			"small, an IOMMU in strict mode (iommu.strict=0, iommu=pt), memory that the drive "
			"cannot reach",
			disk);
		return true;
	}
	return false;
}
