// SPDX-License-Identifier: Apache-2.0
/* The life of the storage probes: load, attach, read, detach. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/kernel.h"
#include "lineage.skel.h"
#include "lineage/lineage_int.h"
#include "wire/python.h"

struct lineage {
	struct lineage_opts opts;
	struct lineage_probe *probe;
	struct ring_buffer *ring;
	struct nvme_kernel nvme;
	struct ring_buffer *news; /* of stacks; NULL: off */
	void (*on_stack)(const void *record, size_t size, void *arg); /* while reading these */
	void *stack_arg;
	struct lineage_flow *shared;
	struct lineage_maps *maps; /* NULL: no NVMe */
	struct flows *flows;
	struct paths *paths;
	const struct lineage_fns *fns; /* while reading */
	uint64_t bad; /* records that were none */
	char limits[400];
};

__attribute__((format(printf, 2, 0))) static int quiet(enum libbpf_print_level level,
						       const char *fmt, va_list ap)
{
	log_va(level == LIBBPF_WARN ? LOG_DEBUG : LOG_DEBUG + 1, fmt, ap);
	return 0;
}

/* In the kernel itself, or in the module that brings it. */
static bool has_tracepoint(const char *name, const char *module)
{
	struct btf *base, *btf;
	char full[96];
	bool found;

	if (kernel_has_tracepoint(name, false))
		return true;
	if (!module)
		return false;
	base = btf__load_vmlinux_btf();
	if (libbpf_get_error(base))
		return false;
	btf = btf__load_module_btf(module, base);
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	found = !libbpf_get_error(btf) && btf__find_by_name_kind(btf, full, BTF_KIND_TYPEDEF) > 0;
	if (!libbpf_get_error(btf))
		btf__free(btf);
	btf__free(base);
	return found;
}

static void add_limit(struct lineage *l, const char *text)
{
	size_t at = strlen(l->limits);

	snprintf(l->limits + at, sizeof(l->limits) - at, "%s%s", at ? "; " : "", text);
}

/* What not every kernel has, and what is not known without it. */
static void choose(struct lineage *l)
{
	struct lineage_probe *p = l->probe;
	const struct {
		struct bpf_program *prog;
		const char *name, *module, *without;
		bool wanted;
	} optional[] = {
		{ p->progs.lineage_dirty, "writeback_dirty_folio", NULL,
		  "who wrote data that is flushed later is not known", true },
		{ p->progs.lineage_ext4_fsync, "ext4_sync_file_enter", "ext4", NULL, true },
		{ p->progs.lineage_commit, "jbd2_start_commit", "jbd2", NULL, true },
		{ p->progs.lineage_commit_end, "jbd2_end_commit", "jbd2", NULL, true },
		{ p->progs.lineage_xfs_fsync, "xfs_file_fsync", "xfs", NULL, true },
		{ p->progs.lineage_requeue, "block_rq_requeue", NULL,
		  "requests that were given to a disk twice are not told", true },
		{ p->progs.lineage_issue, "block_rq_issue", NULL, NULL,
		  l->opts.issue || l->nvme.there },
		{ p->progs.lineage_io_done, "block_io_done", NULL,
		  "who waited for a request is not known", l->opts.waits },
	};
	bool waits = l->opts.waits && has_tracepoint("block_io_done", NULL);
	struct bpf_program *waiting[] = { p->progs.lineage_switch, p->progs.lineage_waking,
					  p->progs.lineage_queue_work, p->progs.lineage_work_start,
					  p->progs.lineage_work_end };

	for (size_t i = 0; i < ARRAY_LEN(optional); i++) {
		bool has = has_tracepoint(optional[i].name, optional[i].module);

		bpf_program__set_autoload(optional[i].prog, has && optional[i].wanted);
		if (!has && optional[i].wanted && optional[i].without)
			add_limit(l, optional[i].without);
	}
	for (size_t i = 0; i < ARRAY_LEN(waiting); i++)
		bpf_program__set_autoload(waiting[i], waits);
	p->rodata->lineage_waits = waits;
	p->rodata->lineage_issues = l->opts.issue;
}

#define MAPS 5

/*
 * Whatever of these is missing costs nothing else: they are attached one by one. A kernel without the second
 * or third has no bounce buffers, or no IOMMU; what the fourth tells shows as requests that are not issued;
 * without the fifth nobody knows how long giving a mapping back takes.
 */
