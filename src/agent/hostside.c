// SPDX-License-Identifier: Apache-2.0
/* The host's own numbers and events, into the store. */
#include "agent/hostside.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/tenants.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/kmsg.h"
#include "capture/names.h"
#include "capture/system.h"

#define DISK_USE_MIN (128u << 10) /* bytes in a second: less is in nobody's way */
#define CGROUPS_MAX 1024 /* names; then all are forgotten */
#define TROUBLES_MAX 64 /* of devices, stored in one look */

struct cgroup {
	bool asked;
	char path[256];
};

struct hostside {
	struct system_sampler *sampler;
	struct tenants *tenants;
	struct hash *cgroups; /* id -> struct cgroup */
	struct kmsg *kmsg; /* NULL: cannot be read */
	/* While storing: */
	struct capture *capture;
	struct store *store;
	unsigned troubles;
	/* What is stored for each of a device's disks: */
	struct host_key trouble;
	struct host_count counted;
	char device[128];
	uint64_t heard_ns; /* the log was read to its end */
	uint64_t now;
	int err;
};

struct hostside *hostside_new(struct tenants *tenants)
{
	struct hostside *h = xcalloc(1, sizeof(*h));

	h->tenants = tenants;
	h->sampler = system_new();
	h->cgroups = hash_new(sizeof(uint64_t), sizeof(struct cgroup));
	h->heard_ns = clock_boot_ns();
	h->kmsg = kmsg_open();
	if (!h->kmsg)
		log_debug("what drivers say of their devices is not heard: %s", why(-1));
	return h;
}

void hostside_free(struct hostside *h)
{
	if (!h)
		return;
	system_free(h->sampler);
	kmsg_close(h->kmsg);
	hash_free(h->cgroups);
	free(h);
}

static void note(struct hostside *h, int err)
{
	if (err && !h->err)
		h->err = err;
}

static bool forget(const void *key, void *value, void *arg)
{
	(void)key;
	(void)value;
	(void)arg;
	return true;
}

static const char *cgroup_of(struct hostside *h, uint64_t id)
{
	struct cgroup *c;

	if (!id)
		return "";
	if (hash_count(h->cgroups) > CGROUPS_MAX)
		hash_each(h->cgroups, forget, NULL);
	c = hash_put(h->cgroups, &id);
	if (!c->asked)
		(void)names_cgroup(id, c->path, sizeof(c->path)); /* "" where it is gone */
	c->asked = true;
	return c->path;
}

static void name_event(const struct host_key *key, const struct host_count *count, char *dst,
		       size_t cap)
{
	char device[COMM_LEN];

	dst[0] = '\0';
	switch (key->event) {
	case HOST_retransmit:
		(void)names_tcp(key->obj, dst, cap);
		break;
	case HOST_block_io:
	case HOST_disk_slow:
	case HOST_disk_error:
	case HOST_disk_requeue:
		(void)names_disk(key->obj, dst, cap);
		break;
	case HOST_bounce:
	case HOST_iommu_fault:
		str_copy(device, sizeof(device), count->comm);
		names_pci(device, dst, cap);
		break;
	default:
		break;
	}
}

/* As many as there are processes, whose rows say where they belong. */
static bool of_process(uint32_t event)
{
	return event == HOST_exec || event == HOST_exit || event == HOST_fork;
}

/* A file is on a partition, and may be on any: each has a row, the disk's own alone counts. */
static void store_trouble(struct hostside *h, uint64_t dev, bool counts, const char *name)
{
	struct host_key key = h->trouble;
	struct host_count count = h->counted;

	key.obj = dev;
	if (!counts)
		count.count = 0;
	note(h, store_host_event(h->store, &key, &count, name, ""));
}

static void on_disk(const char *disk, uint64_t dev, bool whole, void *arg)
{
	store_trouble(arg, dev, whole, disk);
}

/* All rows have the device's name, so that only one disk of it may count. */
static void on_refused_disk(const char *disk, uint64_t dev, bool whole, void *arg)
{
	struct hostside *h = arg;

	(void)disk;
	store_trouble(h, dev, whole, h->device);
	if (whole)
		h->counted.count = 0;
}

/* Of a drive the fault is one of its disks'. False: it is no drive that is known as one. */
static bool store_fault(struct hostside *h, const struct host_key *key,
			const struct host_count *count, const char *name)
{
	char address[COMM_LEN];

	if (key->event != HOST_iommu_fault)
		return false;
	str_copy(address, sizeof(address), count->comm);
	h->trouble = *key;
	h->counted = *count;
	str_copy(h->device, sizeof(h->device), name);
	return trouble_pci_disks(address, on_refused_disk, h) > 0;
}

