// SPDX-License-Identifier: Apache-2.0
/* export: a trace for other tools. */
#include "export/export.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "cmd/cmd.h"

static struct {
	const char *db, *format, *weight, *output;
	uint64_t since, from, to, pid;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "format", 'f', OPT_STR, AT(format), "FORMAT",
	  "folded (flamegraph.pl, inferno) or speedscope (speedscope.app)" },
	{ "weight", 0, OPT_STR, AT(weight), "WHAT",
	  "lost: what `explain` finds lost; wall: all time (default: lost)" },
	{ "since", 0, OPT_DURATION, AT(since), "TIME", "only the last TIME: 5m, 90s, 1h" },
	{ "from", 0, OPT_TIME, AT(from), "WHEN", "from then on: 03:12, 2026-11-15T03:12:00Z, -5m" },
	{ "to", 0, OPT_TIME, AT(to), "WHEN", "until then" },
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "only this process" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "the trace (default: where `trace` writes)" },
	{ "output", 'o', OPT_STR, AT(output), "FILE", "write here (default: standard output)" },
	{ 0 },
};

static int check_args(struct export_opts *ret)
{
	if (!args.format)
		return fail(-EINVAL, "--format is missing: folded or speedscope");
	if (!streq(args.format, "folded") && !streq(args.format, "speedscope"))
		return fail(-EINVAL, "--format: '%s' is neither folded nor speedscope",
			    args.format);
	if (args.weight && !streq(args.weight, "lost") && !streq(args.weight, "wall"))
		return fail(-EINVAL, "--weight: '%s' is neither lost nor wall", args.weight);
	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	if (args.since && args.from)
		return fail(-EINVAL, "--since and --from are two ways to say the same: give one");
	if (args.from && args.to && args.from >= args.to)
		return fail(-EINVAL, "--from is not before --to");
	*ret = (struct export_opts){
		.format = streq(args.format, "folded") ? EXPORT_FOLDED : EXPORT_SPEEDSCOPE,
		.weight = args.weight && streq(args.weight, "wall") ? EXPORT_WALL : EXPORT_LOST,
		.pid = (uint32_t)args.pid,
		.window = { args.since ? clock_wall_ns() - args.since : args.from, args.to },
	};
	return 0;
}

/* What could not be finished is not left behind. */
static int write_to(struct store *s, const struct export_opts *export)
{
	FILE *out = args.output ? fopen(args.output, "w") : stdout;
	int err;

	if (!out)
		return fail(-errno, "%s: %s", args.output, strerror(errno));
	err = export_stacks(s, export, out);
	if (!args.output)
		return err;
	if (fclose(out) && !err)
		err = fail(-errno, "%s: %s", args.output, strerror(errno));
	if (err)
		(void)unlink(args.output);
	return err;
}

static int run(int argc, char **argv)
{
	struct export_opts export;
	struct store *s = NULL;
	char path[600];
	const char *db = args.db ? args.db : path;
	int err = check_args(&export);

	(void)argc;
	(void)argv;
	if (!err && !args.db)
		err = cmd_default_db(path, sizeof(path), 0);
	if (!err)
		err = store_open(db, STORE_READ, &s);
	if (err)
		return err;
	err = write_to(s, &export);
	if (err == -ENODATA) {
		fprintf(stderr, "culprit export: %s: %s\n", db, why(err));
		err = EXIT_NO;
	}
	store_close(s);
	return err;
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "Write a trace as flame data: which lines of code the time goes to",
	.more = "Each stack of the calling threads with its time in nanoseconds: the process, the\n"
		"thread, its frames from the outermost to the innermost, and what it did there. Time\n"
		"without a known line says why. Exit code 3: there is nothing to write.\n\n"
		"  culprit export --format folded | flamegraph.pl >flame.svg\n"
		"  culprit export --format speedscope --weight wall -o trace.speedscope.json\n",
	.opts = opts,
	.dest = &args,
	.run = run,
};