static void map_programs(struct lineage_probe *p, struct bpf_program *ret[MAPS],
			 struct bpf_link **ret_link[MAPS])
{
	ret[0] = p->progs.lineage_setup;
	ret[1] = p->progs.lineage_bounced;
	ret[2] = p->progs.lineage_iommu;
	ret[3] = p->progs.lineage_map_error;
	ret[4] = p->progs.lineage_unmap;
	ret_link[0] = &p->links.lineage_setup;
	ret_link[1] = &p->links.lineage_bounced;
	ret_link[2] = &p->links.lineage_iommu;
	ret_link[3] = &p->links.lineage_map_error;
	ret_link[4] = &p->links.lineage_unmap;
}

/* Mapping for DMA: only where there is NVMe does it cost anything, memory too. */
static void choose_maps(struct lineage *l)
{
	struct bpf_program *prog[MAPS];
	struct bpf_link **link[MAPS];
	struct lineage_probe *p = l->probe;

	map_programs(p, prog, link);
	for (int i = 0; i < MAPS; i++) {
		bpf_program__set_autoload(prog[i], l->nvme.there);
		bpf_program__set_autoattach(prog[i], false);
	}
	p->rodata->lineage_mapping = l->nvme.there;
	p->rodata->lineage_nvme_status = l->nvme.status;
	p->rodata->lineage_nvme_retries = l->nvme.retries;
	if (!l->nvme.there) {
		bpf_map__set_max_entries(p->maps.lineage_mapped, 1);
		bpf_map__set_max_entries(p->maps.lineage_maps, 1);
		bpf_map__set_max_entries(p->maps.lineage_unmapped, 1);
	}
}

static void attach_maps(struct lineage *l)
{
	struct bpf_program *prog[MAPS];
	struct bpf_link **link[MAPS];

	if (!l->nvme.there)
		return;
	map_programs(l->probe, prog, link);
	for (int i = 0; i < MAPS; i++) {
		*link[i] = bpf_program__attach(prog[i]);
		if (*link[i])
			continue;
		log_debug("%s: %s", bpf_program__section_name(prog[i]), strerror(errno));
		if (i == 0) { /* the others are of no use then */
			add_limit(l, "how long NVMe requests are mapped for DMA is not known");
			return;
		}
	}
}

/* Tables that only lines of Python need are large. */
static void choose_lines(struct lineage *l)
{
	struct lineage_probe *p = l->probe;
	struct bpf_map *maps[] = { p->maps.pythons,       p->maps.seen_codes, p->maps.seen_stacks,
				   p->maps.seen_c_stacks, p->maps.news,       p->maps.walks,
				   p->maps.memos };
	struct bpf_program *progs[] = { p->progs.lineage_fork, p->progs.lineage_exec,
					p->progs.lineage_exit };

	p->rodata->lineage_lines = l->opts.lines;
	for (size_t i = 0; i < ARRAY_LEN(progs); i++)
		bpf_program__set_autoload(progs[i], l->opts.lines);
	if (l->opts.lines) {
		bpf_map__set_autocreate(p->maps.seen_c_stacks, false); /* nobody asks for it */
		bpf_map__set_max_entries(p->maps.memos, 1); /* nobody watches what is freed */
	} else /* older verifiers look at join_line(), too, where nobody calls it */
		bpf_map__set_max_entries(p->maps.lineage_bio_lines, 1);
	for (size_t i = 0; !l->opts.lines && i < ARRAY_LEN(maps); i++)
		bpf_map__set_autocreate(maps[i], false);
}

int lineage_attach(struct lineage *l)
{
	int err = lineage_probe__attach(l->probe);

	if (err)
		return fail(err, "attach to the tracepoints of the block layer: %s",
			    strerror(-err));
	attach_maps(l);
	return 0;
}

