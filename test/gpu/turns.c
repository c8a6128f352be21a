// SPDX-License-Identifier: Apache-2.0
/*
 * What tracing costs a process, told in turns of a fifth of a second: all that `culprit trace --budget off` attaches,
 * with and without returns of launches, and empty programs at the same functions. They are short so that the speed
 * of a machine, which its neighbours change for seconds, is the same in all turns of a round. Starting the command for
 * each would take ten times as long.
 *
 * In its turns the agent works as in `trace`, and GPUs are asked; in others neither is at work. Both have their seconds
 * from these turns alone, so that they do as much in them as they would in that time. Disk requests are followed all
 * the time. Prints for each turn
 *
 *   ROUND VARIANT FROM TO        seconds since 1970
 *
 *   turns PID SECONDS [MS of a turn [VARIANT...]]
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_int.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "capture/capture_int.h"
#include "capture/gc.h"
#include "capture/insn.h"
#include "capture/libs_int.h"

#define TURN_MS 200
#define SETTLE_MS                                                                                  \
	60 /* what was attached a moment ago meets cold caches, and says more than usual */
#define LEARN_MS 9000 /* kernels are learned in the first seconds, which costs as much again */

static struct agent *agent;
static struct libs *libs;
static struct links empty;

static void die(int err)
{
	fprintf(stderr, "turns: %s\n", why(err));
	exit(1);
}

static uint64_t wait_until(uint64_t ns, bool works)
{
	while (clock_boot_ns() < ns) {
		uint64_t left = (ns - clock_boot_ns()) / 1000000 + 1;
		int err = 0;

		if (works)
			err = agent_step(agent, (int)min_u64(left, 100));
		else
			usleep((useconds_t)min_u64(left, 100) * 1000);
		if (err < 0)
			die(err);
	}
	return clock_wall_ns();
}

/* ---- ours ---- */

/* What a turn has of ours. */
enum {
	AGENT = 1, /* reads, stores and judges as in `trace`; GPUs are asked */
	TRACEPOINTS = 2,
	SAMPLES = 4,
	CALLS = 8, /* all but launches */
	LAUNCHES = 16,
	RETURNS = 32, /* of launches */
	ALL = AGENT | TRACEPOINTS | SAMPLES | CALLS | LAUNCHES,
};

static void helper(int signal)
{
	struct gpu_helper_status nvml;

	gpus_status(agent->gpus, &nvml);
	if (nvml.pid)
		kill(nvml.pid, signal);
}

static void attach_calls(struct entry *e, unsigned parts)
{
	int err = 0;

	e->launch_sites = e->driver_sites = e->copy_sites = 0;
	if (parts & CALLS)
		err = libs_attach(libs, e);
	if (!err && parts & LAUNCHES)
		err = libs_show(libs, e);
	if (err)
		die(err);
}

/* At once as it is after a while: CPUs that nobody uses are not looked at. */
static void sample(struct capture *c)
{
	capture_sample(c);
	for (int cpu = 0; cpu < c->cpus && cpu < ROW_CPUS; cpu++) {
		c->samplers[cpu].used_ns = 0;
		c->samplers[cpu].arrivals = c->probe->bss->cpu_rows[cpu].arrivals;
	}
	capture_tune_sampling(c, clock_boot_ns());
}

/* Of the garbage collector. */
static void attach_collector(struct capture *c, bool on)
{
	gc_free(c->gc);
	c->gc = gc_new(c->opts.mode, bpf_program__fd(c->probe->progs.gc_start),
		       bpf_program__fd(c->probe->progs.gc_done));
	if (on)
		gc_see(c->gc, c->opts.only_pid);
}

static void attach_ours(unsigned parts)
{
	struct probe *p = agent->capture->probe;
	int err = 0;

	libs->opts.count_returns = parts & RETURNS;
	libs->opts.prog_count =
		bpf_program__fd(parts & RETURNS ? p->progs.count_session : p->progs.call_count);
	if (parts & TRACEPOINTS)
		err = probe__attach(p);
	if (err)
		die(fail(err, "attach to tracepoints: %s", strerror(-err)));
	if (parts & SAMPLES)
		sample(agent->capture);
	attach_collector(agent->capture, parts & CALLS);
	for (int i = 0; i < libs->count; i++)
		attach_calls(libs->entry[i], parts);
}

static void detach_ours(void)
{
	for (int i = 0; i < libs->count; i++) {
		struct links *all[ENTRY_LINKS];

		entry_links(libs->entry[i], all);
		links_close(all, ENTRY_LINKS);
	}
	attach_collector(agent->capture, false);
	capture_stop_sampling(agent->capture);
	probe__detach(agent->capture->probe);
	helper(SIGSTOP);
}

/* ---- an empty program where ours are ---- */

static int load_empty(enum attach_mode mode)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type =
			    (enum bpf_attach_type)link_attach_type(mode, mode == ATTACH_SESSION));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, ARRAY_LEN(code), &opts);
}

/* The runtime hands launches and plain copies on to the driver, where we look at them. */
static bool is_ours(const struct op *op)
{
	return op->lib != LIB_CUDART ||
	       (op_timed(op->class) && !strstr(op->symbol, "cudaMemcpyAsync"));
}

