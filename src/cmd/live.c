// SPDX-License-Identifier: Apache-2.0
/* The live table, its plain form, and the JSON lines. */
#include "cmd/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"

#define NEWS 8 /* lines kept below the table */
#define STALLS_PER_SECOND 5 /* told one by one; the rest is counted */
#define BIG_NS 50000000ull /* nobody wants to miss one of these: */
#define BIG_PER_SECOND 50

struct live {
	struct agent *agent; /* borrowed; NULL: not started yet */
	enum live_mode mode;
	char news[NEWS][1024]; /* the newest last */
	int stalls, silent; /* in this second: told, not told */
};

struct live *live_new(enum live_mode mode)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->mode = mode;
	return l;
}

void live_free(struct live *l)
{
	free(l);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A bucket reaches beyond the longest call that fell into it. */
static uint64_t quantile(const struct op_live *op, double q)
{
	return min_u64(hist_quantile(op->hist, q), op->max_ns);
}

/* ---- table ---- */

/* Time of a process's calling threads: all its ops and gaps together. */
static uint64_t time_of(const struct op_live *op, size_t n, int64_t process)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; op[i].process == process && k < STATE_COUNT; k++)
			ns += op[i].state_ns[k];
	return ns;
}

static void print_op(const struct op_live *op, uint64_t process_ns)
{
	char n[UNITS_CAP], p50[UNITS_CAP], p95[UNITS_CAP], p99[UNITS_CAP], max[UNITS_CAP];

	printf("  %-26s %11s", op->op->symbol, format_count(n, sizeof(n), op->calls));
	if (!op_timed(op->op->class) && !op->total_ns) {
		printf(" %8s %8s %8s %8s %5s\n", "-", "-", "-", "-", "-"); /* only counted */
		return;
	}
	printf(" %8s %8s %8s %8s %5.1f\n", format_ns(p50, sizeof(p50), quantile(op, 0.5)),
	       format_ns(p95, sizeof(p95), quantile(op, 0.95)),
	       format_ns(p99, sizeof(p99), quantile(op, 0.99)),
	       format_ns(max, sizeof(max), op->max_ns), share(op->total_ns, process_ns));
}

/* " of ml/train-0", where a process is in a container. Returns dst. */
static const char *of_tenant(struct agent *a, uint32_t pid, char *dst, size_t cap)
{
	const char *label = a ? agent_tenant(a, pid) : "";

	snprintf(dst, cap, "%s%.80s", label[0] ? " of " : "", label);
	return dst;
}

static void json_tenant(struct json *j, const char *name, struct agent *a, uint32_t pid)
{
	const char *label = a ? agent_tenant(a, pid) : "";

	if (label[0])
		json_str(j, name, label);
	else
		json_null(j, name);
}

static void print_ops(struct agent *a)
{
	size_t n;
	const struct op_live *op = agent_ops(a, &n);
	char comm[64], tenant[96];

	printf("%-28s %11s %8s %8s %8s %8s %5s\n", "OPERATION", "COUNT", "P50", "P95", "P99", "MAX",
	       "WALL%");
	for (size_t i = 0; i < n; i++) {
		if (!i || op[i].process != op[i - 1].process)
			printf("%s (pid %u)%s\n", text_safe(comm, sizeof(comm), op[i].comm),
			       op[i].pid, of_tenant(a, op[i].pid, tenant, sizeof(tenant)));
		print_op(&op[i], time_of(op, n, op[i].process));
	}
	if (!n)
		puts("  no traced call yet");
}

