// SPDX-License-Identifier: Apache-2.0
/* Asking the agent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "tag/tag.h"

const char *tag_socket_path(void)
{
	const char *path = getenv("CULPRIT_TAG_SOCKET");

	return path && path[0] ? path : "/run/culprit/tag.sock";
}

static int connect_agent(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 10 };
	int fd;

	if (!str_copy(addr.sun_path, sizeof(addr.sun_path), tag_socket_path()))
		return fail(-ENAMETOOLONG, "%s is too long for a socket", tag_socket_path());
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(-errno, "make a socket: %s", strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return fail(-ENOENT, "no agent answers at %s: start `culprit trace` first", addr.sun_path);
}

int tag_ask(const struct tag_ask *ask, void (*fn)(const struct tag_row *, void *), void *arg)
{
	int fd = connect_agent(), err = 0;
	struct tag_row row;

	if (fd < 0)
		return fd;
	if (send(fd, ask, sizeof(*ask), MSG_NOSIGNAL) != sizeof(*ask))
		err = fail(-EIO, "the agent does not listen: %s", strerror(errno));
	while (!err) {
		if (recv(fd, &row, sizeof(row), 0) != sizeof(row)) {
			err = fail(-EIO, "the agent's answer ends too early");
			break;
		}
		row.label[sizeof(row.label) - 1] = row.path[sizeof(row.path) - 1] = '\0';
		if (row.err)
			err = fail(row.err < 0 ? row.err : -EPROTO, "%s", row.path);
		else if (!row.last && fn)
			fn(&row, arg);
		if (row.last)
			break;
	}
	close(fd);
	return err;
}