static int load(struct lineage *l)
{
	struct lineage_probe *p;
	int err;

	libbpf_set_print(quiet);
	if (!has_tracepoint("block_bio_queue", NULL))
		return fail(-ENOTSUP,
			    "this kernel has no BTF, or no tracepoints of the block layer");
	p = l->probe = lineage_probe__open();
	if (!p)
		return fail(-errno, "open the storage probes: %s", strerror(errno));
	nvme_kernel(&l->nvme);
	choose(l);
	choose_maps(l);
	choose_lines(l);
	p->rodata->lineage_slow_ns = l->opts.slow_ns ? l->opts.slow_ns : LINEAGE_SLOW_NS;
	p->rodata->lineage_quota = (l->opts.quota + 9) / 10;
	p->rodata->lineage_dev = l->opts.dev;
	bpf_map__set_max_entries(
		p->maps.lineage_ring,
		(uint32_t)(l->opts.ring_bytes ? l->opts.ring_bytes : LINEAGE_RING_BYTES));
	err = l->opts.share_tags ? l->opts.share_tags(p->obj, l->opts.share_arg) : 0;
	if (err < 0)
		return err;
	p->rodata->lineage_tags = err;
	err = lineage_probe__load(p);
	if (err == -EPERM || err == -EACCES)
		return fail(-EPERM, "not allowed to trace: run as root, or with CAP_BPF and "
				    "CAP_PERFMON");
	if (err)
		return fail(
			err == -EINVAL ? -ENOTSUP : err,
			"load the storage probes: %s; `culprit -v io` shows the verifier's words",
			strerror(-err));
	return lineage_attach(l);
}

static int on_record(void *ctx, void *data, size_t len)
{
	struct lineage *l = ctx;
	union {
		uint32_t kind;
		struct lineage_event event;
		struct lineage_wake wake;
		struct lineage_name name;
		struct lineage_ask ask;
	} r;

	if (len > sizeof(r)) {
		l->bad++;
		return 0;
	}
	memcpy(&r, data, len); /* the ring is read-only, and what is checked must not change */
	if (lineage_check(&r, len)) {
		l->bad++;
		return 0;
	}
	if (r.kind == LINEAGE_NAME)
		paths_add(l->paths, &r.name);
	else if (r.kind == LINEAGE_EVENT && l->fns && l->fns->event)
		l->fns->event(&r.event, l->fns->arg);
	else if (r.kind == LINEAGE_WAKE && l->fns && l->fns->wake)
		l->fns->wake(&r.wake, l->fns->arg);
	else if (r.kind == LINEAGE_ASK && l->fns && l->fns->ask)
		l->fns->ask(r.ask.pid, l->fns->arg);
	return 0;
}

static int on_news(void *ctx, void *data, size_t len)
{
	struct lineage *l = ctx;

	l->on_stack(data, len, l->stack_arg);
	return 0;
}