static void print_waits(struct agent *a)
{
	size_t n, ops;
	const struct blame_live *blame = agent_blames(a, &n);
	const struct op_live *op = agent_ops(a, &ops);
	char ns[UNITS_CAP], victim[64], comm[64], tenant[96];

	for (size_t i = 0; i < n && i < 5; i++) {
		uint64_t total = 0;

		for (size_t k = 0; k < ops; k++)
			for (int s = 0; op[k].pid == blame[i].victim_pid && s < STATE_COUNT; s++)
				total += op[k].state_ns[s];
		if (share(blame[i].ns, total) < 1)
			continue;
		printf("%s (pid %u)%s waited %s (%.1f %%) for a CPU that ",
		       text_safe(victim, sizeof(victim), blame[i].victim), blame[i].victim_pid,
		       of_tenant(a, blame[i].victim_pid, tenant, sizeof(tenant)),
		       format_ns(ns, sizeof(ns), blame[i].ns), share(blame[i].ns, total));
		if (blame[i].pid == PID_IRQ)
			puts("served interrupts");
		else if (blame[i].pid)
			printf("%s (pid %u)%s had\n", text_safe(comm, sizeof(comm), blame[i].comm),
			       blame[i].pid, of_tenant(a, blame[i].pid, tenant, sizeof(tenant)));
		else
			puts("was idle");
	}
}

static void print_losses(const struct agent_status *s)
{
	char n[UNITS_CAP];

	for (int i = 0; i < LOSS_COUNT; i++)
		if (s->loss[i])
			printf("  %s: %s\n", loss_texts[i], format_count(n, sizeof(n), s->loss[i]));
	if (s->undecodable)
		printf("  records that belong to nobody: %s\n",
		       format_count(n, sizeof(n), s->undecodable));
	if (s->held)
		printf("  seconds that wait in memory for room on the disk: %s\n",
		       format_count(n, sizeof(n), s->held));
	if (s->unstored_batches)
		printf("  seconds that could not be stored: %s\n",
		       format_count(n, sizeof(n), s->unstored_batches));
}

/* What is usual without a driver is said, too, but only once. */
static void print_nvml(const struct gpu_helper_status *s)
{
	if (s->known)
		printf("%s: %s", s->ready ? "NVML" : "no NVML", s->text);
	if (s->known && s->crashes + s->hangs + s->garbage)
		printf("; its helper died %llu times, hung %llu, talked nonsense %llu",
		       (unsigned long long)s->crashes, (unsigned long long)s->hangs,
		       (unsigned long long)s->garbage);
	if (s->known)
		putchar('\n');
}

/* The parts of the cost that are worth a word, of the traced processes' time. */
static void print_parts(const struct cost_row *c, uint64_t traced_ns)
{
	const struct {
		const char *name;
		uint64_t ns;
	} part[] = {
		{ "launches", c->launch_ns },
		{ "calls", c->call_ns + c->stepped_ns + c->record_ns },
		{ "stacks", c->stack_ns },
		{ "switches", c->switch_ns + c->related_ns },
	};
	const char *before = " (";

	for (size_t i = 0; i < ARRAY_LEN(part); i++) {
		if (share(part[i].ns, traced_ns) < 0.005)
			continue;
		printf("%s%s %.2f", before, part[i].name, share(part[i].ns, traced_ns));
		before = ", ";
	}
	if (before[0] == ',')
		putchar(')');
}

static void print_shed(const struct agent_status *s)
{
	char ns[UNITS_CAP], n[UNITS_CAP];

	for (int i = 0; i < SHED_COUNT; i++) {
		const struct shed_total *shed = &s->shed[i];

		if (!shed->ns)
			continue;
		printf("  to cost no more than %.3g %%, %s were not looked at for %s (%.0f %%)%s",
		       100 * s->budget, shed_texts[i], format_ns(ns, sizeof(ns), shed->ns),
		       share(shed->ns, s->elapsed_ns), shed->now ? ", and still are not" : "");
		if (i == SHED_launches)
			printf("; estimated: %s more", format_count(n, sizeof(n), shed->calls));
		putchar('\n');
	}
}

static void print_status(struct agent *a)
{
	char seen[UNITS_CAP], stored[UNITS_CAP], dropped[UNITS_CAP];
	struct agent_status s;

	agent_status(a, &s);
	printf("Seen %s | stored one by one %s | dropped %s | cost ",
	       format_count(seen, sizeof(seen), s.total.seen),
	       format_count(stored, sizeof(stored), s.total.received),
	       format_count(dropped, sizeof(dropped), s.total.dropped));
	if (s.cost.count_ns) {
		printf("%.2f %% of traced time", share(s.total.probe_ns, s.total.traced_ns));
		print_parts(&s.cost_total, s.total.traced_ns);
		printf(" and %.2f %% of the host's CPUs\n",
		       share(s.cost_total.agent_ns + s.cost_total.other_ns, s.cost_total.cpus_ns));
	} else {
		puts("not known");
	}
	print_shed(&s);
	print_losses(&s);
	print_nvml(&s.nvml);
}

