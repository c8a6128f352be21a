// SPDX-License-Identifier: Apache-2.0
/* Loads and attaches the probes of tags. Those of checked files are attached only while there are any. */
#include "capture/tags.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/kernel.h"
#include "tags.skel.h"

#define CHECKS 19

/* A probe of checked files, and what cannot be seen without it. */
struct check {
	struct bpf_program *prog;
	const char *event, *without;
	struct bpf_link *link;
	bool there;
};

struct tags {
	struct tag_probe *probe;
	struct ring_buffer *ring;
	struct tag_gate *gate; /* mapped */
	struct check check[CHECKS];
	bool checking;
	char missing[256];
	void (*fn)(const void *bytes, size_t len, void *arg);
	void *arg;
};

/* In the kernel, or in the filesystem's module. */
static bool has_event(const char *name)
{
	struct btf *base, *module;
	char full[96];
	bool has;

	if (kernel_has_tracepoint(name, true))
		return true;
	base = btf__load_vmlinux_btf();
	module = base ? btf__load_module_btf(starts_with(name, "xfs_") ? "xfs" : "ext4", base)
		      : NULL;
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	has = module && btf__find_by_name_kind(module, full, BTF_KIND_TYPEDEF) > 0;
	btf__free(module);
	btf__free(base);
	return has;
}

/* Without what is not ext4's: a kernel may have another idea of it than ours. */
static bool is_extra(const char *event)
{
	return starts_with(event, "xfs_") || starts_with(event, "iomap_iter") ||
	       starts_with(event, "file_check");
}

static void list_checks(struct tags *t, bool extra)
{
	struct tag_probe *p = t->probe;
	const struct check all[CHECKS] = {
		{ p->progs.ext4_begin_later, "ext4_da_write_begin", "failed writes", NULL, false },
		{ p->progs.ext4_begin, "ext4_write_begin", NULL, NULL, false },
		{ p->progs.ext4_end_later, "ext4_da_write_end", "writes", NULL, false },
		{ p->progs.ext4_end, "ext4_write_end", NULL, NULL, false },
		{ p->progs.ext4_end_journal, "ext4_journalled_write_end", NULL, NULL, false },
		{ p->progs.ext4_cut, "ext4_truncate_enter", "truncations", NULL, false },
		{ p->progs.ext4_sync_begins, "ext4_sync_file_enter", NULL, NULL, false },
		{ p->progs.ext4_sync_ends, "ext4_sync_file_exit", "fsync", NULL, false },
		{ p->progs.ext4_sync_all, "ext4_sync_fs", "sync of a filesystem", NULL, false },
		{ p->progs.ext4_touched, "ext4_mark_inode_dirty", "renames", NULL, false },
		{ p->progs.direct_done, "iomap_dio_complete", "direct writes", NULL, false },
		{ p->progs.mapped_store, "writeback_dirty_folio", "mapped writes", NULL, false },
		{ p->progs.iomap_step, "iomap_iter", NULL, NULL, false },
		{ p->progs.sync_failed, "file_check_and_advance_wb_err", NULL, NULL, false },
		{ p->progs.xfs_cut, "xfs_itruncate_extents_start", NULL, NULL, false },
		{ p->progs.xfs_sync_begins, "xfs_file_fsync", NULL, NULL, false },
		{ p->progs.xfs_dir_sync_begins, "xfs_dir_fsync", NULL, NULL, false },
		{ p->progs.xfs_sync_all, "xfs_fs_sync_fs", NULL, NULL, false },
		{ p->progs.xfs_renames, "xfs_rename", NULL, NULL, false },
	};

	memcpy(t->check, all, sizeof(all));
	for (int i = 0; i < CHECKS; i++) {
		struct check *c = &t->check[i];
		size_t used = strlen(t->missing);

		c->there = (extra || !is_extra(c->event)) && has_event(c->event);
		bpf_program__set_autoload(c->prog, c->there);
		bpf_program__set_autoattach(c->prog, false);
		if (!c->there && c->without)
			snprintf(t->missing + used, sizeof(t->missing) - used, "%s%s",
				 used ? ", " : "", c->without);
	}
}

static int on_record(void *ctx, void *data, size_t len)
{
	struct tags *t = ctx;

	if (t->fn)
		t->fn(data, len, t->arg);
	return 0;
}