/* The LINEAGE_FLOWS entries of a map, in our memory. */
static void *share(const struct bpf_map *map, size_t size)
{
	void *at = mmap(NULL, LINEAGE_FLOWS * size, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

int lineage_open(const struct lineage_opts *opts, struct lineage **ret)
{
	struct lineage *l = xcalloc(1, sizeof(*l));
	int err;

	l->opts = *opts;
	l->paths = paths_new();
	err = load(l);
	if (err)
		goto out;
	l->ring = ring_buffer__new(bpf_map__fd(l->probe->maps.lineage_ring), on_record, l, NULL);
	if (!l->ring) {
		err = fail(-errno, "map the storage probes' ring: %s", strerror(errno));
		goto out;
	}
	if (l->opts.lines)
		l->news = ring_buffer__new(bpf_map__fd(l->probe->maps.news), on_news, l, NULL);
	if (l->opts.lines && !l->news) {
		err = fail(-errno, "map the ring of stacks: %s", strerror(errno));
		goto out;
	}
	l->shared = share(l->probe->maps.lineage_flows, sizeof(*l->shared));
	if (l->shared && l->nvme.there)
		l->maps = share(l->probe->maps.lineage_maps, sizeof(*l->maps));
	if (!l->shared || (l->nvme.there && !l->maps)) {
		err = fail(-errno, "map the accounts of storage: %s", strerror(errno));
		goto out;
	}
	l->flows = flows_new(l->shared, l->maps);
out:
	if (err)
		lineage_close(l);
	else
		*ret = l;
	return err;
}

void lineage_detach(struct lineage *l)
{
	lineage_probe__detach(l->probe);
}

void lineage_close(struct lineage *l)
{
	if (!l)
		return;
	ring_buffer__free(l->ring);
	ring_buffer__free(l->news);
	if (l->shared)
		munmap(l->shared, LINEAGE_FLOWS * sizeof(*l->shared));
	if (l->maps)
		munmap(l->maps, LINEAGE_FLOWS * sizeof(*l->maps));
	lineage_probe__destroy(l->probe);
	flows_free(l->flows);
	paths_free(l->paths);
	free(l);
}

const char *lineage_limits(const struct lineage *l)
{
	return l->limits;
}

int lineage_read(struct lineage *l, const struct lineage_fns *fns)
{
	int n;

	l->fns = fns;
	n = ring_buffer__consume(l->ring);
	l->fns = NULL;
	return n < 0 ? fail(n, "read the storage probes' ring: %s", strerror(-n)) : n;
}

/* ---- lines of Python ---- */

int lineage_put_python(struct lineage *l, int pid, const struct py_layout *layout)
{
	uint32_t key = (uint32_t)pid;

	if (bpf_map_update_elem(bpf_map__fd(l->probe->maps.pythons), &key, layout, BPF_ANY))
		return fail(-errno, "no room for its layout: %s", strerror(errno));
	__sync_fetch_and_add(&l->probe->bss->layouts, 1);
	return 0;
}

bool lineage_has_python(const struct lineage *l, int pid)
{
	struct py_layout layout;
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(bpf_map__fd(l->probe->maps.pythons), &key, &layout);
}

void lineage_news(struct lineage *l, void (*fn)(const void *record, size_t size, void *arg),
		  void *arg)
{
	l->on_stack = fn;
	l->stack_arg = arg;
	if (l->news)
		(void)ring_buffer__consume(l->news); /* what is left is taken at the next visit */
}

void lineage_forget_stacks(struct lineage *l)
{
	l->probe->bss->stack_epoch++;
}

/* ---- what was counted ---- */

void lineage_each_flow(struct lineage *l, flow_fn fn, void *arg)
{
	flows_take(l->flows, fn, arg);
}

bool lineage_tells_nvme(const struct lineage *l, const struct lineage_event *event)
{
	return l->nvme.status && event->map_ns && event->because & LINEAGE_BECAUSE_FAILED;
}

void lineage_look(struct lineage *l, bool on)
{
	l->probe->bss->lineage_off = !on;
}

void lineage_stats(const struct lineage *l, struct lineage_stats *ret)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(l->probe->maps.lineage_cpus);
	size_t size = bpf_map__value_size(l->probe->maps.lineage_cpus);
	uint32_t zero = 0;
	char *all;

	*ret = (struct lineage_stats){ 0 };
	if (cpus <= 0 || size < sizeof(*ret))
		return;
	size = (size + 7) / 8 * 8;
	all = xcalloc((size_t)cpus, size);
	if (!bpf_map_lookup_elem(fd, &zero, all)) {
		for (int i = 0; i < cpus; i++) {
			/* They are the last of each CPU's. */
			const uint64_t *from =
				(const uint64_t *)(all + (size_t)(i + 1) * size - sizeof(*ret));
			uint64_t *to = (uint64_t *)ret;

			for (size_t k = 0; k < sizeof(*ret) / sizeof(*to); k++)
				to[k] += from[k];
		}
	}
	free(all);
}

char *lineage_file(struct lineage *l, const struct lineage_key *key, char *dst, size_t cap)
{
	char path[LINEAGE_PATH];
	bool named = key->ino && paths_find(l->paths, key, path, sizeof(path));

	if (key->flags & LINEAGE_FOLDED)
		snprintf(dst, cap, "(many files)");
	else if (key->class == LINEAGE_journal && key->ino)
		snprintf(dst, cap, "(journal) for %s", named ? path : "a file");
	else if (named)
		str_copy(dst, cap, path);
	else if (key->ino)
		snprintf(dst, cap, "(inode %llu of %u:%u)", (unsigned long long)key->ino,
			 key->fs_dev >> 20, key->fs_dev & 0xfffff);
	else
		snprintf(dst, cap, "(%s)", lineage_class_names[key->class]);
	return dst;
}

const char *lineage_fs(struct lineage *l, const struct lineage_key *key)
{
	return lineage_fs_name(paths_magic(l->paths, key));
}
