// SPDX-License-Identifier: Apache-2.0
/* merge: traces of several nodes as one. */
#include "merge/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/cmd.h"

#define BAR 30
#define NODE_MAX 64
#define REFRESH_NS 100000000ull

static struct {
	const char *output, *force_node;
	bool json, quiet;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "output", 'o', OPT_STR, AT(output), "FILE",
	  "the result; one that was merged before is added to" },
	{ "force-node", 0, OPT_STR, AT(force_node), "NAME",
	  "the node of all inputs, for files that do not say, or say it wrong" },
	{ "quiet", 'q', OPT_FLAG, AT(quiet), NULL, "no progress bar" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "say what was done as JSON" },
	{ 0 },
};

struct bar {
	uint64_t drawn_ns;
	bool shown;
};

static void draw(double part, const char *file, void *arg)
{
	struct bar *bar = arg;
	uint64_t now = clock_boot_ns();
	const char *name = strrchr(file, '/');
	char safe[160];

	if (args.quiet || !isatty(STDERR_FILENO) || now - bar->drawn_ns < REFRESH_NS)
		return;
	bar->drawn_ns = now;
	bar->shown = true;
	fprintf(stderr, "\r[");
	for (int i = 0; i < BAR; i++)
		putc(i < (int)(part * BAR) ? '#' : ' ', stderr);
	fprintf(stderr, "] %3.0f %%  %.40s\033[K", part * 100,
		text_safe(safe, sizeof(safe), name ? name + 1 : file));
}

static void wipe(const struct bar *bar)
{
	if (bar->shown)
		fputs("\r\033[K", stderr);
}

static void warn(const char *text, void *arg)
{
	char safe[1024];

	wipe(arg);
	fprintf(stderr, "culprit merge: warning: %s\n", text_safe(safe, sizeof(safe), text));
}

static void report(const struct merge_result *r)
{
	struct json j = JSON_TO(stdout);
	char bytes[UNITS_CAP];

	if (!args.json) {
		printf("%s: %llu nodes, %llu runs (%llu new, %llu known), %s\n", args.output,
		       (unsigned long long)r->nodes, (unsigned long long)r->runs,
		       (unsigned long long)r->added, (unsigned long long)r->known,
		       format_bytes(bytes, sizeof(bytes), r->bytes));
		return;
	}
	json_open(&j, NULL, '{');
	json_str(&j, "output", args.output);
	json_u64(&j, "nodes", r->nodes);
	json_u64(&j, "runs", r->runs);
	json_u64(&j, "added", r->added);
	json_u64(&j, "known", r->known);
	json_u64(&j, "bytes", r->bytes);
	json_close(&j, '}');
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct bar bar = { 0 };
	struct merge_opts merging = { .input = argv,
				      .inputs = argc,
				      .output = args.output,
				      .force_node = args.force_node,
				      .stop = &cmd_stop,
				      .progress = draw,
				      .warn = warn,
				      .arg = &bar };
	struct merge_result result;
	int err;

	if (!argc)
		return fail(-EINVAL, "which files? culprit merge a.db b.db -o cluster.db");
	if (!args.output)
		return fail(-EINVAL, "-o is missing: the file that they become");
	if (args.force_node && (!args.force_node[0] || strlen(args.force_node) > NODE_MAX))
		return fail(-EINVAL, "--force-node: a name has 1 to %d bytes", NODE_MAX);
	cmd_catch_signals();
	err = merge_traces(&merging, &result);
	wipe(&bar);
	if (!err)
		report(&result);
	return err;
}

const struct cmd cmd_merge = {
	.name = "merge",
	.args = "FILE...",
	.summary = "Make one trace of those of several nodes",
	.more = "All tables, counts and stacks too. The inputs are only read, also while they are\n"
		"recorded; the output appears when it is whole. To merge again, or a merged file with\n"
		"its parts, adds what is new and changes nothing else. explain, query and export read\n"
		"the result as any trace and name the node.\n\n"
		"  culprit merge node-1.db node-2.db -o cluster.db && culprit explain -d cluster.db\n",
	.opts = opts,
	.dest = &args,
	.operands_max = 1 << 16,
	.run = run,
};