static void on_event(const struct host_key *key, const struct host_count *count, void *arg)
{
	struct hostside *h = arg;
	struct told_group group = { 0 };
	char name[128];

	name_event(key, count, name, sizeof(name));
	if (count->cgroup) /* a socket's */
		str_copy(group.path, sizeof(group.path), cgroup_of(h, count->cgroup));
	else if (key->pid && !of_process(key->event))
		(void)tenants_find(h->tenants, key->pid, 0, &group); /* "": gone, and counted */
	if (group.path[0])
		(void)tenants_container(h->tenants, group.path, group.id, count->last_ns);
	if (!store_fault(h, key, count, name))
		note(h, store_host_event(h->store, key, count, name, group.path));
	capture_forget_host_event(h->capture, key);
}

/* ---- what drivers say of their devices ---- */

/* It happened since the log was last read: how long ago is not known. */
static void on_log(const char *record, size_t len, void *arg)
{
	struct hostside *h = arg;
	struct trouble t;
	int disks;

	if (!trouble_parse(record, len, &t) || ++h->troubles > TROUBLES_MAX)
		return;
	h->trouble = (struct host_key){ .event = t.event };
	h->counted = (struct host_count){
		.first_ns = h->heard_ns, .last_ns = clock_boot_ns(), .count = 1, .value = t.value
	};
	if (t.event == HOST_disk_timeout || t.event == HOST_disk_reset) {
		str_copy(h->device, sizeof(h->device), t.device);
		disks = trouble_disks(t.device, on_disk, h);
	} else {
		names_pci(t.device, h->device, sizeof(h->device));
		disks = t.event == HOST_iommu_fault
				? trouble_pci_disks(t.device, on_refused_disk, h)
				: 0;
	}
	if (!disks)
		store_trouble(h, 0, true, h->device);
}

static void store_troubles(struct hostside *h, uint64_t now)
{
	uint64_t before = clock_boot_ns();

	h->troubles = 0;
	if (h->kmsg && kmsg_poll(h->kmsg, on_log, h))
		h->heard_ns = before;
	if (h->troubles > TROUBLES_MAX)
		note(h, store_loss(h->store, now, "device_troubles", h->troubles - TROUBLES_MAX));
}

/* The names of kernel threads say nothing of whom they work for. */
static void on_disk_user(const struct disk_user_key *key, const struct disk_user *user,
			 const struct told_group *told, void *arg)
{
	struct told_group group = *told;
	struct hostside *h = arg;
	struct disk_user_row row = { .dev = key->dev,
				     .pid = key->pid,
				     .cgroup = group.path,
				     .requests = user->requests,
				     .bytes = user->bytes,
				     .kernel = user->kernel };
	char comm[COMM_LEN];

	if (user->bytes < DISK_USE_MIN)
		return;
	str_copy(comm, sizeof(comm), user->comm);
	row.comm = comm;
	if (!user->kernel)
		(void)tenants_find(h->tenants, key->pid, 0, &group); /* "": gone, and counted */
	else if (streq(group.path, "/"))
		group.path[0] = '\0'; /* nobody's account: it may be anybody's */
	if (group.path[0])
		(void)tenants_container(h->tenants, group.path, group.id, user->last_ns);
	note(h, store_disk_user(h->store, h->now, &row));
}

static void store_sample(struct hostside *h, uint64_t now)
{
	const struct core_sample *core;
	struct system_sample s;
	struct system_row row;
	size_t cores;

	if (!h->sampler || system_sample(h->sampler, &s))
		return; /* a host that does not tell: no row */
	row = (struct system_row){
		.busy_pct = s.busy_pct,
		.iowait_pct = s.iowait_pct,
		.steal_pct = s.steal_pct,
		.load1 = s.load1,
		.running = s.running,
		.blocked = s.blocked,
		.mem_total_kb = s.mem_total_kb,
		.mem_available_kb = s.mem_available_kb,
		.swap_used_kb = s.swap_used_kb,
		.swap_in_pages = s.swap_in_pages,
		.swap_out_pages = s.swap_out_pages,
		.major_faults = s.major_faults,
		.psi_cpu_us = s.psi_cpu_us,
		.psi_memory_us = s.psi_memory_us,
		.psi_io_us = s.psi_io_us,
	};
	note(h, store_system_second(h->store, now, &row));
	cores = system_cores(h->sampler, &core);
	for (size_t i = 0; i < cores; i++)
		note(h,
		     store_core_second(h->store, now, core[i].cpu, core[i].busy_pct, core[i].mhz));
}

int hostside_store(struct hostside *h, struct capture *capture, struct store *store, uint64_t now)
{
	h->capture = capture;
	h->store = store;
	h->err = 0;
	h->now = now;
	capture_each_host_event(capture, on_event, h);
	store_troubles(h, now);
	capture_each_disk_user(capture, on_disk_user, h);
	store_sample(h, now);
	return h->err;
}
