// SPDX-License-Identifier: Apache-2.0
/* One process, as /proc shows it. Declared in capture/host.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "base/util.h"
#include "capture/host.h"
#include "capture/maps.h"
#include "capture/redact.h"
#include "tenant/tenant.h"

#define CMDLINE_CAP 4096 /* of what the process has; arguments behind that are not looked at */
#define STAT_FIELD_PPID 4
#define STAT_FIELD_FLAGS 9
#define STAT_FIELD_START 22
#define FLAG_EXITING 4 /* the kernel's PF_EXITING */

/*
 * The process's directory stays bound to this process: once it is gone, reads through it fail
 * rather than show the next owner of its number.
 */
static int open_proc(int pid, int *ret)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? fail(-ESRCH, "process %d is gone", pid)
				       : fail(-errno, "open %s: %s", path, strerror(errno));
	*ret = fd;
	return 0;
}

/* The name may hold spaces and parentheses: it ends at the last one. */
static int parse_stat(char *text, struct proc_info *ret)
{
	char *name = strchr(text, '('), *end = strrchr(text, ')'), *at;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!name || !end || end < name)
		return -EBADMSG;
	*end = '\0';
	text_safe(ret->comm, sizeof(ret->comm), name + 1);

	at = end + 1;
	for (int field = 3; field <= STAT_FIELD_START; field++) {
		at += strspn(at, " ");
		if (!*at)
			return -EBADMSG;
		if (field == STAT_FIELD_PPID)
			ret->ppid = (int)strtol(at, NULL, 10);
		if (field == STAT_FIELD_FLAGS)
			ret->ending = strtoul(at, NULL, 10) & FLAG_EXITING;
		if (field == STAT_FIELD_START && ticks > 0)
			ret->start_ns = strtoull(at, NULL, 10) * (1000000000ull / (uint64_t)ticks);
		at += strcspn(at, " ");
	}
	return 0;
}

static void read_cmdline(int dir, struct proc_info *ret)
{
	char args[CMDLINE_CAP], plain[sizeof(ret->cmdline)];
	size_t len;

	if (file_read_at(dir, "cmdline", args, sizeof(args), &len))
		return;
	while (len && !args[len - 1])
		len--;
	redact_args(args, len, plain, sizeof(plain));
	text_safe(ret->cmdline, sizeof(ret->cmdline), plain);
}

static void read_exe(int dir, struct proc_info *ret)
{
	char path[4096];
	ssize_t n = readlinkat(dir, "exe", path, sizeof(path) - 1);

	if (n <= 0)
		return;
	path[n] = '\0';
	text_safe(ret->exe, sizeof(ret->exe), path);
}

static int read_stat(int dir, struct proc_info *ret)
{
	char stat[2048];
	int err = file_read_at(dir, "stat", stat, sizeof(stat), NULL);

	if (err == -ENOENT || err == -ESRCH)
		return fail(-ESRCH, "process %d is gone", ret->pid);
	if (err || parse_stat(stat, ret))
		return fail(-EBADMSG, "cannot read /proc/%d/stat", ret->pid);
	return 0;
}

bool proc_cgroup(int pid, char *dst, size_t cap, bool *ret_ending)
{
	struct proc_info info = { .pid = pid };
	char text[8192];
	int dir = -1;

	dst[0] = '\0';
	*ret_ending = false;
	if (open_proc(pid, &dir))
		return false;
	if (!file_read_at(dir, "cgroup", text, sizeof(text), NULL))
		tenant_choose(text, dst, cap);
	/* Afterwards: then it was not while that was read. */
	if (streq(dst, "/") && !read_stat(dir, &info) && info.ending) {
		*ret_ending = true;
		dst[0] = '\0';
	}
	close(dir);
	return dst[0] != '\0';
}

uint64_t proc_start_ns(int pid)
{
	struct proc_info info = { .pid = pid };
	char path[32], stat[2048];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read_at(AT_FDCWD, path, stat, sizeof(stat), NULL) || parse_stat(stat, &info))
		return 0;
	return info.start_ns;
}

int proc_read(int pid, struct proc_info *ret)
{
	struct proc_info info = { .pid = pid };
	int dir = -1, err;

	err = open_proc(pid, &dir);
	if (err)
		return err;
	read_cmdline(dir, &info);
	read_exe(dir, &info);
	/* Last: that it can be read proves that all of the above belongs to this process. */
	err = read_stat(dir, &info);
	close(dir);
	if (!err)
		*ret = info;
	return err;
}

/* How sure a path makes us which Python this is. */
enum python_rank { RANK_NONE, RANK_FOLDER, RANK_LIBRARY, RANK_PROGRAM };

struct python {
	enum python_rank rank;
	int major, minor;
};

/* "3.12" at s, with nothing but a suffix like "t", ".so" or "/" behind it. */
static bool parse_version(const char *s, int *major, int *minor)
{
	int n = 0;

	if ((*s != '2' && *s != '3') || s[1] != '.' || !isdigit((unsigned char)s[2]))
		return false;
	*major = *s - '0';
	for (s += 2; isdigit((unsigned char)*s); s++) {
		n = n * 10 + (*s - '0');
		if (n > 99)
			return false;
	}
	*minor = n;
	return true;
}

static void judge_path(const char *path, bool program, struct python *py)
{
	const char *slash = strrchr(path, '/');

	for (const char *s = strstr(path, "python"); s; s = strstr(s + 1, "python")) {
		enum python_rank rank = RANK_FOLDER;
		int major, minor;

		if (!parse_version(s + strlen("python"), &major, &minor))
			continue;
		if (slash && s > slash && s - slash == 4 && starts_with(slash, "/lib"))
			rank = RANK_LIBRARY;
		else if (program && slash && s == slash + 1)
			rank = RANK_PROGRAM;
		else if (s == path || s[-1] != '/')
			continue;
		if (rank > py->rank)
			*py = (struct python){ rank, major, minor };
	}
}

static int judge_map(const struct map_line *line, void *arg)
{
	judge_path(line->path, false, arg);
	return 0;
}

int python_version(int pid, char *dst, size_t cap)
{
	struct python py = { .rank = RANK_NONE };
	char path[4096], link[32];
	ssize_t n;
	int err;

	str_copy(dst, cap, "");
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0) {
		path[n] = '\0';
		judge_path(path, true, &py);
	}
	if (py.rank != RANK_PROGRAM) {
		err = maps_each(pid, judge_map, &py);
		if (err)
			return err;
	}
	if (py.rank == RANK_NONE)
		return fail(-ENOENT, "process %d runs no Python", pid);
	snprintf(dst, cap, "%d.%d", py.major, py.minor);
	return 0;
}
