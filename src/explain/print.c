// SPDX-License-Identifier: Apache-2.0
/* An explanation for people and for programs, from the same findings. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "base/util.h"
#include "explain/explain.h"
#include "explain/facts.h"

static const char *const severity_names[] = { "LOW", "MEDIUM", "HIGH" };
static const char *const evidence_names[] = { "proven", "observed", "inferred" };

#define RULE "----------------------------------------------------------------------------\n"

/* ---- text ---- */

static void print_culprits(const struct finding *f, FILE *out)
{
	char ns[UNITS_CAP];

	for (int i = 0; i < f->culprits && i < 4; i++) {
		const struct culprit *c = &f->culprit[i];

		if (i && c->share < 1)
			break;
		fprintf(out, "          %s (pid %u) ran instead for %s (%.0f %%)", c->comm, c->pid,
			format_ns(ns, sizeof(ns), c->ns), c->share);
		fputs(" on CPU", out);
		for (int k = 0, n = 0; k < 64; k++)
			if (c->cpus >> k & 1)
				fprintf(out, n++ ? ",%d" : " %d", k);
		putc('\n', out);
	}
}

static void print_effects(const struct finding *f, FILE *out)
{
	char a[UNITS_CAP], b[UNITS_CAP], c[UNITS_CAP], d[UNITS_CAP];

	if (f->rate_before > 0)
		fprintf(out, "  Effect: calls per second %s -> %s (%+.0f %%)\n",
			format_count(a, sizeof(a), (uint64_t)f->rate_before),
			format_count(b, sizeof(b), (uint64_t)f->rate_during),
			100 * (f->rate_during / f->rate_before - 1));
	for (int i = 0; i < f->effects; i++) {
		const struct effect *e = &f->effect[i];

		fprintf(out, "  %s %s: p99 %s -> %s, p50 %s -> %s\n",
			i || f->rate_before > 0 ? "       " : "Effect:", e->op,
			format_ns(a, sizeof(a), e->p99_before),
			format_ns(b, sizeof(b), e->p99_during),
			format_ns(c, sizeof(c), e->p50_before),
			format_ns(d, sizeof(d), e->p50_during));
	}
}

static void print_finding(const struct finding *f, FILE *out)
{
	char lost[UNITS_CAP], of[UNITS_CAP], from[UNITS_CAP], to[UNITS_CAP], n[UNITS_CAP];

	fprintf(out, "[%s] %s\n", severity_names[f->severity], f->title);
	fprintf(out, "  When:   %s to %s\n", format_clock(from, sizeof(from), f->first_ns),
		format_clock(to, sizeof(to), f->last_ns));
	fprintf(out, "  Who:    %s (pid %u, thread %u %s)\n", f->comm, f->pid, f->tid,
		f->thread_comm);
	if (f->cmdline[0])
		fprintf(out, "          %.66s\n", f->cmdline);
	fprintf(out, "  Root:   could run but waited %s of %s (%.1f %%)\n",
		format_ns(lost, sizeof(lost), f->lost_ns),
		format_ns(of, sizeof(of), f->affected_ns), f->lost_pct);
	print_culprits(f, out);
	print_effects(f, out);
	fprintf(out, "  Lost:   up to %s; without it that time would be %.0f to %.0f %% shorter\n",
		lost, f->gain_low_pct, f->gain_high_pct);
	for (int i = 0; i < f->fixes; i++)
		fprintf(out, "  %s %s\n", i ? "       " : "Fix:   ", f->fix[i]);
	fprintf(out, "  Proof:  %s; %s\n", evidence_names[f->evidence], f->basis);
	if (f->ids) {
		fprintf(out, "          %s slow calls and gaps carry it, e.g.",
			format_count(n, sizeof(n), f->count));
		for (int i = 0; i < f->ids && i < 4; i++)
			fprintf(out, " %s:%" PRId64, f->node, f->id[i]);
		putc('\n', out);
	}
	putc('\n', out);
}

static void print_summary(const struct summary *s, FILE *out)
{
	uint64_t waited = s->state_ns[STATE_PREEMPTED] + s->state_ns[STATE_WAKE];
	uint64_t busy = s->state_ns[STATE_RUN] + s->state_ns[STATE_BLOCKED];
	char calls[UNITS_CAP], launches[UNITS_CAP], total[UNITS_CAP];

	fprintf(out, "%s (pid %u): %s calls, %s launches, %d calling thread%s\n", s->comm, s->pid,
		format_count(calls, sizeof(calls), s->calls),
		format_count(launches, sizeof(launches), s->launches), s->threads,
		s->threads == 1 ? "" : "s");
	fprintf(out,
		"  thread %u, %s: %.1f %% waiting for the GPU (in synchronising calls), %.1f %% on\n"
		"  CPU or blocked outside them, %.1f %% waiting for a CPU, %.1f %% over its quota",
		s->tid, format_ns(total, sizeof(total), s->total_ns),
		percent(s->sync_ns, s->total_ns),
		percent(busy > s->sync_ns ? busy - s->sync_ns : 0, s->total_ns),
		percent(waited, s->total_ns), percent(s->state_ns[STATE_THROTTLED], s->total_ns));
	if (s->state_ns[STATE_UNKNOWN])
		fprintf(out, ", %.1f %% not seen",
			percent(s->state_ns[STATE_UNKNOWN], s->total_ns));
	fputs("\n", out);
}

