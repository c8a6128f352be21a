// SPDX-License-Identifier: Apache-2.0
/* The registry of library copies: find by mapped inode, attach once, remember who uses it. */
#include "capture/libs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/elf.h"
#include "capture/insn.h"
#include "capture/maps.h"
#include "wire/event.h"

/* A tenant can map as many "libcudart.so" as he likes; we attach to so many and say so. */
#define MAX_LIBS 256
#define MAX_USERS 4096
#define KEEP_UNUSED_NS (60 * 1000000000ull)

struct user {
	int pid;
	bool driver; /* maps a libcuda */
};

struct entry {
	struct lib lib;
	struct links links; /* timed rows and driver launches */
	struct links launches; /* runtime launches, where somebody has no driver to see them at */
	struct links learning; /* the same launches, to learn what they launch */
	struct site launch_site[OP_COUNT];
	size_t launch_sites;
	int fd; /* of the library, for launches attached later */
	struct user *user;
	size_t users;
	uint64_t unused_since;
};

/* A program that has no runtime linked in. */
struct plain {
	uint64_t inode, size, mtime_ns;
};

#define PLAIN_MAX 64 /* remembered; the oldest go */

struct libs {
	struct plain plain[PLAIN_MAX];
	unsigned plains; /* ever */
	struct libs_opts opts;
	libs_fn fn;
	void *arg;
	struct entry *entry[MAX_LIBS];
	int count;
	bool full_said, learn;
};

struct libs *libs_new(const struct libs_opts *opts, libs_fn fn, void *arg)
{
	struct libs *l = xcalloc(1, sizeof(*l));

	l->opts = *opts;
	l->fn = fn;
	l->arg = arg;
	return l;
}

int libs_count(const struct libs *l)
{
	return l->count;
}

const struct lib *libs_at(const struct libs *l, int i)
{
	return &l->entry[i]->lib;
}

/* ---- sites ---- */

int lib_sites(int fd, enum op_lib id, struct lib_site ret[OP_COUNT])
{
	const char *names[OP_COUNT];
	int op_of[OP_COUNT], n = 0, sites = 0, err;
	struct elf_func found[OP_COUNT];

	for (int op = 0; op < OP_COUNT; op++) {
		if (op_table[op].lib != id)
			continue;
		names[n] = op_table[op].symbol;
		op_of[n++] = op;
	}
	err = elf_find(fd, names, (size_t)n, found);
	if (err < 0)
		return err;
	for (int i = 0; i < n; i++) {
		struct insn_site site;

		if (!found[i].found)
			continue;
		if (insn_site(fd, found[i].offset, &site))
			site = (struct insn_site){ .class = INSN_REFUSED };
		ret[sites++] = (struct lib_site){ site.offset, op_of[i], (int)site.class };
	}
	return sites;
}

/* ---- attaching one copy ---- */

static int attach_timed(const struct libs_opts *o, struct entry *e, const char *path,
			const struct site *sites, size_t n)
{
	const struct attach entry = { o->mode, o->prog_enter, false };
	const struct attach at_return = { o->mode, o->prog_return, true };
	int err;

	if (o->mode == ATTACH_SESSION)
		return link_sites(&e->links, &entry, path, sites, n);
	/* Returns first: a return without its entry is noticed, an entry without return is not. */
	err = link_sites(&e->links, &at_return, path, sites, n);
	return err ? err : link_sites(&e->links, &entry, path, sites, n);
}

/* Ops that are only counted need no session. */
static struct attach count_only(const struct libs_opts *o)
{
	enum attach_mode mode = o->mode == ATTACH_PERF ? ATTACH_PERF : ATTACH_MULTI;

	return (struct attach){ mode, o->prog_count, false };
}

/*
 * Before Linux 6.6 each probe takes a tenth of a second to be removed, so only what most programs use
 * is probed there.
 */
static bool too_dear(const struct libs_opts *o, const struct op *op)
{
	static const char *const rare[] = {
		"_pt", "2D", "3D", "D16", "Symbol", "Array", "Destroy"
	};

	if (o->mode != ATTACH_PERF)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(rare); i++)
		if (strstr(op->symbol, rare[i]))
			return true;
	return op->class == CLASS_EVENT || op->class == CLASS_HANDLE;
}

