// SPDX-License-Identifier: Apache-2.0
/* io: what goes to and from the disks, and whose it is. */
#include "cmd/io.h"

#include <errno.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/util.h"
#include "cmd/cmd.h"

static struct io_args args = { .waits = true, .stack = true };

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "duration", 0, OPT_DURATION, AT(duration), "TIME",
	  "live: stop after TIME (default: at Ctrl-C)" },
	{ "disk", 0, OPT_STR, AT(disk), "NAME",
	  "live: only this disk, or a part of one: nvme0n1, sda2" },
	{ "pid", 'p', OPT_U64, AT(pid), "PID",
	  "live: only requests that this process owns or waits for" },
	{ "file", 'f', OPT_STR, AT(file), "TEXT", "live: only files with TEXT in their path" },
	{ "min", 0, OPT_DURATION, AT(min), "TIME", "live: only requests that took at least TIME" },
	{ "all", 'a', OPT_FLAG, AT(all), NULL,
	  "live: every request (default: at most 1000 a second and CPU, and the slow ones)" },
	{ "summary", 's', OPT_FLAG, AT(summary), NULL, "live: only the sums, at the end" },
	{ "waits", 0, OPT_FLAG, AT(waits), NULL,
	  "live: who waited for a request (default; --waits=false costs less)" },
	{ "stack", 0, OPT_FLAG, AT(stack), NULL,
	  "live: the line of Python that waited or asked (default; --stack=false costs less)" },
	{ "since", 0, OPT_DURATION, AT(since), "TIME", "report: only the last TIME: 5m, 90s, 1h" },
	{ "from", 0, OPT_TIME, AT(from), "WHEN", "report: from then on: 03:12, -5m" },
	{ "to", 0, OPT_TIME, AT(to), "WHEN", "report: until then" },
	{ "step", 0, OPT_U64, AT(step), "N", "report: around this step of the workload" },
	{ "tag", 0, OPT_STR, AT(tag), "TAG",
	  "only work with this tag: a number, as 80042 or 0x138aa" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "report: the trace (default: where `trace` writes)" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "JSON: lines when live, one document as a report" },
	{ 0 },
};

/* What can be asked; live is what it does without. */
static const struct {
	const char *name;
	int (*run)(const struct io_args *args);
} verbs[] = {
	{ "report", io_report },
};

static int run(int argc, char **argv)
{
	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	if (!argc)
		return io_live(&args);
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (streq(argv[0], verbs[i].name))
			return verbs[i].run(&args);
	return fail(-EINVAL, "'%s' is nothing to ask: report, or nothing to look live", argv[0]);
}

const struct cmd cmd_io = {
	.name = "io",
	.args = "[report]",
	.summary =
		"Disk requests with the file, the owner and the tag behind each; the I/O stall report",
	.more = "Live, each request of the host: the disk, what it did, how long it took, the file and the\n"
		"place in it, the process that wrote or read the data (not the flusher that submitted it),\n"
		"its tag, who waited for it, and at which line of Python. At the end the sums of all of\n"
		"them, also of those that were not shown. Needs root, or CAP_BPF and CAP_PERFMON; and for\n"
		"tags a `culprit trace` that runs beside it.\n\n"
		"`report` answers from a trace of `culprit trace`: what the GPUs lost to storage, by which\n"
		"disk, file and owner, and what was looked at and is well. Exit code 3: the trace has no\n"
		"storage in that time.\n\n"
		"  culprit io --min 10ms\n"
		"  culprit io --disk nvme0n1 --duration 10 --summary\n"
		"  culprit io report --since 10m\n",
	.opts = opts,
	.dest = &args,
	.operands_max = 1,
	.run = run,
};
