/* SPDX-License-Identifier: Apache-2.0 */
/* A stopped child process and its C stack, as a probe would have copied it. x86-64 only. */
#ifndef TEST_UNIT_NATIVE_CHILD_H
#define TEST_UNIT_NATIVE_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/native.h"

/* A file beside the test program. */
static inline void beside(char *dst, size_t cap, const char *name)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	snprintf(dst, cap, "%.3000s/%s", self, name);
}

/* Files are opened through /proc/PID/map_files, which only root may. */
static inline bool may_look(void)
{
#if defined(__x86_64__)
	return geteuid() == 0;
#else
	return false;
#endif
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#if defined(__x86_64__)

static inline size_t read_child(pid_t pid, uint64_t addr, void *dst, size_t len)
{
	char path[32];
	size_t done = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && done < len) {
		size_t part = 4096 - (addr + done) % 4096; /* up to the page that is not there */

		part = part < len - done ? part : len - done;
		if (pread(fd, (char *)dst + done, part, (off_t)(addr + done)) != (ssize_t)part)
			break;
		done += part;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

/* The registers and stack of a stopped child; `returned`: as if the function that it is about to
 * begin had returned. */
static inline bool copy_stack(pid_t pid, bool returned, struct c_stack *c)
{
	struct user_regs_struct r;

	memset(c, 0, sizeof(*c));
	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		return false;
	c->kind = NEWS_c_stack;
	c->pid = (uint32_t)pid;
	c->ip = r.rip;
	c->sp = r.rsp;
	c->bp = r.rbp;
	c->bx = r.rbx;
	c->r12 = r.r12;
	c->r13 = r.r13;
	c->r14 = r.r14;
	c->r15 = r.r15;
	if (returned) {
		uint64_t ip;

		if (read_child(pid, r.rsp, &ip, 8) != 8)
			return false;
		c->ip = ip;
		c->sp += 8;
	}
	c->bytes = (uint32_t)read_child(pid, c->sp, c->data, C_STACK_BYTES);
	return true;
}

/* Start a program that stops itself with int3; -1: it did not. */
static inline pid_t stopped_child(const char *path)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	for (;;) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return -1;
		/* SIGTRAP comes for the exec too, before the program has begun. */
		if (WSTOPSIG(status) == SIGTRAP) {
			struct user_regs_struct r;
			uint8_t before = 0;

			if (!ptrace(PTRACE_GETREGS, pid, NULL, &r) &&
			    read_child(pid, r.rip - 1, &before, 1) == 1 && before == 0xcc)
				return pid;
			ptrace(PTRACE_CONT, pid, NULL, NULL);
		} else {
			long sig = WSTOPSIG(status);

			ptrace(PTRACE_CONT, pid, NULL, sig);
		}
	}
}

#endif
#endif
