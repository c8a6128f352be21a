// SPDX-License-Identifier: Apache-2.0
/* An explanation for people: findings, and where the time of each process went. */
#include <inttypes.h>

#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/explain_int.h"
#include "explain/tenants.h"

#define RULE "----------------------------------------------------------------------------\n"
#define OPS_SHOWN 8
#define HELPERS_SHOWN 6
#define IDLE_SHOWN 5
#define OPEN_SHOWN 8
#define HAPPENINGS_SHOWN 6

void print_heading(const struct explanation *e, FILE *out)
{
	char from[UNITS_CAP], to[UNITS_CAP], len[UNITS_CAP];

	fprintf(out, "Node %s, %s to %s (%s), kernel %s%s%s\n", e->run.node,
		format_clock(from, sizeof(from), e->window.from_ns),
		format_clock(to, sizeof(to), e->window.to_ns),
		format_ns(len, sizeof(len), e->window.to_ns - e->window.from_ns), e->run.kernel,
		e->run.gpu[0] ? ", " : ", no GPU seen", e->run.gpu);
	fputs(RULE, out);
}

/* ---- findings ---- */

/* Those who had a CPU are shown with it; those of a chain are in the chain already. */
static void print_culprits(const struct explanation *e, const struct finding *f, FILE *out)
{
	char ns[UNITS_CAP], cpus[128], at[512], who[64];

	for (int i = 0; i < f->culprits && i < 4; i++) {
		const struct culprit *c = &f->culprit[i];

		if ((i && c->share < 1) || (!c->cpus && c->pid == f->pid))
			continue;
		if (c->beside) {
			fprintf(out, "          meanwhile %s had %.0f %% of the bytes on that disk",
				name_who(c->comm, c->pid, who, sizeof(who)), c->share);
		} else if (c->cpus) {
			format_cpus(cpus, sizeof(cpus), c->cpus);
			fprintf(out, "          %s ran instead for %s (%.0f %%) on CPU %s",
				name_who(c->comm, c->pid, who, sizeof(who)),
				format_ns(ns, sizeof(ns), c->ns), c->share, cpus);
		} else {
			fprintf(out, "          because of %s: %s (%.0f %%)%s",
				name_who(c->comm, c->pid, who, sizeof(who)),
				format_ns(ns, sizeof(ns), c->ns), c->share,
				print_at(&c->line, at, sizeof(at)));
		}
		print_cgroup(e, f, c->cgroup, out);
		putc('\n', out);
	}
	for (int i = 0; i < f->groups; i++)
		fprintf(out, "          cgroup %s: %.0f %% together, by %d processes%s\n",
			f->group[i].cgroup, f->group[i].share, f->group[i].processes,
			streq(f->group[i].cgroup, f->cgroup) ? " (its own)" : "");
}

static void print_chain(const struct finding *f, FILE *out)
{
	char ns[UNITS_CAP], what[256], at[512];

	for (int h = 0; h < f->chain.hops; h++) {
		const struct hop *hop = &f->chain.hop[h];

		hop_what(&f->chain, h, what, sizeof(what));
		fprintf(out, "  %s %s %u", h ? "        <-" : "Chain: ", hop->comm, hop->pid);
		if (hop->tid != hop->pid)
			fprintf(out, "/%u", hop->tid);
		if (hop->relation == RELATION_child)
			fputs(" (child)", out);
		fprintf(out, ": %s %s%s\n", format_ns(ns, sizeof(ns), f->hop_ns[h]), what,
			print_at(&f->hop_line[h], at, sizeof(at)));
	}
}

static void print_effects(const struct finding *f, FILE *out)
{
	char a[UNITS_CAP], b[UNITS_CAP], c[UNITS_CAP], d[UNITS_CAP];
	bool first = true;

	if (f->steps_before > 0) {
		fprintf(out, "  Effect: steps per second %.2f -> %.2f (%+.0f %%)\n",
			f->steps_before, f->steps_during,
			100 * (f->steps_during / f->steps_before - 1));
		first = false;
	}
	if (f->rate_before > 0) {
		fprintf(out, "  %s calls per second %s -> %s (%+.0f %%)\n",
			first ? "Effect:" : "       ",
			format_count(a, sizeof(a), (uint64_t)f->rate_before),
			format_count(b, sizeof(b), (uint64_t)f->rate_during),
			100 * (f->rate_during / f->rate_before - 1));
		first = false;
	}
	for (int i = 0; i < f->effects; i++, first = false) {
		const struct effect *e = &f->effect[i];

		fprintf(out, "  %s %s: p99 %s -> %s, p50 %s -> %s\n", first ? "Effect:" : "       ",
			e->op, format_ns(a, sizeof(a), e->p99_before),
			format_ns(b, sizeof(b), e->p99_during),
			format_ns(c, sizeof(c), e->p50_before),
			format_ns(d, sizeof(d), e->p50_during));
	}
}

