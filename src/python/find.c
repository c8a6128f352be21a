// SPDX-License-Identifier: Apache-2.0
/* The interpreter of a process: which file it is in, and whether it can be walked. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "capture/maps.h"
#include "python/python_int.h"

struct search {
	const struct py_files *files;
	struct mem mem;
	struct py_layout *layout;
	char *why;
	size_t why_cap;
	enum py_found found;
};

static bool read_process(void *arg, uint64_t addr, void *dst, size_t size)
{
	const int *pid = arg;

	return file_read_memory((uint32_t)*pid, addr, dst, size);
}

struct lookup {
	uint64_t addr;
	bool write;
};

static int look_up(const struct map_line *line, void *arg)
{
	struct lookup *l = arg;

	if (l->addr < line->start || l->addr >= line->end)
		return 0;
	l->write = line->write;
	return 1;
}

/*
 * Is the interpreter's data in place? While a program starts, its files are mapped piece by piece:
 * first all of a library as if it were code, then its data over that.
 */
static bool is_mapped(int pid, uint64_t runtime)
{
	struct lookup l = { .addr = runtime };

	return maps_each(pid, look_up, &l) == 1 && l.write;
}

/* An interpreter that runs ends the search; a library that nobody has started does not. */
static int try_module(const struct py_module *mod, void *arg)
{
	struct search *s = arg;
	struct py_layout layout = { .version = 0 };
	struct py_tsd tsd;
	enum py_found found = PY_REFUSED;
	char why[160];

	if (py_tsd(s->files, &s->mem, &tsd, why, sizeof(why)))
		found = py_check(&s->mem, mod, &tsd, &layout, why, sizeof(why));
	if (found == PY_REFUSED && !is_mapped(s->files->pid, mod->runtime)) {
		found = PY_EARLY;
		str_copy(why, sizeof(why), "it is starting or ending: its data is not mapped");
	}
	if (found == PY_FOUND || s->found == PY_NONE ||
	    (found == PY_REFUSED && s->found == PY_EARLY)) {
		s->found = found;
		*s->layout = layout;
		str_copy(s->why, s->why_cap, why);
	}
	return found == PY_FOUND;
}

static enum py_found find_once(int pid, struct py_layout *ret, char *why, size_t why_cap)
{
	struct py_files files;
	struct search s = {
		.files = &files,
		.mem = { .read = read_process, .arg = &pid },
		.layout = ret,
		.why = why,
		.why_cap = why_cap,
		.found = PY_NONE,
	};

	memset(ret, 0, sizeof(*ret));
	if (py_files_load(&files, pid)) {
		str_copy(why, why_cap, "no file with _PyRuntime is mapped");
		py_modules(&files, &s.mem, try_module, &s);
	} else {
		snprintf(why, why_cap, "the maps of process %d cannot be read", pid);
	}
	py_files_release(&files);
	return s.found;
}

static bool is_alive(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !access(path, F_OK);
}

enum py_found py_find(int pid, struct py_layout *ret, char *why, size_t why_cap)
{
	enum py_found found = find_once(pid, ret, why, why_cap);

	/* It may have become another program between our looks at its files and at its memory. */
	if (found == PY_REFUSED)
		found = find_once(pid, ret, why, why_cap);
	if (found == PY_REFUSED && !is_alive(pid)) {
		snprintf(why, why_cap, "process %d has ended", pid);
		found = PY_NONE;
	}
	return found;
}
