// SPDX-License-Identifier: Apache-2.0
/* One link per process that is watched. */
#include "capture/frees.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/guard.h"
#include "capture/maps.h"

#define WATCHED_MAX 128
#define CHECK_NS 1000000000ull
#define REAP_CHECKS 10 /* one of so many lets go of those that ended: that waits for the kernel */
/*
 * A hit takes about a microsecond. One that makes and frees functions all the time has nothing to win; an
 * import frees some thousands at once.
 */
#define FREES_PER_S 1000
#define FREES_BURST 50000

struct watched {
	int pid;
	int fd; /* of the interpreter's file */
	bool guarded;
	bool over; /* to be let go */
	uint32_t frees; /* counted at the last check */
	int64_t credit;
	struct links links;
};

struct frees {
	int prog, pythons;
	bool works;
	uint64_t check_ns;
	unsigned checks;
	pthread_mutex_t lock; /* of what follows, and of `watched` in the map */
	struct watched watched[WATCHED_MAX];
	size_t count;
};

/* ---- can this kernel do it? ---- */

static void *call_target(void *arg)
{
	link_target();
	return arg;
}

/* Up to 6.9 some take the process for its first thread, and miss what the others do. */
static bool sees_threads(int prog, const volatile __u64 *hits)
{
	struct attach how = { .mode = ATTACH_MULTI, .prog_fd = prog, .pid = getpid() };
	struct site site = { 0 };
	struct links links = { 0 };
	struct links *all[] = { &links };
	uint64_t before = *hits;
	pthread_t thread;

	if (link_target_offset(&site.offset) ||
	    link_sites(&links, &how, "/proc/self/exe", &site, 1))
		return false;
	if (!pthread_create(&thread, NULL, call_target, NULL))
		pthread_join(thread, NULL);
	links_close(all, 1);
	return *hits == before + 1;
}

struct frees *frees_new(enum attach_mode mode, int prog, int pythons, const volatile __u64 *hits)
{
	struct frees *f = xcalloc(1, sizeof(*f));

	f->prog = prog;
	f->pythons = pythons;
	f->works = mode != ATTACH_PERF && sees_threads(prog, hits);
	if (!f->works)
		log_debug("code objects that are freed are not watched: this kernel cannot probe "
			  "one process");
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

/* ---- where ---- */

struct search {
	int pid, fd;
	uint64_t addr;
};

static int open_file(const struct map_line *line, void *arg)
{
	struct search *s = arg;

	if (s->addr < line->start || s->addr >= line->end)
		return 0;
	s->fd = line->inode ? maps_open(s->pid, line) : -ENOENT;
	return 1;
}

/* ---- watching ---- */

/* Say so in the map, unless the process is gone or became another. */
static void mark(struct frees *f, int pid, enum py_watched watched)
{
	struct py_layout layout;

	if (bpf_map_lookup_elem(f->pythons, &pid, &layout) || layout.watched == watched)
		return;
	layout.watched = watched;
	(void)bpf_map_update_elem(f->pythons, &pid, &layout, BPF_EXIST); /* it has just gone */
}

/* Let go of all that are over, at once. */
static void let_go(struct frees *f)
{
	struct links *all[WATCHED_MAX];
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (!f->watched[i].over)
			continue;
		mark(f, f->watched[i].pid, PY_WATCHED_NO_MORE); /* first: then nobody counts */
		all[n++] = &f->watched[i].links;
	}
	if (!n)
		return;
	links_close(all, n);
	for (size_t i = 0; i < f->count; i++) {
		if (f->watched[i].over)
			close(f->watched[i].fd); /* and its lease: a writer goes on */
		else
			f->watched[kept++] = f->watched[i];
	}
	f->count = kept;
}

static void end_watch(struct frees *f, int pid)
{
	for (size_t i = 0; i < f->count; i++)
		f->watched[i].over |= f->watched[i].pid == pid;
	let_go(f);
}

