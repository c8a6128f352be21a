/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters that are installed here, started for a test. */
#ifndef TEST_UNIT_PYTHON_LIVE_H
#define TEST_UNIT_PYTHON_LIVE_H

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "python/python.h"

#define INTERPRETERS_MAX 16

/* Paths of interpreters from 3.9 on: the system's, and those of pyenv. */
struct interpreters {
	char path[INTERPRETERS_MAX][256];
	int n;
};

static inline void interpreters_find(struct interpreters *ret)
{
	const char *home = getenv("HOME");
	char pattern[256];
	glob_t found;

	ret->n = 0;
	if (!access("/usr/bin/python3", X_OK))
		str_copy(ret->path[ret->n++], sizeof(ret->path[0]), "/usr/bin/python3");
	snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.*/bin/python3", home ? home : "");
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && ret->n < INTERPRETERS_MAX; i++) {
		const char *minor = strstr(found.gl_pathv[i], "/versions/3.");

		if (minor && strtol(minor + strlen("/versions/3."), NULL, 10) >= 9)
			str_copy(ret->path[ret->n++], sizeof(ret->path[0]), found.gl_pathv[i]);
	}
	globfree(&found);
}

struct live {
	pid_t pid;
	char said[4096]; /* the first line of its output */
};

/* Run a program until it has said something; false: it has said nothing. */
static inline bool live_start(struct live *ret, const char *path, const char *program)
{
	int from_child[2];
	FILE *in;
	bool ok;

	if (pipe(from_child))
		abort();
	ret->pid = fork();
	if (!ret->pid) {
		dup2(from_child[1], 1);
		dup2(open("/dev/null", O_RDWR), 2);
		close(from_child[0]);
		execl(path, path, "-c", program, NULL);
		_exit(127);
	}
	close(from_child[1]);
	in = fdopen(from_child[0], "r");
	ok = fgets(ret->said, sizeof(ret->said), in) != NULL;
	fclose(in);
	return ok;
}

static inline void live_stop(const struct live *l)
{
	kill(l->pid, SIGKILL);
	waitpid(l->pid, NULL, 0);
}

static inline bool live_read(int pid, uint64_t addr, void *dst, size_t size)
{
	struct iovec to = { .iov_base = dst, .iov_len = size }, from = { .iov_len = size };

	memcpy(&from.iov_base, &addr, sizeof(addr));
	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

#endif
