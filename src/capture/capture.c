// SPDX-License-Identifier: Apache-2.0
/* The life of a capture: load, attach, poll, detach. */
#include "capture/capture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "capture/calibrate.h"
#include "capture/capture_int.h"
#include "capture/frees.h"
#include "capture/gc.h"
#include "capture/guard.h"
#include "capture/kernel.h"

#define RESCAN_NS (10 * 1000000000ull) /* the net under the kernel's events, */
#define RESCAN_ALONE_NS 500000000ull /* ... or all there is without them */
#define RESCAN_LOST_NS 1000000000ull /* after lost events: soon, but no faster than this */
#define DRAIN_NS 50000000ull /* a process that maps without end must not keep us busy */
#define RING_BYTES (1u << 20)
#define RING_ALL_BYTES (16u << 20) /* when every call is sent */
#define HISTORY_MAX 8192u /* stops per CPU, powers of two */
#define HISTORY_MIN 512u
#define HISTORY_TOTAL 131072u /* 16 MB */
#define TAKE_NS 50000000ull /* longest stay at the ring */
#define SLEPT_MIN_NS 1000000ull

/* Producers can be faster than we are: the ring is left in time for the rest of the work. */
static int on_record(void *ctx, void *data, size_t len)
{
	struct capture *c = ctx;

	if (c->fn)
		c->fn(data, len, c->arg);
	if (++c->taken % 64 == 0 && clock_boot_ns() > c->take_until)
		return -EAGAIN;
	return 0;
}

static int on_nccl(void *ctx, void *data, size_t len)
{
	struct capture *c = ctx;

	if (c->opts.on_nccl)
		c->opts.on_nccl(data, len, c->opts.arg);
	return 0;
}

/* How many records were taken, or a negative errno. */
static int take_records(struct capture *c, capture_fn fn, void *arg)
{
	int err;

	c->fn = fn;
	c->arg = arg;
	c->taken = 0;
	c->take_until = clock_boot_ns() + TAKE_NS;
	(void)ring_buffer__consume(c->nccl); /* small, and its reader never stops it */
	err = ring_buffer__consume(c->ring);
	c->behind = err == -EAGAIN;
	return err < 0 && err != -EAGAIN ? fail(err, "read the ring: %s", strerror(-err))
					 : (int)c->taken;
}

__attribute__((format(printf, 2, 0))) static int quiet(enum libbpf_print_level level,
						       const char *fmt, va_list ap)
{
	log_va(level == LIBBPF_WARN ? LOG_DEBUG : LOG_DEBUG + 1, fmt, ap);
	return 0;
}

/* ---- loading ---- */

static int choose_mode(struct capture *c)
{
	int err = 0;

	if (c->opts.mode != ATTACH_AUTO)
		return link_try(c->opts.mode);
	for (enum attach_mode m = ATTACH_SESSION; m < ATTACH_NONE; m++) {
		err = link_try(m);
		if (!err) {
			c->opts.mode = m;
			return 0;
		}
		log_debug("attach mode %s: %s", attach_mode_name(m), why(err));
	}
	return err;
}

static void set_program(struct bpf_program *prog, bool load, int attach_type)
{
	bpf_program__set_autoload(prog, load);
	bpf_program__set_autoattach(prog, false);
	bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)attach_type);
}

/* Seconds of history on a busy CPU, and a bounded sum on hosts with many. */
static uint32_t history_per_cpu(int cpus)
{
	uint32_t size = HISTORY_MAX;

	while (size > HISTORY_MIN && size * (uint64_t)cpus > HISTORY_TOTAL)
		size /= 2;
	return size;
}

static void tell_kernel(struct probe *p)
{
	struct kernel kernel;
	uint16_t states[SYSCALL_NUMBERS];

	kernel_read(&kernel);
	syscall_states(states);
	p->rodata->preempt_count_offset = kernel.preempt_count_offset;
	p->rodata->steal_offset = kernel.steal_offset;
	memcpy((void *)p->rodata->gpu_major, kernel.gpu_major, sizeof(kernel.gpu_major));
	memcpy((void *)p->rodata->syscall_state, states, sizeof(states));
	capture_choose_tracepoints(p);
	capture_choose_groups(p);
}

