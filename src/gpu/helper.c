// SPDX-License-Identifier: Apache-2.0
/*
 * The life of the helper program: started from memory, read without waiting, ended when it hangs or
 * talks nonsense, started again. At most one exists; one that cannot be ended (stuck in the driver) is
 * left behind and none is started until it is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/memfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "gpu/gpu.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define HELLO_NS 20000000000ull /* opening a library takes seconds where the driver sleeps */
#define SILENCE_NS 8000000000ull /* without a record, and longer than some intervals */
#define AGAIN_NS 2000000000ull /* after the first death; doubled each time */
#define AGAIN_MAX_NS 300000000000ull
#define NO_LIBRARY_NS 60000000000ull /* a driver may be installed later */
#define WELL_NS 60000000000ull /* who lives so long begins anew */
#define READS 64 /* records in one look */

extern const char gpu_helper_start[], gpu_helper_end[]; /* src/cmd/assets.S */

struct gpu_helper {
	char library[512];
	uint32_t interval_ms;
	int image; /* the program, in memory; -1: not made yet */
	int pipe; /* -1: it does not run */
	pid_t pid; /* 0: none, or reaped */
	uint64_t started_ns, heard_ns, next_ns, again_ns;
	uint64_t past_cpu_ns, cpu_ns; /* of earlier lives; of this one */
	struct gpu_helper_status status;
	unsigned char bytes[sizeof(struct gpu_record)];
	size_t have;
};

struct gpu_helper *gpu_helper_new(const struct gpu_helper_opts *opts)
{
	struct gpu_helper *h = xcalloc(1, sizeof(*h));

	str_copy(h->library, sizeof(h->library), opts->library ? opts->library : "");
	h->interval_ms = opts->interval_ms ? opts->interval_ms : GPU_INTERVAL_MS;
	h->image = h->pipe = -1;
	h->again_ns = AGAIN_NS;
	return h;
}

/* ---- beginning ---- */

static int make_image(struct gpu_helper *h)
{
	size_t len = (uintptr_t)gpu_helper_end - (uintptr_t)gpu_helper_start;
	int fd = (int)syscall(SYS_memfd_create, "culprit-nvml", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 */
		fd = (int)syscall(SYS_memfd_create, "culprit-nvml", MFD_CLOEXEC);
	if (fd < 0)
		return fail(-errno, "memory for the helper: %s", strerror(errno));
	if (write(fd, gpu_helper_start, len) != (ssize_t)len) {
		close(fd);
		return fail(-ENOSPC, "memory for the helper");
	}
	h->image = fd;
	return 0;
}

/* In the child, between fork and exec: system calls only. */
static void become_helper(struct gpu_helper *h, int pipe_fd, int report_fd, pid_t parent,
			  char *interval)
{
	char name[] = "culprit-nvml", *envp[] = { NULL };
	char *argv[] = { name, interval, h->library, NULL };
	struct rlimit no_core = { 0, 0 };
	int null = open("/dev/null", O_RDWR), err;
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)setpriority(PRIO_PROCESS, 0, 19);
	if (getppid() != parent || null < 0)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)dup2(pipe_fd, GPU_PIPE_FD); /* above() sees to it that these differ */
	/* Ours are closed by exec anyway; whoever started us may have left some open. */
	(void)syscall(SYS_close_range, GPU_PIPE_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	(void)syscall(SYS_execveat, h->image, "", argv, envp, 0x1000 /* AT_EMPTY_PATH */);
	err = errno;
	(void)!write(report_fd, &err, sizeof(err));
	_exit(1);
}

/* The number that the child needs must not be one of those that it still uses. */
static int above(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 16);

	if (fd >= 0)
		close(fd);
	return high;
}