static void print_loss(const struct explanation *e, FILE *out)
{
	const struct account_row *a = &e->account;
	char seen[UNITS_CAP], stored[UNITS_CAP], lost[UNITS_CAP];

	fprintf(out, "Seen %s calls and gaps, all counted; %s stored one by one; %s lost.\n",
		format_count(seen, sizeof(seen), a->seen),
		format_count(stored, sizeof(stored), a->received),
		format_count(lost, sizeof(lost), a->dropped));
	if (!e->run.count_cost_ns)
		fputs("Cost of tracing: not known, a probe could not be measured on this host.\n",
		      out);
	else if (a->traced_ns)
		fprintf(out, "Cost of tracing: about %.2f %% of the traced processes' time.\n",
			percent(a->probe_ns + a->agent_ns, a->traced_ns));
	for (int i = 0; i < e->losses; i++)
		fprintf(out, "  loss: %s %s\n", e->loss[i].reason,
			format_count(lost, sizeof(lost), e->loss[i].count));
}

/* Nothing found is not nothing wrong: say what was looked for. */
static void print_nothing_found(FILE *out)
{
	fputs("No stall found of the kinds that this version can explain:", out);
	for (const struct cause *c = causes; c->id; c++)
		fprintf(out, "%s %s", c == causes ? "" : ",", c->id);
	fputs(".\n\n", out);
}

void explain_text(const struct explanation *e, FILE *out)
{
	char from[UNITS_CAP], to[UNITS_CAP], len[UNITS_CAP];

	fprintf(out, "Node %s, %s to %s (%s), kernel %s%s%s\n", e->run.node,
		format_clock(from, sizeof(from), e->window.from_ns),
		format_clock(to, sizeof(to), e->window.to_ns),
		format_ns(len, sizeof(len), e->window.to_ns - e->window.from_ns), e->run.kernel,
		e->run.gpu[0] ? ", " : ", no GPU seen", e->run.gpu);
	fputs(RULE, out);
	for (int i = 0; i < e->findings; i++)
		print_finding(&e->finding[i], out);
	if (!e->findings && e->summaries)
		print_nothing_found(out);
	if (!e->summaries)
		fputs("No traced call in this time.\n\n", out);
	for (int i = 0; i < e->summaries; i++)
		print_summary(&e->summary[i], out);
	fputs(RULE, out);
	print_loss(e, out);
}

/* ---- JSON: a contract; fields are added, never renamed ---- */

static void json_where(struct json *j, const struct finding *f)
{
	json_open(j, "where", '{');
	json_u64(j, "pid", f->pid);
	json_u64(j, "tid", f->tid);
	json_str(j, "comm", f->comm);
	json_str(j, "thread_comm", f->thread_comm);
	json_str(j, "cmdline", f->cmdline);
	json_str(j, "op", f->op);
	json_null(j, "file"); /* not known in this version: said, not left out */
	json_null(j, "line");
	json_null(j, "func");
	json_null(j, "container");
	json_null(j, "rank");
	json_close(j, '}');
}

