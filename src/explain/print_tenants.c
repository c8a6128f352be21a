// SPDX-License-Identifier: Apache-2.0
/* Tenants for people and for programs: whose a process is, and where the time of each tenant went. */
#include <stdlib.h>

#include "base/units.h"
#include "base/util.h"
#include "decode/decode.h"
#include "explain/explain_int.h"
#include "explain/tenants.h"

/* ---- one ---- */

static void json_told(struct json *j, const char *name, const char *value)
{
	if (value[0])
		json_str(j, name, value);
	else
		json_null(j, name);
}

static void json_fields(struct json *j, const struct tenant *t)
{
	char label[TENANT_LABEL_CAP];

	json_str(j, "label", tenant_label(t, label, sizeof(label)));
	json_told(j, "container_id", t->container_id);
	json_told(j, "runtime", t->runtime);
	json_told(j, "pod_uid", t->pod_uid);
	json_told(j, "namespace", t->namespace);
	json_told(j, "pod", t->pod);
	json_told(j, "name", t->name);
	json_told(j, "image", t->image);
	json_told(j, "slurm_job", t->slurm_job);
	json_told(j, "unit", t->unit);
	json_bool(j, "claimed", t->claimed);
}

void json_cgroup(struct json *j, const struct explanation *e, const char *cgroup)
{
	char container[65];
	struct tenant scratch;

	json_told(j, "container", container_of(cgroup, container, sizeof(container)));
	json_told(j, "cgroup", cgroup);
	if (tenant_parse(cgroup, &scratch) < TENANT_UNIT) {
		json_null(j, "tenant");
		return;
	}
	json_open(j, "tenant", '{');
	json_fields(j, tenant_of(e, cgroup, &scratch));
	json_close(j, '}');
}

/* "docker 4f2a9c0e11d3, image pytorch:2, unit x.service", as far as known. */
static void print_details(const struct tenant *t, FILE *out)
{
	char id[65];
	bool whole = strspn(t->container_id, "0123456789abcdef") == 64;

	snprintf(id, sizeof(id), "%.*s", whole ? 12 : 64, t->container_id);
	if (id[0])
		fprintf(out, ", %s%s%s", t->runtime, t->runtime[0] ? " " : "container ", id);
	if (t->image[0])
		fprintf(out, ", image %s", t->image);
	if (t->slurm_job[0])
		fprintf(out, ", Slurm job %s", t->slurm_job);
	if (t->claimed)
		fprintf(out, ", as %s says", t->unit);
}

void print_tenant(const struct explanation *e, const struct finding *f, FILE *out)
{
	char label[TENANT_LABEL_CAP];
	struct tenant scratch;
	const struct tenant *t = tenant_of(e, f->cgroup, &scratch);

	if (!tenant_foreign(t))
		return;
	fprintf(out, "  Tenant: %s", tenant_label(t, label, sizeof(label)));
	print_details(t, out);
	putc('\n', out);
}

void print_cgroup(const struct explanation *e, const struct finding *f, const char *cgroup,
		  FILE *out)
{
	char label[TENANT_LABEL_CAP];
	struct tenant scratch;
	const struct tenant *t = tenant_of(e, cgroup, &scratch);

	if (!cgroup[0] || streq(cgroup, "/") || streq(cgroup, f->cgroup))
		return;
	if (tenant_foreign(t))
		fprintf(out, ", container %s", tenant_label(t, label, sizeof(label)));
	else
		fprintf(out, ", cgroup %s", cgroup);
}

/* ---- all of them ---- */

/* What one tenant did in this time, and what others did to it. */
struct account {
	uint64_t calls, launches, total_ns, gpu_wait_ns, lost_ns;
	uint64_t delayed_ns, delaying_ns; /* by other tenants; of other tenants */
	int processes;
};

/* Numbers are of e->tenants; their count is whoever is in no group of its own. */
struct ledger {
	struct account *of; /* by tenant */
	int *process, *where; /* whose each process, and each finding, is */
	int *by; /* who delayed another in each finding; -1: nobody */
	struct {
		uint64_t ns;
		const struct culprit *top;
	} * delay; /* ... how long, and by which process most */
};

static int number_in(const struct explanation *e, const char *cgroup)
{
	struct tenant scratch;
	const struct tenant *t = tenant_of(e, cgroup, &scratch);

	return t == &scratch ? e->tenants.count : (int)(t - e->tenants.tenant);
}

static void add_finding(const struct explanation *e, int i, struct ledger *l)
{
	const struct finding *f = &e->finding[i];
	struct delay d;

	l->where[i] = number_in(e, f->cgroup);
	l->of[l->where[i]].lost_ns += f->lost_ns;
	l->by[i] = -1;
	if (!tenant_delayed(e, f, &d))
		return;
	l->by[i] = number_in(e, d.top->cgroup);
	l->delay[i].ns = d.ns;
	l->delay[i].top = d.top;
	l->of[l->where[i]].delayed_ns += d.ns;
	l->of[l->by[i]].delaying_ns += d.ns;
}

static void ledger_make(const struct explanation *e, struct ledger *l)
{
	l->of = xcalloc((size_t)e->tenants.count + 1, sizeof(*l->of));
	l->process = xcalloc((size_t)e->summaries + 1, sizeof(*l->process));
	l->where = xcalloc((size_t)e->findings + 1, sizeof(*l->where));
	l->by = xcalloc((size_t)e->findings + 1, sizeof(*l->by));
	l->delay = xcalloc((size_t)e->findings + 1, sizeof(*l->delay));
	for (int i = 0; i < e->summaries; i++) {
		const struct summary *s = &e->summary[i];
		struct account *a;

		l->process[i] = number_in(e, s->cgroup);
		a = &l->of[l->process[i]];
		a->processes++;
		a->calls += s->calls;
		a->launches += s->launches;
		a->total_ns += s->total_ns;
		a->gpu_wait_ns += s->sync_ns;
	}
	for (int i = 0; i < e->findings; i++)
		add_finding(e, i, l);
}

