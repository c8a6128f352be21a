// SPDX-License-Identifier: Apache-2.0
/* The registry of library copies: find by mapped inode, attach once, remember who uses it. */
#include "capture/libs_int.h"

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
#include "capture/guard.h"
#include "capture/maps.h"

#define MAX_USERS 4096
#define KEEP_UNUSED_NS (60 * 1000000000ull)

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

/* With the lock held. */
static void begin_entry(struct libs *l, struct entry *e)
{
	int err = libs_attach(l, e);

	if (!err)
		err = libs_show(l, e);
	if (err) {
		struct links *one[] = { &e->links };

		/* Kept in the list, so that it is tried and told once. */
		str_copy(e->lib.note, sizeof(e->lib.note), why(err));
		links_close(one, 1);
		e->lib.ops = e->lib.stepped = 0;
		e->launch_sites = e->driver_sites = 0;
	}
	libs_learn_of(l, e);
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
	e->lib.mtime_ns = mtime_of(st);
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
	if (e) {
		retry_entry(l, e);
		return e;
	}
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
	see_program(&s);
	if (s.driver)
		bpf_map_update_elem(l->opts.with_driver, &key, &yes, BPF_ANY);
	else
		bpf_map_delete_elem(l->opts.with_driver, &key);
	for (int i = 0; i < s.count; i++) {
		use(l, s.entry[i], pid, s.driver);
		libs_update(l, s.entry[i]);
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
		libs_update(l, e);
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
	struct links *all[ENTRY_LINKS];

	pthread_mutex_lock(&l->lock);
	l->entry[i] = l->entry[--l->count];
	pthread_mutex_unlock(&l->lock);
	entry_links(e, all);
	links_close(all, ENTRY_LINKS);
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
			libs_update(l, e);
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
	struct links *all[ENTRY_LINKS * MAX_LIBS];

	if (!l)
		return;
	for (int i = 0; i < l->count; i++)
		entry_links(l->entry[i], &all[ENTRY_LINKS * (size_t)i]);
	links_close(all, ENTRY_LINKS * (size_t)l->count);
	for (int i = 0; i < l->count; i++)
		entry_free(l->entry[i]);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