static const char *root_of(const struct finding *f)
{
	if (streq(f->cause, cause_name(CAUSE_cpu_contention)) && !f->chain.hops)
		return "could run but waited";
	for (const struct cause *c = causes; c->id; c++)
		if (streq(c->id, f->cause))
			return c->title;
	return f->cause;
}

static void print_gain(const struct finding *f, const char *lost, FILE *out)
{
	char low[16], high[16], range[40];

	snprintf(low, sizeof(low), "%.0f", f->gain_low_pct);
	snprintf(high, sizeof(high), "%.0f", f->gain_high_pct);
	snprintf(range, sizeof(range), "%s to %s", low, high);
	fprintf(out, "  Gain:   up to %s; without it that time would be %s %% shorter\n", lost,
		streq(low, high) ? low : range);
}

static void print_finding(const struct explanation *e, const struct finding *f, FILE *out)
{
	char lost[UNITS_CAP], of[UNITS_CAP], from[UNITS_CAP], to[UNITS_CAP], n[UNITS_CAP];

	fprintf(out, "[%s] %s\n", severity_names[f->severity], f->title);
	fprintf(out, "  When:   %s to %s\n", format_clock(from, sizeof(from), f->first_ns),
		format_clock(to, sizeof(to), f->last_ns));
	fprintf(out, "  Who:    %s (pid %u, thread %u %s)%s%s\n", f->comm, f->pid, f->tid,
		f->thread_comm, e->of_several ? " on " : "", e->of_several ? f->node : "");
	if (f->cmdline[0])
		fprintf(out, "          %.66s\n", f->cmdline);
	print_tenant(e, f, out);
	print_where(f, out);
	fprintf(out, "  Root:   %s %s of %s (%.1f %%)\n", root_of(f),
		format_ns(lost, sizeof(lost), f->lost_ns),
		format_ns(of, sizeof(of), f->affected_ns), f->lost_pct);
	if (f->object.name[0])
		fprintf(out, "          %s %s\n", thing_key(&f->object), f->object.name);
	if (f->disk.name[0] && f->disk.owner_pid)
		fprintf(out, "          on disk %s, data of %s (pid %u)\n", f->disk.name,
			f->disk.owner, f->disk.owner_pid);
	print_culprits(e, f, out);
	if (f->own.cause)
		fprintf(out, "          which is late itself by %s: %s\n", f->own.cause,
			f->own.title);
	print_chain(f, out);
	print_stacks(e, f, out);
	print_effects(f, out);
	print_gain(f, lost, out);
	for (int i = 0; i < f->fixes; i++)
		fprintf(out, "  %s %s\n", i ? "       " : "Fix:   ", f->fix[i]);
	fprintf(out, "  Proof:  %s; %s\n", evidence_names[f->evidence], f->basis);
	if ((f->chain.hops || f->counted) && f->count)
		fprintf(out, "          %s waits carry it", format_count(n, sizeof(n), f->count));
	else if (f->ids)
		fprintf(out, "          %s slow calls and gaps carry it",
			format_count(n, sizeof(n), f->count));
	for (int i = 0; i < f->ids && i < 4; i++)
		fprintf(out, "%s %s:%" PRId64, i ? "" : ", e.g.", f->node, f->id[i]);
	fputs(((f->chain.hops || f->counted) && f->count) || f->ids ? "\n\n" : "\n", out);
}

/* Nothing found is not nothing wrong: say what was looked for. */
static void print_nothing_found(FILE *out)
{
	int width = fprintf(out, "No stall found of the kinds that this version can explain:");

	for (const struct cause *c = causes; c->id; c++) {
		if (c > causes)
			width += fprintf(out, ",");
		if (width > 60) {
			fputs("\n ", out);
			width = 1;
		}
		width += fprintf(out, " %s", c->id);
	}
	fputs(".\n\n", out);
}

/* ---- the host ---- */

static void print_happenings(const struct explanation *e, FILE *out)
{
	char what[512];

	for (int i = 0; i < e->happenings && i < HAPPENINGS_SHOWN; i++) {
		const struct happening *h = &e->happening[i];

		happening_what(h, what, sizeof(what));
		fprintf(out, "%s%s", i ? "                    " : "On the host, too:   ", what);
		if (h->cgroup[0] && !streq(h->cgroup, "/"))
			fprintf(out, ", cgroup %s", h->cgroup);
		putc('\n', out);
	}
	if (e->happenings > HAPPENINGS_SHOWN)
		fprintf(out, "                    ... and %d more, see --json\n",
			e->happenings - HAPPENINGS_SHOWN);
	if (e->happenings)
		putc('\n', out);
}

