// SPDX-License-Identifier: Apache-2.0
/* One pair of links per copy of an interpreter. */
#include "capture/gc.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/elf.h"
#include "capture/guard.h"
#include "capture/insn.h"
#include "capture/maps.h"
#include "capture/usdt.h"

#define COPIES_MAX 64
#define SITES_MAX 16

struct copy {
	dev_t dev;
	ino_t inode;
	struct timespec mtime;
	int fd; /* while something is attached; else -1 */
	bool guarded;
	struct links links;
};

struct gc_probes {
	enum attach_mode mode;
	int prog_start, prog_done;
	pthread_mutex_t lock; /* of what follows */
	struct copy copy[COPIES_MAX];
	size_t copies;
};

struct gc_probes *gc_new(enum attach_mode mode, int prog_start, int prog_done)
{
	struct gc_probes *g = xcalloc(1, sizeof(*g));

	g->mode = mode == ATTACH_PERF ? ATTACH_PERF : ATTACH_MULTI; /* plain entries, no session */
	g->prog_start = prog_start;
	g->prog_done = prog_done;
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

/* How many sites were attached, or a negative errno. */
static int attach(struct gc_probes *g, struct copy *copy, int fd, const char *name, int prog)
{
	struct usdt_site found[SITES_MAX];
	struct site site[SITES_MAX];
	struct attach how = { .mode = g->mode, .prog_fd = prog };
	int n = usdt_find(fd, "python", name, found, SITES_MAX), err;
	char path[64];

	for (int i = 0; i < n; i++)
		site[i] =
			(struct site){ .offset = found[i].offset, .semaphore = found[i].semaphore };
	if (n <= 0)
		return n;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = link_sites(&copy->links, &how, path, site, (size_t)n);
	return err ? err : n;
}

/*
 * Interpreters built without probes (most that do not come from a distribution) have the function
 * that collects, if their symbols were left in. The compiler may have renamed it.
 */
static int attach_function(struct gc_probes *g, struct copy *copy, int fd)
{
	static const char *const names[] = { "gc_collect_main", "gc_collect_main.constprop.0",
					     "gc_collect_main.isra.0", "collect" /* 3.9 */ };
	struct attach begin = { .mode = g->mode, .prog_fd = g->prog_start };
	struct attach end = { .mode = g->mode, .prog_fd = g->prog_done, .at_return = true };
	struct elf_func found[ARRAY_LEN(names)];
	int err = elf_find(fd, names, ARRAY_LEN(names), found);
	struct insn_site site;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; err > 0 && i < ARRAY_LEN(names); i++) {
		struct site at;

		if (!found[i].found || insn_site(fd, found[i].offset, &site) ||
		    site.class == INSN_REFUSED)
			continue;
		at = (struct site){ .offset = site.offset };
		err = link_sites(&copy->links, &end, path, &at, 1);
		return err ? err : link_sites(&copy->links, &begin, path, &at, 1);
	}
	return err < 0 ? err : fail(-ENOENT, "it has neither probes nor symbols");
}

static int attach_collector(struct gc_probes *g, struct copy *copy, int fd)
{
	/* The end first: a collection that is seen to begin must be seen to end. */
	int n = attach(g, copy, fd, "gc__done", g->prog_done);

	if (n > 0)
		n = attach(g, copy, fd, "gc__start", g->prog_start);
	return n > 0 ? 0 : n < 0 ? n : attach_function(g, copy, fd);
}

static bool is_interpreter(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, "python3", 7) || !strncmp(base, "libpython3", 10);
}

static bool same_file(const struct copy *copy, const struct stat *st)
{
	return copy->inode == st->st_ino && copy->dev == st->st_dev &&
	       copy->mtime.tv_sec == st->st_mtim.tv_sec &&
	       copy->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

struct looking {
	struct gc_probes *g;
	int pid;
};

static int see_line(const struct map_line *line, void *arg)
{
	struct looking *look = arg;
	struct gc_probes *g = look->g;
	struct copy *copy;
	struct stat st;
	int fd, err, lease;

	if (!line->exec || !is_interpreter(line->path) || g->copies == COPIES_MAX)
		return 0;
	fd = maps_open(look->pid, line);
	if (fd < 0)
		return 0;
	err = fstat(fd, &st) || !S_ISREG(st.st_mode);
	for (size_t i = 0; !err && i < g->copies; i++)
		err = same_file(&g->copy[i], &st);
	lease = err ? 0 : guard_take(fd);
	if (!err && lease != -EAGAIN) { /* else it is being written to: next time */
		copy = &g->copy[g->copies++]; /* also if it has none: looked at once */
		*copy = (struct copy){ st.st_dev, st.st_ino, st.st_mtim, fd, !lease, { 0 } };
		err = attach_collector(g, copy, fd);
		if (err < 0)
			log_debug("garbage collections of %s are not seen: %s", line->path,
				  why(err));
		if (copy->links.count)
			return 0;
		copy->fd = -1;
		copy->guarded = false;
	}
	close(fd); /* and its lease */
	return 0;
}

void gc_see(struct gc_probes *g, int pid)
{
	struct looking look = { g, pid };

	pthread_mutex_lock(&g->lock);
	(void)maps_each(pid, see_line, &look);
	pthread_mutex_unlock(&g->lock);
}

void gc_yield(struct gc_probes *g)
{
	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->copies; i++) {
		struct links *one[] = { &g->copy[i].links };

		if (!g->copy[i].guarded || !guard_broken(g->copy[i].fd))
			continue;
		links_close(one, 1);
		close(g->copy[i].fd); /* and its lease: the writer goes on */
		g->copy[i].fd = -1;
		g->copy[i].guarded = false;
	}
	pthread_mutex_unlock(&g->lock);
}

void gc_free(struct gc_probes *g)
{
	struct links *all[COPIES_MAX];

	if (!g)
		return;
	for (size_t i = 0; i < g->copies; i++)
		all[i] = &g->copy[i].links;
	links_close(all, g->copies);
	for (size_t i = 0; i < g->copies; i++)
		if (g->copy[i].fd >= 0)
			close(g->copy[i].fd);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
