// SPDX-License-Identifier: Apache-2.0
/* Reads the kernel's log from now on, a bounded part at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "capture/kmsg.h"

#define RECORD_MAX 8192 /* the kernel's own limit */
#define RECORDS 256 /* in one look; the rest is read in the next */

struct kmsg {
	int fd;
};

struct kmsg *kmsg_from(int fd)
{
	struct kmsg *k = xcalloc(1, sizeof(*k));

	k->fd = fd;
	return k;
}

struct kmsg *kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0) {
		(void)fail(-errno, "/dev/kmsg: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	return kmsg_from(fd);
}

void kmsg_close(struct kmsg *k)
{
	if (!k)
		return;
	close(k->fd);
	free(k);
}

bool kmsg_poll(struct kmsg *k, kmsg_fn fn, void *arg)
{
	static char record[RECORD_MAX];

	for (int i = 0; i < RECORDS; i++) {
		ssize_t n = read(k->fd, record, sizeof(record));

		if (n < 0 && (errno == EPIPE || errno == EINTR || errno == EINVAL))
			continue; /* some were overwritten before we came */
		if (n <= 0)
			return true;
		fn(record, (size_t)n, arg);
	}
	return false;
}