static void print_head(struct agent *a)
{
	struct agent_status s;
	char t[UNITS_CAP];

	agent_status(a, &s);
	printf("culprit %s, node %s, %s, %d process%s, %d librar%s, probes by %s", VERSION, s.node,
	       format_ns(t, sizeof(t), s.elapsed_ns), s.processes, s.processes == 1 ? "" : "es",
	       s.libraries, s.libraries == 1 ? "y" : "ies", attach_mode_name(s.mode));
	if (s.cost.count_ns)
		printf(" (%llu/%llu ns)", (unsigned long long)s.cost.count_ns,
		       (unsigned long long)s.cost.timed_ns);
	if (s.stepped_sites)
		printf(", %d single-stepped (+%.1f us a hit)", s.stepped_sites,
		       (double)s.cost.stepped_ns / 1000);
	printf("\n");
	if (s.db)
		printf("recording to %s\n", s.db);
}

static void print_all(struct agent *a)
{
	print_head(a);
	print_ops(a);
	print_waits(a);
	print_status(a);
	fflush(stdout);
}

/* ---- JSON lines ---- */

static void json_op(struct json *j, struct agent *a, const struct op_live *op)
{
	json_open(j, NULL, '{');
	json_u64(j, "pid", op->pid);
	json_str(j, "comm", op->comm);
	json_tenant(j, "container", a, op->pid);
	json_str(j, "op", op->op->symbol);
	json_str(j, "class", class_names[op->op->class]);
	json_u64(j, "calls", op->calls);
	json_u64(j, "errors", op->errors);
	json_u64(j, "bytes", op->bytes);
	if (op_timed(op->op->class) || op->total_ns) {
		json_u64(j, "total_ns", op->total_ns);
		json_u64(j, "p50_ns", quantile(op, 0.5));
		json_u64(j, "p95_ns", quantile(op, 0.95));
		json_u64(j, "p99_ns", quantile(op, 0.99));
		json_u64(j, "max_ns", op->max_ns);
	}
	json_close(j, '}');
}

static void json_loss(struct json *j, const struct agent_status *s)
{
	json_open(j, "loss", '{');
	for (int i = 0; i < LOSS_COUNT; i++)
		json_u64(j, loss_names[i], s->loss[i]);
	json_u64(j, "undecodable", s->undecodable);
	json_u64(j, "unstored_seconds", s->unstored_batches);
	json_u64(j, "held_seconds", s->held);
	json_close(j, '}');
}

/* Of the last second. */
static void json_cost(struct json *j, const struct agent_status *s)
{
	const struct cost_row *c = &s->cost_last;

	json_open(j, "cost", '{');
	json_u64(j, "launch_ns", c->launch_ns);
	json_u64(j, "call_ns", c->call_ns);
	json_u64(j, "stepped_ns", c->stepped_ns);
	json_u64(j, "record_ns", c->record_ns);
	json_u64(j, "stack_ns", c->stack_ns);
	json_u64(j, "switch_ns", c->switch_ns);
	json_u64(j, "related_ns", c->related_ns);
	json_u64(j, "other_ns", c->other_ns);
	json_u64(j, "agent_ns", c->agent_ns);
	json_u64(j, "traced_ns", s->last.traced_ns);
	json_u64(j, "cpus_ns", c->cpus_ns);
	json_f64(j, "worst_pct", c->worst_pct);
	if (s->budget > 0)
		json_f64(j, "budget_pct", 100 * s->budget);
	else
		json_null(j, "budget_pct");
	json_close(j, '}');
}

