// SPDX-License-Identifier: Apache-2.0
/* The registry of library copies: find by mapped inode, attach once, remember who uses it. */
#include "capture/libs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#include "capture/guard.h"
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
	struct links links; /* timed rows */
	struct links driver; /* driver launches, while they are shown */
	struct links launches; /* runtime launches, where somebody has no driver to see them at */
	struct site driver_site[OP_COUNT], launch_site[OP_COUNT];
	size_t driver_sites, launch_sites;
	int fd; /* of the library, for launches attached later */
	bool guarded; /* nobody writes to it without our knowing */
	bool given_up; /* ... somebody wanted to: it is not touched again */
	bool busy; /* somebody has it open for writing: not attached to yet */
	struct user *user;
	size_t users;
	uint64_t unused_since;
};

struct libs {
	struct libs_opts opts;
	libs_fn fn;
	void *arg;
	/* Launches are hidden and shown by another thread: of the list and of all launch links. */
	pthread_mutex_t lock;
	bool hidden;
	struct entry *entry[MAX_LIBS];
	int count;
	bool full_said, unguarded_said;
};

struct libs *libs_new(const struct libs_opts *opts, libs_fn fn, void *arg)
{
	struct libs *l = xcalloc(1, sizeof(*l));

	l->opts = *opts;
	l->fn = fn;
	l->arg = arg;
	pthread_mutex_init(&l->lock, NULL);
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

static int attach_entry(const struct libs_opts *o, struct entry *e)
{
	struct lib_site sites[OP_COUNT];
	struct site timed[OP_COUNT];
	size_t timed_n = 0;
	char path[64];
	int n;

	n = lib_sites(e->fd, e->lib.id, sites);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		const struct op *op = &op_table[sites[i].op];
		bool stepped = sites[i].class == INSN_STEPPED;
		struct site site = { .offset = sites[i].offset,
				     .cookie = (uint64_t)sites[i].op |
					       (stepped ? COOKIE_STEPPED : 0) };

		if (sites[i].class == INSN_REFUSED) {
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
			e->driver_site[e->driver_sites++] = site;
		}
	}
	for (int op = 0; op < OP_COUNT; op++)
		e->lib.missing += op_table[op].lib == e->lib.id;
	e->lib.missing -= n;
	if (!e->lib.ops)
		return fail(-ENOENT, "none of the traced functions is in it");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	return attach_timed(o, e, path, timed, timed_n);
}

/* ---- launches: the only probes that come and go ---- */

static int show(const struct libs_opts *o, struct entry *e, struct links *to,
		const struct site *sites, size_t n)
{
	struct attach count = count_only(o);
	char path[64];
	int err;

	if (!n || to->count || e->given_up)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->fd);
	err = link_sites(to, &count, path, sites, n);
	if (err)
		log_warn("launches of %s are not counted: %s", e->lib.path, why(err));
	return err;
}

/* Runtime launches are probed while some user of this copy has no driver mapped. */
static bool needs_runtime(const struct entry *e)
{
	bool need = !e->users; /* somebody came and went: he may have none */

	for (size_t i = 0; i < e->users; i++)
		need |= !e->user[i].driver;
	return need && e->launch_sites;
}

static void update_launches(struct libs *l, struct entry *e)
{
	struct links *one[] = { &e->launches };

	pthread_mutex_lock(&l->lock);
	if (!needs_runtime(e))
		links_close(one, 1);
	else if (!l->hidden)
		(void)show(&l->opts, e, &e->launches, e->launch_site, e->launch_sites);
	pthread_mutex_unlock(&l->lock);
}

int libs_show_launches(struct libs *l)
{
	int err = 0;

	pthread_mutex_lock(&l->lock);
	l->hidden = false;
	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];
		int one = show(&l->opts, e, &e->driver, e->driver_site, e->driver_sites);

		if (!one && needs_runtime(e))
			one = show(&l->opts, e, &e->launches, e->launch_site, e->launch_sites);
		err = err ? err : one;
	}
	pthread_mutex_unlock(&l->lock);
	return err;
}

void libs_hide_launches(struct libs *l)
{
	struct links taken[2 * MAX_LIBS], *all[2 * MAX_LIBS];
	size_t n = 0;

	pthread_mutex_lock(&l->lock);
	l->hidden = true;
	for (int i = 0; i < l->count; i++) {
		struct links *of[] = { &l->entry[i]->driver, &l->entry[i]->launches };

		for (size_t k = 0; k < ARRAY_LEN(of); k++) {
			taken[n] = *of[k];
			all[n] = &taken[n];
			n++;
			*of[k] = (struct links){ 0 };
		}
	}
	pthread_mutex_unlock(&l->lock);
	links_close(all, n); /* waits for the kernel: nobody else has to wait for that */
}

/* ---- finding copies ---- */

/* One copy however it is reached: overlay mounts change the device number, nothing else. */
static struct entry *entry_find(struct libs *l, enum op_lib id, const struct stat *st,
				const char *build_id)
{
	for (int i = 0; i < l->count; i++) {
		const struct lib *lib = &l->entry[i]->lib;
		uint64_t mtime = (uint64_t)st->st_mtim.tv_sec * 1000000000ull +
				 (uint64_t)st->st_mtim.tv_nsec;

		if (lib->id == id && lib->inode == st->st_ino &&
		    lib->size == (uint64_t)st->st_size && lib->mtime_ns == mtime &&
		    streq(lib->build_id, build_id))
			return l->entry[i];
	}
	return NULL;
}

static void entry_free(struct entry *e)
{
	if (e->guarded)
		guard_release(e->fd);
	if (e->fd >= 0)
		close(e->fd);
	free(e->user);
	free(e);
}

