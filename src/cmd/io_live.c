// SPDX-License-Identifier: Apache-2.0
/* io, live: a line per request, and sums at the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "capture/names.h"
#include "capture/tags.h"
#include "cmd/cmd.h"
#include "cmd/io.h"
#include "cmd/io_lines.h"
#include "cmd/io_sum.h"
#include "lineage/lineage.h"
#include "stack/stack.h"

#define POLL_NS 50000000
#define FLOWS_NS 1000000000ull
#define HOLD_NS                                                                                    \
	150000000ull /* a request is shown so much later: who waited for it comes after it */
#define HOLD_MAX 16384
#define QUOTA 1000
#define RING_BYTES (16u << 20)
#define MAP_SHOWN 0.1 /* mapping for DMA is, where it took so much of the request */

struct held {
	struct lineage_event event;
	struct lineage_wake wake; /* the longest wait */
	uint32_t wakes;
	uint64_t stack, wake_stack; /* as io_lines knows them */
};

struct live {
	const struct io_args *args;
	struct lineage *lineage;
	struct io_sums *sums;
	struct io_lines *lines; /* NULL: off */
	struct hash *disks; /* dev -> name */
	struct hash *threads; /* tid -> name, of this second */
	struct held *held;
	size_t count;
	uint64_t tag;
	uint64_t shown;
	bool titled;
};

struct disk {
	char name[64];
};

struct thread_name {
	char comm[LINEAGE_COMM];
};

static const char *disk_name(struct live *l, uint32_t dev)
{
	struct disk *d = hash_put(l->disks, &dev);

	if (!d->name[0] && !names_disk(dev, d->name, sizeof(d->name)))
		snprintf(d->name, sizeof(d->name), "%u:%u", dev >> 20, dev & 0xfffff);
	return d->name;
}

/* The kernel's number of a disk by its name below /dev or /sys. */
static int find_disk(const char *name, uint32_t *ret)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", name[0] == '/' ? "" : "/dev/", name);
	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return fail(-EINVAL, "--disk: there is no disk '%s'; `lsblk` lists them", name);
	*ret = major(st.st_rdev) << 20 | minor(st.st_rdev);
	return 0;
}

/* ---- one request ---- */

/* tid: 0 where it is not known, or several. */
static void owner_text(const struct lineage_key *key, uint32_t tid, const char *comm,
		       const uint32_t sharer[2], char *dst, size_t cap)
{
	char safe[4 * LINEAGE_COMM + 1];

	if (key->owner == LINEAGE_OWNER_shared && sharer[0])
		snprintf(dst, cap, "shared by %u, %u", sharer[0], sharer[1]);
	else if (key->owner == LINEAGE_OWNER_shared)
		snprintf(dst, cap, "shared");
	else if (!key->pid)
		snprintf(dst, cap, "-");
	else if (tid && tid != key->pid)
		snprintf(dst, cap, "%s:%u/%u", text_safe(safe, sizeof(safe), comm), key->pid, tid);
	else
		snprintf(dst, cap, "%s:%u", text_safe(safe, sizeof(safe), comm), key->pid);
}

static bool wanted(struct live *l, const struct held *h, const char *file)
{
	const struct io_args *a = l->args;
	const struct lineage_event *e = &h->event;

	if (a->min && e->queue_ns + e->device_ns < a->min && !e->error)
		return false;
	if (a->pid && e->key.pid != a->pid && e->sharer[0] != a->pid && e->sharer[1] != a->pid &&
	    !(h->wakes && h->wake.pid == a->pid))
		return false;
	if (a->file && !strstr(file, a->file))
		return false;
	return !a->tag || e->key.tag == l->tag;
}

/* The line of who waited before that of who asked; *ret_who: "waiter", "fsync" or "submitter". */
static uint64_t line_behind(const struct live *l, const struct held *h, const char **ret_who)
{
	*ret_who = "waiter";
	if (h->wakes && io_lines_frame(l->lines, h->wake_stack))
		return h->wake_stack;
	*ret_who = h->event.key.owner == LINEAGE_OWNER_fsync ? "fsync" : "submitter";
	return h->stack;
}

static const char *const no_stack_texts[] = {
#define X(id, text) text,
	NO_STACKS(X)
#undef X
};