static void json_shed(struct json *j, const struct agent_status *s)
{
	json_open(j, "shed", '[');
	for (int i = 0; i < SHED_COUNT; i++) {
		if (!s->shed[i].ns)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "what", shed_names[i]);
		json_u64(j, "ns", s->shed[i].ns);
		json_bool(j, "now", s->shed[i].now);
		if (i == SHED_launches)
			json_u64(j, "estimated_calls", s->shed[i].calls);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* null: nobody asks, or it has not answered yet. */
static void json_nvml(struct json *j, const struct gpu_helper_status *s)
{
	if (!s->known) {
		json_null(j, "nvml");
		return;
	}
	json_open(j, "nvml", '{');
	json_bool(j, "ready", s->ready);
	json_str(j, "text", s->text);
	json_u64(j, "starts", s->starts);
	json_u64(j, "crashes", s->crashes);
	json_u64(j, "hangs", s->hangs);
	json_u64(j, "garbage", s->garbage);
	json_close(j, '}');
}

static void print_json(struct agent *a, bool last)
{
	struct json j = JSON_TO(stdout);
	const struct blame_live *blame;
	const struct op_live *op;
	struct agent_status s;
	size_t n;

	agent_status(a, &s);
	json_open(&j, NULL, '{');
	json_u64(&j, "time_ns", clock_wall_ns());
	json_str(&j, "node", s.node);
	json_u64(&j, "elapsed_ns", s.elapsed_ns);
	json_bool(&j, "last", last);
	json_str(&j, "attach", attach_mode_name(s.mode));
	json_u64(&j, "seen", s.total.seen);
	json_u64(&j, "submitted", s.total.submitted);
	json_u64(&j, "filtered", s.total.filtered);
	json_u64(&j, "dropped", s.total.dropped);
	json_u64(&j, "received", s.total.received);
	json_loss(&j, &s);
	if (s.cost.count_ns)
		json_f64(&j, "cost_pct", share(s.total.probe_ns, s.total.traced_ns));
	else
		json_null(&j, "cost_pct"); /* could not be measured */
	json_cost(&j, &s);
	json_shed(&j, &s);
	json_u64(&j, "probe_ns", s.total.probe_ns);
	json_u64(&j, "agent_ns", s.total.agent_ns);
	json_u64(&j, "traced_ns", s.total.traced_ns);
	json_i64(&j, "single_stepped_sites", s.stepped_sites);
	json_i64(&j, "threads_followed", s.threads);
	json_i64(&j, "tallies_in_use", s.tallies);
	json_u64(&j, "stops_held", s.stops);
	json_nvml(&j, &s.nvml);
	json_open(&j, "ops", '[');
	op = agent_ops(a, &n);
	for (size_t i = 0; i < n; i++)
		json_op(&j, a, &op[i]);
	json_close(&j, ']');
	json_open(&j, "waits", '[');
	blame = agent_blames(a, &n);
	for (size_t i = 0; i < n && i < 16; i++) {
		json_open(&j, NULL, '{');
		json_u64(&j, "pid", blame[i].victim_pid);
		json_u64(&j, "by_pid", blame[i].pid == PID_IRQ ? 0 : blame[i].pid);
		json_str(&j, "by", blame[i].comm);
		json_tenant(&j, "container", a, blame[i].victim_pid);
		json_tenant(&j, "by_container", a, blame[i].pid);
		json_u64(&j, "ns", blame[i].ns);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putchar('\n');
	fflush(stdout);
}

/* ---- news: stalls and incidents ---- */

static void tell(struct live *l, const char *text)
{
	if (l->mode == LIVE_SCREEN) {
		memmove(l->news[0], l->news[1], sizeof(l->news) - sizeof(l->news[0]));
		str_copy(l->news[NEWS - 1], sizeof(l->news[0]), text);
		return;
	}
	puts(text);
	fflush(stdout);
}

static void print_news(const struct live *l)
{
	for (int i = 0; i < NEWS; i++)
		if (l->news[i][0])
			puts(l->news[i]);
}

static void json_stall(struct agent *a, const struct stall *s)
{
	struct json j = JSON_TO(stdout);

	json_open(&j, NULL, '{');
	json_u64(&j, "time_ns", clock_wall_ns());
	json_open(&j, "stall", '{');
	json_u64(&j, "pid", s->pid);
	json_u64(&j, "tid", s->tid);
	json_str(&j, "comm", s->comm);
	json_str(&j, "op", s->op);
	json_str(&j, "cause", cause_name(s->cause));
	json_u64(&j, "dur_ns", s->dur_ns);
	json_u64(&j, "usual_ns", s->usual_ns);
	json_u64(&j, "lost_ns", s->ns);
	json_u64(&j, "culprit_pid", s->culprit.pid == PID_IRQ ? 0 : s->culprit.pid);
	json_str(&j, "culprit", s->culprit.comm);
	json_tenant(&j, "container", a, s->pid);
	json_tenant(&j, "culprit_container", a, s->culprit.pid);
	json_str(&j, "where", s->where);
	json_str(&j, "culprit_where", s->culprit_where);
	json_str(&j, "text", s->text);
	json_i64(&j, "call", s->call);
	json_close(&j, '}');
	json_close(&j, '}');
	putchar('\n');
	fflush(stdout);
}

void live_stall(const struct stall *stall, void *live)
{
	struct live *l = live;
	char line[1024], now[UNITS_CAP], comm[64], tenant[96];

	if (stall->cause == CAUSE_none)
		return; /* slow, but nobody waited in vain */
	if (l->stalls >= (stall->ns < BIG_NS ? STALLS_PER_SECOND : BIG_PER_SECOND)) {
		l->silent++;
		return;
	}
	l->stalls++;
	if (l->mode == LIVE_JSON) {
		json_stall(l->agent, stall);
		return;
	}
	snprintf(line, sizeof(line), "%s  %s (pid %u)%s %s",
		 format_clock(now, sizeof(now), clock_wall_ns()),
		 text_safe(comm, sizeof(comm), stall->comm), stall->pid,
		 of_tenant(l->agent, stall->pid, tenant, sizeof(tenant)), stall->text);
	tell(l, line);
}

void live_incident(const struct finding *f, void *live)
{
	struct json j = JSON_TO(stdout);
	struct live *l = live;
	char line[512], now[UNITS_CAP];

	if (l->mode != LIVE_JSON) {
		snprintf(line, sizeof(line), "%s  [%s] %s",
			 format_clock(now, sizeof(now), clock_wall_ns()),
			 severity_names[f->severity], f->title);
		tell(l, line);
		return;
	}
	json_open(&j, NULL, '{');
	json_u64(&j, "time_ns", clock_wall_ns());
	json_open(&j, "incident", '{');
	json_str(&j, "cause", f->cause);
	json_str(&j, "severity", severity_names[f->severity]);
	json_str(&j, "title", f->title);
	json_u64(&j, "pid", f->pid);
	json_u64(&j, "culprit_pid",
		 f->culprits && f->culprit[0].pid != PID_IRQ ? f->culprit[0].pid : 0);
	json_u64(&j, "lost_ns", f->lost_ns);
	json_close(&j, '}');
	json_close(&j, '}');
	putchar('\n');
	fflush(stdout);
}

/* What was too much to tell one by one. */
static void end_second(struct live *l)
{
	char line[128];

	if (l->silent && l->mode != LIVE_JSON) {
		snprintf(line, sizeof(line), "          ... and %d more in that second", l->silent);
		tell(l, line);
	}
	l->stalls = l->silent = 0;
}

/* ---- the three ways ---- */

void live_start(struct live *l, struct agent *a)
{
	l->agent = a;
	if (l->mode != LIVE_JSON) {
		print_head(a);
		puts("tracing; Ctrl-C stops");
	}
	fflush(stdout);
	fputs("culprit: tracing\n", stderr); /* scripts wait for this */
}

void live_update(struct live *l, struct agent *a)
{
	end_second(l);
	if (l->mode == LIVE_SCREEN) {
		fputs("\033[H\033[2J", stdout); /* home, clear */
		print_all(a);
		print_news(l);
	} else if (l->mode == LIVE_JSON) {
		print_json(a, false);
	}
}

void live_end(struct live *l, struct agent *a)
{
	if (l->mode == LIVE_JSON) {
		print_json(a, true);
		return;
	}
	if (l->mode == LIVE_SCREEN)
		fputs("\033[H\033[2J", stdout);
	print_all(a);
	if (l->mode == LIVE_SCREEN)
		print_news(l);
}