static int attach_entry(const struct libs_opts *o, struct entry *e)
{
	struct site timed[OP_COUNT], counted[OP_COUNT];
	size_t timed_n = 0, counted_n = 0;
	struct attach count = count_only(o);
	struct lib_site sites[OP_COUNT];
	char path[64];
	int n, err;

	n = lib_sites(e->fd, e->lib.id, sites);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		const struct op *op = &op_table[sites[i].op];
		bool stepped = sites[i].class == INSN_STEPPED;
		struct site site = { .offset = sites[i].offset,
				     .cookie = (uint64_t)sites[i].op |
					       (stepped ? COOKIE_STEPPED : 0) };

		if (sites[i].class == INSN_REFUSED || too_dear(o, op)) {
			e->lib.refused++;
			continue;
		}
		e->lib.ops++;
		e->lib.stepped += stepped;
		if (op_timed(op->class)) {
			timed[timed_n++] = site;
		} else if (op->lib == LIB_CUDART) {
			site.cookie |= COOKIE_IF_NO_DRIVER;
			e->launch_site[e->launch_sites++] = site;
		} else {
			counted[counted_n++] = site;
		}
	}
	for (int op = 0; op < OP_COUNT; op++)
		e->lib.missing += op_table[op].lib == e->lib.id;
	e->lib.missing -= n;
	if (!e->lib.ops)
		return fail(-ENOENT, "none of the traced functions is in it");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = attach_timed(o, e, path, timed, timed_n);
	if (!err)
		err = link_sites(&e->links, &count, path, counted, counted_n);
	return err;
}

/* Runtime launches are probed while some user of this copy has no driver mapped. */
static void update_launches(struct libs *l, struct entry *e)
{
	struct links *one[] = { &e->launches };
	struct attach count = count_only(&l->opts);
	bool need = false;
	char path[64];
	int err;

	need = !e->users; /* somebody came and went: he may have none */
	for (size_t i = 0; i < e->users; i++)
		need |= !e->user[i].driver;
	if (!e->launch_sites || need == (e->launches.count > 0))
		return;
	if (!need) {
		links_close(one, 1);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = link_sites(&e->launches, &count, path, e->launch_site, e->launch_sites);
	if (err)
		log_warn("launches of %s are not counted: %s", e->lib.path, why(err));
}

/* Which of the runtime's calls launch kernels; events are counted in the same way. */
static void learn(struct libs *l, struct entry *e)
{
	enum attach_mode mode = l->opts.mode == ATTACH_PERF ? ATTACH_PERF : ATTACH_MULTI;
	struct attach how = { mode, l->opts.prog_stub, false };
	struct links *one[] = { &e->learning };
	struct site site[OP_COUNT];
	size_t n = 0;
	char path[64];
	int err;

	if (!l->learn && e->learning.count)
		links_close(one, 1);
	if (!l->learn || e->learning.count)
		return;
	for (size_t i = 0; i < e->launch_sites; i++)
		if (op_table[e->launch_site[i].cookie & COOKIE_OP].class == CLASS_LAUNCH)
			site[n++] = e->launch_site[i];
	if (!n)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = link_sites(&e->learning, &how, path, site, n);
	if (err)
		log_debug("kernels of %s stay without names: %s", e->lib.path, why(err));
}

void libs_learn(struct libs *l, bool on)
{
	l->learn = on;
	for (int i = 0; i < l->count; i++)
		learn(l, l->entry[i]);
}

/* ---- finding copies ---- */

static uint64_t mtime_of(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000ull + (uint64_t)st->st_mtim.tv_nsec;
}

/* One copy however it is reached: overlay mounts change the device number, nothing else. */
static struct entry *entry_find(struct libs *l, enum op_lib id, const struct stat *st,
				const char *build_id)
{
	for (int i = 0; i < l->count; i++) {
		const struct lib *lib = &l->entry[i]->lib;
		if (lib->id == id && lib->inode == st->st_ino &&
		    lib->size == (uint64_t)st->st_size && lib->mtime_ns == mtime_of(st) &&
		    streq(lib->build_id, build_id))
			return l->entry[i];
	}
	return NULL;
}

static struct entry *entry_add(struct libs *l, enum op_lib id, const struct stat *st, int fd,
			       const char *path)
{
	struct entry *e;
	int err;

	if (l->count == MAX_LIBS) {
		if (!l->full_said)
			log_warn("more than %d library copies: %s and later ones are not traced",
				 MAX_LIBS, path);
		l->full_said = true;
		return NULL;
	}
	e = xcalloc(1, sizeof(*e));
	e->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	e->lib.id = id;
	e->lib.inode = st->st_ino;
	e->lib.size = (uint64_t)st->st_size;
	e->lib.mtime_ns = mtime_of(st);
	str_copy(e->lib.path, sizeof(e->lib.path), path);
	elf_build_id(fd, e->lib.build_id, sizeof(e->lib.build_id));
	err = attach_entry(&l->opts, e);
	if (err) {
		struct links *one[] = { &e->links };

		/* Kept in the list, so that it is tried and told once. */
		str_copy(e->lib.note, sizeof(e->lib.note), why(err));
		links_close(one, 1);
		e->lib.ops = e->lib.stepped = 0;
		e->launch_sites = 0;
	}
	e->lib.attached_ns = clock_boot_ns();
	l->entry[l->count++] = e;
	learn(l, e);
	return e;
}

static struct entry *entry_for(struct libs *l, int pid, const struct map_line *line, enum op_lib id)
{
	char build_id[65] = "";
	struct entry *e = NULL;
	struct stat st;
	int fd;

	fd = maps_open(pid, line);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		elf_build_id(fd, build_id, sizeof(build_id));
		e = entry_find(l, id, &st, build_id);
		if (!e)
			e = entry_add(l, id, &st, fd, line->path);
	}
	close(fd);
	return e;
}

