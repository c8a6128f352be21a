// SPDX-License-Identifier: Apache-2.0
/* The hashing process. After fork() the child calls nothing that allocates or locks: we have threads. */
#include "agent/hasher.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"

#define NOBODY 65534
#define CHILD_FD 3 /* its only descriptor */

struct hasher {
	int fd;
	pid_t child;
	bool busy;
};

struct answer {
	int32_t err;
	uint32_t pad;
	struct digest digest;
};

/* ---- the child ---- */

static int receive_fd(int from)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	if (msg.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

static void child_settle(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "culprit-hash");
	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* The library's would tell the other threads, which are not here. */
	(void)syscall(SYS_setgroups, 0, NULL);
	(void)syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY);
	(void)syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

__attribute__((noreturn)) static void child_run(int fd, uint64_t bytes_per_second)
{
	struct answer answer;
	int file;

	signal(SIGINT, SIG_IGN); /* of the terminal: the agent ends us */
	signal(SIGTERM, SIG_DFL);
	if (fd != CHILD_FD && dup2(fd, CHILD_FD) < 0)
		_exit(1);
	(void)syscall(SYS_close_range, CHILD_FD + 1, ~0u, 0);
	child_settle();
	while ((file = receive_fd(CHILD_FD)) >= 0) {
		memset(&answer, 0, sizeof(answer));
		answer.err = digest_make(file, bytes_per_second, &answer.digest);
		close(file);
		if (send(CHILD_FD, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* ---- the agent's side ---- */

int hasher_new(uint64_t bytes_per_second, struct hasher **ret)
{
	struct hasher *h;
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return fail(-errno, "make a socket: %s", strerror(errno));
	child = fork();
	if (child == 0)
		child_run(pair[1], bytes_per_second);
	close(pair[1]);
	if (child < 0) {
		int err = -errno;

		close(pair[0]);
		return fail(err, "start the hashing process: %s", strerror(-err));
	}
	h = xcalloc(1, sizeof(*h));
	h->fd = pair[0];
	h->child = child;
	*ret = h;
	return 0;
}

void hasher_free(struct hasher *h)
{
	if (!h)
		return;
	close(h->fd);
	kill(h->child, SIGKILL);
	waitpid(h->child, NULL, 0);
	free(h);
}

int hasher_fd(const struct hasher *h)
{
	return h->fd;
}

int hasher_start(struct hasher *h, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	if (h->busy)
		return -EBUSY;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (sendmsg(h->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return fail(-errno, "the hashing process: %s", strerror(errno));
	h->busy = true;
	return 0;
}

int hasher_done(struct hasher *h, int *ret_err, struct digest *ret)
{
	struct answer answer;
	ssize_t n = recv(h->fd, &answer, sizeof(answer), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	h->busy = false;
	if (n != sizeof(answer))
		return -EPIPE;
	answer.digest.hex[SHA256_HEX - 1] = '\0';
	*ret_err = answer.err;
	*ret = answer.digest;
	return 1;
}