static void attach_empty(enum attach_mode mode)
{
	struct attach how = { .mode = mode, .prog_fd = load_empty(mode) };

	if (how.prog_fd < 0)
		die(fail(-errno, "load an empty program: %s", strerror(errno)));
	for (int i = 0; i < libs->count; i++) {
		struct lib_site found[OP_COUNT];
		struct site sites[OP_COUNT];
		char path[64];
		int n = lib_sites(libs->entry[i]->fd, libs->entry[i]->lib.id, found), k = 0, err;

		for (int j = 0; j < n; j++)
			if (found[j].class != INSN_REFUSED && is_ours(&op_table[found[j].op]))
				sites[k++] = (struct site){ .offset = found[j].offset };
		snprintf(path, sizeof(path), "/proc/self/fd/%d", libs->entry[i]->fd);
		err = link_sites(&empty, &how, path, sites, (size_t)k);
		if (err)
			die(err);
	}
	close(how.prog_fd);
}

/* ---- turns ---- */

static const struct variant {
	const char *name;
	unsigned parts; /* of ours, or: */
	enum attach_mode empty; /* how an empty program is attached to the same functions */
} variants[] = {
	{ "nothing", 0, 0 },
	{ "same", 0, ATTACH_MULTI },
	{ "session", 0, ATTACH_SESSION },
	{ "no-limit", ALL, 0 },
	{ "returns", ALL | RETURNS, 0 },
	/* Where it comes from: */
	{ "agent", AGENT, 0 },
	{ "samples", SAMPLES, 0 },
	{ "tracepoints", TRACEPOINTS, 0 },
	{ "calls", CALLS, 0 },
	{ "rest", ALL & ~LAUNCHES, 0 },
	{ "quiet", ALL & ~AGENT, 0 },
};

#define USUAL 5 /* so many are measured if none is named */

static void turn(const struct variant *v, unsigned round, uint64_t ms)
{
	struct links *all[] = { &empty };
	bool works = v->parts & AGENT;
	static uint64_t left_ns; /* when the agent last worked */
	uint64_t from, to;

	if (v->parts)
		attach_ours(v->parts);
	else if (v->empty)
		attach_empty(v->empty);
	if (works && left_ns)
		agent->tick_at += clock_boot_ns() - left_ns;
	from = wait_until(clock_boot_ns() + SETTLE_MS * 1000000ull, works);
	if (works && (uint64_t)random() % 1000 < ms) /* it has slept, and asks at once */
		helper(SIGCONT);
	to = wait_until(clock_boot_ns() + ms * 1000000, works);
	if (works)
		left_ns = clock_boot_ns();
	if (v->parts)
		detach_ours();
	else
		links_close(all, 1);
	printf("%u %s %.6f %.6f\n", round, v->name, (double)from / 1e9, (double)to / 1e9);
	fflush(stdout);
}

static size_t choose(int argc, char **argv, const struct variant *ret[ARRAY_LEN(variants)])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
		bool wanted = argc < 5 ? i < USUAL : !i;

		for (int j = 4; j < argc; j++)
			wanted |= streq(argv[j], variants[i].name);
		if (wanted)
			ret[n++] = &variants[i];
	}
	return n;
}

static void run(const struct variant **chosen, size_t n, uint64_t seconds, uint64_t ms)
{
	uint64_t end = clock_boot_ns() + seconds * 1000000000ull;

	for (unsigned round = 0; clock_boot_ns() < end; round++) {
		for (size_t i = n - 1; i > 0; i--) { /* any order */
			size_t j = (size_t)random() % (i + 1);
			const struct variant *v = chosen[i];

			chosen[i] = chosen[j];
			chosen[j] = v;
		}
		for (size_t i = 0; i < n; i++)
			turn(chosen[i], round, ms);
	}
}

int main(int argc, char **argv)
{
	struct agent_opts opts = { .capture = { .launch_times = true } };
	const struct variant *chosen[ARRAY_LEN(variants)];
	struct agent_status status;
	uint64_t stubs;
	int err;

	if (argc < 3)
		return 2;
	opts.capture.only_pid = (int)strtol(argv[1], NULL, 10);
	err = agent_open(&opts, &agent);
	if (err)
		die(err);
	libs = agent->capture->libs;
	wait_until(clock_boot_ns() + LEARN_MS * 1000000ull, true);
	agent_status(agent, &status);
	fprintf(stderr, "turns: %d processes, %d libraries, NVML helper %d\n", status.processes,
		status.libraries, status.nvml.pid);
	stubs = agent->capture->probe->bss->stats.stubs;
	detach_ours();
	srandom((unsigned)clock_wall_ns());
	run(chosen, choose(argc, argv, chosen), strtoul(argv[2], NULL, 10),
	    argc > 3 ? strtoul(argv[3], NULL, 10) : TURN_MS);
	agent_status(agent, &status);
	fprintf(stderr, "turns: %llu calls and gaps seen; launches learned from meanwhile: %llu\n",
		(unsigned long long)status.total.seen,
		(unsigned long long)(agent->capture->probe->bss->stats.stubs - stubs));
	_exit(0); /* the kernel detaches what is left */
}
