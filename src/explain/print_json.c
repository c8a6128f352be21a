// SPDX-License-Identifier: Apache-2.0
/* An explanation for programs. A contract: fields are added, never renamed. */
#include <inttypes.h>

#include "base/json.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/explain_int.h"
#include "explain/tenants.h"

/* "file", "line" and "func": null where they are not known, and then why. */
static void json_line(struct json *j, const struct line *line, const char *python_note)
{
	if (line->file[0]) {
		json_str(j, "file", line->file);
		json_i64(j, "line", line->line);
		json_str(j, "func", line->func);
		json_f64(j, "line_pct", line->share);
		return;
	}
	json_null(j, "file");
	json_null(j, "line");
	json_null(j, "func");
	json_str(j, "line_note", line_why(line, python_note));
}

static void json_stack(struct json *j, const struct explanation *e, uint64_t id)
{
	static const char *const kinds[] = {
#define X(kind, text) #kind,
		FRAME_KINDS(X)
#undef X
	};
	const struct stack *stack = e->full_stack ? explain_stack(e, id) : NULL;

	if (!stack)
		return;
	json_open(j, "stack", '[');
	for (int i = 0; i < stack->frames; i++) {
		const struct frame *frame = stack->frame[i];

		json_open(j, NULL, '{');
		json_str(j, "kind", kinds[frame->kind]);
		json_str(j, "func", frame->func);
		json_str(j, "file", frame->file);
		if (frame->line)
			json_i64(j, "line", frame->line);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_where(struct json *j, const struct explanation *e, const struct finding *f)
{
	json_open(j, "where", '{');
	json_u64(j, "pid", f->pid);
	json_u64(j, "tid", f->tid);
	json_str(j, "comm", f->comm);
	json_str(j, "thread_comm", f->thread_comm);
	json_str(j, "cmdline", f->cmdline);
	json_str(j, "op", f->op);
	json_line(j, &f->where, f->python_note);
	json_stack(j, e, f->where.stack);
	json_cgroup(j, e, f->cgroup);
	if (f->ranked)
		json_i64(j, "rank", f->rank);
	else
		json_null(j, "rank");
	json_close(j, '}');
}

static void json_culprits(struct json *j, const struct explanation *e, const struct finding *f)
{
	json_open(j, "culprits", '[');
	for (int i = 0; i < f->culprits; i++) {
		const struct culprit *c = &f->culprit[i];

		json_open(j, NULL, '{');
		json_u64(j, "pid", c->pid == PID_IRQ ? 0 : c->pid);
		if (c->tid)
			json_u64(j, "tid", c->tid);
		json_str(j, "comm", c->comm);
		json_str(j, "node", f->by_node[0] ? f->by_node : f->node);
		json_line(j, &c->line, c->pid == f->pid ? f->python_note : "");
		json_str(j, "kind", c->pid == PID_IRQ ? "interrupts" : "process");
		json_cgroup(j, e, c->cgroup);
		if (c->beside) /* nobody waited for it: share_pct is of the disk's bytes */
			json_bool(j, "beside", true);
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

static void json_groups(struct json *j, const struct explanation *e, const struct finding *f)
{
	json_open(j, "cgroups", '[');
	for (int i = 0; i < f->groups; i++) {
		const struct cgroup_share *g = &f->group[i];

		json_open(j, NULL, '{');
		json_cgroup(j, e, g->cgroup);
		json_i64(j, "processes", g->processes);
		json_f64(j, "share_pct", g->share);
		json_u64(j, "ns", g->ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_object(struct json *j, const struct finding *f)
{
	json_open(j, "object", '{');
	if (f->object.name[0])
		json_str(j, thing_key(&f->object), f->object.name);
	json_disk(j, f);
	if (f->by_ranked) {
		json_i64(j, "rank", f->by_rank);
		json_str(j, "node", f->node);
	}
	json_close(j, '}');
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
	json_open(j, "throughput", '{');
	json_f64(j, "before_per_s", f->rate_before);
	json_f64(j, "during_per_s", f->rate_during);
	json_f64(j, "steps_before_per_s", f->steps_before);
	json_f64(j, "steps_during_per_s", f->steps_during);
	json_close(j, '}');
}

/* ---- the chain ---- */

static void json_hops(struct json *j, const struct explanation *e, const struct finding *f)
{
	char what[256];

	for (int h = 0; h < f->chain.hops; h++) {
		const struct hop *hop = &f->chain.hop[h];
		bool last = h == f->chain.hops - 1;

		hop_what(&f->chain, h, what, sizeof(what));
		json_open(j, NULL, '{');
		json_u64(j, "hop", (uint64_t)h);
		json_u64(j, "pid", hop->pid);
		json_u64(j, "tid", hop->tid);
		json_str(j, "comm", hop->comm);
		json_str(j, "relation", relation_names[hop->relation]);
		json_str(j, "what", what);
		json_str(j, "state", state_names[hop->state]);
		json_str(j, "object", object_names[hop->object]);
		json_str(j, "name", hop->name);
		json_str(j, "ended_by", waker_names[hop->by]);
		if (hop->irq >= 0)
			json_i64(j, "irq", hop->irq);
		if (hop->irq >= 0 || hop->device[0])
			json_str(j, "device", hop->device);
		json_line(j, &f->hop_line[h], hop->pid == f->pid ? f->python_note : "");
		json_stack(j, e, f->hop_line[h].stack);
		json_u64(j, "ns", f->hop_ns[h]);
		json_str(j, "evidence",
			 last && !f->chain.complete ? "missing" : evidence_names[f->evidence]);
		json_close(j, '}');
	}
}

static const char *own_what(const struct finding *f)
{
	if (streq(f->cause, cause_name(CAUSE_cpu_contention)))
		return "waited for a CPU";
	for (const struct cause *c = causes; c->id; c++)
		if (streq(c->id, f->cause))
			return c->title;
	return f->cause;
}

/* Without waiting for anybody: the thread itself, then who had its CPU, if somebody had. */
static void json_own(struct json *j, const struct finding *f)
{
	json_open(j, NULL, '{');
	json_u64(j, "hop", 0);
	json_u64(j, "pid", f->pid);
	json_u64(j, "tid", f->tid);
	json_str(j, "comm", f->comm);
	json_str(j, "what", own_what(f));
	json_line(j, &f->where, f->python_note);
	json_u64(j, "ns", f->lost_ns);
	json_str(j, "evidence", evidence_names[f->evidence]);
	json_close(j, '}');
	for (int i = 0; i < f->culprits; i++) {
		const struct culprit *c = &f->culprit[i];

		if (c->pid == f->pid && !c->cpus)
			continue;
		json_open(j, NULL, '{');
		json_u64(j, "hop", 1);
		json_u64(j, "pid", c->pid == PID_IRQ ? 0 : c->pid);
		json_str(j, "comm", c->comm);
		json_str(j, "what",
			 c->cpus        ? "had that CPU"
			 : f->by_ranked ? "arrived last"
					: "used the same GPU");
		json_u64(j, "ns", c->ns);
		json_str(j, "evidence", evidence_names[f->evidence]);
		json_close(j, '}');
	}
}

static void json_chain(struct json *j, const struct explanation *e, const struct finding *f)
{
	json_open(j, "chain", '[');
	if (f->chain.hops)
		json_hops(j, e, f);
	else
		json_own(j, f);
	json_close(j, ']');
}

static void json_finding(struct json *j, const struct explanation *e, const struct finding *f)
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
	json_where(j, e, f);
	json_culprits(j, e, f);
	json_groups(j, e, f);
	json_object(j, f);
	json_own_cause(j, f);
	json_effects(j, f);
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
	json_chain(j, e, f);
	json_close(j, '}');
}

/* ---- the rest ---- */

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

static void json_steps(struct json *j, const struct summary *s)
{
	const struct step *sum = &s->step_sum;

	json_open(j, "steps", '{');
	json_u64(j, "count", s->steps);
	json_u64(j, "median_ns", hist_quantile(s->step_hist, 0.5));
	json_u64(j, "p99_ns", hist_quantile(s->step_hist, 0.99));
	json_open(j, "split", '{');
	json_u64(j, "total_ns", sum->dur_ns);
	json_u64(j, "host_ns", sum->host_ns);
	json_u64(j, "data_ns", sum->data_ns);
	json_u64(j, "copy_ns", sum->copy_ns);
	json_u64(j, "sync_ns", sum->sync_ns);
	json_u64(j, "collective_ns", sum->coll_ns);
	json_u64(j, "other_ns", sum->other_ns);
	json_u64(j, "gpu_idle_ns", sum->idle_ns);
	json_close(j, '}');
	json_close(j, '}');
}

static void json_idle(struct json *j, const struct summary *s)
{
	json_open(j, "idle", '{');
	json_u64(j, "ns", s->idle_ns);
	json_u64(j, "of_ns", s->total_ns);
	json_f64(j, "pct", percent(s->idle_ns, s->total_ns));
	json_open(j, "parts", '[');
	for (int i = 0; i < s->idles; i++) {
		const struct idle_part *p = &s->idle[i];

		json_open(j, NULL, '{');
		json_str(j, "what", p->what);
		json_str(j, "state", state_names[p->state]);
		json_u64(j, "ns", p->ns);
		json_f64(j, "pct", percent(p->ns, s->idle_ns));
		if (p->pid && p->pid != PID_IRQ) {
			json_u64(j, "pid", p->pid);
			json_str(j, "comm", p->comm);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void json_ops(struct json *j, const struct summary *s)
{
	json_open(j, "ops", '[');
	for (int i = 0; i < s->ops; i++) {
		const struct op_summary *op = &s->op[i];

		json_open(j, NULL, '{');
		json_str(j, "op", op->symbol);
		json_u64(j, "calls", op->calls);
		json_u64(j, "total_ns", op->total_ns);
		json_u64(j, "p50_ns", hist_quantile(op->hist, 0.5));
		json_u64(j, "p99_ns", hist_quantile(op->hist, 0.99));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_helpers(struct json *j, const struct summary *s)
{
	json_open(j, "waited_for", '[');
	for (int i = 0; i < s->helpers; i++) {
		const struct helper_summary *h = &s->helper[i];

		json_open(j, NULL, '{');
		json_u64(j, "pid", h->pid == PID_IRQ ? 0 : h->pid);
		if (h->tid)
			json_u64(j, "tid", h->tid);
		json_str(j, "comm", h->comm);
		json_str(j, "relation", relation_names[h->relation]);
		json_str(j, "what",
			 h->state == STATE_PREEMPTED ? "had its CPU" : state_texts[h->state]);
		json_u64(j, "ns", h->ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_summary(struct json *j, const struct explanation *e, const struct summary *s)
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
	json_str(j, "python_note", s->python_note);
	json_cgroup(j, e, s->cgroup);
	json_u64(j, "calls", s->calls);
	json_u64(j, "launches", s->launches);
	json_u64(j, "launches_shed", s->launches_shed); /* estimated */
	json_u64(j, "total_ns", s->total_ns);
	json_u64(j, "gpu_wait_ns", s->sync_ns);
	for (int i = 0; i < STATE_COUNT; i++)
		json_u64(j, names[i], s->state_ns[i]);
	json_open(j, "split", '{');
	json_u64(j, "gpu_wait", s->sync_ns);
	for (const struct group *g = groups; g->name; g++)
		json_u64(j, g->name, group_ns(s, g));
	json_close(j, '}');
	json_steps(j, s);
	json_idle(j, s);
	json_ops(j, s);
	json_kernels(j, s);
	json_memory(j, s);
	json_helpers(j, s);
	json_close(j, '}');
}

static void json_incident(struct json *j, const struct incident *i)
{
	json_open(j, NULL, '{');
	json_i64(j, "id", i->id);
	json_str(j, "cause", i->cause);
	json_str(j, "severity", i->severity);
	json_str(j, "title", i->title);
	json_u64(j, "pid", i->pid);
	json_str(j, "comm", i->comm);
	json_u64(j, "culprit_pid", i->culprit_pid == PID_IRQ ? 0 : i->culprit_pid);
	json_str(j, "culprit", i->culprit);
	json_u64(j, "first_ns", i->first_ns);
	json_u64(j, "last_ns", i->last_ns);
	json_u64(j, "lost_ns", i->lost_ns);
	json_close(j, '}');
}

static void json_happening(struct json *j, const struct explanation *e, const struct happening *h)
{
	char what[512];

	happening_what(h, what, sizeof(what));
	json_open(j, NULL, '{');
	json_str(j, "event", host_event_names[h->event]);
	json_str(j, "what", what);
	json_str(j, h->event == HOST_retransmit ? "remote" : "device", h->name);
	json_u64(j, "pid", h->pid);
	json_str(j, "comm", h->comm);
	json_cgroup(j, e, h->cgroup);
	json_u64(j, "count", h->count);
	json_u64(j, "ns", h->ns);
	if (h->event == HOST_bounce)
		json_u64(j, "bytes", h->value);
	if (h->event == HOST_iommu_fault)
		json_u64(j, "address", h->value);
	json_u64(j, "first_ns", h->first_ns);
	json_u64(j, "last_ns", h->last_ns);
	json_close(j, '}');
}

static void json_open_wait(struct json *j, const struct open_wait *o)
{
	json_open(j, NULL, '{');
	json_u64(j, "pid", o->pid);
	json_u64(j, "tid", o->tid);
	json_str(j, "comm", o->comm);
	json_str(j, "op", o->op);
	json_u64(j, "start_ns", o->start_ns);
	json_u64(j, "ns", o->ns);
	json_str(j, "what", o->part.what);
	json_str(j, "state", state_names[o->part.state]);
	if (o->part.pid && o->part.pid != PID_IRQ) {
		json_u64(j, "for_pid", o->part.pid);
		json_str(j, "for", o->part.comm);
	}
	json_close(j, '}');
}

static void json_loss(struct json *j, const struct explanation *e)
{
	json_open(j, "loss", '{');
	json_u64(j, "seen", e->account.seen);
	json_u64(j, "stored", e->account.received);
	json_u64(j, "summed", e->account.filtered);
	json_u64(j, "dropped", e->account.dropped);
	json_u64(j, "shed", e->shed[SHED_launches].calls); /* estimated */
	for (int i = 0; i < e->losses; i++)
		json_u64(j, e->loss[i].reason, e->loss[i].count);
	json_u64(j, "pruned_calls_before_ns", e->pruned.calls_ns);
	json_u64(j, "pruned_seconds_before_ns", e->pruned.seconds_ns);
	json_shed(j, e);
	json_close(j, '}');
}

static void json_lines_known(struct json *j, const struct explanation *e)
{
	static const char *const names[] = {
#define X(id, text) #id,
		NO_STACKS(X)
#undef X
	};
	struct lines_known known = lines_known(e);

	json_open(j, "python", '{');
	json_u64(j, "calls", known.calls);
	json_u64(j, "wait_ns", known.wait_ns);
	if (known.calls)
		json_f64(j, "calls_with_line_pct", known.calls_pct);
	else
		json_null(j, "calls_with_line_pct");
	if (known.wait_ns)
		json_f64(j, "wait_with_line_pct", known.wait_pct);
	else
		json_null(j, "wait_with_line_pct");
	json_open(j, "calls_without", '{');
	for (int i = 0; i < NO_STACK_COUNT; i++)
		if (e->stacks.no_calls[i])
			json_u64(j, names[i], e->stacks.no_calls[i]);
	json_close(j, '}');
	json_open(j, "wait_ns_without", '{');
	for (int i = 0; i < NO_STACK_COUNT; i++)
		if (e->stacks.no_wait_ns[i])
			json_u64(j, names[i], e->stacks.no_wait_ns[i]);
	json_close(j, '}');
	json_close(j, '}');
}

/* Lost time by line. */
static void json_lines(struct json *j, const struct explanation *e)
{
	json_open(j, "lines", '[');
	for (int i = 0; i < e->lines; i++) {
		const struct line_sum *s = &e->line[i];

		json_open(j, NULL, '{');
		json_u64(j, "lost_ns", s->ns);
		json_f64(j, "lost_pct", s->line.share);
		json_line(j, &s->line, "");
		json_str(j, "cause", s->cause);
		json_u64(j, "pid", s->pid);
		json_str(j, "comm", s->comm);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void explain_json(struct store *s, const struct explanation *e, FILE *out)
{
	struct json j = JSON_TO(out);

	json_open(&j, NULL, '{');
	json_str(&j, "node", e->run.node);
	json_u64(&j, "from_ns", e->window.from_ns);
	json_u64(&j, "to_ns", e->window.to_ns);
	json_loss(&j, e);
	json_cost(&j, e);
	json_f64(&j, "unexplained_pct", e->unexplained_pct);
	json_lines_known(&j, e);
	json_open(&j, "coverage", '[');
	(void)store_each_coverage(s, e->window, json_coverage, &j); /* an empty list says enough */
	json_close(&j, ']');
	json_open(&j, "findings", '[');
	for (int i = 0; i < e->findings; i++)
		json_finding(&j, e, &e->finding[i]);
	json_close(&j, ']');
	json_lines(&j, e);
	json_open(&j, "processes", '[');
	for (int i = 0; i < e->summaries; i++)
		json_summary(&j, e, &e->summary[i]);
	json_close(&j, ']');
	json_open(&j, "incidents", '[');
	for (int i = 0; i < e->incidents; i++)
		json_incident(&j, &e->incident[i]);
	json_close(&j, ']');
	json_open(&j, "open", '[');
	for (int i = 0; i < e->opens; i++)
		json_open_wait(&j, &e->open[i]);
	json_close(&j, ']');
	json_open(&j, "host", '[');
	for (int i = 0; i < e->happenings; i++)
		json_happening(&j, e, &e->happening[i]);
	json_close(&j, ']');
	json_gpus(&j, e);
	json_containers(&j, e);
	json_close(&j, '}');
	putc('\n', out);
}
