// SPDX-License-Identifier: Apache-2.0
/* Bounded reads of small files. */
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fail.h"

/* Not blocking: a path from outside may name a FIFO that nobody writes to. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* How many bytes were read, or a negative errno. */
static ssize_t read_all(int fd, char *buf, size_t cap)
{
	size_t used = 0;

	while (used < cap) {
		ssize_t n = read(fd, buf + used, cap - used);

		if (n == 0)
			break;
		if (n > 0)
			used += n;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)used;
}

int file_read_at(int dirfd, const char *path, char *buf, size_t cap, size_t *ret_len)
{
	ssize_t len;
	int fd;

	assert(cap > 0);
	buf[0] = '\0';
	fd = openat(dirfd, path, READ_FLAGS);
	if (fd < 0)
		return fail(-errno, "%s: %s", path, strerror(errno));
	len = read_all(fd, buf, cap - 1);
	close(fd);
	buf[len > 0 ? len : 0] = '\0'; /* what came before an error is not the file */
	if (len < 0)
		return fail((int)len, "%s: %s", path, strerror((int)-len));
	if (ret_len)
		*ret_len = len;
	return 0;
}

int file_read(const char *path, char *buf, size_t cap, size_t *ret_len)
{
	return file_read_at(AT_FDCWD, path, buf, cap, ret_len);
}

bool file_read_memory(uint32_t pid, uint64_t addr, void *dst, size_t size)
{
	struct iovec to = { .iov_base = dst, .iov_len = size };
	struct iovec from = { .iov_len = size };

	memcpy(&from.iov_base, &addr, sizeof(addr)); /* never used as a pointer here */
	return process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}