static int load(struct tags *t, bool extra)
{
	int err;

	t->probe = tag_probe__open();
	if (!t->probe)
		return fail(-errno, "open the probes of tags: %s", strerror(errno));
	t->missing[0] = '\0';
	list_checks(t, extra);
	err = tag_probe__load(t->probe);
	if (!err)
		return 0;
	tag_probe__destroy(t->probe);
	t->probe = NULL;
	return fail(err, "load the probes of tags: %s", strerror(-err));
}

int tags_open(struct tags **ret)
{
	struct tags *t = xcalloc(1, sizeof(*t));
	int err = load(t, true);

	if (err) {
		log_debug("%s; once more without xfs", why(err));
		err = load(t, false);
	}
	if (err)
		goto out;
	t->gate = mmap(NULL, sizeof(*t->gate), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(t->probe->maps.tag_gates), 0);
	if (t->gate == MAP_FAILED) {
		t->gate = NULL;
		err = fail(-errno, "map the gate of tags: %s", strerror(errno));
		goto out;
	}
	t->ring = ring_buffer__new(bpf_map__fd(t->probe->maps.tag_ring), on_record, t, NULL);
	if (!t->ring) {
		err = fail(-errno, "map the ring of tags: %s", strerror(errno));
		goto out;
	}
	err = tag_probe__attach(t->probe);
	if (err)
		fail(err, "attach the probes of tags: %s", strerror(-err));
out:
	if (err)
		tags_close(t);
	else
		*ret = t;
	return err;
}

void tags_detach(struct tags *t)
{
	if (t->gate)
		t->gate->stopped = 1;
	if (!t->probe)
		return;
	tags_check(t, false);
	tag_probe__detach(t->probe);
}

void tags_close(struct tags *t)
{
	if (!t)
		return;
	tags_detach(t);
	ring_buffer__free(t->ring);
	if (t->gate)
		munmap(t->gate, sizeof(*t->gate));
	tag_probe__destroy(t->probe);
	free(t);
}

int tags_share(struct tags *t, struct bpf_object *object)
{
	struct bpf_map *const shared[] = {
		t->probe->maps.tag_gates, t->probe->maps.tag_files,   t->probe->maps.tag_dirs,
		t->probe->maps.tag_found, t->probe->maps.tag_devices, t->probe->maps.tag_tasks,
	};

	for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
		const char *name = bpf_map__name(shared[i]);
		struct bpf_map *theirs = bpf_object__find_map_by_name(object, name);
		int err = theirs ? bpf_map__reuse_fd(theirs, bpf_map__fd(shared[i])) : 0;

		if (err)
			return fail(err, "share the map %s: %s", name, strerror(-err));
	}
	return 0;
}

/* The newest map of that name that is older than map `before`; below 0: none. */
static int find_map(const char *name, uint32_t before, uint32_t *ret_id)
{
	int found = -1;

	for (uint32_t id = 0; !bpf_map_get_next_id(id, &id) && id < before;) {
		struct bpf_map_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) || !streq(info.name, name)) {
			close(fd);
			continue;
		}
		if (found >= 0)
			close(found);
		found = fd;
		*ret_id = id;
	}
	return found;
}

int tags_share_running(struct bpf_object *object)
{
	static const char *const shared[] = { "tag_gates", "tag_files",   "tag_dirs",
					      "tag_found", "tag_devices", "tag_tasks" };
	uint32_t last, id;
	/* Others have maps of these names as well, and nobody who fills them. This one is made after them. */
	int err = 0, fd = find_map("checked_files", UINT32_MAX, &last);

	if (fd < 0)
		return fail(-ENOENT, "no `culprit trace` runs that would hear of tags");
	close(fd);
	for (size_t i = 0; !err && i < ARRAY_LEN(shared); i++) {
		struct bpf_map *theirs = bpf_object__find_map_by_name(object, shared[i]);

		if (!theirs)
			continue;
		fd = find_map(shared[i], last, &id);
		err = fd < 0 ? -ENOENT : bpf_map__reuse_fd(theirs, fd);
		if (fd >= 0)
			close(fd);
	}
	return err ? fail(err, "share the tags of the trace that runs: %s", strerror(-err)) : 0;
}

