// SPDX-License-Identifier: Apache-2.0
#include "cmd/io_lines.h"

#include <stdlib.h>

#include "agent/lines.h"
#include "agent/pythons.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/maps.h"
#include "lineage/lineage.h"

struct io_lines {
	struct lineage *lineage;
	struct lines *lines;
	struct pythons *pythons;
	struct python_map map;
};

static bool has_python(void *lineage, int pid)
{
	return lineage_has_python(lineage, pid);
}

static int put_python(void *lineage, int pid, const struct py_layout *layout)
{
	return lineage_put_python(lineage, pid, layout);
}

static void on_python(int pid, const char *why_not, void *arg)
{
	(void)arg;
	if (why_not[0])
		log_warn("no Python lines of process %d: %s", pid, why_not);
}

static void fetch(struct lines *lines, void *lineage)
{
	lineage_news(lineage, lines_news, lines);
}

static int on_process(int pid, void *arg)
{
	io_lines_ask(arg, (uint32_t)pid);
	return 0;
}

struct io_lines *io_lines_new(struct lineage *lineage)
{
	struct io_lines *l = xcalloc(1, sizeof(*l));

	l->lineage = lineage;
	l->map = (struct python_map){ has_python, put_python, lineage };
	l->lines = lines_new(true);
	lines_source(l->lines, fetch, lineage);
	l->pythons = pythons_new(on_python, NULL);
	(void)procs_each(on_process, l); /* those that cannot be listed now are asked for later */
	return l;
}

void io_lines_free(struct io_lines *l)
{
	if (!l)
		return;
	pythons_free(l->pythons);
	lines_free(l->lines);
	free(l);
}

void io_lines_ask(struct io_lines *l, uint32_t pid)
{
	if (l)
		pythons_see(l->pythons, &l->map, (int)pid);
}

void io_lines_tick(struct io_lines *l)
{
	if (!l)
		return;
	pythons_look(l->pythons, &l->map, clock_boot_ns());
	fetch(l->lines, l->lineage);
	if (!lines_filling(l->lines))
		return;
	lineage_forget_stacks(l->lineage);
	fetch(l->lines, l->lineage);
	lines_turn(l->lines);
}

uint64_t io_lines_stack(struct io_lines *l, uint64_t id)
{
	return l ? lines_stack(l->lines, id, 0) : NO_STACK_not_looked;
}

const struct frame *io_lines_frame(const struct io_lines *l, uint64_t stack)
{
	return l && stack >= STACK_REASONS ? lines_frame(l->lines, stack) : NULL;
}

char *io_lines_say(const struct io_lines *l, uint64_t stack, char *dst, size_t cap)
{
	if (cap)
		dst[0] = '\0';
	return l && stack >= STACK_REASONS ? lines_say(l->lines, stack, dst, cap) : dst;
}