static void configure(struct capture *c)
{
	struct probe *p = c->probe;
	bool session = c->opts.mode == ATTACH_SESSION;
	int plain = link_attach_type(c->opts.mode, false);

	p->rodata->slow_ns = c->opts.slow_ns ? c->opts.slow_ns : CAPTURE_SLOW_NS;
	p->rodata->record_all = c->opts.record_all;
	p->bss->slept_ns = clock_slept_ns();
	p->rodata->stacks = !c->opts.no_stack;
	c->cpus = libbpf_num_possible_cpus();
	c->cpus_online = (int)max_u64(1, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	c->history_size = history_per_cpu(c->cpus);
	p->rodata->no_rows = c->cpus > ROW_CPUS;
	p->rodata->history_size = c->history_size;
	bpf_map__set_max_entries(p->maps.lanes, (uint32_t)c->cpus);
	bpf_map__set_max_entries(p->maps.costs, (uint32_t)c->cpus);
	bpf_map__set_max_entries(p->maps.history_heads, (uint32_t)c->cpus);
	bpf_map__set_max_entries(p->maps.history, (uint32_t)c->cpus * c->history_size);
	tell_kernel(p);
	if (!c->opts.ring_bytes)
		c->opts.ring_bytes = c->opts.record_all ? RING_ALL_BYTES : RING_BYTES;
	bpf_map__set_max_entries(p->maps.ring, (uint32_t)c->opts.ring_bytes);
	if (c->opts.record_all)
		bpf_map__set_max_entries(p->maps.news, RING_ALL_BYTES);
	set_program(p->progs.call_count, true, plain);
	set_program(p->progs.call_enter, !session, plain);
	set_program(p->progs.call_return, !session, plain);
	set_program(p->progs.call_session, session, link_attach_type(c->opts.mode, true));
	set_program(p->progs.count_session, c->opts.launch_times,
		    link_attach_type(c->opts.mode, true));
	set_program(p->progs.kernel_stub, true, plain);
	set_program(p->progs.gc_start, true, plain);
	set_program(p->progs.gc_done, true, plain);
	set_program(p->progs.code_freed, true, plain);
	bpf_program__set_autoattach(p->progs.adopt_threads, false);
	bpf_program__set_autoattach(p->progs.sample, false);
	bpf_program__set_autoattach(p->progs.gpu_error, false);
	bpf_program__set_autoattach(p->progs.settle_threads, false);
}

static int pick_mode(struct capture *c)
{
	int err;

	libbpf_set_print(quiet);
	err = choose_mode(c);
	if (err == -EPERM || err == -EACCES)
		return fail(err,
			    "not allowed to trace: run as root, or with CAP_BPF and CAP_PERFMON "
			    "(and CAP_SYS_ADMIN before Linux 6.6)");
	if (err)
		return fail(-ENOTSUP, "this kernel cannot probe user functions: %s", why(err));
	if (c->opts.launch_times && c->opts.mode != ATTACH_SESSION)
		return fail(-ENOTSUP, "--launch-times needs probes of the kind 'session' (Linux "
				      "6.13): without it launches are counted all the same");
	return 0;
}

int capture_allowed(void)
{
	struct capture c = { 0 };

	return pick_mode(&c);
}

static int load(struct capture *c)
{
	int err = pick_mode(c);

	if (err)
		return err;
	c->probe = probe__open();
	if (!c->probe)
		return fail(-errno, "open probes: %s", strerror(errno));
	configure(c);
	err = probe__load(c->probe);
	if (err)
		return fail(err == -EINVAL ? -ENOTSUP : err,
			    "load probes: %s; `culprit check` says what is missing, "
			    "`culprit -v trace` shows the verifier's words",
			    strerror(-err));
	return 0;
}

int capture_try(void)
{
	struct capture c = { 0 };
	int err = load(&c);

	probe__destroy(c.probe);
	return err;
}

/* Skeleton attach: the scheduler tracepoints. A missing one (sched_migrate_task) is survivable. */
static int attach_sched(struct capture *c)
{
	int err = probe__attach(c->probe);

	/* Of a module that may not be there; the skeleton destroys the link with the others. */
	c->probe->links.gpu_error =
		bpf_program__attach_raw_tracepoint(c->probe->progs.gpu_error, "nvidia_dev_xid");
	if (!c->probe->links.gpu_error)
		log_debug("no tracepoint for errors of GPUs: %s", strerror(errno));
	return err ? fail(err, "attach to the scheduler's tracepoints: %s", strerror(-err)) : 0;
}

/* ---- finding processes ---- */

/* Run a program once for every thread of the host. */
static void each_thread(const struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	char buf[64];
	int fd;

	if (!link)
		return;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd >= 0) {
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
}

/* Follow the threads that a process has already; new ones are followed when they are born. */
static void adopt(struct capture *c, int pid, bool related)
{
	c->probe->bss->adopt_pid = (uint32_t)pid;
	c->probe->bss->adopt_related = related;
	each_thread(c->probe->progs.adopt_threads);
}

static void on_user(int pid, void *arg)
{
	struct capture *c = arg;

	if (c->opts.on_process)
		c->opts.on_process(c, pid, c->opts.arg);
}

void capture_follow(struct capture *c, uint32_t pid)
{
	if (c->detached || pid == (uint32_t)getpid())
		return;
	adopt(c, (int)pid, true);
	on_user((int)pid, c);
}

static void on_lib(int pid, const struct lib *lib, void *arg)
{
	struct capture *c = arg;

	c->probe->bss->active = true; /* until now a context switch cost next to nothing */
	adopt(c, pid, false);
	gc_see(c->gc, pid);
	if (c->opts.on_lib)
		c->opts.on_lib(pid, lib, c->opts.arg);
}

static void on_mapping(const struct mapping *m, void *arg)
{
	struct capture *c = arg;

	for (int i = 0; i < c->mappings; i++)
		if (c->mapped[i].pid == m->pid && c->mapped[i].inode == m->inode)
			return;
	if (c->mappings == DRAIN_PIDS) {
		c->rescan_at = min_u64(c->rescan_at, clock_boot_ns() + RESCAN_LOST_NS);
		return;
	}
	c->mapped[c->mappings].pid = m->pid;
	c->mapped[c->mappings].inode = m->inode;
	/* A name that is cut leads nowhere: the inode would not fit. */
	str_copy(c->mapped[c->mappings].path, sizeof(c->mapped[0].path), m->path);
	c->mappings++;
}

static void rescan(struct capture *c)
{
	libs_rescan(c->libs);
	c->rescan_at = clock_boot_ns() + (c->watch ? RESCAN_NS : RESCAN_ALONE_NS);
}

/* What the probes saw of ourselves is nobody's business. We never call them again. */
static void forget_calibration(struct capture *c)
{
	int fd = bpf_map__fd(c->probe->maps.tasks);
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint32_t serial;

	if (self >= 0) {
		bpf_map_delete_elem(bpf_map__fd(c->probe->maps.threads), &self);
		close(self);
	}
	for (uint32_t i = 0; i < TALLIES; i++)
		if (c->tallies[i].serial)
			capture_reuse_tally(c, i);
	while (!bpf_map_get_next_key(fd, NULL, &serial))
		bpf_map_delete_elem(fd, &serial);
	for (uint32_t i = 0; i < TAPES; i++)
		if (c->tapes[i].serial)
			capture_reuse_tape(c, i);
	take_records(c, NULL, NULL);
	c->probe->bss->stats.stepped = c->probe->bss->stats.code_frees = 0;
	c->probe->bss->active = false;
}

/* ---- life ---- */

static void yield_files(void *arg)
{
	struct capture *c = arg;

	libs_yield(c->libs);
	gc_yield(c->gc);
	frees_yield(c->frees);
}

int capture_open(const struct capture_opts *opts, struct capture **ret)
{
	struct capture *c = xcalloc(1, sizeof(*c));
	struct libs_opts libs;
	bool session;
	int err;

	c->opts = *opts;
	err = load(c);
	if (!err)
		err = capture_map(c);
	if (err)
		goto out;
	c->ring = ring_buffer__new(bpf_map__fd(c->probe->maps.ring), on_record, c, NULL);
	if (!c->ring) {
		err = fail(-errno, "map the ring: %s", strerror(errno));
		goto out;
	}
	c->nccl = ring_buffer__new(bpf_map__fd(c->probe->maps.nccl_ring), on_nccl, c, NULL);
	if (!c->nccl) {
		err = fail(-errno, "map the ring of NCCL: %s", strerror(errno));
		goto out;
	}
	err = capture_open_stacks(c);
	if (!err)
		err = capture_open_kernels(c);
	if (err)
		goto out;
	session = c->opts.mode == ATTACH_SESSION;
	libs = (struct libs_opts){
		.mode = c->opts.mode,
		.prog_count = bpf_program__fd(c->opts.launch_times ? c->probe->progs.count_session
								   : c->probe->progs.call_count),
		.count_returns = c->opts.launch_times,
		.prog_enter = bpf_program__fd(session ? c->probe->progs.call_session
						      : c->probe->progs.call_enter),
		.prog_return = session ? -1 : bpf_program__fd(c->probe->progs.call_return),
		.prog_stub = bpf_program__fd(c->probe->progs.kernel_stub),
		.with_driver = bpf_map__fd(c->probe->maps.with_driver),
		.only_pid = opts->only_pid,
		.on_user = on_user,
	};
	c->libs = libs_new(&libs, on_lib, c);
	c->gc = gc_new(c->opts.mode, bpf_program__fd(c->probe->progs.gc_start),
		       bpf_program__fd(c->probe->progs.gc_done));
	c->frees = frees_new(c->opts.mode, bpf_program__fd(c->probe->progs.code_freed),
			     bpf_map__fd(c->probe->maps.pythons), &c->probe->bss->stats.code_frees);
	err = guard_new(yield_files, c, &c->guard);
	if (err)
		goto out;
	calibrate(&libs, &c->probe->bss->shed_returns, &c->cost);
	forget_calibration(c);
	c->probe->bss->only_pid = (uint32_t)opts->only_pid;
	err = attach_sched(c);
	if (err)
		goto out;
	capture_sample(c);
	err = watch_open(&c->watch); /* before the first scan: nothing falls between */
	if (err)
		log_warn("new processes are found by rescanning only: %s", why(err));
	err = throttle_start(c, opts->budget, &c->throttle); /* a storm may be waiting there */
	if (!err)
		rescan(c);
out:
	if (err)
		capture_close(c);
	else
		*ret = c;
	return err;
}

static void *detach_libs(void *arg)
{
	struct capture *c = arg;

	throttle_stop(c->throttle); /* it may be about to put something back */
	libs_free(c->detaching);
	return NULL;
}

static void *detach_gc(void *arg)
{
	struct capture *c = arg;

	gc_free(c->gc);
	return NULL;
}

static void *detach_frees(void *arg)
{
	struct capture *c = arg;

	frees_stop(c->frees);
	return NULL;
}

/* Each waits for the kernel's grace periods; side by side they wait once. */
static void detach_beside(struct capture *c, int i, void *(*detach)(void *))
{
	c->detacher_runs[i] = !pthread_create(&c->detacher[i], NULL, detach, c);
	if (!c->detacher_runs[i])
		detach(c);
}

void capture_detach(struct capture *c)
{
	if (c->detached)
		return;
	c->detached = true;
	guard_free(c->guard); /* who wants to write waits until all is detached: that is soon */
	c->guard = NULL;
	capture_stop_counting(c);
	c->detaching = c->libs;
	c->libs = NULL;
	detach_beside(c, 0, detach_libs);
	detach_beside(c, 1, detach_gc);
	detach_beside(c, 2, detach_frees);
	capture_stop_sampling(c);
	if (!c->probe)
		return;
	/* Who exits until we settle takes over what its launches have put down. */
	c->at_exit = c->probe->links.sched_exit;
	c->probe->links.sched_exit = NULL;
	probe__detach(c->probe);
}

void capture_wait_detached(struct capture *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->detacher); i++) {
		if (c->detacher_runs[i])
			pthread_join(c->detacher[i], NULL);
		c->detacher_runs[i] = false;
	}
}

