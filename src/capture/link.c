// SPDX-License-Identifier: Apache-2.0
/* Raw uprobe links: session, multi, perf. */
#include "capture/link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/util.h"
#include "capture/maps.h"

/* From newer kernels' uapi; the build machine's headers may not have them. */
#define TRACE_UPROBE_MULTI 48
#define TRACE_UPROBE_SESSION 57
#define UPROBE_MULTI_RETURN 1
#define PERF_SEMAPHORE_SHIFT 32

struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

struct perf_link_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t cookie;
};

static const char *const mode_names[] = {
	[ATTACH_AUTO] = "auto", [ATTACH_SESSION] = "session", [ATTACH_MULTI] = "multi",
	[ATTACH_PERF] = "perf", [ATTACH_NONE] = "none",
};

const char *attach_mode_name(enum attach_mode mode)
{
	return mode_names[mode];
}

enum attach_mode attach_mode_named(const char *name)
{
	enum attach_mode mode = ATTACH_AUTO;

	while (mode != ATTACH_NONE && !streq(name, mode_names[mode]))
		mode++;
	return mode;
}

int link_attach_type(enum attach_mode mode, bool session)
{
	if (mode == ATTACH_PERF)
		return 0;
	return mode == ATTACH_SESSION && session ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI;
}

static int bpf_link(void *attr, size_t size)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, size);

	return fd < 0 ? -errno : fd;
}

static void keep(struct links *links, int fd)
{
	links->fds = xrealloc(links->fds, links->count + 1, sizeof(*links->fds));
	links->fds[links->count++] = fd;
}

static int link_multi(struct links *links, const struct attach *how, const char *path,
		      const struct site *sites, size_t n)
{
	uint64_t *offsets = xcalloc(n, sizeof(*offsets)), *cookies = xcalloc(n, sizeof(*cookies));
	uint64_t *semaphores = xcalloc(n, sizeof(*semaphores));
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)how->prog_fd,
		.attach_type = (uint32_t)link_attach_type(how->mode, true),
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)semaphores,
		.cookies = (uintptr_t)cookies,
		.cnt = (uint32_t)n,
		.multi_flags = how->at_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)how->pid,
	};
	int fd;

	for (size_t i = 0; i < n; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].cookie;
		semaphores[i] = sites[i].semaphore;
	}
	fd = bpf_link(&attr, sizeof(attr));
	free(offsets);
	free(cookies);
	free(semaphores);
	if (fd < 0)
		return fail(fd, "uprobe_multi on %s: %s", path, strerror(-fd));
	keep(links, fd);
	return 0;
}

static int perf_uprobe_type(uint32_t *ret)
{
	char text[16];
	size_t len;
	int err = file_read("/sys/bus/event_source/devices/uprobe/type", text, sizeof(text), &len);

	if (err)
		return fail_in(err, "perf uprobes");
	*ret = (uint32_t)strtoul(text, NULL, 10);
	return 0;
}

static int link_perf_one(struct links *links, uint32_t type, const struct attach *how,
			 const char *path, const struct site *site)
{
	struct perf_event_attr event = {
		.type = type,
		.size = sizeof(event),
		.config = (uint64_t)how->at_return | site->semaphore << PERF_SEMAPHORE_SHIFT,
		.config1 = (uintptr_t)path,
		.config2 = site->offset,
	};
	struct perf_link_attr attr = { .prog_fd = (uint32_t)how->prog_fd,
				       .attach_type = BPF_PERF_EVENT,
				       .cookie = site->cookie };
	int fd, event_fd;

	event_fd = (int)syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event_fd < 0)
		return fail(-errno, "perf uprobe at %s+0x%llx: %s", path,
			    (unsigned long long)site->offset, strerror(errno));
	attr.target_fd = (uint32_t)event_fd;
	fd = bpf_link(&attr, sizeof(attr));
	close(event_fd); /* the link holds it; a second holder would keep the probe after detach */
	if (fd < 0)
		return fail(fd, "perf link at %s: %s", path, strerror(-fd));
	keep(links, fd);
	return 0;
}

int link_sites(struct links *links, const struct attach *how, const char *path,
	       const struct site *sites, size_t n)
{
	uint32_t type = 0;
	int err;

	if (!n)
		return 0;
	if (how->mode != ATTACH_PERF)
		return link_multi(links, how, path, sites, n);
	err = perf_uprobe_type(&type);
	for (size_t i = 0; !err && i < n; i++)
		err = link_perf_one(links, type, how, path, &sites[i]);
	return err;
}

static void *close_some(void *arg)
{
	struct links *part = arg;

	for (size_t i = 0; i < part->count; i++)
		close(part->fds[i]);
	return NULL;
}

#define CLOSERS 16

void links_close(struct links *const links[], size_t n)
{
	struct links part[CLOSERS] = { 0 };
	pthread_t thread[CLOSERS];
	bool started[CLOSERS] = { false };
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < links[i]->count; j++)
			keep(&part[k++ % CLOSERS], links[i]->fds[j]);
	for (size_t i = 1; i < CLOSERS; i++)
		if (part[i].count)
			started[i] = !pthread_create(&thread[i], NULL, close_some, &part[i]);
	for (size_t i = 0; i < CLOSERS; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
		else
			close_some(&part[i]);
		free(part[i].fds);
	}
	for (size_t i = 0; i < n; i++) {
		free(links[i]->fds);
		*links[i] = (struct links){ 0 };
	}
}

/* ---- a function of our own ---- */

#ifdef __x86_64__
/* Begins like NVIDIA's functions, so that a probe on it costs what a probe on theirs costs. */
__asm__(".text\n"
	".p2align 6\n"
	".globl link_target\n"
	".type link_target, @function\n"
	"link_target:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size link_target, .-link_target\n");
#else
__attribute__((noinline)) void link_target(void)
{
	__asm__ volatile("");
}
#endif

static int find_target(const struct map_line *line, void *arg)
{
	uint64_t *address = arg;

	if (!line->exec || *address < line->start || *address >= line->end)
		return 0;
	*address = *address - line->start + line->offset;
	return 1;
}

int link_target_offset(uint64_t *ret)
{
	uint64_t at = (uintptr_t)link_target;

	if (maps_each(getpid(), find_target, &at) != 1)
		return fail(-ENOENT, "cannot find my own code in /proc/self/maps");
	*ret = at;
	return 0;
}

/* mov r0, 0; exit */
static const struct bpf_insn do_nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
	{ .code = BPF_JMP | BPF_EXIT },
};

int link_try(enum attach_mode mode)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)link_attach_type(mode, true));
	struct attach how = { .mode = mode, .at_return = mode == ATTACH_MULTI };
	struct site site = { 0 };
	struct links links = { 0 };
	struct links *all[] = { &links };
	int err, prog;

	err = link_target_offset(&site.offset);
	if (err)
		return err;
	prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "culprit_try", "GPL", do_nothing,
			     ARRAY_LEN(do_nothing), &opts);
	if (prog < 0)
		return fail(prog, "load a program for %s: %s", attach_mode_name(mode),
			    strerror(-prog));
	how.prog_fd = prog;
	err = link_sites(&links, &how, "/proc/self/exe", &site, 1);
	links_close(all, 1);
	close(prog);
	return err;
}
