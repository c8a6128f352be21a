// SPDX-License-Identifier: Apache-2.0
/* fanotify: marks on filesystems, files and folders, and events as open files. */
#include "agent/tagwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"

#define MOUNTS_MAX 64
#define TAKE_NS 50000000ull /* longest stay at the events */
#define RATE_MAX                                                                                   \
	20000 /* events a second; what removes files by the million is not followed that far */

#ifndef FAN_REPORT_TARGET_FID
#define FAN_REPORT_TARGET_FID 0x00001000
#endif

#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE 0x00000200
#endif

struct mount {
	unsigned major, minor;
	fsid_t fsid;
	char path[256];
	bool seen;
};

/*
 * Two queues: attributes of everybody's files may come faster than they can be looked at, and then some are
 * let go; of what is followed nothing is.
 */
struct tagwatch {
	int epoll;
	int attributes, followed;
	int mounts_fd;
	struct mount mount[MOUNTS_MAX];
	int mounts;
	uint64_t second; /* that is being counted */
	uint64_t taken;
};

static int open_queue(struct tagwatch *w, unsigned flags)
{
	struct epoll_event ready = { .events = EPOLLIN };
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC | FAN_REPORT_FID |
				       FAN_REPORT_DIR_FID | FAN_REPORT_NAME |
				       FAN_REPORT_TARGET_FID | flags,
			       O_RDONLY);

	if (fd >= 0 && epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ready)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int tagwatch_open(struct tagwatch **ret)
{
	struct tagwatch *w = xcalloc(1, sizeof(*w));
	int err;

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->attributes = open_queue(w, 0);
	w->followed = open_queue(w, FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS);
	w->mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (w->attributes < 0 || w->followed < 0) {
		err = fail(-errno, "fanotify: %s (needs Linux 5.17 and CAP_SYS_ADMIN)",
			   strerror(errno));
		tagwatch_close(w);
		return err;
	}
	tagwatch_mounts(w);
	*ret = w;
	return 0;
}

void tagwatch_close(struct tagwatch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < 4; i++) {
		int fd = (const int[]){ w->attributes, w->followed, w->mounts_fd, w->epoll }[i];

		if (fd >= 0)
			close(fd);
	}
	free(w);
}

int tagwatch_fd(const struct tagwatch *w)
{
	return w->epoll;
}

int tagwatch_mounts_fd(const struct tagwatch *w)
{
	return w->mounts_fd;
}

/* ---- filesystems ---- */

/* Those with user attributes, file handles and numbers of inodes that are those of the kernel. */
static bool is_wanted(const char *type)
{
	static const char *const types[] = { "ext2", "ext3", "ext4", "xfs", "f2fs" };

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (streq(types[i], type))
			return true;
	return false;
}

/* \040 and the like, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* "36 35 98:0 /inside /path options": the device and the path. */
static bool parse_mount(char *line, struct mount *ret)
{
	char *save = NULL, *word = NULL, *end;

	for (int i = 0; i < 3; i++)
		word = strtok_r(i ? NULL : line, " ", &save);
	if (!word)
		return false;
	ret->major = (unsigned)strtoul(word, &end, 10);
	if (*end != ':')
		return false;
	ret->minor = (unsigned)strtoul(end + 1, &end, 10);
	(void)strtok_r(NULL, " ", &save);
	word = strtok_r(NULL, " ", &save);
	if (*end || !word)
		return false;
	unescape(word);
	return str_copy(ret->path, sizeof(ret->path), word);
}

static void add_mount(struct tagwatch *w, const struct mount *m)
{
	struct statfs fs;

	for (int i = 0; i < w->mounts; i++) {
		if (w->mount[i].major == m->major && w->mount[i].minor == m->minor) {
			w->mount[i].seen = true;
			return;
		}
	}
	if (w->mounts == MOUNTS_MAX || statfs(m->path, &fs))
		return;
	if (fanotify_mark(w->attributes, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_ATTRIB | FAN_ONDIR,
			  AT_FDCWD, m->path)) {
		log_debug("attributes of files on %s are not watched: %s", m->path,
			  strerror(errno));
		return;
	}
	w->mount[w->mounts] = *m;
	w->mount[w->mounts].fsid = fs.f_fsid;
	w->mount[w->mounts++].seen = true;
}

void tagwatch_mounts(struct tagwatch *w)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[2048], type[32];
	int kept = 0;

	for (int i = 0; i < w->mounts; i++)
		w->mount[i].seen = false;
	while (f && fgets(line, sizeof(line), f)) {
		struct mount m = { 0 };
		char *dash = strstr(line, " - ");

		if (!dash || sscanf(dash, " - %31s", type) != 1 || !is_wanted(type))
			continue;
		if (parse_mount(line, &m))
			add_mount(w, &m);
	}
	if (f)
		(void)fclose(f);
	for (int i = 0; i < w->mounts; i++)
		if (w->mount[i].seen)
			w->mount[kept++] = w->mount[i];
	w->mounts = kept;
}

