// SPDX-License-Identifier: Apache-2.0
/* What tracing cost, and what was not looked at to cost less: as text and as JSON. */
#include "base/json.h"
#include "base/units.h"
#include "explain/explain_int.h"

void print_cost(const struct explanation *e, FILE *out)
{
	const struct cost_row *c = &e->cost;
	uint64_t traced = e->account.traced_ns;

	fprintf(out, "Cost of tracing: about %.2f %% of the traced processes' time",
		percent(e->account.probe_ns, traced));
	if (c->cpus_ns)
		fprintf(out,
			" (launches %.2f, other calls %.2f, stacks %.2f, switches %.2f),\n"
			"and %.2f %% of the host's CPUs",
			percent(c->launch_ns, traced),
			percent(c->call_ns + c->stepped_ns + c->record_ns, traced),
			percent(c->stack_ns, traced), percent(c->switch_ns + c->related_ns, traced),
			percent(c->agent_ns + c->other_ns, c->cpus_ns));
	fputs(".\n", out);
}

/* Never shed silently. */
void print_shed(const struct explanation *e, FILE *out)
{
	uint64_t window = e->window.to_ns - e->window.from_ns;
	char ns[UNITS_CAP], n[UNITS_CAP];

	for (int i = 0; i < SHED_COUNT; i++) {
		const struct shed_sum *shed = &e->shed[i];

		if (!shed->ns)
			continue;
		if (i != SHED_launches) {
			fprintf(out, "Not looked at for %s, to cost no more than %.3g %%: %s.\n",
				format_ns(ns, sizeof(ns), shed->ns), e->cost.budget_pct,
				shed_texts[i]);
			continue;
		}
		fprintf(out,
			"Launches were counted %.0f %% of the time: %s shed to cost no more than "
			"%.3g %% (it was %.1f %%);\ntheir number is estimated at %s more (inferred). "
			"When the GPU was idle is not known then.\n",
			100 - percent(shed->ns, window), format_ns(ns, sizeof(ns), shed->ns),
			e->cost.budget_pct, shed->cost_pct,
			format_count(n, sizeof(n), shed->calls));
	}
}

void json_shed(struct json *j, const struct explanation *e)
{
	uint64_t window = e->window.to_ns - e->window.from_ns;

	json_open(j, "shed_spans", '[');
	for (int i = 0; i < SHED_COUNT; i++) {
		const struct shed_sum *shed = &e->shed[i];

		if (!shed->ns)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "what", shed_names[i]);
		json_u64(j, "ns", shed->ns);
		json_f64(j, "pct", percent(shed->ns, window));
		json_i64(j, "spans", shed->spans);
		json_u64(j, "first_ns", shed->first_ns);
		json_u64(j, "last_ns", shed->last_ns);
		json_f64(j, "cost_pct", shed->cost_pct);
		if (i == SHED_launches) {
			json_u64(j, "estimated_calls", shed->calls);
			json_str(j, "evidence", evidence_names[EVIDENCE_INFERRED]);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Of the whole window. */
void json_cost(struct json *j, const struct explanation *e)
{
	const struct cost_row *c = &e->cost;

	json_open(j, "cost", '{');
	if (e->run.count_cost_ns && e->account.traced_ns)
		json_f64(j, "traced_pct", percent(e->account.probe_ns, e->account.traced_ns));
	else
		json_null(j, "traced_pct");
	if (c->cpus_ns)
		json_f64(j, "host_pct", percent(c->agent_ns + c->other_ns, c->cpus_ns));
	else
		json_null(j, "host_pct");
	if (c->budget_pct > 0)
		json_f64(j, "budget_pct", c->budget_pct);
	else
		json_null(j, "budget_pct");
	json_u64(j, "launch_ns", c->launch_ns);
	json_u64(j, "call_ns", c->call_ns);
	json_u64(j, "stepped_ns", c->stepped_ns);
	json_u64(j, "record_ns", c->record_ns);
	json_u64(j, "stack_ns", c->stack_ns);
	json_u64(j, "switch_ns", c->switch_ns);
	json_u64(j, "related_ns", c->related_ns);
	json_u64(j, "other_ns", c->other_ns);
	json_u64(j, "agent_ns", c->agent_ns);
	json_u64(j, "traced_ns", e->account.traced_ns);
	json_u64(j, "cpus_ns", c->cpus_ns);
	json_close(j, '}');
}