/* ---- processes ---- */

struct seen {
	bool told;
	struct libs *l;
	int pid;
	bool driver;
	struct entry *entry[16];
	int count;
};

static int see_line(const struct map_line *line, void *arg)
{
	struct seen *s = arg;
	struct entry *e;
	int id;

	if (!line->exec)
		return 0;
	id = maps_lib(line->path);
	if (id < 0 || s->count == (int)ARRAY_LEN(s->entry))
		return 0;
	if (id == LIB_CUDA)
		s->driver = true;
	if (!s->told && s->l->opts.on_user)
		s->l->opts.on_user(s->pid, s->l->arg);
	s->told = true;
	e = entry_for(s->l, s->pid, line, (enum op_lib)id);
	for (int i = 0; i < s->count; i++)
		if (s->entry[i] == e)
			return 0;
	if (e)
		s->entry[s->count++] = e;
	return 0;
}

/* Has this program been found to have none? */
static bool is_plain(const struct libs *l, const struct stat *st)
{
	for (unsigned i = 0; i < PLAIN_MAX && i < l->plains; i++)
		if (l->plain[i].inode == st->st_ino && l->plain[i].size == (uint64_t)st->st_size &&
		    l->plain[i].mtime_ns == mtime_of(st))
			return true;
	return false;
}

/* The runtime that is part of the program, if its symbols are there: nvcc links it in by default. */
static struct entry *linked_in(struct libs *l, int fd, const struct stat *st, const char *path)
{
	static const char *const names[] = { "cudaLaunchKernel", "cudaMalloc" };
	struct elf_func found[ARRAY_LEN(names)];
	char build_id[65] = "";
	struct entry *e;

	if (is_plain(l, st))
		return NULL;
	elf_build_id(fd, build_id, sizeof(build_id));
	e = entry_find(l, LIB_CUDART, st, build_id);
	if (e)
		return e;
	if (elf_find(fd, names, ARRAY_LEN(names), found) > 0)
		return entry_add(l, LIB_CUDART, st, fd, path);
	l->plain[l->plains++ % PLAIN_MAX] =
		(struct plain){ st->st_ino, (uint64_t)st->st_size, mtime_of(st) };
	return NULL;
}

/* Whoever has the driver may have the runtime inside. */
static void see_program(struct seen *s)
{
	char link[32], path[256] = "";
	struct entry *e = NULL;
	struct stat st;
	ssize_t len;
	int fd;

	if (!s->driver || s->count == (int)ARRAY_LEN(s->entry))
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", s->pid);
	len = readlink(link, path, sizeof(path) - 1);
	fd = len < 0 ? -1 : open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	path[len] = '\0';
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		e = linked_in(s->l, fd, &st, path);
	close(fd);
	for (int i = 0; i < s->count; i++)
		if (s->entry[i] == e)
			return;
	if (e)
		s->entry[s->count++] = e;
}

