// SPDX-License-Identifier: Apache-2.0
/*
 * Which mapped file is the interpreter: the one that has `_PyRuntime`, whatever it is called. A small
 * `python3` that only loads libpython has none; uwsgi, which embeds it, has one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "capture/elf_file.h"
#include "capture/maps.h"
#include "python/python_int.h"

#define FILES_MAX 4096
#define PATH_CAP 4096
#define SCAN_MAX (32ull << 20)
#define SCAN_CHUNK 65536

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/* ---- the files of a process */

struct loading {
	struct py_files *files;
	char exe[PATH_CAP];
};

static struct py_file *known(struct py_files *f, const struct map_line *line)
{
	/* Mappings of one file are next to each other nearly always. */
	for (size_t i = f->n; i > 0; i--) {
		struct py_file *file = &f->file[i - 1];

		if (file->inode == line->inode && file->dev_major == line->dev_major &&
		    file->dev_minor == line->dev_minor)
			return file;
	}
	return NULL;
}

static int take_file(const struct map_line *line, void *arg)
{
	const char *slash = strrchr(line->path, '/');
	struct loading *l = arg;
	struct py_files *f = l->files;
	struct py_file *file;

	if (!line->inode || !slash)
		return 0;
	file = known(f, line);
	if (!file) {
		if (f->n == FILES_MAX)
			return 0;
		file = &f->file[f->n++];
		*file = (struct py_file){
			.start = line->start,
			.end = line->end,
			.offset = line->offset,
			.inode = line->inode,
			.dev_major = line->dev_major,
			.dev_minor = line->dev_minor,
			.is_exe = streq(line->path, l->exe),
			.is_python = strstr(slash, "python") != NULL,
		};
		str_copy(file->base, sizeof(file->base), slash + 1);
	}
	file->exec |= line->exec;
	return 0;
}

bool py_files_load(struct py_files *f, int pid)
{
	struct loading *l = xcalloc(1, sizeof(*l));
	char link[32];
	ssize_t n;
	int err;

	*f = (struct py_files){ .pid = pid, .file = xcalloc(FILES_MAX, sizeof(*f->file)) };
	l->files = f;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, l->exe, sizeof(l->exe) - 1);
	l->exe[n > 0 ? n : 0] = '\0';
	err = maps_each(pid, take_file, l);
	free(l);
	return !err;
}

void py_files_release(struct py_files *f)
{
	free(f->file);
	f->file = NULL;
	f->n = 0;
}

int py_file_open(const struct py_files *f, const struct py_file *file)
{
	struct map_line line = { .start = file->start, .end = file->end };

	return maps_open(f->pid, &line);
}

/* ---- the interpreter in a file */

static uint64_t object_addr(struct elf *e, const char *name, bool slowly, uint64_t bias)
{
	Elf64_Sym sym;

	return elf_object(e, name, slowly, &sym) ? sym.st_value + bias : 0;
}

bool py_module_in(int fd, uint64_t start, uint64_t offset, bool slowly, struct py_module *ret)
{
	struct elf *e = xcalloc(1, sizeof(*e));
	Elf64_Shdr section;
	Elf64_Sym sym;
	uint64_t bias;
	bool found = false;

	if (elf_init(e, fd) || e->head.e_machine != MACHINE || !elf_bias(e, start, offset, &bias))
		goto out;
	if (elf_object(e, "_PyRuntime", slowly, &sym)) {
		ret->runtime = sym.st_value + bias;
		ret->runtime_size = sym.st_size;
	} else if (slowly && elf_section(e, ".PyRuntime", &section)) {
		ret->runtime = section.sh_addr + bias;
	} else {
		goto out;
	}
	ret->none = object_addr(e, "_Py_NoneStruct", slowly, bias);
	ret->version = object_addr(e, "Py_Version", slowly, bias);
	ret->code_type = object_addr(e, "PyCode_Type", slowly, bias);
	found = true;
out:
	free(e);
	return found;
}

/* ---- without symbols and sections: by the cookie, in what the file maps to be written */

struct scan {
	const struct mem *mem;
	const struct py_file *file;
	uint64_t found, left;
	char buf[SCAN_CHUNK];
};

static int scan_line(const struct map_line *line, void *arg)
{
	struct scan *s = arg;

	if (!line->write || line->inode != s->file->inode ||
	    line->dev_major != s->file->dev_major || line->dev_minor != s->file->dev_minor)
		return 0;
	for (uint64_t at = line->start; at < line->end && s->left; at += SCAN_CHUNK) {
		size_t size = (size_t)min_u64(SCAN_CHUNK, line->end - at);

		s->left -= min_u64(s->left, size);
		if (!s->mem->read(s->mem->arg, at, s->buf, size))
			return 0;
		/* It is aligned, so it never is on both sides of a chunk's end. */
		for (size_t i = 0; i + PY_COOKIE_LEN <= size; i += 8) {
			if (!memcmp(s->buf + i, PY_COOKIE, PY_COOKIE_LEN)) {
				s->found = at + i;
				return 1;
			}
		}
	}
	return 0;
}

static bool find_cookie(const struct py_files *f, const struct mem *m, const struct py_file *file,
			struct py_module *ret)
{
	struct scan *s = xcalloc(1, sizeof(*s));

	s->mem = m;
	s->file = file;
	s->left = SCAN_MAX;
	(void)maps_each(f->pid, scan_line, s); /* a process that is gone has none */
	ret->runtime = s->found;
	free(s);
	return ret->runtime != 0;
}

static bool has_sections(int fd)
{
	struct elf *e = xcalloc(1, sizeof(*e));
	uint64_t n = 0;
	bool has = elf_init(e, fd) || elf_sections(e, &n) || n;

	free(e);
	return has;
}

static bool look_into(const struct py_files *f, const struct mem *m, const struct py_file *file,
		      struct py_module *ret)
{
	int fd = py_file_open(f, file);
	bool found;

	if (fd < 0)
		return false;
	*ret = (struct py_module){ .runtime = 0 };
	text_safe(ret->name, sizeof(ret->name), file->base);
	found = py_module_in(fd, file->start, file->offset, file->is_python, ret);
	if (!found && (file->is_exe || file->is_python) && !has_sections(fd))
		found = find_cookie(f, m, file, ret);
	close(fd);
	return found;
}

/* The program first: where it has the symbol, libraries use it too. Then what is named for it. */
static int rank(const struct py_file *file)
{
	return file->is_exe ? 0 : file->is_python ? 1 : 2;
}

void py_modules(const struct py_files *f, const struct mem *m,
		int (*fn)(const struct py_module *mod, void *arg), void *arg)
{
	for (int wanted = 0; wanted <= 2; wanted++) {
		for (size_t i = 0; i < f->n; i++) {
			const struct py_file *file = &f->file[i];
			struct py_module mod;

			if (rank(file) != wanted || !(file->exec || file->is_exe))
				continue;
			if (look_into(f, m, file, &mod) && fn(&mod, arg))
				return;
		}
	}
}