static int start(struct gpu_helper *h, uint64_t now_ns)
{
	int out[2] = { -1, -1 }, report[2] = { -1, -1 }, err = 0;
	pid_t parent = getpid();
	char interval[16];

	if (h->image < 0) {
		err = make_image(h);
		h->image = err ? -1 : above(h->image);
		if (err)
			return err;
	}
	if (pipe2(out, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		err = fail(-errno, "no pipe: %s", strerror(errno));
	report[1] = above(report[1]);
	out[1] = above(out[1]);
	snprintf(interval, sizeof(interval), "%u", h->interval_ms);
	if (!err && (report[1] < 0 || out[1] < 0))
		err = fail(-EMFILE, "no descriptors left");
	if (!err)
		h->pid = fork();
	if (!err && h->pid < 0) {
		err = fail(-errno, "no process: %s", strerror(errno));
		h->pid = 0;
	} else if (!err && !h->pid) {
		become_helper(h, out[1], report[1], parent, interval);
	}
	if (report[1] >= 0)
		close(report[1]);
	if (out[1] >= 0)
		close(out[1]);
	/* Closed by exec: the end of the file is good news, and comes within a moment. */
	if (!err && read(report[0], &err, sizeof(err)) == (ssize_t)sizeof(err))
		err = fail(-err, "cannot be started: %s", strerror(err));
	if (report[0] >= 0)
		close(report[0]);
	if (err) {
		if (out[0] >= 0)
			close(out[0]);
		return err;
	}
	(void)fcntl(out[0], F_SETFL, O_NONBLOCK);
	h->pipe = out[0];
	h->have = 0;
	h->started_ns = h->heard_ns = now_ns;
	h->status.starts++;
	h->status.pid = h->pid;
	return 0;
}

/* ---- ending ---- */

static void reap(struct gpu_helper *h)
{
	if (h->pid && waitpid(h->pid, NULL, WNOHANG) != 0)
		h->pid = 0;
}

static void stop(struct gpu_helper *h, uint64_t now_ns, uint64_t pause_ns)
{
	if (h->pid)
		(void)kill(h->pid, SIGKILL);
	if (h->pipe >= 0)
		close(h->pipe);
	h->pipe = -1;
	h->past_cpu_ns += h->cpu_ns;
	h->cpu_ns = 0;
	h->status.pid = 0;
	h->next_ns = now_ns + pause_ns;
	reap(h);
}

/* It died or was ended: not at once again, and less and less often if that does not help. */
static void stop_for(struct gpu_helper *h, uint64_t now_ns, const char *what)
{
	if (now_ns - h->started_ns > WELL_NS)
		h->again_ns = AGAIN_NS;
	log_debug("the NVML helper %s; again in %u s", what, (unsigned)(h->again_ns / 1000000000));
	if (!h->status.known) {
		h->status.known = true;
		snprintf(h->status.text, sizeof(h->status.text), "the helper %s", what);
	}
	stop(h, now_ns, h->again_ns);
	h->again_ns = min_u64(2 * h->again_ns, AGAIN_MAX_NS);
}

void gpu_helper_free(struct gpu_helper *h)
{
	if (!h)
		return;
	stop(h, 0, 0);
	for (int i = 0; h->pid && i < 20; i++) { /* stuck in the driver: init inherits it */
		usleep(5000);
		reap(h);
	}
	if (h->image >= 0)
		close(h->image);
	free(h);
}

/* ---- listening ---- */

static void on_hello(struct gpu_helper *h, const struct gpu_record *rec, uint64_t now_ns)
{
	const struct gpu_hello *hello = &rec->hello;

	h->status.known = true;
	h->status.ready = hello->ready;
	if (hello->ready) {
		snprintf(h->status.text, sizeof(h->status.text), "driver %s, %u GPU%s",
			 hello->driver, hello->gpus, hello->gpus == 1 ? "" : "s");
		return;
	}
	snprintf(h->status.text, sizeof(h->status.text), "%s", hello->text);
	stop(h, now_ns, NO_LIBRARY_NS);
}

/* False: that was the last one. */
static bool on_bytes(struct gpu_helper *h, uint64_t now_ns, gpu_fn fn, void *arg)
{
	struct gpu_record rec;

	h->have = 0;
	if (gpu_decode(h->bytes, sizeof(h->bytes), &rec)) {
		h->status.garbage++;
		stop_for(h, now_ns, "wrote nonsense");
		return false;
	}
	h->heard_ns = now_ns;
	h->cpu_ns = max_u64(h->cpu_ns, min_u64(rec.cpu_ns, now_ns));
	/* Its clock is ours, unless it lies. */
	if (rec.at_ns > now_ns || now_ns - rec.at_ns > SILENCE_NS)
		rec.at_ns = now_ns;
	if (rec.kind == GPU_HELLO)
		on_hello(h, &rec, now_ns);
	else if (h->status.ready)
		fn(&rec, arg);
	return h->pipe >= 0;
}

static void listen_to(struct gpu_helper *h, uint64_t now_ns, gpu_fn fn, void *arg)
{
	for (int i = 0; i < READS; i++) {
		ssize_t n = read(h->pipe, h->bytes + h->have, sizeof(h->bytes) - h->have);

		if (n > 0) {
			h->have += (size_t)n;
			if (h->have == sizeof(h->bytes) && !on_bytes(h, now_ns, fn, arg))
				return;
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		h->status.crashes++;
		stop_for(h, now_ns, "died");
		return;
	}
	if (now_ns - h->heard_ns >
	    (h->heard_ns == h->started_ns ? HELLO_NS : SILENCE_NS + 2000000ull * h->interval_ms)) {
		h->status.hangs++;
		stop_for(h, now_ns, "hangs");
	}
}

void gpu_helper_poll(struct gpu_helper *h, uint64_t now_ns, gpu_fn fn, void *arg)
{
	reap(h);
	if (h->pipe < 0 && !h->pid && now_ns >= h->next_ns) {
		int err = start(h, now_ns);

		if (err) {
			h->status.known = true;
			snprintf(h->status.text, sizeof(h->status.text), "%s", why(err));
			h->next_ns = now_ns + AGAIN_MAX_NS;
			return;
		}
	}
	if (h->pipe >= 0)
		listen_to(h, now_ns, fn, arg);
}

void gpu_helper_status(const struct gpu_helper *h, struct gpu_helper_status *ret)
{
	*ret = h->status;
	ret->cpu_ns = h->past_cpu_ns + h->cpu_ns;
}

int gpu_helper_fd(const struct gpu_helper *h)
{
	return h->pipe;
}
