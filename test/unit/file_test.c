// SPDX-License-Identifier: Apache-2.0
/* Tests of base/file.c. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "test/test.h"

/* A file with len bytes 'a' at path, which must end in XXXXXX and is filled in. */
static int make_file(char *path, size_t len)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < len; i++) {
		if (write(fd, "a", 1) != 1)
			return -errno;
	}
	return close(fd);
}

TEST(file_read_returns_the_whole_file)
{
	char path[] = "/tmp/culprit-test-XXXXXX", buf[64];
	size_t len = 0;

	CHECK(!make_file(path, 10));
	CHECK(!file_read(path, buf, sizeof(buf), &len));
	unlink(path);
	CHECK_U64(len, 10);
	CHECK_STR(buf, "aaaaaaaaaa");
	return 0;
}

TEST(file_read_reports_truncation_by_a_full_buffer)
{
	char path[] = "/tmp/culprit-test-XXXXXX", buf[8];
	size_t len = 0;

	CHECK(!make_file(path, 100));
	CHECK(!file_read(path, buf, sizeof(buf), &len));
	CHECK_U64(len, sizeof(buf) - 1);
	CHECK_STR(buf, "aaaaaaa");
	CHECK(!file_read(path, buf, 1, &len));
	unlink(path);
	CHECK_U64(len, 0);
	CHECK_STR(buf, "");
	return 0;
}

TEST(file_read_reads_proc_files_whose_size_is_zero)
{
	char buf[4096];
	size_t len = 0;

	CHECK(!file_read("/proc/self/stat", buf, sizeof(buf), &len));
	CHECK(len > 10 && len < sizeof(buf) - 1);
	CHECK_U64(strlen(buf), len);
	CHECK(!file_read("/proc/self/stat", buf, sizeof(buf), NULL));
	return 0;
}

TEST(file_read_says_which_file_and_why)
{
	char buf[8] = "old";
	size_t len = 77;

	CHECK(file_read("/nonexistent/x", buf, sizeof(buf), &len) == -ENOENT);
	CHECK_STR(why(-ENOENT), "/nonexistent/x: No such file or directory");
	CHECK_STR(buf, "");
	CHECK_U64(len, 77);
	return 0;
}

TEST(file_read_refuses_a_folder)
{
	char buf[8];

	CHECK(file_read("/tmp", buf, sizeof(buf), NULL) == -EISDIR);
	CHECK_STR(buf, "");
	return 0;
}

TEST(file_read_does_not_wait_for_a_fifo)
{
	char dir[] = "/tmp/culprit-test-XXXXXX", path[64], buf[8];
	size_t len = 77;
	int err;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	CHECK(!mkfifo(path, 0600));
	err = file_read(path, buf, sizeof(buf), &len);
	unlink(path);
	rmdir(dir);
	CHECK(!err);
	CHECK_U64(len, 0);
	return 0;
}

TEST(file_read_at_starts_from_the_folder)
{
	int dirfd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[64], comm[64];
	int err;

	CHECK(dirfd >= 0);
	err = file_read_at(dirfd, "comm", buf, sizeof(buf), NULL);
	close(dirfd);
	CHECK(!err);
	CHECK(!file_read("/proc/self/comm", comm, sizeof(comm), NULL));
	CHECK_STR(buf, comm);
	return 0;
}