static void json_culprits(struct json *j, const struct finding *f)
{
	json_open(j, "culprits", '[');
	for (int i = 0; i < f->culprits; i++) {
		const struct culprit *c = &f->culprit[i];

		json_open(j, NULL, '{');
		json_u64(j, "pid", c->pid);
		json_str(j, "comm", c->comm);
		json_null(j, "container");
		json_f64(j, "share_pct", c->share);
		json_u64(j, "ns", c->ns);
		json_open(j, "cpus", '[');
		for (unsigned k = 0; k < 64; k++)
			if (c->cpus >> k & 1)
				json_u64(j, NULL, k);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_effects(struct json *j, const struct finding *f)
{
	json_open(j, "effects", '[');
	for (int i = 0; i < f->effects; i++) {
		const struct effect *e = &f->effect[i];

		json_open(j, NULL, '{');
		json_str(j, "op", e->op);
		json_u64(j, "p50_before_ns", e->p50_before);
		json_u64(j, "p50_during_ns", e->p50_during);
		json_u64(j, "p99_before_ns", e->p99_before);
		json_u64(j, "p99_during_ns", e->p99_during);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* One hop: who waited, then who had the CPU. */
static void json_chain(struct json *j, const struct finding *f)
{
	json_open(j, "chain", '[');
	json_open(j, NULL, '{');
	json_u64(j, "hop", 0);
	json_u64(j, "pid", f->pid);
	json_u64(j, "tid", f->tid);
	json_str(j, "comm", f->comm);
	json_str(j, "what",
		 streq(f->cause, "cpu-quota") ? "stopped by its CPU quota" : "waited for a CPU");
	json_u64(j, "ns", f->lost_ns);
	json_str(j, "evidence", evidence_names[f->evidence]);
	json_close(j, '}');
	for (int i = 0; i < f->culprits; i++) {
		json_open(j, NULL, '{');
		json_u64(j, "hop", 1);
		json_u64(j, "pid", f->culprit[i].pid);
		json_str(j, "comm", f->culprit[i].comm);
		json_str(j, "what", "had that CPU");
		json_u64(j, "ns", f->culprit[i].ns);
		json_str(j, "evidence", evidence_names[f->evidence]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_finding(struct json *j, const struct finding *f)
{
	char id[128];

	json_open(j, NULL, '{');
	snprintf(id, sizeof(id), "%s:%s:%u:%" PRIu64, f->node, f->cause, f->pid, f->first_ns);
	json_str(j, "id", id);
	json_str(j, "severity", severity_names[f->severity]);
	json_str(j, "cause", f->cause);
	json_str(j, "title", f->title);
	json_u64(j, "lost_ns", f->lost_ns);
	json_f64(j, "lost_pct", f->lost_pct);
	json_u64(j, "affected_ns", f->affected_ns);
	json_u64(j, "count", f->count);
	json_u64(j, "first_ns", f->first_ns);
	json_u64(j, "last_ns", f->last_ns);
	json_where(j, f);
	json_culprits(j, f);
	json_open(j, "object", '{');
	json_close(j, '}');
	json_effects(j, f);
	json_open(j, "throughput", '{');
	json_f64(j, "before_per_s", f->rate_before);
	json_f64(j, "during_per_s", f->rate_during);
	json_close(j, '}');
	json_open(j, "gain_pct", '{');
	json_f64(j, "low", f->gain_low_pct);
	json_f64(j, "high", f->gain_high_pct);
	json_close(j, '}');
	json_open(j, "evidence", '{');
	json_str(j, "class", evidence_names[f->evidence]);
	json_str(j, "basis", f->basis);
	json_open(j, "ids", '[');
	for (int i = 0; i < f->ids; i++) {
		snprintf(id, sizeof(id), "%s:%" PRId64, f->node, f->id[i]);
		json_str(j, NULL, id);
	}
	json_close(j, ']');
	json_close(j, '}');
	json_open(j, "fix", '[');
	for (int i = 0; i < f->fixes; i++)
		json_str(j, NULL, f->fix[i]);
	json_close(j, ']');
	json_chain(j, f);
	json_close(j, '}');
}

static int json_coverage(const struct coverage_info *c, void *arg)
{
	struct json *j = arg;

	json_open(j, NULL, '{');
	json_u64(j, "pid", c->pid);
	json_str(j, "comm", c->comm);
	json_str(j, "library", c->library);
	json_i64(j, "ops", c->ops);
	json_i64(j, "single_stepped", c->stepped);
	json_i64(j, "refused", c->refused);
	json_i64(j, "missing", c->missing);
	json_u64(j, "since_ns", c->since_ns);
	json_str(j, "note", c->note);
	json_close(j, '}');
	return 0;
}

static void json_summary(struct json *j, const struct summary *s)
{
	static const char *const names[] = {
#define X(id, name, text) #name "_ns",
		STATES(X)
#undef X
	};

	json_open(j, NULL, '{');
	json_u64(j, "pid", s->pid);
	json_u64(j, "tid", s->tid);
	json_str(j, "comm", s->comm);
	json_str(j, "cmdline", s->cmdline);
	json_u64(j, "calls", s->calls);
	json_u64(j, "launches", s->launches);
	json_u64(j, "total_ns", s->total_ns);
	json_u64(j, "gpu_wait_ns", s->sync_ns);
	for (int i = 0; i < STATE_COUNT; i++)
		json_u64(j, names[i], s->state_ns[i]);
	json_close(j, '}');
}

void explain_json(struct store *s, const struct explanation *e, FILE *out)
{
	struct json j = JSON_TO(out);

	json_open(&j, NULL, '{');
	json_str(&j, "node", e->run.node);
	json_u64(&j, "from_ns", e->window.from_ns);
	json_u64(&j, "to_ns", e->window.to_ns);
	json_open(&j, "loss", '{');
	json_u64(&j, "seen", e->account.seen);
	json_u64(&j, "stored", e->account.received);
	json_u64(&j, "summed", e->account.filtered);
	json_u64(&j, "dropped", e->account.dropped);
	json_u64(&j, "shed", 0); /* nothing is shed in this version */
	for (int i = 0; i < e->losses; i++)
		json_u64(&j, e->loss[i].reason, e->loss[i].count);
	json_close(&j, '}');
	json_open(&j, "coverage", '[');
	(void)store_each_coverage(s, e->window, json_coverage, &j); /* an empty list says enough */
	json_close(&j, ']');
	json_open(&j, "findings", '[');
	for (int i = 0; i < e->findings; i++)
		json_finding(&j, &e->finding[i]);
	json_close(&j, ']');
	json_open(&j, "processes", '[');
	for (int i = 0; i < e->summaries; i++)
		json_summary(&j, &e->summary[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}