int tags_fd(const struct tags *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

void tags_take(struct tags *t, void (*fn)(const void *bytes, size_t len, void *arg), void *arg)
{
	t->fn = fn;
	t->arg = arg;
	(void)ring_buffer__consume(t->ring);
}

/* ---- tags ---- */

static uint32_t task_key(uint32_t id, bool process)
{
	return process ? id | 0x80000000u : id; /* TAG_OF_PROCESS, probe/tag.bpf.h */
}

int tags_set_task(struct tags *t, uint32_t id, bool process, uint64_t tag)
{
	int fd = bpf_map__fd(t->probe->maps.tag_tasks);
	uint32_t key = task_key(id, process);

	if (!tag) {
		(void)bpf_map_delete_elem(fd, &key);
		return 0;
	}
	t->gate->tasks = 1;
	return bpf_map_update_elem(fd, &key, &tag, BPF_ANY)
		       ? fail(-errno, "keep the tag of %u: %s", id, strerror(errno))
		       : 0;
}

uint64_t tags_of_task(struct tags *t, uint32_t id, bool process)
{
	uint32_t key = task_key(id, process);
	uint64_t tag = 0;

	return bpf_map_lookup_elem(bpf_map__fd(t->probe->maps.tag_tasks), &key, &tag) ? 0 : tag;
}

void tags_each_task(struct tags *t, void (*fn)(uint32_t id, bool process, uint64_t tag, void *arg),
		    void *arg)
{
	int fd = bpf_map__fd(t->probe->maps.tag_tasks);
	uint32_t key, last, *prev = NULL;
	uint64_t tag;

	for (int i = 0; i < TAG_TASKS && !bpf_map_get_next_key(fd, prev, &key); i++) {
		if (!bpf_map_lookup_elem(fd, &key, &tag))
			fn(key & ~task_key(0, true), key >> 31, tag, arg);
		last = key;
		prev = &last;
	}
}

int tags_set_file(struct tags *t, const struct tag_file *file, const struct tag_mark *mark,
		  bool dir)
{
	struct bpf_map *map = dir ? t->probe->maps.tag_dirs : t->probe->maps.tag_files;
	uint32_t one = 1;
	int err = 0;

	(void)bpf_map_delete_elem(bpf_map__fd(t->probe->maps.tag_found), file);
	if (bpf_map_update_elem(bpf_map__fd(map), file, mark, BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(t->probe->maps.tag_devices), &file->dev, &one, BPF_ANY))
		err = fail(-errno, "keep the tag of a file: %s", strerror(errno));
	if (dir) {
		t->gate->dirs = 1;
		t->gate->epoch++;
	} else {
		t->gate->files = 1;
	}
	return err;
}

void tags_drop_file(struct tags *t, const struct tag_file *file)
{
	(void)bpf_map_delete_elem(bpf_map__fd(t->probe->maps.tag_files), file);
	(void)bpf_map_delete_elem(bpf_map__fd(t->probe->maps.tag_found), file);
	(void)bpf_map_delete_elem(bpf_map__fd(t->probe->maps.checked_files), file);
	if (!bpf_map_delete_elem(bpf_map__fd(t->probe->maps.tag_dirs), file))
		t->gate->epoch++;
}

/* ---- files that are checked ---- */

int tags_check(struct tags *t, bool on)
{
	if (on == t->checking)
		return 0;
	for (int i = 0; i < CHECKS; i++) {
		struct check *c = &t->check[i];

		if (!on) {
			bpf_link__destroy(c->link);
			c->link = NULL;
		} else if (c->there) {
			c->link = bpf_program__attach(c->prog);
			if (!c->link)
				log_warn("checked files: no event %s: %s", c->event,
					 strerror(errno));
		}
	}
	t->checking = on;
	return 0;
}

const char *tags_missing(const struct tags *t)
{
	return t->missing;
}

bool tags_stretch(struct tags *t, const struct tag_file *file, struct checked_file *ret)
{
	int fd = bpf_map__fd(t->probe->maps.checked_files);

	if (bpf_map_lookup_elem(fd, file, ret))
		return false;
	return ret->from != ret->to || ret->pending != ret->pending_to;
}

void tags_losses(const struct tags *t, struct tags_loss *ret)
{
	*ret = (struct tags_loss){ t->gate->lost, t->gate->full };
}
