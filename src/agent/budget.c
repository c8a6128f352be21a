// SPDX-License-Identifier: Apache-2.0
/* What tracing cost, part by part, and what was not looked at to cost less. */
#include "agent/agent_int.h"

static void add_cost(struct cost_row *to, const struct cost_row *c)
{
	to->launch_ns += c->launch_ns;
	to->call_ns += c->call_ns;
	to->stepped_ns += c->stepped_ns;
	to->record_ns += c->record_ns;
	to->stack_ns += c->stack_ns;
	to->switch_ns += c->switch_ns;
	to->related_ns += c->related_ns;
	to->other_ns += c->other_ns;
	to->agent_ns += c->agent_ns;
	to->cpus_ns += c->cpus_ns;
	to->worst_pct = c->worst_pct > to->worst_pct ? c->worst_pct : to->worst_pct;
	to->budget_pct = c->budget_pct;
}

void agent_note_cost(struct agent *a)
{
	const struct capture_spent *old = &a->spent;
	struct capture_spent now;
	struct cost_row *c = &a->cost;

	if (a->now <= a->cost_ns)
		return;
	capture_spent(a->capture, &now);
	*c = (struct cost_row){
		.launch_ns = now.launch_ns - old->launch_ns,
		.call_ns = now.call_ns - old->call_ns,
		.stepped_ns = now.stepped_ns - old->stepped_ns,
		.record_ns = now.record_ns - old->record_ns,
		.stack_ns = now.stack_ns - old->stack_ns,
		.switch_ns = now.switch_ns[SWITCH_followed] - old->switch_ns[SWITCH_followed],
		.related_ns = now.switch_ns[SWITCH_related] - old->switch_ns[SWITCH_related],
		.other_ns = now.switch_ns[SWITCH_other] - old->switch_ns[SWITCH_other] +
			    now.foreign_ns - old->foreign_ns + storage_cost_ns(a->storage) -
			    a->storage_ns,
		.agent_ns = a->last.agent_ns,
		.cpus_ns = (a->now - a->cost_ns) * (uint64_t)capture_cpus(a->capture),
		.worst_pct = 100 * (now.worst_ns - old->worst_ns) / (double)(a->now - a->cost_ns),
		.budget_pct = 100 * a->opts.capture.budget,
	};
	a->spent = now;
	a->storage_ns = storage_cost_ns(a->storage);
	a->cost_ns = a->now;
	a->last.probe_ns = c->launch_ns + c->call_ns + c->stepped_ns + c->record_ns + c->stack_ns +
			   c->switch_ns + c->related_ns;
	add_cost(&a->cost_total, c);
	agent_stored(a, store_cost(a->store, a->now, c));
}

static void on_shed(const struct shed_span *span, void *arg)
{
	struct shed_row row = { .what = shed_names[span->what],
				.from_ns = span->from_ns,
				.to_ns = span->to_ns,
				.cost_pct = 100 * span->cost,
				.calls = span->calls };
	struct agent *a = arg;
	struct shed_total *total = &a->shed[span->what];
	uint64_t ns = span->to_ns - span->from_ns;

	total->ns += ns;
	total->calls += span->calls;
	total->now |= !span->final;
	if (span->final) {
		total->past_ns += ns;
		total->past_calls += span->calls;
	}
	agent_stored(a, store_shed(a->store, &row));
}

void agent_note_shed(struct agent *a)
{
	for (int i = 0; i < SHED_COUNT; i++) {
		a->shed[i].ns = a->shed[i].past_ns;
		a->shed[i].calls = a->shed[i].past_calls;
		a->shed[i].now = false;
	}
	capture_each_shed(a->capture, on_shed, a);
}