void capture_settle(struct capture *c, uint64_t ns)
{
	capture_wait_detached(c);
	c->probe->bss->settle_ns = ns;
	each_thread(c->probe->progs.settle_threads);
	bpf_link__destroy(c->at_exit);
	c->at_exit = NULL;
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	capture_detach(c);
	capture_wait_detached(c);
	frees_free(c->frees);
	throttle_free(c->throttle);
	watch_close(c->watch);
	ring_buffer__free(c->ring);
	ring_buffer__free(c->news);
	ring_buffer__free(c->kernel_names);
	ring_buffer__free(c->nccl);
	capture_unmap(c);
	bpf_link__destroy(c->at_exit);
	probe__destroy(c->probe);
	free(c);
}

enum attach_mode capture_mode(const struct capture *c)
{
	return c->opts.mode;
}

const struct capture_cost *capture_cost(const struct capture *c)
{
	return &c->cost;
}

void capture_spent(struct capture *c, struct capture_spent *ret)
{
	throttle_spent(c->throttle, ret);
}

void capture_each_shed(struct capture *c, shed_fn fn, void *arg)
{
	throttle_each_shed(c->throttle, fn, arg);
}

int capture_cpus(const struct capture *c)
{
	return c->cpus_online;
}

bool capture_blind(struct capture *c)
{
	return throttle_blind(c->throttle);
}