static void ledger_release(struct ledger *l)
{
	free(l->of);
	free(l->process);
	free(l->where);
	free(l->by);
	free(l->delay);
}

static bool nothing(const struct account *a)
{
	return !a->processes && !a->delaying_ns && !a->lost_ns;
}

static const struct tenant *numbered(const struct explanation *e, int n)
{
	static const struct tenant host = { .path = "/" };

	return n < e->tenants.count ? &e->tenants.tenant[n] : &host;
}

static void print_delays(const struct explanation *e, const struct ledger *l, int n, FILE *out)
{
	char ns[UNITS_CAP], title[TENANT_LABEL_CAP + 16];

	for (int i = 0; i < e->findings; i++) {
		const struct finding *f = &e->finding[i];
		const struct culprit *c = l->delay[i].top;

		if (l->by[i] < 0)
			continue;
		format_ns(ns, sizeof(ns), l->delay[i].ns);
		if (l->where[i] == n)
			fprintf(out, "  delayed by %s for %s: %s, %s (pid %u)\n",
				tenant_title(numbered(e, l->by[i]), title, sizeof(title)), ns,
				f->cause, c->comm, c->pid);
		if (l->by[i] == n)
			fprintf(out, "  delayed %s for %s: %s of %s (pid %u), by %s (pid %u)\n",
				tenant_title(numbered(e, l->where[i]), title, sizeof(title)), ns,
				f->cause, f->comm, f->pid, c->comm, c->pid);
	}
}

static void print_container(const struct explanation *e, const struct ledger *l, int n, FILE *out)
{
	char calls[UNITS_CAP], launches[UNITS_CAP], total[UNITS_CAP], label[TENANT_LABEL_CAP];
	const struct tenant *t = numbered(e, n);
	const struct account *a = &l->of[n];

	fputs(n < e->tenants.count ? tenant_label(t, label, sizeof(label)) : "The host itself",
	      out);
	print_details(t, out);
	fprintf(out, ": %d traced process%s, %s calls, %s launches\n", a->processes,
		a->processes == 1 ? "" : "es", format_count(calls, sizeof(calls), a->calls),
		format_count(launches, sizeof(launches), a->launches));
	for (int i = 0; i < e->summaries; i++)
		if (l->process[i] == n)
			fprintf(out, "  %s (pid %u): %s, %.1f %% waiting for the GPU\n",
				e->summary[i].comm, e->summary[i].pid,
				format_ns(total, sizeof(total), e->summary[i].total_ns),
				percent(e->summary[i].sync_ns, e->summary[i].total_ns));
	for (int i = 0; i < e->findings; i++)
		if (l->where[i] == n)
			fprintf(out, "  [%s] %s, %s lost\n", severity_names[e->finding[i].severity],
				e->finding[i].title,
				format_ns(total, sizeof(total), e->finding[i].lost_ns));
	print_delays(e, l, n, out);
}

void explain_text_containers(const struct explanation *e, FILE *out)
{
	struct ledger l;
	bool any = false;

	print_heading(e, out);
	ledger_make(e, &l);
	for (int n = 0; n <= e->tenants.count; n++) {
		if (nothing(&l.of[n]))
			continue;
		if (any)
			putc('\n', out);
		print_container(e, &l, n, out);
		any = true;
	}
	ledger_release(&l);
	if (!any)
		fputs("No traced call in this time.\n", out);
	putc('\n', out);
	print_loss(e, out);
}

/* Who delayed the tenant of that number, or whom it delayed. */
static void json_delays(struct json *j, const struct explanation *e, const struct ledger *l, int n,
			bool victim)
{
	char label[TENANT_LABEL_CAP];

	json_open(j, victim ? "delayed_by" : "delayed", '[');
	for (int i = 0; i < e->findings; i++) {
		const struct finding *f = &e->finding[i];
		const struct tenant *other =
			l->by[i] < 0 ? NULL : numbered(e, victim ? l->by[i] : l->where[i]);

		if (!other || (victim ? l->where[i] : l->by[i]) != n)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "label", tenant_label(other, label, sizeof(label)));
		json_told(j, "container_id", other->container_id);
		json_str(j, "cause", f->cause);
		json_u64(j, "ns", l->delay[i].ns);
		json_u64(j, "pid", f->pid);
		json_u64(j, "culprit_pid", l->delay[i].top->pid);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Those that called or were to blame; the others are in the table `container`. */
void json_containers(struct json *j, const struct explanation *e)
{
	struct ledger l;

	ledger_make(e, &l);
	json_open(j, "containers", '[');
	for (int n = 0; n < e->tenants.count; n++) {
		const struct account *a = &l.of[n];

		if (nothing(a))
			continue;
		json_open(j, NULL, '{');
		json_fields(j, &e->tenants.tenant[n]);
		json_str(j, "cgroup", e->tenants.tenant[n].path);
		json_i64(j, "processes", a->processes);
		json_u64(j, "calls", a->calls);
		json_u64(j, "launches", a->launches);
		json_u64(j, "total_ns", a->total_ns);
		json_u64(j, "gpu_wait_ns", a->gpu_wait_ns);
		json_u64(j, "lost_ns", a->lost_ns);
		json_u64(j, "delayed_ns", a->delayed_ns);
		json_u64(j, "delaying_ns", a->delaying_ns);
		json_delays(j, e, &l, n, true);
		json_delays(j, e, &l, n, false);
		json_close(j, '}');
	}
	json_close(j, ']');
	ledger_release(&l);
}
