// SPDX-License-Identifier: Apache-2.0
/* Whose the waiting and the blamed are, and what one tenant cost another. */
#include "explain/tenants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "store/read_tenant.h"

#define SHORT_LABEL 56 /* in a title */
#define DELAY_MIN_PCT 30.0 /* of the time lost: less is one of many */

/* ---- who there is ---- */

static int on_container(const struct container_info *info, void *arg)
{
	const struct container_row *row = &info->row;
	struct tenant t = { .claimed = row->claimed };

	text_safe(t.container_id, sizeof(t.container_id), row->container_id);
	text_safe(t.runtime, sizeof(t.runtime), row->runtime);
	text_safe(t.pod_uid, sizeof(t.pod_uid), row->pod_uid);
	text_safe(t.namespace, sizeof(t.namespace), row->namespace);
	text_safe(t.pod, sizeof(t.pod), row->pod);
	text_safe(t.name, sizeof(t.name), row->name);
	text_safe(t.image, sizeof(t.image), row->image);
	text_safe(t.slurm_job, sizeof(t.slurm_job), row->slurm_job);
	text_safe(t.unit, sizeof(t.unit), row->unit);
	text_safe(t.path, sizeof(t.path), row->cgroup);
	tenant_list_put(arg, &t);
	return 0;
}

int explain_tenants(struct store *s, struct tenant_list *l)
{
	return store_each_container(s, on_container, l);
}

int tenants_load(struct store *s, const struct facts *f, struct explanation *e)
{
	int err = explain_tenants(s, &e->tenants);

	for (int i = 0; !err && i < f->threads; i++)
		tenant_list_add(&e->tenants, f->thread[i].cgroup);
	return err;
}

const struct tenant *tenant_of(const struct explanation *e, const char *cgroup,
			       struct tenant *scratch)
{
	return tenant_list_of(&e->tenants, cgroup, scratch);
}

/* ---- one delays another ---- */

/* Is it somebody whose tenant matters? Another rank of the same job is late, not in the way. */
static bool counts(const struct finding *f, const struct culprit *c)
{
	return c->pid && c->pid != PID_IRQ && c->pid != f->pid && c->cgroup[0] &&
	       !streq(f->cause, cause_name(CAUSE_straggler));
}

/* What the tenant of culprit i and the others of that tenant did together. */
static uint64_t sum_of(const struct finding *f, const uint64_t *number, int i)
{
	uint64_t ns = 0;

	for (int k = 0; k < f->culprits; k++)
		if (counts(f, &f->culprit[k]) && number[k] == number[i])
			ns += f->culprit[k].ns;
	return ns;
}

/* What others of its own tenant did; who is beside is weighed against the disk, not against them. */
static uint64_t own_ns(const struct finding *f, const uint64_t *number, uint64_t own)
{
	uint64_t ns = 0;

	for (int k = 0; k < f->culprits; k++)
		if (f->culprit[k].pid != f->pid && number[k] == own)
			ns += f->culprit[k].ns;
	return ns;
}

bool tenant_delayed(const struct explanation *e, const struct finding *f, struct delay *ret)
{
	uint64_t number[CULPRITS_MAX] = { 0 }, own;
	struct tenant scratch;

	*ret = (struct delay){ 0 };
	if (!f->cgroup[0])
		return false;
	for (int i = 0; i < f->culprits; i++)
		number[i] = tenant_number(tenant_of(e, f->culprit[i].cgroup, &scratch));
	own = tenant_number(tenant_of(e, f->cgroup, &scratch));
	for (int i = 0; i < f->culprits; i++) {
		uint64_t ns =
			counts(f, &f->culprit[i]) && number[i] != own ? sum_of(f, number, i) : 0;

		if (ns <= ret->ns)
			continue;
		ret->ns = ns;
		ret->top = &f->culprit[i];
	}
	if (!ret->top || percent(ret->ns, f->lost_ns) < DELAY_MIN_PCT ||
	    (!ret->top->beside && ret->ns < own_ns(f, number, own)))
		return false;
	ret->by = *tenant_of(e, ret->top->cgroup, &scratch);
	ret->whom = *tenant_of(e, f->cgroup, &scratch);
	/* Parts of the host among themselves are no tenants. */
	return !same_tenant(&ret->by, &ret->whom) &&
	       (tenant_foreign(&ret->by) || tenant_foreign(&ret->whom));
}

char *tenant_title(const struct tenant *t, char *dst, size_t cap)
{
	char label[TENANT_LABEL_CAP];

	tenant_label(t, label, sizeof(label));
	if (!label[0] || streq(label, "/"))
		snprintf(dst, cap, "the host itself");
	else if (tenant_foreign(t))
		snprintf(dst, cap, "tenant %s", label);
	else
		snprintf(dst, cap, "%s of the host", label);
	return dst;
}

static void advise(const struct delay *d, struct finding *f)
{
	bool disk = streq(f->cause, cause_name(CAUSE_disk_read)) ||
		    streq(f->cause, cause_name(CAUSE_disk_write));
	char a[TENANT_LABEL_CAP + 16], b[TENANT_LABEL_CAP + 16];

	if (f->fixes == FIXES_MAX) /* the last one says least */
		f->fixes--;
	tenant_title(&d->by, a, sizeof(a));
	tenant_title(&d->whom, b, sizeof(b));
	if (disk)
		add_fix(f,
			"hold back %.80s for %.80s: a limit of I/O for cgroup %.120s (io.max, "
			"blkio.throttle.write_bps_device), or another disk",
			a, b, d->top->cgroup);
	else
		add_fix(f,
			"keep %.80s off the CPUs of %.80s: a CPU limit or a lower cpu.weight "
			"(cpu.shares) for cgroup %.120s, or cpusets apart",
			a, b, d->top->cgroup);
}

static void entitle(const struct delay *d, struct finding *f)
{
	char a[TENANT_LABEL_CAP + 16], b[TENANT_LABEL_CAP + 16];

	str_add(f->title, sizeof(f->title), "; %.*s delayed %.*s", SHORT_LABEL,
		tenant_title(&d->by, a, sizeof(a)), SHORT_LABEL,
		tenant_title(&d->whom, b, sizeof(b)));
}

void name_tenants(struct explanation *e)
{
	struct delay d;

	for (int i = 0; i < e->findings; i++) {
		struct finding *f = &e->finding[i];

		if (!tenant_delayed(e, f, &d))
			continue;
		entitle(&d, f);
		advise(&d, f);
	}
}

/* ---- only one ---- */

struct wanted {
	const struct explanation *e;
	struct tenant_choice choice;
};

static bool keep_finding(const struct finding *f, void *arg)
{
	const struct wanted *w = arg;

	return tenant_chosen(&w->choice, f->cgroup);
}

static bool keep_pid(uint32_t pid, void *arg)
{
	const struct wanted *w = arg;

	for (int i = 0; i < w->e->summaries; i++)
		if (w->e->summary[i].pid == pid)
			return tenant_chosen(&w->choice, w->e->summary[i].cgroup);
	return false;
}

int explain_only_container(struct explanation *e, const char *wanted)
{
	struct wanted w = { .e = e };
	int err = tenant_choose_by(&e->tenants, wanted, &w.choice);

	if (!err)
		explain_keep(e, keep_finding, keep_pid, &w);
	return err;
}
