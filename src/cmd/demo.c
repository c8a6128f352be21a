// SPDX-License-Identifier: Apache-2.0
/* demo: a real incident on a simulated GPU, or the replay of a recorded one. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "cmd/assets.h"
#include "cmd/cmd.h"
#include "explain/explain.h"

static struct {
	bool no_gpu, json;
	const char *db, *record;
} args;

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "no-gpu", 0, OPT_FLAG, AT(no_gpu), NULL, "replay a recorded run: no root needed" },
	{ "db", 'd', OPT_STR, AT(db), "FILE", "keep the trace here (default: it is thrown away)" },
	{ "record", 0, OPT_STR, AT(record), "FILE", "write the run as a recording (SQL text)" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "the explanation as JSON" },
	{ 0 },
};

/* A fault, made for real beside a training loop. */
struct scenario {
	const char *name, *summary, *story;
	const char *recording; /* SQL text, embedded */
	unsigned hogs; /* processes that spin on the training loop's CPU */
	const char *hog_name;
	unsigned calm_s, burst_s;
};

static const struct scenario scenarios[] = {
	{ "incident", "a monitoring agent takes the CPU of a training loop",
	  "A training loop on a simulated GPU. After a while a process called metrics-agent starts\n"
	  "to spin on its CPU, then stops. Everything is traced with eBPF; nobody tells the tracer.\n",
	  asset_incident_sql, 1, "metrics-agent", 4, 4 },
};

static const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
		if (streq(scenarios[i].name, name))
			return &scenarios[i];
	return NULL;
}

/* ---- the stage: a folder with the simulated GPU and the training script ---- */

struct stage {
	char dir[64];
	pid_t train;
	pid_t hog[4];
	unsigned hogs;
	int cpu;
};

static int stage_set(struct stage *st)
{
	snprintf(st->dir, sizeof(st->dir), "/tmp/culprit-demo-XXXXXX");
	if (!mkdtemp(st->dir))
		return fail(-errno, "%s: %s", st->dir, strerror(errno));
	for (const struct asset *a = assets; a->name; a++) {
		char path[128];
		int fd;
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", st->dir, a->name);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
		if (fd < 0)
			return fail(-errno, "%s: %s", path, strerror(errno));
		n = write(fd, a->start, (size_t)(a->end - a->start));
		close(fd);
		if (n != a->end - a->start)
			return fail(-EIO, "%s: cannot be written", path);
	}
	return 0;
}

static void stage_clear(struct stage *st)
{
	char path[128];

	if (!st->dir[0])
		return;
	for (const struct asset *a = assets; a->name; a++) {
		snprintf(path, sizeof(path), "%s/%s", st->dir, a->name);
		unlink(path);
	}
	rmdir(st->dir);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The last CPU that we may use: the first one is everybody's favourite. */
static int pick_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				cpu = i;
	return cpu;
}

/* A child that dies with us, whatever happens. */
static pid_t start_child(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_IGN);
		pin(cpu);
	}
	return pid;
}

static int start_training(struct stage *st, unsigned seconds)
{
	char script[128], secs[16];

	snprintf(script, sizeof(script), "%s/train.py", st->dir);
	snprintf(secs, sizeof(secs), "%u", seconds);
	st->train = start_child(st->cpu);
	if (st->train < 0)
		return fail(-errno, "fork: %s", strerror(errno));
	if (!st->train) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		setenv("SIM_DIR", st->dir, 1);
		setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
		execlp("python3", "python3", script, "--seconds", secs, (char *)NULL);
		_exit(127);
	}
	return 0;
}

static int start_hogs(struct stage *st, const struct scenario *sc)
{
	for (unsigned i = 0; i < sc->hogs && i < ARRAY_LEN(st->hog); i++) {
		pid_t pid = start_child(st->cpu);

		if (pid < 0)
			return fail(-errno, "fork: %s", strerror(errno));
		if (!pid) {
			prctl(PR_SET_NAME, sc->hog_name);
			for (volatile uint64_t spin = 0;; spin++)
				;
		}
		st->hog[st->hogs++] = pid;
	}
	return 0;
}

static void stop_child(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

static void stop_hogs(struct stage *st)
{
	for (unsigned i = 0; i < st->hogs; i++)
		stop_child(&st->hog[i]);
	st->hogs = 0;
}

/* ---- for real ---- */

static void say(const char *text)
{
	if (!args.json) {
		printf("%s", text);
		fflush(stdout);
	}
}

/* Trace for a while; the script must be alive at the end of it. */
static int run_for(struct agent *a, struct stage *st, unsigned seconds)
{
	uint64_t end = clock_boot_ns() + seconds * 1000000000ull;
	int err = 0, status;

	while (err >= 0 && !cmd_stop && clock_boot_ns() < end) {
		err = agent_step(a, 100);
		if (err == 1)
			say(".");
	}
	if (err < 0)
		return err;
	if (waitpid(st->train, &status, WNOHANG) == st->train) {
		st->train = 0;
		return fail(-ECHILD,
			    "the training script ended early (status %d): is python3 there?",
			    WEXITSTATUS(status));
	}
	return cmd_stop ? fail(-EINTR, "stopped") : 0;
}

static int play(const struct scenario *sc, struct agent *a, struct stage *st)
{
	int err = start_training(st, sc->calm_s * 3 + sc->burst_s + 60);

	if (!err) {
		say("training alone ");
		err = run_for(a, st, sc->calm_s + 1); /* one second for Python to start */
	}
	if (!err) {
		say("\nwith the intruder ");
		err = start_hogs(st, sc);
	}
	if (!err)
		err = run_for(a, st, sc->burst_s);
	stop_hogs(st);
	if (!err) {
		say("\nalone again ");
		err = run_for(a, st, sc->calm_s);
	}
	stop_child(&st->train);
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

static int run_live(const struct scenario *sc)
{
	struct agent_opts agent_opts = { .db = args.db, .node = "demo" };
	struct stage st = { .cpu = pick_cpu() };
	struct agent *a = NULL;
	int err;

	cmd_catch_signals();
	say(sc->story);
	err = stage_set(&st);
	if (!err)
		err = agent_open(&agent_opts, &a);
	if (!err)
		err = play(sc, a, &st);
	if (!err)
		err = agent_stop(a);
	if (!err && args.record)
		err = record(agent_store(a));
	if (!err)
		err = tell(agent_store(a));
	stop_hogs(&st);
	stop_child(&st.train);
	stage_clear(&st);
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

		say(sc->story);
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
	puts("SCENARIO   WHAT HAPPENS");
	for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
		printf("%-10s %s\n", scenarios[i].name, scenarios[i].summary);
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
		"eBPF. With --no-gpu and without root: the recording of such a run, explained now.\n"
		"Without a scenario the scenarios are listed. Exit code 3: nothing was found.\n",
	.opts = opts,
	.dest = &args,
	.operands_max = 1,
	.run = run,
};