static void print_open(const struct explanation *e, FILE *out)
{
	char ns[UNITS_CAP];

	for (int i = 0; i < e->opens && i < OPEN_SHOWN; i++) {
		const struct open_wait *o = &e->open[i];

		fprintf(out, "Not over at the end: %s (pid %u, thread %u) for %s%s%s, %s\n",
			o->comm, o->pid, o->tid, format_ns(ns, sizeof(ns), o->ns),
			o->op[0] ? " in " : "", o->op, o->part.what);
	}
	if (e->opens)
		putc('\n', out);
}

/* ---- processes ---- */

static void print_share(const char *text, uint64_t ns, uint64_t total, FILE *out)
{
	char time[UNITS_CAP];

	if (percent(ns, total) >= 0.05)
		fprintf(out, "  %5.1f %%  %8s  %s\n", percent(ns, total),
			format_ns(time, sizeof(time), ns), text);
}

static void print_steps(const struct summary *s, FILE *out)
{
	const struct step *sum = &s->step_sum;
	char median[UNITS_CAP], p99[UNITS_CAP], count[UNITS_CAP];

	if (!s->steps)
		return;
	fprintf(out, "  %s steps, median %s, p99 %s: %.0f %% host, %.0f %% data, %.0f %% copy,",
		format_count(count, sizeof(count), s->steps),
		format_ns(median, sizeof(median), hist_quantile(s->step_hist, 0.5)),
		format_ns(p99, sizeof(p99), hist_quantile(s->step_hist, 0.99)),
		percent(sum->host_ns, sum->dur_ns), percent(sum->data_ns, sum->dur_ns),
		percent(sum->copy_ns, sum->dur_ns));
	fprintf(out,
		" %.0f %% sync,\n  %.0f %% collective, %.0f %% other; GPU idle at least %.0f %%\n",
		percent(sum->sync_ns, sum->dur_ns), percent(sum->coll_ns, sum->dur_ns),
		percent(sum->other_ns, sum->dur_ns), percent(sum->idle_ns, sum->dur_ns));
}

/* All of it: what is too small to be shown is "the rest". */
static void print_idle(const struct summary *s, FILE *out)
{
	char idle[UNITS_CAP], total[UNITS_CAP], ns[UNITS_CAP];
	uint64_t shown = 0;

	if (percent(s->idle_ns, s->total_ns) < 0.5)
		return;
	fprintf(out, "  GPU idle at least %s of %s (%.0f %%), meanwhile this process was:\n",
		format_ns(idle, sizeof(idle), s->idle_ns),
		format_ns(total, sizeof(total), s->total_ns), percent(s->idle_ns, s->total_ns));
	for (int i = 0; i < s->idles && i < IDLE_SHOWN; i++) {
		const struct idle_part *p = &s->idle[i];

		if (percent(p->ns, s->idle_ns) < 0.5)
			break;
		shown += p->ns;
		fprintf(out, "    %5.1f %%  %8s  %s\n", percent(p->ns, s->idle_ns),
			format_ns(ns, sizeof(ns), p->ns), p->what);
	}
	if (s->idle_ns > shown)
		fprintf(out, "    %5.1f %%  %8s  the rest\n",
			percent(s->idle_ns - shown, s->idle_ns),
			format_ns(ns, sizeof(ns), s->idle_ns - shown));
}

static void print_ops(const struct summary *s, FILE *out)
{
	char p50[UNITS_CAP], p99[UNITS_CAP], calls[UNITS_CAP];

	for (int i = 0; i < s->ops && i < OPS_SHOWN; i++) {
		const struct op_summary *op = &s->op[i];

		fprintf(out, "  %-28.28s | %11s calls", op->symbol,
			format_count(calls, sizeof(calls), op->calls));
		if (op->total_ns)
			fprintf(out, " | p50 %8s | p99 %8s",
				format_ns(p50, sizeof(p50), hist_quantile(op->hist, 0.5)),
				format_ns(p99, sizeof(p99), hist_quantile(op->hist, 0.99)));
		putc('\n', out);
	}
}

static void print_helpers(const struct summary *s, FILE *out)
{
	char ns[UNITS_CAP], id[16];

	for (int i = 0; i < s->helpers && i < HELPERS_SHOWN; i++) {
		const struct helper_summary *h = &s->helper[i];

		if (percent(h->ns, s->total_ns) < 0.5)
			break;
		snprintf(id, sizeof(id), " %u", h->tid ? h->tid : h->pid);
		fprintf(out, "  ! %s%s%s: %s %s\n", h->comm, h->pid == PID_IRQ ? "" : id,
			h->relation == RELATION_child ? " (child)" : "",
			format_ns(ns, sizeof(ns), h->ns),
			h->state == STATE_PREEMPTED ? "on the CPU that it needed"
						    : state_texts[h->state]);
	}
}