static void json_code(struct json *j, const struct live *l, const struct held *h)
{
	const char *who;
	uint64_t stack = line_behind(l, h, &who);
	const struct frame *f = io_lines_frame(l->lines, stack);

	if (!f) {
		json_null(j, "code");
		if (h->wakes && h->wake_stack > NO_STACK_no_python)
			stack = h->wake_stack;
		if (stack > NO_STACK_no_python)
			json_str(j, "code_note",
				 stack < NO_STACK_COUNT ? no_stack_texts[stack]
							: "no line of the user's own");
		return;
	}
	json_open(j, "code", '{');
	json_str(j, "who", who);
	json_str(j, "file", f->file);
	json_i64(j, "line", f->line);
	json_str(j, "func", f->func);
	json_close(j, '}');
}

/* Only with an IOMMU is there one. */
static void put_iova(struct json *j, const struct lineage_event *e)
{
	if (!e->iova_bytes)
		return;
	json_u64(j, "iova", e->iova);
	json_u64(j, "iova_bytes", e->iova_bytes);
	if (e->unmap_ns)
		json_u64(j, "unmap_ns", e->unmap_ns);
	else
		json_null(j, "unmap_ns");
}

static void show_json(struct live *l, const struct held *h, const char *file)
{
	const struct lineage_event *e = &h->event;
	struct json j = JSON_TO(stdout);

	json_open(&j, NULL, '{');
	json_str(&j, "type", "request");
	json_u64(&j, "time_ns", e->done_ns + (uint64_t)clock_wall_minus_boot());
	json_u64(&j, "id", e->id);
	json_u64(&j, "part", e->part);
	json_str(&j, "disk", disk_name(l, e->key.dev));
	json_str(&j, "op", lineage_op(e->key.op));
	json_str(&j, "class", lineage_class_names[e->key.class]);
	json_bool(&j, "readahead", e->key.flags & LINEAGE_READAHEAD);
	json_u64(&j, "sector", e->sector);
	json_u64(&j, "bytes", e->bytes);
	json_u64(&j, "request_bytes", e->rq_bytes);
	json_u64(&j, "flags", e->rq_flags);
	json_u64(&j, "queue", e->queue);
	json_i64(&j, "request_tag", e->rq_tag);
	json_u64(&j, "total_ns", e->queue_ns + e->device_ns);
	if (e->device_ns)
		json_u64(&j, "device_ns", e->device_ns);
	else
		json_null(&j, "device_ns");
	if (e->map_ns)
		json_u64(&j, "map_ns", e->map_ns);
	else
		json_null(&j, "map_ns");
	json_u64(&j, "bounced", e->bounced);
	json_u64(&j, "iommu_maps", e->iommu);
	put_iova(&j, e);
	json_u64(&j, "requeues", e->requeues);
	json_u64(&j, "error", e->error);
	if (lineage_tells_nvme(l->lineage, e)) {
		json_u64(&j, "nvme_status", e->nvme_status);
		json_u64(&j, "nvme_retries", e->nvme_retries);
	}
	json_str(&j, "file", file);
	json_u64(&j, "ino", e->key.ino);
	json_u64(&j, "gen", e->key.gen);
	json_u64(&j, "offset", e->offset);
	json_str(&j, "owner", lineage_owner_names[e->key.owner]);
	json_u64(&j, "pid", e->key.pid);
	json_u64(&j, "tid", e->tid);
	json_str(&j, "comm", e->comm);
	json_u64(&j, "submitter_pid", e->sub_pid);
	json_u64(&j, "submitter_tid", e->sub_tid);
	json_u64(&j, "cgroup", e->cgroup);
	json_u64(&j, "tag", e->key.tag);
	json_code(&j, l, h);
	json_u64(&j, "woken", h->wakes);
	if (h->wakes) {
		json_open(&j, "waiter", '{');
		json_u64(&j, "pid", h->wake.pid);
		json_u64(&j, "tid", h->wake.tid);
		json_str(&j, "comm", h->wake.comm);
		json_u64(&j, "wait_ns", h->wake.wait_ns);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	putchar('\n');
}

static void show_text(struct live *l, const struct held *h, const char *file)
{
	const struct lineage_event *e = &h->event;
	char when[UNITS_CAP], size[UNITS_CAP], total[UNITS_CAP], device[UNITS_CAP], wait[UNITS_CAP];
	char owner[100], waiter[140] = "", comm[4 * LINEAGE_COMM + 1], extra[80] = "", status[32];
	char map[UNITS_CAP], line[160];
	const char *who;

	if (!l->titled)
		printf("%-12s %-10s %-7s %9s %9s %9s  %-22s %s\n", "TIME", "DISK", "OP", "SIZE",
		       "TOOK", "DEVICE", "OWNER", "FILE");
	l->titled = true;
	owner_text(&e->key, e->tid, e->comm, e->sharer, owner, sizeof(owner));
	if (h->wakes)
		snprintf(waiter, sizeof(waiter), "  %s:%u waited %s",
			 text_safe(comm, sizeof(comm), h->wake.comm), h->wake.tid,
			 format_ns(wait, sizeof(wait), h->wake.wait_ns));
	if (e->error)
		snprintf(extra, sizeof(extra), "  FAILED: %s",
			 lineage_error(e->error, status, sizeof(status)));
	else if (e->requeues)
		snprintf(extra, sizeof(extra), "  requeued %u times", e->requeues);
	printf("%-12s %-10s %-7s %9s %9s %9s  %-22s %s",
	       format_clock(when, sizeof(when), e->done_ns + (uint64_t)clock_wall_minus_boot()),
	       disk_name(l, e->key.dev), lineage_op(e->key.op),
	       format_bytes(size, sizeof(size), e->bytes),
	       format_ns(total, sizeof(total), e->queue_ns + e->device_ns),
	       e->device_ns ? format_ns(device, sizeof(device), e->device_ns) : "-", owner, file);
	if (e->key.class == LINEAGE_file || e->key.class == LINEAGE_direct)
		printf(" +%s", format_bytes(size, sizeof(size), e->offset));
	if (e->key.tag)
		printf("  tag %" PRIu64, (uint64_t)e->key.tag);
	if (e->bounced)
		printf("  bounced");
	if (e->map_ns && e->map_ns >= MAP_SHOWN * (double)(e->queue_ns + e->device_ns))
		printf("  mapping %s", format_ns(map, sizeof(map), e->map_ns));
	io_lines_say(l->lines, line_behind(l, h, &who), line, sizeof(line));
	printf("%s%s%s%s%s\n", e->key.class == LINEAGE_direct ? "  direct" : "", extra, waiter,
	       !line[0]               ? ""
	       : streq(who, "waiter") ? " in "
	       : streq(who, "fsync")  ? "  fsync of "
				      : "  asked by ",
	       line);
}

static void show(struct live *l, const struct held *h)
{
	char file[LINEAGE_PATH];

	lineage_file(l->lineage, &h->event.key, file, sizeof(file));
	if (l->args->summary || !wanted(l, h, file))
		return;
	l->shown++;
	if (l->args->json)
		show_json(l, h, file);
	else
		show_text(l, h, file);
}

static void show_older(struct live *l, uint64_t before)
{
	size_t n = 0;

	while (n < l->count && l->held[n].event.done_ns <= before)
		show(l, &l->held[n++]);
	l->count -= n;
	if (n)
		memmove(l->held, l->held + n, l->count * sizeof(*l->held));
}

/* An account has one name, that of the thread that began it; a request has its own thread. */
static void name_thread(struct live *l, struct lineage_event *e)
{
	struct thread_name *name;
	char path[64];
	size_t len;

	if (!e->tid || e->tid == e->key.pid)
		return;
	name = hash_put(l->threads, &e->tid);
	if (!name->comm[0]) {
		snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", e->key.pid, e->tid);
		if (file_read(path, name->comm, sizeof(name->comm), &len) || !len)
			str_copy(name->comm, sizeof(name->comm), e->comm); /* it is gone */
		name->comm[strcspn(name->comm, "\n")] = '\0';
	}
	memcpy(e->comm, name->comm, sizeof(e->comm));
}

static bool drop_name(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

static void on_event(const struct lineage_event *event, void *arg)
{
	struct live *l = arg;

	if (l->args->summary)
		return;
	if (l->count == HOLD_MAX)
		show_older(l, l->held[HOLD_MAX / 2].event.done_ns);
	if (l->count == HOLD_MAX)
		return;
	l->held[l->count] = (struct held){
		.event = *event,
		.stack = io_lines_stack(l->lines, event->stack),
	};
	name_thread(l, &l->held[l->count++].event);
}

static void on_wake(const struct lineage_wake *wake, void *arg)
{
	struct live *l = arg;

	for (size_t i = l->count; i > 0; i--) {
		struct held *h = &l->held[i - 1];

		if (h->event.id != wake->id || h->event.part)
			continue;
		h->wakes++;
		if (wake->wait_ns >= h->wake.wait_ns) {
			h->wake = *wake;
			h->wake_stack = io_lines_stack(l->lines, wake->stack);
		}
		return;
	}
}

static void on_ask(uint32_t pid, void *arg)
{
	struct live *l = arg;

	io_lines_ask(l->lines, pid);
}

/* ---- sums ---- */

static void on_flow(const struct lineage_flow *added, const struct lineage_maps *maps, void *arg)
{
	struct live *l = arg;
	char file[LINEAGE_PATH], owner[100];

	if ((l->args->pid && added->key.pid != l->args->pid) ||
	    (l->args->tag && added->key.tag != l->tag))
		return;
	lineage_file(l->lineage, &added->key, file, sizeof(file));
	if (l->args->file && !strstr(file, l->args->file))
		return;
	owner_text(&added->key, 0, added->comm, added->sharer, owner, sizeof(owner));
	io_sums_add(l->sums, disk_name(l, added->key.dev), file, owner, added, maps);
}

static int look(struct live *l)
{
	struct lineage_fns fns = { on_event, on_wake, on_ask, l };
	uint64_t end = l->args->duration ? clock_boot_ns() + l->args->duration : UINT64_MAX;
	uint64_t flows_at = clock_boot_ns() + FLOWS_NS, now = 0;
	struct timespec nap = { .tv_nsec = POLL_NS };
	int err = 0;

	while (err >= 0 && !cmd_stop && now < end) {
		nanosleep(&nap, NULL);
		err = lineage_read(l->lineage, &fns);
		io_lines_tick(l->lines);
		now = clock_boot_ns();
		show_older(l, now - HOLD_NS);
		if (now >= flows_at) {
			lineage_each_flow(l->lineage, on_flow, l);
			hash_each(l->threads, drop_name, NULL);
			flows_at = now + FLOWS_NS;
		}
		fflush(stdout);
	}
	if (err < 0)
		return err;
	err = lineage_read(l->lineage, &fns);
	show_older(l, UINT64_MAX);
	lineage_each_flow(l->lineage, on_flow, l);
	return err < 0 ? err : 0;
}

/* Without a trace that hears of them there are no tags. */
static int share_tags(struct bpf_object *object, void *arg)
{
	struct live *l = arg;
	int err = tags_share_running(object);

	if (err && l->args->tag)
		fprintf(stderr, "culprit io: --tag finds nothing: %s\n", why(err));
	else if (err)
		log_debug("no tags: %s", why(err));
	return !err;
}

static int open_live(struct live *l)
{
	const struct io_args *a = l->args;
	struct lineage_opts opts = {
		.slow_ns = a->min ? a->min : LINEAGE_SLOW_NS,
		.quota = a->summary || a->min ? 0
			 : a->all             ? UINT32_MAX - 9
					      : QUOTA,
		.waits = a->waits && !a->summary,
		.lines = a->stack && !a->summary,
		.issue = !a->summary,
		.ring_bytes = RING_BYTES,
		.share_tags = share_tags,
		.share_arg = l,
	};
	int err = a->tag ? io_tag(a->tag, &l->tag) : 0;

	if (!err && a->disk)
		err = find_disk(a->disk, &opts.dev);
	if (err)
		return err;
	err = lineage_open(&opts, &l->lineage);
	if (!err && lineage_limits(l->lineage)[0])
		fprintf(stderr, "culprit io: on this kernel %s\n", lineage_limits(l->lineage));
	return err;
}

int io_live(const struct io_args *args)
{
	struct live l = { .args = args };
	struct lineage_stats stats;
	int err = open_live(&l);

	if (err)
		return err;
	l.held = xcalloc(HOLD_MAX, sizeof(*l.held));
	l.disks = hash_new(sizeof(uint32_t), sizeof(struct disk));
	l.threads = hash_new(sizeof(uint32_t), sizeof(struct thread_name));
	l.sums = io_sums_new();
	if (args->stack && !args->summary)
		l.lines = io_lines_new(l.lineage);
	cmd_catch_signals();
	fprintf(stderr, "culprit io: tracing%s; Ctrl-C ends it and shows the sums\n",
		args->disk ? "" : " all disks");
	err = look(&l);
	if (!err) {
		lineage_stats(l.lineage, &stats);
		io_sums_print(l.sums, &stats, l.shown, args->json);
	}
	io_lines_free(l.lines);
	lineage_close(l.lineage);
	io_sums_free(l.sums);
	hash_free(l.disks);
	hash_free(l.threads);
	free(l.held);
	return err;
}
