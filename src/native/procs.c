// SPDX-License-Identifier: Apache-2.0
/* The executable mappings of processes. */
#include "native/procs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "capture/maps.h"
#include "native/names.h"

#define READ_AGAIN_NS 1000000000ull

struct reading {
	struct proc *proc;
	size_t cap;
};

static int take_map(const struct map_line *line, void *arg)
{
	struct reading *r = arg;
	struct proc *p = r->proc;
	struct map *m;

	if (!line->exec)
		return 0;
	if (p->n == PROC_MAPS_MAX)
		return 1;
	if (p->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		p->map = xrealloc(p->map, r->cap, sizeof(*p->map));
	}
	m = &p->map[p->n++];
	*m = (struct map){ .start = line->start,
			   .end = line->end,
			   .offset = line->offset,
			   .inode = line->inode,
			   .dev = (uint64_t)line->dev_major << 32 | line->dev_minor,
			   .kind = IN_OTHER };
	if (line->path[0] == '/' && line->inode) {
		m->kind = IN_FILE;
	} else if (streq(line->path, "[uprobes]")) {
		m->kind = IN_UPROBES;
		p->has_uprobes = true;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void release(struct proc *p)
{
	free(p->map);
	memset(p, 0, sizeof(*p));
}

/* What was known stays if the process is gone. */
static bool read_maps(struct proc *p)
{
	struct proc fresh = { 0 };
	struct reading r = { &fresh, 0 };

	p->read_ns = clock_boot_ns();
	if (maps_each((int)p->pid, take_map, &r) < 0 || !fresh.n) {
		free(fresh.map);
		return false;
	}
	qsort(fresh.map, fresh.n, sizeof(*fresh.map), by_start); /* they are, but who knows */
	free(p->map);
	p->map = fresh.map;
	p->n = fresh.n;
	p->has_uprobes = fresh.has_uprobes;
	return true;
}

void procs_release(struct procs *p)
{
	for (size_t i = 0; i < PROCS_MAX; i++)
		release(&p->proc[i]);
}

void procs_forget(struct procs *p, uint32_t pid)
{
	for (size_t i = 0; i < PROCS_MAX; i++) {
		if (p->proc[i].pid == pid)
			release(&p->proc[i]);
	}
}

struct proc *procs_get(struct procs *p, uint32_t pid)
{
	struct proc *oldest = &p->proc[0];

	if (!pid || pid > INT_MAX)
		return NULL;
	for (size_t i = 0; i < PROCS_MAX; i++) {
		struct proc *proc = &p->proc[i];

		if (proc->pid == pid) {
			proc->used = ++p->clock;
			return proc;
		}
		if (proc->used < oldest->used)
			oldest = proc;
	}
	release(oldest);
	oldest->pid = pid;
	oldest->used = ++p->clock;
	if (read_maps(oldest))
		return oldest;
	release(oldest);
	return NULL;
}

static struct map *find(const struct proc *proc, uint64_t addr)
{
	size_t low = 0, high = proc->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (proc->map[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < proc->n && proc->map[low].start <= addr ? &proc->map[low] : NULL;
}

struct map *procs_find(struct proc *proc, uint64_t addr)
{
	struct map *m = find(proc, addr);

	if (m || clock_boot_ns() - proc->read_ns < READ_AGAIN_NS || !read_maps(proc))
		return m;
	return find(proc, addr);
}

/* Asked only for files that appear in a stack: a process may map any number of others. */
const char *procs_path(const struct proc *proc, struct map *m, struct names *names)
{
	static const char deleted[] = " (deleted)";
	char link[96], path[PATH_MAX];
	ssize_t len;

	if (m->path)
		return m->path;
	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", proc->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return "";
	path[len] = '\0';
	if ((size_t)len >= sizeof(deleted) &&
	    streq(path + len - (ssize_t)(sizeof(deleted) - 1), deleted))
		path[len - (ssize_t)(sizeof(deleted) - 1)] = '\0';
	m->path = names_keep(names, path);
	return m->path;
}
