// SPDX-License-Identifier: Apache-2.0
/* demo: a real incident on a simulated GPU, or the replay of a recorded one. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "cmd/assets.h"
#include "cmd/cmd.h"
#include "cmd/demo.h"
#include "explain/explain.h"

static struct {
	bool no_gpu, gpu, json;
	const char *db, *record;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "no-gpu", 0, OPT_FLAG, AT(no_gpu), NULL, "replay a recorded run: no root needed" },
	{ "gpu", 0, OPT_FLAG, AT(gpu), NULL, "on a real GPU, with a training loop in C" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "keep the trace here (default: it is thrown away)" },
	{ "record", 0, OPT_STR, AT(record), "FILE", "write the run as a recording (SQL text)" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "the explanation as JSON" },
	{ 0 },
};

/* ---- for real ---- */

static void say(const char *text)
{
	if (!args.json) {
		printf("%s", text);
		fflush(stdout);
	}
}

/* Trace for a while; the training loop must be alive at the end of it. */
static int run_for(struct agent *a, struct stage *st, unsigned seconds)
{
	uint64_t end = clock_boot_ns() + seconds * 1000000000ull;
	int err = 0;

	while (err >= 0 && !cmd_stop && clock_boot_ns() < end) {
		err = agent_step(a, 100);
		if (err == 1)
			say(".");
	}
	if (err < 0)
		return err;
	err = stage_alive(st);
	return !err && cmd_stop ? fail(-EINTR, "stopped") : err;
}

/* calm, fault, calm again */
static int play(const struct scenario *sc, struct agent *a, struct stage *st)
{
	int err = 0;

	stage_begin(st);
	if (sc->calm_s) {
		say("as usual ");
		err = run_for(a, st, sc->calm_s + 1); /* one second for Python to start */
	}
	if (!err) {
		say(sc->calm_s ? "\nwith the fault " : "from the start ");
		err = stage_intrude(st, sc);
	}
	if (!err)
		err = run_for(a, st, sc->fault_s);
	stage_leave(st);
	if (!err && sc->calm_s) {
		say("\nas usual again ");
		err = run_for(a, st, sc->calm_s);
	}
	say("\n\n");
	return err;
}

static int tell(struct store *s)
{
	struct window whole = { 0, 0 };
	struct explanation e;
	int err = explain(s, whole, &e);

	if (err)
		return err;
	if (args.json)
		explain_json(s, &e, stdout);
	else
		explain_text(&e, stdout);
	err = e.findings ? 0 : EXIT_NO;
	explain_free(&e);
	return err;
}

static int record(struct store *s)
{
	FILE *out = fopen(args.record, "w");
	int err;

	if (!out)
		return fail(-errno, "%s: %s", args.record, strerror(errno));
	err = store_dump(s, out);
	return fclose(out) && !err ? fail(-errno, "%s: %s", args.record, strerror(errno)) : err;
}

static void tell_story(const struct scenario *sc, const char *where)
{
	say(sc->story);
	say(where);
	say(" Everything is traced with eBPF; nobody tells the tracer.\n");
}

static int run_live(const struct scenario *sc)
{
	struct agent_opts agent_opts = { .db = args.db, .node = "demo" };
	struct stage st = { .gpu = args.gpu };
	struct agent *a = NULL;
	int err;

	cmd_catch_signals();
	tell_story(sc, args.gpu ? "On the real GPU." : "On a simulated GPU.");
	err = stage_set(&st);
	if (!err)
		err = stage_train(&st, sc);
	if (!sc->tenant) /* others may use a GPU of this machine, too */
		agent_opts.capture.only_pid = st.train;
	if (!err)
		err = agent_open(&agent_opts, &a);
	if (!err)
		err = play(sc, a, &st);
	stage_clear(&st);
	if (!err)
		err = agent_stop(a);
	if (!err && args.record)
		err = record(agent_store(a));
	if (!err)
		err = tell(agent_store(a));
	agent_close(a);
	return err;
}

/* ---- replayed ---- */

static int run_replay(const struct scenario *sc)
{
	struct run_info run;
	struct store *s = NULL;
	int err;

	if (!sc->recording[0])
		return fail(-ENODATA, "this build carries no recording of '%s'", sc->name);
	err = store_open(args.db ? args.db : ":memory:", STORE_WRITE, &s);
	if (!err)
		err = store_load(s, sc->recording);
	if (!err)
		err = store_last_run(s, &run);
	if (!err) {
		char text[256];

		tell_story(sc, "On a simulated GPU.");
		snprintf(text, sizeof(text),
			 "This is the recording of such a run (kernel %s), explained now.\n\n",
			 run.kernel);
		say(text);
		err = tell(s);
	}
	store_close(s);
	return err;
}

static int list(void)
{
	printf("%-18s %s\n", "SCENARIO", "WHAT HAPPENS");
	for (const struct scenario *sc = scenarios; sc->name; sc++)
		printf("%-18s %s\n", sc->name, sc->summary);
	return 0;
}

static int run(int argc, char **argv)
{
	const struct scenario *sc;

	if (!argc)
		return list();
	sc = scenario_find(argv[0]);
	if (!sc)
		return fail(-ENOENT, "no scenario '%s'; `culprit demo` lists them", argv[0]);
	if (args.no_gpu && args.gpu)
		return fail(-EINVAL, "--gpu and --no-gpu: which?");
	if (args.no_gpu)
		return run_replay(sc);
	if (geteuid() != 0)
		return fail(-EPERM,
			    "tracing needs root: sudo culprit demo %s, or --no-gpu to replay "
			    "a recorded run",
			    sc->name);
	return run_live(sc);
}

const struct cmd cmd_demo = {
	.name = "demo",
	.args = "[SCENARIO]",
	.summary = "Make a GPU stall happen on a simulated GPU, trace it for real, explain it",
	.more = "As root: a real Python training loop on a simulated CUDA library, a real fault, real\n"
		"eBPF. With --gpu: a training loop in C on the real GPU of this machine. With --no-gpu\n"
		"and without root: the recording of a run on the simulated one, explained now.\n"
		"Without a scenario the scenarios are listed. Exit code 3: nothing was found.\n",
	.opts = opts,
	.dest = &args,
	.operands_max = 1,
	.run = run,
};
