// SPDX-License-Identifier: Apache-2.0
/* export: a trace for other tools. */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/units.h"
#include "base/util.h"
#include "cmd/cmd.h"

static struct {
	const char *db, *format, *weight, *output, *container;
	uint64_t since, from, to, pid;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "format", 'f', OPT_STR, AT(format), "FORMAT",
	  "timeline: perfetto (ui.perfetto.dev) or chrome (JSON); flame data: folded (flamegraph.pl, "
	  "inferno) or speedscope (speedscope.app)" },
	{ "output", 'o', OPT_STR, AT(output), "FILE",
	  "write here, all or nothing; - is standard output (default)" },
	{ "weight", 0, OPT_STR, AT(weight), "WHAT",
	  "of flame data: lost is what `explain` finds lost, wall is all time (default: lost)" },
	{ "since", 0, OPT_DURATION, AT(since), "TIME", "only the last TIME: 5m, 90s, 1h" },
	{ "from", 0, OPT_TIME, AT(from), "WHEN", "from then on: 03:12, 2026-11-15T03:12:00Z, -5m" },
	{ "to", 0, OPT_TIME, AT(to), "WHEN", "until then" },
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "only this process" },
	{ "container", 'c', OPT_STR, AT(container), "NAME",
	  "of timelines: only this tenant: container (the first digits of its id, or its name), pod, "
	  "namespace/pod, Slurm job, unit" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "the trace (default: where `trace` writes)" },
	{ 0 },
};

static const char *const format_names[] = {
	[EXPORT_FOLDED] = "folded",
	[EXPORT_SPEEDSCOPE] = "speedscope",
	[EXPORT_PERFETTO] = "perfetto",
	[EXPORT_CHROME] = "chrome",
};

static bool is_timeline(enum export_format format)
{
	return format == EXPORT_PERFETTO || format == EXPORT_CHROME;
}

static int find_format(enum export_format *ret)
{
	if (!args.format)
		return fail(-EINVAL, "--format is missing: perfetto, chrome, folded or speedscope");
	for (size_t i = 0; i < ARRAY_LEN(format_names); i++) {
		if (streq(args.format, format_names[i])) {
			*ret = (enum export_format)i;
			return 0;
		}
	}
	return fail(-EINVAL, "--format: '%s' is none of perfetto, chrome, folded and speedscope",
		    args.format);
}

static int check_args(struct export_opts *ret)
{
	enum export_format format = EXPORT_FOLDED;
	int err = find_format(&format);

	if (err)
		return err;
	if (args.weight && !streq(args.weight, "lost") && !streq(args.weight, "wall"))
		return fail(-EINVAL, "--weight: '%s' is neither lost nor wall", args.weight);
	if (args.weight && is_timeline(format))
		return fail(-EINVAL, "--weight is for flame data: a timeline shows all time");
	if (args.container && !is_timeline(format))
		return fail(-EINVAL, "--container is for timelines: --format perfetto or chrome");
	if (args.container && !args.container[0])
		return fail(-EINVAL, "--container is empty: give the name or the id of one");
	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	if (args.since && args.from)
		return fail(-EINVAL, "--since and --from are two ways to say the same: give one");
	if (args.from && args.to && args.from >= args.to)
		return fail(-EINVAL, "--from is not before --to");
	*ret = (struct export_opts){
		.format = format,
		.weight = args.weight && streq(args.weight, "wall") ? EXPORT_WALL : EXPORT_LOST,
		.pid = (uint32_t)args.pid,
		.container = args.container,
		.window = { args.since ? clock_wall_ns() - args.since : args.from, args.to },
	};
	return 0;
}

/* ---- progress ---- */

static int on_progress(double share, uint64_t slices, void *arg)
{
	char count[UNITS_CAP];

	(void)arg;
	if (cmd_stop)
		return fail(-EINTR, "interrupted: nothing was written");
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rculprit export: %3.0f %% of this part, %s slices ", share * 100,
			format_count(count, sizeof(count), slices));
	return 0;
}