const struct libs *capture_libs(const struct capture *c)
{
	return c->libs;
}

/* Attach to what was mapped since the last look; at most every DRAIN_NS. */
static void look_around(struct capture *c, uint64_t now)
{
	c->mappings = 0;
	if (c->watch && watch_drain(c->watch, on_mapping, c))
		c->rescan_at = min_u64(c->rescan_at, now + RESCAN_LOST_NS);
	for (int i = 0; i < c->mappings; i++)
		if (!libs_see(c->libs, c->mapped[i].pid))
			libs_see_file(c->libs, c->mapped[i].path, c->mapped[i].inode);
	if (now >= c->rescan_at)
		rescan(c);
	c->drain_at = now + DRAIN_NS;
}

/* The host slept, and the clock of the probes stood still. What is less is an error of measurement. */
static void keep_time(struct capture *c)
{
	uint64_t slept = clock_slept_ns();

	if (slept > c->probe->bss->slept_ns + SLEPT_MIN_NS)
		c->probe->bss->slept_ns = slept;
}

int capture_poll(struct capture *c, int timeout_ms, capture_fn fn, void *arg)
{
	uint64_t now = clock_boot_ns();
	bool early = now < c->drain_at;
	struct pollfd ready = { .fd = c->watch && !early ? watch_fd(c->watch) : -1,
				.events = POLLIN };

	if (early)
		timeout_ms = (int)min_u64((uint64_t)timeout_ms, (c->drain_at - now) / 1000000 + 1);
	if (poll(&ready, 1, timeout_ms) < 0 && errno != EINTR)
		return fail(-errno, "wait for records: %s", strerror(errno));
	keep_time(c);
	now = clock_boot_ns();
	frees_check(c->frees, now);
	capture_tune_sampling(c, now);
	if (c->libs && now >= c->drain_at && (ready.revents || now >= c->rescan_at))
		look_around(c, now);
	capture_news(c);
	return take_records(c, fn, arg);
}

bool capture_behind(const struct capture *c)
{
	return c->behind;
}