static void use(struct libs *l, struct entry *e, int pid, bool driver)
{
	for (size_t i = 0; i < e->users; i++) {
		if (e->user[i].pid == pid) {
			e->user[i].driver = driver;
			return;
		}
	}
	if (e->users == MAX_USERS)
		return;
	e->user = xrealloc(e->user, e->users + 1, sizeof(*e->user));
	e->user[e->users++] = (struct user){ pid, driver };
	e->unused_since = 0;
	l->fn(pid, &e->lib, l->arg);
}

int libs_see(struct libs *l, int pid)
{
	struct seen s = { .l = l, .pid = pid };
	uint32_t key = (uint32_t)pid;
	uint8_t yes = 1;

	if (pid == getpid() || (l->opts.only_pid && pid != l->opts.only_pid))
		return 0;
	maps_each(pid, see_line, &s);
	see_program(&s);
	if (s.driver)
		bpf_map_update_elem(l->opts.with_driver, &key, &yes, BPF_ANY);
	else
		bpf_map_delete_elem(l->opts.with_driver, &key);
	for (int i = 0; i < s.count; i++) {
		use(l, s.entry[i], pid, s.driver);
		update_launches(l, s.entry[i]);
	}
	return s.count;
}

void libs_see_file(struct libs *l, const char *path, uint64_t inode)
{
	int id = maps_lib(path), fd, place;
	char build_id[65] = "", self[64];
	struct entry *e;
	struct stat st;

	/* The name is a stranger's: look before opening, a device or a pipe must not be touched. */
	place = id < 0 || l->opts.only_pid ? -1 : open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = fstat(place, &st) || !S_ISREG(st.st_mode) || st.st_ino != inode
		     ? -1
		     : open(self, O_RDONLY | O_CLOEXEC);
	close(place);
	if (fd < 0)
		return;
	elf_build_id(fd, build_id, sizeof(build_id));
	e = entry_find(l, (enum op_lib)id, &st, build_id);
	if (!e)
		e = entry_add(l, (enum op_lib)id, &st, fd, path);
	close(fd);
	if (e) {
		e->unused_since = 0;
		update_launches(l, e);
	}
}

static int see_pid(int pid, void *arg)
{
	libs_see(arg, pid);
	return 0;
}

static void entry_free(struct entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->user);
	free(e);
}

/* Forget users that are gone, and copies that nobody has mapped for a while: a link pins a file. */
static void forget_gone(struct libs *l)
{
	uint64_t now = clock_boot_ns();

	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];
		size_t kept = 0;

		for (size_t j = 0; j < e->users; j++) {
			uint32_t pid = (uint32_t)e->user[j].pid;

			if (!kill(e->user[j].pid, 0) || errno != ESRCH)
				e->user[kept++] = e->user[j];
			else
				bpf_map_delete_elem(l->opts.with_driver, &pid);
		}
		e->users = kept;
		if (kept) {
			e->unused_since = 0;
			update_launches(l, e);
		} else if (!e->unused_since) {
			e->unused_since = now;
		} else if (now - e->unused_since > KEEP_UNUSED_NS) {
			struct links *all[] = { &e->links, &e->launches, &e->learning };

			links_close(all, 3);
			entry_free(e);
			l->entry[i--] = l->entry[--l->count];
		}
	}
}

void libs_rescan(struct libs *l)
{
	if (l->opts.only_pid)
		libs_see(l, l->opts.only_pid);
	else
		procs_each(see_pid, l);
	forget_gone(l);
}

void libs_free(struct libs *l)
{
	struct links *all[3 * MAX_LIBS];
	size_t n = 0;

	if (!l)
		return;
	for (int i = 0; i < l->count; i++) {
		all[n++] = &l->entry[i]->links;
		all[n++] = &l->entry[i]->launches;
		all[n++] = &l->entry[i]->learning;
	}
	links_close(all, n);
	for (int i = 0; i < l->count; i++)
		entry_free(l->entry[i]);
	free(l);
}