static void print_process(const struct summary *s, bool in_full, FILE *out)
{
	char calls[UNITS_CAP], launches[UNITS_CAP], total[UNITS_CAP];

	fprintf(out, "%s (pid %u): %s calls, %s launches", s->comm, s->pid,
		format_count(calls, sizeof(calls), s->calls),
		format_count(launches, sizeof(launches), s->launches));
	if (s->launches_shed)
		fprintf(out, " (and about %s that were not looked at)",
			format_count(launches, sizeof(launches), s->launches_shed));
	fprintf(out, ", %d calling thread%s\n", s->threads, s->threads == 1 ? "" : "s");
	if (in_full && s->cmdline[0])
		fprintf(out, "  %.74s\n", s->cmdline);
	if (s->python_note[0])
		fprintf(out, "  its lines of Python are not known: %s\n", s->python_note);
	if (in_full)
		print_ops(s, out);
	fprintf(out, "  thread %u, %s:\n", s->tid, format_ns(total, sizeof(total), s->total_ns));
	print_share("waiting for the GPU, in synchronising calls", s->sync_ns, s->total_ns, out);
	for (const struct group *g = groups; g->name; g++)
		print_share(g->text, group_ns(s, g), s->total_ns, out);
	print_steps(s, out);
	print_idle(s, out);
	print_kernels(s, in_full, out);
	print_memory(s, out);
	if (in_full)
		print_helpers(s, out);
}

/* ---- all of it ---- */

/* Removed to stay within --max-db or --max-age: what is not there is not what did not happen. */
static void print_pruned(const struct explanation *e, FILE *out)
{
	uint64_t from = e->window.from_ns;
	char at[UNITS_CAP];

	if (e->pruned.seconds_ns > from)
		fprintf(out, "  pruned: what was before %s, all or in part\n",
			format_clock(at, sizeof(at), e->pruned.seconds_ns));
	if (e->pruned.calls_ns > from && e->pruned.calls_ns > e->pruned.seconds_ns)
		fprintf(out, "  pruned: single calls before %s; counts are complete\n",
			format_clock(at, sizeof(at), e->pruned.calls_ns));
}

static void print_losses(const struct explanation *e, FILE *out)
{
	char count[UNITS_CAP];

	for (int i = 0; i < e->losses; i++) {
		const char *text = loss_text(e->loss[i].reason);

		fprintf(out, "  %s: %s\n", text ? text : e->loss[i].reason,
			format_count(count, sizeof(count), e->loss[i].count));
	}
	if (e->losses_cut)
		fprintf(out, "  losses for %d more reasons: see the table `loss`\n", e->losses_cut);
}

void print_loss(const struct explanation *e, FILE *out)
{
	const struct account_row *a = &e->account;
	char seen[UNITS_CAP], stored[UNITS_CAP], lost[UNITS_CAP];

	fprintf(out, "Seen %s calls and gaps, all counted%s; %s stored one by one; %s lost.\n",
		format_count(seen, sizeof(seen), a->seen),
		e->shed[SHED_launches].ns ? " but for launches, see below" : "",
		format_count(stored, sizeof(stored), a->received),
		format_count(lost, sizeof(lost), a->dropped));
	if (e->unexplained_pct >= 0.05)
		fprintf(out,
			"Not explained by anything seen: %.1f %% of the calling threads' time.\n",
			e->unexplained_pct);
	print_lines_known(e, out);
	if (!e->run.count_cost_ns)
		fputs("Cost of tracing: not known, a probe could not be measured on this host.\n",
		      out);
	else if (a->traced_ns)
		print_cost(e, out);
	print_shed(e, out);
	print_losses(e, out);
	print_pruned(e, out);
}

static void print_processes(const struct explanation *e, bool in_full, FILE *out)
{
	if (!e->summaries)
		fputs("No traced call in this time.\n\n", out);
	for (int i = 0; i < e->summaries; i++) {
		if (in_full && i)
			putc('\n', out);
		print_process(&e->summary[i], in_full, out);
	}
	fputs(RULE, out);
	print_loss(e, out);
}

void explain_text(const struct explanation *e, FILE *out)
{
	print_heading(e, out);
	for (int i = 0; i < e->findings; i++)
		print_finding(e, &e->finding[i], out);
	if (!e->findings && e->summaries)
		print_nothing_found(out);
	print_open(e, out);
	print_happenings(e, out);
	print_gpus(e, out);
	print_processes(e, false, out);
}

void explain_text_processes(const struct explanation *e, FILE *out)
{
	print_heading(e, out);
	print_gpus(e, out);
	print_processes(e, true, out);
}

void explain_text_lines(const struct explanation *e, FILE *out)
{
	print_heading(e, out);
	print_by_line(e, out);
	fputs(RULE, out);
	print_loss(e, out);
}
