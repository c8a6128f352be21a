// SPDX-License-Identifier: Apache-2.0
/* explain: what made the GPU wait, from a trace. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "explain/explain.h"
#include "store/scope.h"

static struct {
	const char *db, *container, *node;
	uint64_t since, from, to, pid;
	bool json, per_process, per_container, by_line, full_stack;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "since", 0, OPT_DURATION, AT(since), "TIME", "only the last TIME: 5m, 90s, 1h" },
	{ "from", 0, OPT_TIME, AT(from), "WHEN", "from then on: 03:12, 2026-11-15T03:12:00Z, -5m" },
	{ "to", 0, OPT_TIME, AT(to), "WHEN", "until then" },
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "only this process" },
	{ "container", 'c', OPT_STR, AT(container), "NAME",
	  "only this tenant: container (the first digits of its id, or its name), pod, "
	  "namespace/pod, Slurm job, unit" },
	{ "per-process", 0, OPT_FLAG, AT(per_process), NULL,
	  "where the time of each process went, instead of what is wrong" },
	{ "per-container", 0, OPT_FLAG, AT(per_container), NULL,
	  "what each tenant did, and who delayed whom" },
	{ "by-line", 0, OPT_FLAG, AT(by_line), NULL, "lost time by line of code, most first" },
	{ "full-stack", 0, OPT_FLAG, AT(full_stack), NULL,
	  "with each finding all frames of its stacks, native ones too" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "the trace (default: where `trace` writes)" },
	{ "node", 0, OPT_STR, AT(node), "NAME", "of a merged trace: only this node" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "as JSON" },
	{ 0 },
};

static int print(struct store *s, struct explanation *e, FILE *out)
{
	int err = args.container ? explain_only_container(e, args.container) : 0;

	if (err)
		return err;
	if (args.pid)
		explain_only(e, (uint32_t)args.pid);
	e->full_stack = args.full_stack;
	if (args.json)
		explain_json(s, e, out);
	else if (args.per_process)
		explain_text_processes(e, out);
	else if (args.per_container)
		explain_text_containers(e, out);
	else if (args.by_line)
		explain_text_lines(e, out);
	else
		explain_text(e, out);
	return 0;
}

/* ---- a file of several nodes: one after the other ---- */

struct nodes {
	int64_t *id;
	int n, known;
};

static int on_node(int64_t node, const char *name, void *arg)
{
	struct nodes *to = arg;

	to->known++;
	if (args.node && !streq(args.node, name))
		return 0;
	to->id = xrealloc(to->id, (size_t)to->n + 1, sizeof(*to->id));
	to->id[to->n++] = node;
	return 0;
}

/* JSON documents end in a newline, which has no place inside of another. */
static int print_part(struct store *s, struct explanation *e, bool first)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return fail(-errno, "no memory for an answer");
	err = print(s, e, out);
	(void)fclose(out); /* in memory */
	if (args.json && len)
		text[len - 1] = '\0';
	if (!err)
		printf("%s%s", first ? "" : args.json ? "," : "\n", text);
	free(text);
	return err;
}

static int explain_nodes(struct store *s, struct window w, const struct nodes *nodes)
{
	int found = 0, err = 0;

	if (args.json)
		fputs("{\"nodes\":[", stdout);
	for (int i = 0; !err && i < nodes->n; i++) {
		struct explanation e;

		err = store_scope(s, nodes->id[i]);
		if (!err)
			err = explain(s, w, &e);
		if (!err) {
			e.of_several = true;
			err = print_part(s, &e, !found);
			found += !err;
			explain_free(&e);
		}
		/* Not of this node in this time, or nobody of that name on it. */
		err = err == -ENODATA ? 0 : err;
	}
	if (args.json)
		fputs("]}\n", stdout);
	return !err && !found ? fail(-ENODATA, "nothing was traced in that time") : err;
}

static int explain_one(struct store *s, struct window w)
{
	struct explanation e;
	int err = explain(s, w, &e);

	if (err)
		return err;
	err = print(s, &e, stdout);
	explain_free(&e);
	return err;
}

static int explain_all(struct store *s, struct window w)
{
	struct nodes nodes = { 0 };
	int err = store_each_node(s, on_node, &nodes);

	if (!err && args.node && !nodes.n)
		err = fail(-ENOENT, "it has no node '%s'", args.node);
	if (!err)
		err = nodes.known > 1 ? explain_nodes(s, w, &nodes) : explain_one(s, w);
	free(nodes.id);
	return err;
}

static int run(int argc, char **argv)
{
	struct window w = { args.from, args.to };
	struct store *s = NULL;
	char path[600];
	int err;

	(void)argc;
	(void)argv;
	if (args.pid > INT32_MAX)
		return fail(-EINVAL, "--pid: %llu is no process id", (unsigned long long)args.pid);
	if (args.since && args.from)
		return fail(-EINVAL, "--since and --from are two ways to say the same: give one");
	if (args.from && args.to && args.from >= args.to)
		return fail(-EINVAL, "--from is not before --to");
	if (args.since)
		w.from_ns = clock_wall_ns() - args.since;
	if (!args.db) {
		err = cmd_default_db(path, sizeof(path), 0);
		if (err)
			return err;
		args.db = path;
	}
	err = store_open(args.db, STORE_READ, &s);
	if (err)
		return err;
	err = explain_all(s, w);
	if (err == -ENODATA || err == -ENOENT) {
		fprintf(stderr, "culprit explain: %s: %s\n", args.db, why(err));
		err = EXIT_NO;
	}
	store_close(s);
	return err;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.summary = "Say what made the GPU wait, who is to blame, and what fixing it gains",
	.more = "Reads a trace that `culprit trace` recorded, while it records or later. Without a\n"
		"time the whole trace is explained. Exit code 3: nothing was traced in that time, or\n"
		"nobody is called what --container says.\n",
	.opts = opts,
	.dest = &args,
	.run = run,
};