static void say_result(const struct export_result *result)
{
	char count[UNITS_CAP];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rculprit export: %s slices%40s\n",
			format_count(count, sizeof(count), result->slices), "");
	if (result->hidden)
		fprintf(stderr,
			"culprit export: %s slices overlap too many others of their thread and are "
			"not shown\n",
			format_count(count, sizeof(count), result->hidden));
}

/* ---- the output: the whole of it, or what was there before ---- */

struct output {
	FILE *file;
	char partial[4096]; /* "": it is written in place */
};

static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

static int open_beside(struct output *out)
{
	int fd;

	if (snprintf(out->partial, sizeof(out->partial), "%s.part-XXXXXX", args.output) >=
	    (int)sizeof(out->partial))
		return fail(-ENAMETOOLONG, "%s: the name is too long", args.output);
	fd = mkostemp(out->partial, O_CLOEXEC);
	if (fd < 0) {
		int err = -errno;

		out->partial[0] = '\0';
		return fail(err, "%s: %s", args.output, strerror(-err));
	}
	(void)fchmod(fd, new_file_mode()); /* else it stays private, which is no harm */
	out->file = fdopen(fd, "w");
	return out->file ? 0 : fail(-errno, "%s: %s", args.output, strerror(errno));
}

static int output_open(struct output *out, enum export_format format)
{
	struct stat st;

	if (!args.output || streq(args.output, "-")) {
		out->file = stdout;
		if (format == EXPORT_PERFETTO && isatty(STDOUT_FILENO))
			return fail(-EINVAL,
				    "standard output is a terminal, which cannot show this: "
				    "give a file with -o");
		return 0;
	}
	if (stat(args.output, &st) || S_ISREG(st.st_mode))
		return open_beside(out);
	out->file = fopen(args.output, "we"); /* a device or a pipe */
	return out->file ? 0 : fail(-errno, "%s: %s", args.output, strerror(errno));
}

static int output_close(struct output *out, int err)
{
	if (out->file && out->file != stdout && fclose(out->file) && !err)
		err = fail(-errno, "%s: %s", args.output, strerror(errno));
	if (!out->partial[0])
		return err;
	if (!err && rename(out->partial, args.output))
		err = fail(-errno, "%s: %s", args.output, strerror(errno));
	if (err)
		(void)unlink(out->partial); /* what could not be finished is not left behind */
	return err;
}

static int write_to(struct store *s, struct export_opts *export)
{
	struct output out = { 0 };
	struct export_result result = { 0 };
	int err = output_open(&out, export->format);

	if (!err && is_timeline(export->format)) {
		cmd_catch_signals();
		export->progress = on_progress;
		err = export_timeline(s, export, out.file, &result);
	} else if (!err) {
		err = export_stacks(s, export, out.file);
	}
	err = output_close(&out, err);
	if (!err && is_timeline(export->format))
		say_result(&result);
	return err;
}

static int run(int argc, char **argv)
{
	struct export_opts export = { 0 };
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
	.summary = "Write a trace as a timeline or as flame data, for other tools",
	.more = "A timeline has a track for each process, thread, GPU queue and counter; calls, steps,\n"
		"states, waits, incidents and findings on them, and arrows from cause to effect. What\n"
		"is known by the second alone is shown and named so; what was lost has a track, too.\n\n"
		"Flame data is each stack of the calling threads with its time in nanoseconds: the\n"
		"process, the thread, its frames from the outermost to the innermost, and what it did\n"
		"there. Time without a known line says why. Exit code 3: there is nothing to write.\n\n"
		"  culprit export --format perfetto --since 5m -o trace.pftrace\n"
		"  culprit export --format chrome --pid 4821 -o trace.json\n"
		"  culprit export --format folded | flamegraph.pl >flame.svg\n"
		"  culprit export --format speedscope --weight wall -o trace.speedscope.json\n",
	.opts = opts,
	.dest = &args,
	.run = run,
};