int tagwatch_follow(struct tagwatch *w, int fd, bool dir)
{
	uint64_t mask = FAN_CLOSE_WRITE | FAN_MOVE_SELF;
	char path[40];

	if (dir)
		mask |= FAN_MOVED_TO | FAN_CREATE | FAN_EVENT_ON_CHILD;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Files may be many: a mark must not keep them in memory. Who has one open keeps it anyway. */
	return fanotify_mark(w->followed, FAN_MARK_ADD | (dir ? 0 : FAN_MARK_EVICTABLE), mask,
			     AT_FDCWD, path)
		       ? fail(-errno, "follow a file: %s", strerror(errno))
		       : 0;
}

/* ---- events ---- */

static int open_mount(struct tagwatch *w, const void *fsid)
{
	for (int i = 0; i < w->mounts; i++)
		if (!memcmp(&w->mount[i].fsid, fsid, sizeof(w->mount[i].fsid)))
			return open(w->mount[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return -1;
}

/*
 * The file that an event is about, of its records: the kernel wrote them. Of a folder itself there is only
 * the record that else names the folder of a file.
 */
static const struct fanotify_event_info_fid *find_fid(const struct fanotify_event_metadata *m)
{
	const char *at = (const char *)m + m->metadata_len, *end = (const char *)m + m->event_len;
	const struct fanotify_event_info_fid *found = NULL;

	while (end - at >= (ptrdiff_t)sizeof(*found)) {
		const struct fanotify_event_info_fid *fid = (const void *)at;
		uint8_t type = fid->hdr.info_type;

		if (fid->hdr.len < sizeof(*fid) || fid->hdr.len > end - at)
			return NULL;
		if (type == FAN_EVENT_INFO_TYPE_FID)
			return fid;
		if (type == FAN_EVENT_INFO_TYPE_DFID || type == FAN_EVENT_INFO_TYPE_DFID_NAME)
			found = fid;
		at += fid->hdr.len;
	}
	return found;
}

/* Who takes the events. */
struct taker {
	bool (*wants)(int fd, uint64_t mask, void *arg);
	void (*fn)(const struct tagwatch_event *e, void *arg);
	void *arg;
};

static int open_handle(int mount, const struct fanotify_event_info_fid *info)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} copy = { .bytes = "" };
	size_t len = info->hdr.len - sizeof(*info);

	memcpy(&copy, info->handle, len < sizeof(copy) ? len : sizeof(copy));
	return open_by_handle_at(mount, &copy.handle, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

static void deliver(struct tagwatch *w, const struct fanotify_event_metadata *m,
		    const struct taker *to)
{
	const struct fanotify_event_info_fid *info = find_fid(m);
	struct tagwatch_event e = { .mask = m->mask, .pid = m->pid };
	int mount = info ? open_mount(w, &info->fsid) : -1, at;
	char path[40];

	if (mount < 0)
		return;
	at = open_handle(mount, info);
	close(mount);
	if (at < 0)
		return; /* it is gone */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	e.fd = to->wants(at, m->mask, to->arg)
		       ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
		       : -1;
	close(at);
	if (e.fd < 0)
		return;
	to->fn(&e, to->arg);
	close(e.fd);
}

/* More than so many a second: the rest of that second is let go, and said. */
static bool too_many(struct tagwatch *w, uint64_t now)
{
	if (now / 1000000000ull != w->second) {
		w->second = now / 1000000000ull;
		w->taken = 0;
	}
	return ++w->taken > RATE_MAX;
}

static bool take(struct tagwatch *w, int fd, const struct taker *to)
{
	char buf[16384] __attribute__((aligned(8)));
	uint64_t now = clock_boot_ns(), until = now + TAKE_NS;
	bool lost = false;
	ssize_t n;

	while (clock_boot_ns() < until && (n = read(fd, buf, sizeof(buf))) > 0) {
		struct fanotify_event_metadata *m = (void *)buf;

		for (; FAN_EVENT_OK(m, n); m = FAN_EVENT_NEXT(m, n)) {
			bool ours = m->pid == getpid();

			if (m->mask & FAN_Q_OVERFLOW || (fd == w->attributes && too_many(w, now)))
				lost = true;
			else if (!ours)
				deliver(w, m, to);
		}
	}
	return lost;
}

bool tagwatch_take(struct tagwatch *w, bool (*wants)(int fd, uint64_t mask, void *arg),
		   void (*fn)(const struct tagwatch_event *, void *), void *arg)
{
	struct taker to = { wants, fn, arg };
	bool lost = take(w, w->attributes, &to);

	return take(w, w->followed, &to) || lost;
}
