// SPDX-License-Identifier: Apache-2.0
/* trace: attach, show what goes on, record it. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/units.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "tenant/kubelet.h"

#define MAX_DB (10ull << 30)
#define MAX_DB_MIN (16ull << 20)
#define MAX_AGE_MIN 60000000000ull

static struct {
	const char *db, *node, *attach, *nvml, *kubelet, *budget, *rollover;
	uint64_t duration, pid, slow, ring, max_db, max_age;
	bool json, record_all, launch_times, no_db, stack, gpu_samples, io;
} args = { .stack = true, .gpu_samples = true, .io = true, .max_db = MAX_DB };

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "duration", 0, OPT_DURATION, AT(duration), "TIME",
	  "stop after TIME (default: at Ctrl-C)" },
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "only this process (default: all that use a GPU)" },
	{ "db", 'd', OPT_STR, AT(db), "FILE",
	  "record here (default: /var/lib/culprit/culprit.db, ~/.culprit/culprit.db)" },
	{ "no-db", 0, OPT_FLAG, AT(no_db), NULL, "show only, record nothing" },
	{ "max-db", 0, OPT_SIZE, AT(max_db), "SIZE",
	  "how large the trace may become: then the oldest goes, single calls first (default: 10g; 0: no limit)" },
	{ "max-age", 0, OPT_DURATION, AT(max_age), "TIME",
	  "how old what is in it may become: 7d (default: no limit)" },
	{ "rollover", 0, OPT_STR, AT(rollover), "WHEN",
	  "'daily', or a SIZE: then put the trace aside under a name with the date and begin another" },
	{ "node", 0, OPT_STR, AT(node), "NAME",
	  "name of this node in the trace (default: host name)" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "JSON lines: one per second, stall and incident" },
	{ "slow", 0, OPT_DURATION, AT(slow), "TIME",
	  "store calls and gaps one by one from this length on, if three times the usual (default: 1ms)" },
	{ "record-all", 0, OPT_FLAG, AT(record_all), NULL, "store every call one by one" },
	{ "launch-times", 0, OPT_FLAG, AT(launch_times), NULL,
	  "time launches, fills and events, too: a probe on their return as well, which costs 1.7 times as much (Linux 6.13)" },
	{ "stack", 0, OPT_FLAG, AT(stack), NULL,
	  "find the line of Python of calls and waits (default; --stack=false: do not look)" },
	{ "gpu-samples", 0, OPT_FLAG, AT(gpu_samples), NULL,
	  "ask NVML once a second how the GPUs are (default; --gpu-samples=false: do not)" },
	{ "io", 0, OPT_FLAG, AT(io), NULL,
	  "follow disk requests to their files and owners (default; --io=false: do not)" },
	{ "nvml", 0, OPT_STR, AT(nvml), "FILE",
	  "the library to ask (default: libnvidia-ml.so.1 of the loader and the usual places)" },
	{ "kubelet", 0, OPT_STR, AT(kubelet), "URL",
	  "ask it for names of pods that no file on this host tells: http://127.0.0.1:10255 (default: do not)" },
	{ "budget", 0, OPT_STR, AT(budget), "PCT",
	  "most that tracing may cost, in percent of the traced processes' time (default: 1; off: no limit)" },
	{ "ring", 0, OPT_SIZE, AT(ring), "SIZE",
	  "of the buffer to user space (default: 1m; 16m with --record-all)" },
	{ "attach", 0, OPT_STR, AT(attach), "MODE",
	  "session, multi or perf (default: the best that works)" },
	{ 0 },
};

#define BUDGET_PCT 1.0

/* "0.5", "2%", "off". */
static int read_budget(const char *text, double *ret)
{
	char *end;
	double pct;

	*ret = BUDGET_PCT / 100;
	if (!text)
		return 0;
	*ret = 0;
	if (streq(text, "off"))
		return 0;
	pct = strtod(text, &end);
	if (end == text || (end[0] && !streq(end, "%")) || !(pct >= 0) || pct > 100)
		return fail(-EINVAL,
			    "--budget: '%s' is neither a percentage from 0 to 100 nor 'off'", text);
	*ret = pct / 100;
	return 0;
}

/* "daily", "500m". */
static int read_rollover(const char *text, struct agent_opts *ret)
{
	int err;

	ret->roll_daily = text && streq(text, "daily");
	if (!text || ret->roll_daily)
		return 0;
	err = parse_size(text, &ret->roll_bytes);
	if (err || ret->roll_bytes < MAX_DB_MIN)
		return fail(-EINVAL, "--rollover: '%s' is neither 'daily' nor a size from 16m on",
			    text);
	return 0;
}

