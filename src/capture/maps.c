// SPDX-License-Identifier: Apache-2.0
#include "capture/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "wire/ops.h"

/* A path has at most PATH_MAX bytes, each of which the kernel may write as \ooo. */
#define LINE_CAP 32768

/* Read a number and step over it; false without one or when it does not fit in max. */
static bool take_number(const char **at, unsigned int base, uint64_t max, uint64_t *ret)
{
	const char *s = *at;
	uint64_t n = 0;

	for (;; s++) {
		unsigned int digit;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int)(*s - '0');
		else if (base == 16 && *s >= 'a' && *s <= 'f')
			digit = (unsigned int)(*s - 'a') + 10;
		else
			break;
		if (n > (max - digit) / base)
			return false;
		n = n * base + digit;
	}
	if (s == *at)
		return false;
	*at = s;
	*ret = n;
	return true;
}

static bool take_char(const char **at, char c)
{
	return **at == c && (*at)++;
}

/* start-end perms offset major:minor inode   path */
static bool parse_line(const char *s, struct map_line *ret)
{
	uint64_t major, minor;

	if (!take_number(&s, 16, UINT64_MAX, &ret->start) || !take_char(&s, '-') ||
	    !take_number(&s, 16, UINT64_MAX, &ret->end) || !take_char(&s, ' '))
		return false;
	if (strnlen(s, 5) < 5 || s[4] != ' ' || ret->start >= ret->end)
		return false;
	ret->write = s[1] == 'w';
	ret->exec = s[2] == 'x';
	s += 5;
	if (!take_number(&s, 16, UINT64_MAX, &ret->offset) || !take_char(&s, ' ') ||
	    !take_number(&s, 16, UINT32_MAX, &major) || !take_char(&s, ':') ||
	    !take_number(&s, 16, UINT32_MAX, &minor) || !take_char(&s, ' ') ||
	    !take_number(&s, 10, UINT64_MAX, &ret->inode) || (*s && *s != ' '))
		return false;
	ret->dev_major = (uint32_t)major;
	ret->dev_minor = (uint32_t)minor;
	ret->path = s + strspn(s, " ");
	return true;
}

/* The whole lines of text; what follows the last newline is a line too if `last`. */
static int each_line(char *text, bool last, int (*fn)(const struct map_line *line, void *arg),
		     void *arg, char **ret_rest)
{
	int err = 0;

	while (!err && *text) {
		char *end = strchr(text, '\n');
		struct map_line line;

		if (!end && !last)
			break;
		if (end)
			*end = '\0';
		if (parse_line(text, &line))
			err = fn(&line, arg);
		text = end ? end + 1 : text + strlen(text);
	}
	*ret_rest = text;
	return err;
}

int maps_parse(char *text, int (*fn)(const struct map_line *line, void *arg), void *arg)
{
	char *rest;

	return each_line(text, true, fn, arg, &rest);
}

static int gone(int err, int pid)
{
	if (err == ENOENT || err == ESRCH)
		return fail(-ESRCH, "process %d is gone", pid);
	return fail(-err, "read the maps of process %d: %s", pid, strerror(err));
}

/* Feed fn from fd. A line that fills the whole buffer is no maps line and is skipped. */
static int each_of_fd(int fd, int pid, char *buf, int (*fn)(const struct map_line *line, void *arg),
		      void *arg)
{
	size_t used = 0;
	bool skip = false;

	for (;;) {
		ssize_t got = read(fd, buf + used, LINE_CAP - 1 - used);
		char *text = buf;
		int err;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return gone(errno, pid);
		buf[used + (size_t)got] = '\0';
		if (skip) {
			text = strchr(buf, '\n');
			skip = !text;
			text = text ? text + 1 : buf + used + (size_t)got;
		}
		err = each_line(text, !got, fn, arg, &text);
		if (err || !got)
			return err;
		used = strlen(text);
		memmove(buf, text, used + 1);
		if (used == LINE_CAP - 1) {
			skip = true;
			used = 0;
		}
	}
}

int maps_each(int pid, int (*fn)(const struct map_line *line, void *arg), void *arg)
{
	char path[32], *buf;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gone(errno, pid);
	buf = xcalloc(1, LINE_CAP);
	err = each_of_fd(fd, pid, buf, fn, arg);
	free(buf);
	close(fd);
	return err;
}

int procs_each(int (*fn)(int pid, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return fail(-errno, "open /proc: %s", strerror(errno));
	while (!err && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		uint64_t pid;

		if (take_number(&name, 10, INT32_MAX, &pid) && !*name)
			err = fn((int)pid, arg);
	}
	closedir(dir);
	return err;
}

/* What follows a library's name in a file name: nothing, or a version. */
static bool is_version(const char *s)
{
	return !*s || *s == '.' || streq(s, " (deleted)");
}

/* libcudart-d0da41ae.so.11.0: how wheels rename the libraries they bundle. */
static bool is_mangled(const char *base, const char *lib)
{
	size_t stem = strlen(lib) - strlen(".so");
	const char *so;

	if (strncmp(base, lib, stem) != 0 || base[stem] != '-')
		return false;
	so = strstr(base + stem, ".so");
	return so && is_version(so + strlen(".so"));
}

int maps_lib(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	for (int lib = 0; lib < LIB_COUNT; lib++) {
		const char *name = lib_names[lib];

		if (starts_with(base, name) && is_version(base + strlen(name)))
			return lib;
		/* Nobody may ship the driver's library, so a file named like that is none. */
		if (lib != LIB_CUDA && is_mangled(base, name))
			return lib;
	}
	return -1;
}

int maps_open(int pid, const struct map_line *line)
{
	char link[96];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)line->start, (unsigned long long)line->end);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
