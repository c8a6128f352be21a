// SPDX-License-Identifier: Apache-2.0
/*
 * Records of the NVML helper and errors of the kernel, into the store. An error may be heard of twice,
 * by the tracepoint and by the log; it is stored once.
 */
#include "agent/gpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/host.h"
#include "capture/kmsg.h"

#define AWAY_NS 5000000000ull /* not listed for so long: another process of that pid */
#define USERS_MAX 4096
#define ERRORS_MAX 64 /* stored in a second */
#define SECOND_NS 1000000000ull

struct device {
	int64_t id; /* of its row; 0: not stored */
	bool known;
	struct gpu_device device;
};

struct user_key {
	uint32_t gpu, pid;
};

struct user {
	uint64_t first_ns, last_ns;
};

struct gpus {
	struct gpu_helper *helper; /* NULL: nobody asks */
	struct kmsg *kmsg; /* NULL: cannot be read */
	struct device device[GPU_MAX];
	struct hash *users; /* struct user_key -> struct user */
	struct xid_memory memory;
	uint64_t second_ns; /* the errors of one second: */
	unsigned errors, too_many;
	bool said;
	/* While reading: */
	struct store *store;
	uint64_t now;
	int err;
};

struct gpus *gpus_new(bool samples, const char *library)
{
	struct gpu_helper_opts opts = { .library = library };
	struct gpus *g = xcalloc(1, sizeof(*g));

	g->helper = samples ? gpu_helper_new(&opts) : NULL;
	g->kmsg = kmsg_open();
	if (!g->kmsg)
		log_debug("GPU errors are not read from the kernel's log: %s", why(-1));
	g->users = hash_new(sizeof(struct user_key), sizeof(struct user));
	return g;
}

void gpus_free(struct gpus *g)
{
	if (!g)
		return;
	gpu_helper_free(g->helper);
	kmsg_close(g->kmsg);
	hash_free(g->users);
	free(g);
}

static void note(struct gpus *g, int err)
{
	if (err && !g->err)
		g->err = err;
}

static bool drop(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

void gpus_forget(struct gpus *g)
{
	for (int i = 0; i < GPU_MAX; i++)
		g->device[i].id = 0;
	hash_each(g->users, drop, NULL);
}

/* ---- samples ---- */

/* The row of a GPU; 0: it has not introduced itself, or cannot be stored. */
static int64_t row_of(struct gpus *g, uint32_t index)
{
	struct device *d = &g->device[index];
	struct gpu_row row = { .index = index,
			       .name = d->device.name,
			       .uuid = d->device.uuid,
			       .bus_id = d->device.bus_id };

	if (!d->id && d->known)
		note(g, store_gpu(g->store, g->now, &row, &d->id));
	return d->id;
}

/* Started again, the helper introduces them again; another one in that place is another one. */
static void on_device(struct gpus *g, const struct gpu_record *rec)
{
	struct device *d = &g->device[rec->gpu];

	if (d->known && streq(d->device.uuid, rec->device.uuid))
		return;
	*d = (struct device){ .known = true, .device = rec->device };
}

static void on_processes(struct gpus *g, const struct gpu_record *rec)
{
	int64_t gpu = row_of(g, rec->gpu);

	if (!gpu)
		return;
	if (hash_count(g->users) > USERS_MAX)
		hash_each(g->users, drop, NULL);
	for (uint32_t i = 0; i < rec->list.count; i++) {
		const struct gpu_process *p = &rec->list.process[i];
		struct user_key key = { rec->gpu, p->pid };
		struct user *u = hash_put(g->users, &key);

		if (!u->first_ns || rec->at_ns > u->last_ns + AWAY_NS)
			u->first_ns = rec->at_ns;
		u->last_ns = rec->at_ns;
		note(g,
		     store_gpu_process(g->store, gpu, p->pid, u->first_ns, rec->at_ns, p->bytes));
	}
}

static void on_record(const struct gpu_record *rec, void *arg)
{
	struct gpus *g = arg;
	int64_t gpu;

	switch ((enum gpu_kind)rec->kind) {
	case GPU_DEVICE:
		on_device(g, rec);
		break;
	case GPU_SAMPLE:
		gpu = row_of(g, rec->gpu);
		if (gpu)
			note(g, store_gpu_second(g->store, gpu, rec->at_ns, &rec->values));
		break;
	case GPU_PROCESS_LIST:
		on_processes(g, rec);
		break;
	case GPU_HELLO:
	case GPU_BEAT:
	case GPU_KINDS:
		break;
	}
}

/* ---- errors ---- */

static void on_error(struct gpus *g, const struct xid *xid, enum xid_source from)
{
	struct gpu_error_row row = { .bus_id = xid->bus_id,
				     .text = xid->text,
				     .comm = "",
				     .code = xid->code,
				     .pid = xid->pid,
				     .at_ns = xid->at_ns };
	struct proc_info who;

	if (!xid_is_new(&g->memory, xid, from))
		return;
	if (g->now - g->second_ns >= SECOND_NS) {
		g->second_ns = g->now;
		g->errors = 0;
	}
	if (++g->errors > ERRORS_MAX) {
		g->too_many++;
		return;
	}
	if (xid->pid && !proc_read((int)xid->pid, &who))
		row.comm = who.comm;
	note(g, store_gpu_error(g->store, &row));
}

static void on_log(const char *record, size_t len, void *arg)
{
	struct xid xid;

	if (!xid_parse_kmsg(record, len, &xid))
		return;
	xid.at_ns = clock_boot_ns();
	on_error(arg, &xid, XID_LOG);
}

static void on_xid_event(const struct xid_event *event, void *arg)
{
	struct xid xid;

	if (!xid_parse(event->bus_id, event->code, event->text, &xid))
		return;
	xid.at_ns = event->at_ns;
	on_error(arg, &xid, XID_TRACEPOINT);
}

/* ---- both ---- */

/* Where there is a GPU, not to hear of it is worth a word. */
static void say(struct gpus *g)
{
	struct gpu_helper_status s;
	struct host host;

	gpu_helper_status(g->helper, &s);
	if (!s.known || g->said)
		return;
	g->said = true;
	host_read(&host);
	if (!s.ready && host.gpus)
		log_warn("no NVML: %s", s.text);
}

int gpus_read(struct gpus *g, struct capture *capture, struct store *store, uint64_t now)
{
	g->store = store;
	g->now = now;
	g->err = 0;
	if (g->helper) {
		gpu_helper_poll(g->helper, now, on_record, g);
		say(g);
	}
	capture_each_xid(capture, on_xid_event, g);
	if (g->kmsg)
		kmsg_poll(g->kmsg, on_log, g);
	if (g->too_many)
		note(g, store_loss(store, now, "gpu_errors", g->too_many));
	g->too_many = 0;
	return g->err;
}

void gpus_status(const struct gpus *g, struct gpu_helper_status *ret)
{
	*ret = (struct gpu_helper_status){ 0 };
	if (g && g->helper)
		gpu_helper_status(g->helper, ret);
}
