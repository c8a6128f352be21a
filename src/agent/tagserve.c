// SPDX-License-Identifier: Apache-2.0
/* Answers `culprit tag`: who asks is what the kernel says, and one may ask about one's own. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/tagging_int.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/log.h"
#include "base/util.h"

#define PATIENCE_MS 50 /* with who does not read or write */
#define ROWS_MAX 4096

struct client {
	struct tagging *tagging;
	int fd, rows;
	uint32_t uid;
	bool gone;
};

/* ---- the socket ---- */

static bool is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive = fd >= 0 && (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ||
				 errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return alive;
}

int tagserve_open(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char folder[sizeof(addr.sun_path)], *slash;
	int fd;

	if (!str_copy(addr.sun_path, sizeof(addr.sun_path), tag_socket_path()))
		return -1;
	str_copy(folder, sizeof(folder), addr.sun_path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = '\0';
		(void)mkdir(folder, 0755);
	}
	if (is_alive(&addr)) {
		log_debug("another agent answers at %s", addr.sun_path);
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(addr.sun_path);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	    !chmod(addr.sun_path, 0666) && !listen(fd, 16))
		return fd;
	log_debug("`culprit tag --pid` does not work: %s: %s", addr.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

void tagserve_close(int fd)
{
	if (fd < 0)
		return;
	close(fd);
	(void)unlink(tag_socket_path());
}

static void reply(struct client *c, const struct tag_row *row)
{
	struct pollfd ready = { .fd = c->fd, .events = POLLOUT };

	if (c->gone || (c->rows++ >= ROWS_MAX && !row->last))
		return;
	if (poll(&ready, 1, PATIENCE_MS) <= 0 ||
	    send(c->fd, row, sizeof(*row), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*row))
		c->gone = true;
}

static void refuse(struct client *c, int err, const char *why_not, uint32_t pid)
{
	struct tag_row row = { .err = err, .last = 1 };

	snprintf(row.path, sizeof(row.path), "%s %u", why_not, pid);
	reply(c, &row);
}

/* ---- questions ---- */

static void name_task(uint32_t pid, char *dst, size_t cap)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (file_read(path, dst, cap, NULL))
		dst[0] = '\0';
	dst[strcspn(dst, "\n")] = '\0';
}

/* Of a process that may not be looked into this is root: only root may tag it. */
static int owner_of(uint32_t pid, uint32_t *ret)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (!pid || stat(path, &st))
		return -ESRCH;
	*ret = st.st_uid;
	return 0;
}

static void set_task(struct client *c, const struct tag_ask *ask)
{
	struct tag_target_row news = { .tag = tag_hash(ask->label),
				       .at_boot_ns = clock_boot_ns(),
				       .kind = "process",
				       .source = "command",
				       .pid = ask->pid,
				       .uid = c->uid };
	int self = (int)syscall(SYS_pidfd_open, ask->pid, 0);
	struct pollfd ended = { .fd = self, .events = POLLIN };
	struct tag_row done = { .last = 1 };
	uint32_t owner;

	if (self < 0 || owner_of(ask->pid, &owner)) {
		refuse(c, -ESRCH, "there is no process", ask->pid);
	} else if (c->uid && c->uid != owner) {
		refuse(c, -EPERM, "it is not yours: process", ask->pid);
	} else if (tags_set_task(c->tagging->tags, ask->pid, true, news.tag)) {
		refuse(c, -ENOSPC, "no room for the tag of process", ask->pid);
	} else {
		if (poll(&ended, 1, 0) > 0) /* its number may be another's by now */
			(void)tags_set_task(c->tagging->tags, ask->pid, true, 0);
		tagging_news(c->tagging, &news, ask->label);
		reply(c, &done);
	}
	if (self >= 0)
		close(self);
}

static void tell_task(uint32_t id, bool process, uint64_t tag, void *arg)
{
	struct tag_row row = { .tag = tag, .pid = id, .kind = process ? TAG_PROCESS : TAG_THREAD };
	struct client *c = arg;
	uint32_t owner;

	if (owner_of(id, &owner) || (c->uid && c->uid != owner))
		return;
	str_copy(row.label, sizeof(row.label), tagging_label(c->tagging, tag));
	name_task(id, row.path, sizeof(row.path));
	reply(c, &row);
}

static bool tell_file(const void *key, void *value, void *arg)
{
	const struct tagged *f = value;
	struct tag_row row = { .tag = tag_hash(f->attr.label),
			       .kind = f->attr.checked ? TAG_CHECKED : TAG_FILE,
			       .at_ns = f->at + (uint64_t)clock_wall_minus_boot() };
	struct client *c = arg;

	(void)key;
	if (c->uid && c->uid != f->uid)
		return false;
	str_copy(row.label, sizeof(row.label), f->attr.label);
	str_copy(row.path, sizeof(row.path), f->path);
	reply(c, &row);
	return false;
}

static void get_task(struct client *c, uint32_t pid)
{
	struct tag_row last = { .last = 1 };
	uint64_t thread, process;
	uint32_t owner;

	if (owner_of(pid, &owner)) {
		refuse(c, -ESRCH, "there is no process", pid);
		return;
	}
	if (c->uid && c->uid != owner) {
		refuse(c, -EPERM, "it is not yours: process", pid);
		return;
	}
	thread = tags_of_task(c->tagging->tags, pid, false);
	process = tags_of_task(c->tagging->tags, pid, true);
	if (thread)
		tell_task(pid, false, thread, c);
	if (process)
		tell_task(pid, true, process, c);
	reply(c, &last);
}

static void answer(struct client *c, struct tag_ask *ask)
{
	struct tag_row last = { .last = 1 };

	ask->label[sizeof(ask->label) - 1] = '\0';
	if (ask->magic != TAG_ASK_MAGIC) {
		refuse(c, -EPROTO, "another version of culprit asks: it has number", ask->magic);
	} else if (ask->verb == TAG_ASK_SET && ask->label[0] && tag_label_check(ask->label)) {
		refuse(c, -EINVAL, "the label is no plain text; for process", ask->pid);
	} else if (ask->verb == TAG_ASK_SET) {
		set_task(c, ask);
	} else if (ask->verb == TAG_ASK_GET) {
		get_task(c, ask->pid);
	} else {
		tags_each_task(c->tagging->tags, tell_task, c);
		hash_each(c->tagging->files, tell_file, c);
		reply(c, &last);
	}
}

void tagserve_answer(struct tagging *t)
{
	struct client c = { .tagging = t,
			    .fd = accept4(t->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) };
	struct pollfd ready = { .fd = c.fd, .events = POLLIN };
	socklen_t len = sizeof(struct ucred);
	struct tag_ask ask;
	struct ucred who;

	if (c.fd < 0)
		return;
	if (!getsockopt(c.fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	    poll(&ready, 1, PATIENCE_MS) > 0 &&
	    recv(c.fd, &ask, sizeof(ask), MSG_DONTWAIT) == sizeof(ask)) {
		c.uid = who.uid;
		answer(&c, &ask);
	}
	close(c.fd);
}