/* May it be attached to? Not while somebody writes to it. */
static bool take_guard(struct libs *l, struct entry *e)
{
	int err = guard_take(e->fd);

	e->guarded = !err;
	e->busy = err == -EAGAIN;
	if (e->busy)
		return false;
	if (err && !l->unguarded_said) {
		log_warn("%s must not be overwritten in place while it is traced: its file system "
			 "knows no leases (%s)",
			 e->lib.path, strerror(-err));
		l->unguarded_said = true;
	}
	return true;
}

static void take_links(struct entry *e, struct links taken[3])
{
	struct links *of[] = { &e->links, &e->driver, &e->launches };

	for (size_t k = 0; k < ARRAY_LEN(of); k++) {
		taken[k] = *of[k];
		*of[k] = (struct links){ 0 };
	}
}

void libs_yield(struct libs *l)
{
	pthread_mutex_lock(&l->lock);
	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];
		struct links taken[3], *all[] = { &taken[0], &taken[1], &taken[2] };

		if (!e->guarded || !guard_broken(e->fd))
			continue;
		take_links(e, taken);
		e->guarded = false;
		e->given_up = true;
		links_close(all, ARRAY_LEN(all)); /* the writer waits for this */
		guard_release(e->fd);
		str_copy(e->lib.note, sizeof(e->lib.note), "was overwritten while it was traced");
		log_warn("%s is being overwritten: not traced until that is over", e->lib.path);
	}
	pthread_mutex_unlock(&l->lock);
}

/* With the lock held. */
static void begin_entry(struct libs *l, struct entry *e)
{
	int err = attach_entry(&l->opts, e);

	if (!err && !l->hidden)
		err = show(&l->opts, e, &e->driver, e->driver_site, e->driver_sites);
	if (err) {
		struct links *one[] = { &e->links };

		/* Kept in the list, so that it is tried and told once. */
		str_copy(e->lib.note, sizeof(e->lib.note), why(err));
		links_close(one, 1);
		e->lib.ops = e->lib.stepped = 0;
		e->launch_sites = e->driver_sites = 0;
	}
}

static struct entry *entry_add(struct libs *l, enum op_lib id, const struct stat *st, int fd,
			       const char *path)
{
	struct entry *e;

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
	e->lib.mtime_ns =
		(uint64_t)st->st_mtim.tv_sec * 1000000000ull + (uint64_t)st->st_mtim.tv_nsec;
	str_copy(e->lib.path, sizeof(e->lib.path), path);
	elf_build_id(fd, e->lib.build_id, sizeof(e->lib.build_id));
	pthread_mutex_lock(&l->lock);
	if (take_guard(l, e))
		begin_entry(l, e);
	else
		str_copy(e->lib.note, sizeof(e->lib.note),
			 "somebody has it open for writing: not traced until that is over");
	e->lib.attached_ns = clock_boot_ns();
	l->entry[l->count++] = e;
	pthread_mutex_unlock(&l->lock);
	return e;
}

/* Its users are told anew. */
static void retry_entry(struct libs *l, struct entry *e)
{
	if (!e->busy || !take_guard(l, e))
		return;
	pthread_mutex_lock(&l->lock);
	e->users = 0;
	e->lib.note[0] = '\0';
	begin_entry(l, e);
	pthread_mutex_unlock(&l->lock);
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
		if (e)
			retry_entry(l, e);
		else
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

/* Did it know him before? */
static bool add_user(struct entry *e, int pid, bool driver)
{
	for (size_t i = 0; i < e->users; i++) {
		if (e->user[i].pid == pid) {
			e->user[i].driver = driver;
			return true;
		}
	}
	if (e->users == MAX_USERS)
		return true;
	e->user = xrealloc(e->user, e->users + 1, sizeof(*e->user));
	e->user[e->users++] = (struct user){ pid, driver };
	e->unused_since = 0;
	return false;
}

static void use(struct libs *l, struct entry *e, int pid, bool driver)
{
	bool known;

	pthread_mutex_lock(&l->lock);
	known = add_user(e, pid, driver);
	pthread_mutex_unlock(&l->lock);
	if (!known)
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
	if (e)
		retry_entry(l, e);
	else
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

static void let_go(struct libs *l, int i)
{
	struct entry *e = l->entry[i];
	struct links *all[] = { &e->links, &e->driver, &e->launches };

	pthread_mutex_lock(&l->lock);
	l->entry[i] = l->entry[--l->count];
	pthread_mutex_unlock(&l->lock);
	links_close(all, ARRAY_LEN(all));
	entry_free(e);
}

static void drop_users(struct libs *l, struct entry *e)
{
	size_t kept = 0;

	pthread_mutex_lock(&l->lock);
	for (size_t j = 0; j < e->users; j++) {
		uint32_t pid = (uint32_t)e->user[j].pid;

		if (!kill(e->user[j].pid, 0) || errno != ESRCH)
			e->user[kept++] = e->user[j];
		else
			bpf_map_delete_elem(l->opts.with_driver, &pid);
	}
	e->users = kept;
	pthread_mutex_unlock(&l->lock);
}

/* Forget users that are gone, and copies that nobody has mapped for a while: a link pins a file. */
static void forget_gone(struct libs *l)
{
	uint64_t now = clock_boot_ns();

	for (int i = 0; i < l->count; i++) {
		struct entry *e = l->entry[i];

		drop_users(l, e);
		if (e->users) {
			e->unused_since = 0;
			update_launches(l, e);
		} else if (!e->unused_since) {
			e->unused_since = now;
		} else if (now - e->unused_since > KEEP_UNUSED_NS) {
			let_go(l, i--);
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
		all[n++] = &l->entry[i]->driver;
		all[n++] = &l->entry[i]->launches;
	}
	links_close(all, n);
	for (int i = 0; i < l->count; i++)
		entry_free(l->entry[i]);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