static int attach(struct frees *f, int pid, const struct py_layout *layout, struct watched *w)
{
	struct attach how = { .mode = ATTACH_MULTI, .prog_fd = f->prog, .pid = pid };
	struct search s = { .pid = pid, .fd = -ENOENT, .addr = layout->code_type };
	struct site site = { 0 };
	uint64_t slot;
	char path[64];
	int err, lease;

	if (!file_read_memory((uint32_t)pid, layout->code_type + FREES_SLOT, &slot, sizeof(slot)))
		return fail(-ESRCH, "its memory cannot be read");
	(void)maps_each(pid, open_file, &s);
	if (s.fd < 0)
		return fail(s.fd, "the file of its interpreter cannot be opened");
	*w = (struct watched){ .pid = pid, .fd = s.fd, .credit = FREES_BURST };
	err = frees_site(s.fd, layout->code_type, slot, &site.offset);
	if (!err) {
		lease = guard_take(s.fd);
		w->guarded = !lease;
		err = lease == -EAGAIN ? fail(lease, "its file is being written to") : 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s.fd);
	if (!err)
		err = link_sites(&w->links, &how, path, &site, 1);
	if (err)
		close(s.fd);
	return err;
}

/* Is the process watched now? */
static bool begin_watch(struct frees *f, int pid, const struct py_layout *layout)
{
	struct watched fresh;
	int err;

	if (!f->works || !layout->code_type)
		return false;
	end_watch(f, pid); /* it was another program */
	if (f->count == WATCHED_MAX)
		return false;
	err = attach(f, pid, layout, &fresh);
	if (err) {
		log_debug("code objects of process %d are not watched: %s", pid, why(err));
		return false;
	}
	f->watched[f->count++] = fresh;
	return true;
}

/* The probe first: what is freed before is nowhere remembered. */
static int put(struct frees *f, int pid, const struct py_layout *layout, uint64_t flags)
{
	struct py_layout copy = *layout;
	int err = 0;

	/* Who cannot be watched is not asked again. */
	copy.watched = begin_watch(f, pid, layout) ? PY_WATCHED : PY_WATCHED_NO_MORE;
	if (bpf_map_update_elem(f->pythons, &pid, &copy, flags))
		err = fail(-errno, "%s", strerror(errno));
	if (err)
		end_watch(f, pid);
	return err;
}

int frees_put(struct frees *f, int pid, const struct py_layout *layout)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = put(f, pid, layout, BPF_ANY);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void frees_see(struct frees *f, int pid)
{
	struct py_layout layout;

	pthread_mutex_lock(&f->lock);
	if (f->works && !bpf_map_lookup_elem(f->pythons, &pid, &layout) && layout.code_type &&
	    layout.watched == PY_NOT_WATCHED)
		(void)put(f, pid, &layout, BPF_EXIST); /* it has just gone */
	pthread_mutex_unlock(&f->lock);
}

/* ---- letting go ---- */

static bool costs_too_much(struct watched *w, uint32_t frees, uint64_t ns)
{
	w->credit += (int64_t)(min_u64(ns, 60 * CHECK_NS) / 1000 * FREES_PER_S / 1000000);
	if (w->credit > FREES_BURST)
		w->credit = FREES_BURST;
	w->credit -= frees - w->frees;
	w->frees = frees;
	return w->credit < 0;
}

void frees_check(struct frees *f, uint64_t now_ns)
{
	bool reap;

	if (now_ns - f->check_ns < CHECK_NS)
		return;
	pthread_mutex_lock(&f->lock);
	reap = ++f->checks % REAP_CHECKS == 0;
	for (size_t i = 0; i < f->count; i++) {
		struct watched *w = &f->watched[i];
		struct py_layout layout;

		if (bpf_map_lookup_elem(f->pythons, &w->pid, &layout)) {
			w->over = reap;
		} else if (costs_too_much(w, layout.frees, now_ns - f->check_ns)) {
			w->over = true;
			log_debug("process %d frees too many code objects to watch each", w->pid);
		}
	}
	let_go(f);
	f->check_ns = now_ns;
	pthread_mutex_unlock(&f->lock);
}

void frees_yield(struct frees *f)
{
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->count; i++)
		f->watched[i].over |= f->watched[i].guarded && guard_broken(f->watched[i].fd);
	let_go(f);
	pthread_mutex_unlock(&f->lock);
}

void frees_stop(struct frees *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->works = false;
	for (size_t i = 0; i < f->count; i++)
		f->watched[i].over = true;
	let_go(f);
	pthread_mutex_unlock(&f->lock);
}

void frees_free(struct frees *f)
{
	if (!f)
		return;
	frees_stop(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