static int check_limits(void)
{
	if (args.max_db && args.max_db < MAX_DB_MIN)
		return fail(-EINVAL, "--max-db: %llu is too small: at least 16m, or 0 for no limit",
			    (unsigned long long)args.max_db);
	if (args.max_age && args.max_age < MAX_AGE_MIN)
		return fail(-EINVAL, "--max-age: at least 1m, or 0 for no limit");
	if (args.rollover && args.no_db)
		return fail(-EINVAL, "--rollover: there is no file with --no-db");
	return 0;
}

static int check_args(struct agent_opts *ret, char *path, size_t cap)
{
	enum attach_mode mode = args.attach ? attach_mode_named(args.attach) : ATTACH_AUTO;
	char proc[64];
	double budget;
	int err;

	if (mode == ATTACH_NONE)
		return fail(-EINVAL, "--attach: '%s' is none of session, multi, perf, auto",
			    args.attach);
	if (args.ring &&
	    (args.ring < 4096 || args.ring > (1u << 30) || args.ring & (args.ring - 1)))
		return fail(-EINVAL, "--ring: %llu is no power of two from 4k to 1g",
			    (unsigned long long)args.ring);
	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	if (args.node && (!args.node[0] || strlen(args.node) > 64))
		return fail(-EINVAL, "--node: a name has 1 to 64 characters");
	if (args.kubelet && kubelet_check(args.kubelet))
		return -EINVAL;
	if (args.nvml && args.nvml[0] != '/')
		return fail(-EINVAL, "--nvml: %s is no absolute path", args.nvml);
	err = read_budget(args.budget, &budget);
	if (!err)
		err = check_limits();
	if (err)
		return err;
	snprintf(proc, sizeof(proc), "/proc/%llu", (unsigned long long)args.pid);
	if (args.pid && access(proc, F_OK))
		return fail(-ESRCH, "--pid: there is no process %llu",
			    (unsigned long long)args.pid);
	if (!args.db && !args.no_db) {
		err = cmd_default_db(path, cap, 1);
		if (err)
			return err;
		args.db = path;
	}
	*ret = (struct agent_opts){
		.db = args.no_db ? NULL : args.db,
		.node = args.node,
		.no_gpu_samples = !args.gpu_samples,
		.nvml = args.nvml,
		.kubelet = args.kubelet,
		.no_io = !args.io,
		.keep = { args.max_db, args.max_age },
		.capture = {
			.only_pid = (int)args.pid,
			.slow_ns = args.slow,
			.ring_bytes = args.ring,
			.record_all = args.record_all,
			.launch_times = args.launch_times,
			.budget = budget,
			.no_stack = !args.stack,
			.mode = mode,
		},
	};
	return read_rollover(args.rollover, ret);
}

static int run(int argc, char **argv)
{
	struct agent_opts agent_opts;
	struct agent *a = NULL;
	struct live *live;
	char path[600];
	uint64_t end;
	int err;

	(void)argc;
	(void)argv;
	err = geteuid() == 0 ? 0 : capture_allowed(); /* before any folder is made */
	if (!err)
		err = check_args(&agent_opts, path, sizeof(path));
	if (err)
		return err;
	cmd_catch_signals();
	live = live_new(args.json ? LIVE_JSON : isatty(STDOUT_FILENO) ? LIVE_SCREEN : LIVE_PLAIN);
	agent_opts.on_stall = live_stall;
	agent_opts.on_incident = live_incident;
	agent_opts.arg = live;
	err = agent_open(&agent_opts, &a);
	if (err) {
		live_free(live);
		return err;
	}
	live_start(live, a);
	end = args.duration ? clock_boot_ns() + args.duration : UINT64_MAX;
	while (err >= 0 && !cmd_stop && clock_boot_ns() < end) {
		uint64_t left_ms = (end - clock_boot_ns()) / 1000000;

		err = agent_step(a, (int)min_u64(args.record_all ? 10 : 100, left_ms + 1));
		if (err == 1)
			live_update(live, a);
	}
	if (err >= 0)
		err = agent_stop(a);
	if (!err)
		live_end(live, a);
	live_free(live);
	agent_close(a);
	return err;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.summary = "Trace every process that uses a GPU library, live, and record it",
	.more = "Attaches to libcudart, libcuda and libnccl in every process that maps them, now or\n"
		"later, and to the scheduler. Needs root, or CAP_BPF and CAP_PERFMON. Nothing in the\n"
		"workload is changed; Ctrl-C detaches. `culprit explain` reads what was recorded.\n\n"
		"  culprit trace                       until Ctrl-C\n"
		"  culprit trace --duration 20 --db x.db && culprit explain --db x.db\n",
	.opts = opts,
	.dest = &args,
	.run = run,
};
