// SPDX-License-Identifier: Apache-2.0
/* Control groups: where a culprit belongs, and what those of one group did together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "explain/explain_int.h"
#include "store/read_tenant.h"
#include "tenant/tenant.h"

#define ID_SHOWN 12 /* digits of a container's id, as runtimes print it */

static int on_blamed(const struct blamed_row *row, void *arg)
{
	struct facts *f = arg;
	struct belonging *b;

	/* By powers of two: there may be many. */
	if (!(f->belongings & (f->belongings - 1)))
		f->belonging = xrealloc(f->belonging, (size_t)f->belongings * 2 + 1,
					sizeof(*f->belonging));
	b = &f->belonging[f->belongings++];
	*b = (struct belonging){ .pid = row->pid, .at_ns = row->at_ns };
	text_safe(b->cgroup, sizeof(b->cgroup), row->cgroup);
	return 0;
}

static int on_stay(const struct stay_row *row, void *arg)
{
	const struct blamed_row as = { .pid = row->pid,
				       .at_ns = row->from_ns,
				       .cgroup = row->cgroup };

	return on_blamed(&as, arg);
}

static int by_pid(const void *x, const void *y)
{
	const struct belonging *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* Both those who were blamed and those who were traced; who was both is told twice. */
int load_belongings(struct store *s, struct window w, struct facts *f)
{
	int err = store_each_blamed(s, w, on_blamed, f);

	if (!err)
		err = store_each_stay(s, w, on_stay, f);
	if (!err && f->belongings)
		qsort(f->belonging, (size_t)f->belongings, sizeof(*f->belonging), by_pid);
	return err;
}

/* The last that was told of the pid until then; what came later is better than nothing. */
const char *facts_cgroup(const struct facts *f, uint32_t pid, uint64_t at_ns)
{
	int lo = 0, hi = f->belongings;

	while (lo < hi) { /* the first that is later, or of a larger pid */
		int mid = (lo + hi) / 2;
		const struct belonging *b = &f->belonging[mid];

		if (b->pid < pid || (b->pid == pid && b->at_ns <= at_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && f->belonging[lo - 1].pid == pid)
		return f->belonging[lo - 1].cgroup;
	if (lo < f->belongings && f->belonging[lo].pid == pid)
		return f->belonging[lo].cgroup;
	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].pid == pid && f->thread[i].cgroup[0])
			return f->thread[i].cgroup;
	return "";
}

void find_cgroups(const struct facts *f, struct finding *found)
{
	const char *own = facts_cgroup(f, found->pid, found->last_ns);

	if (own[0]) /* it may have moved since */
		str_copy(found->cgroup, sizeof(found->cgroup), own);
	for (int i = 0; i < found->culprits; i++) {
		struct culprit *c = &found->culprit[i];

		if (!c->cgroup[0] && c->pid != PID_IRQ)
			str_copy(c->cgroup, sizeof(c->cgroup),
				 facts_cgroup(f, c->pid, found->last_ns));
	}
}

static int by_ns(const void *x, const void *y)
{
	const struct cgroup_share *a = x, *b = y;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* The root group is no group: everybody is in it who is in no other. */
void group_culprits(const struct facts *f, const struct culprit *list, int n, struct finding *ret)
{
	struct cgroup_share *group = NULL;
	int n_groups = 0, kept = 0;

	for (int i = 0; i < n; i++) {
		const char *cgroup =
			list[i].pid == PID_IRQ ? "" : facts_cgroup(f, list[i].pid, ret->last_ns);
		int at = 0;

		if (!cgroup[0] || streq(cgroup, "/"))
			continue;
		while (at < n_groups && !streq(group[at].cgroup, cgroup))
			at++;
		if (at == n_groups) {
			group = xrealloc(group, (size_t)n_groups + 1, sizeof(*group));
			group[n_groups] = (struct cgroup_share){ 0 };
			str_copy(group[n_groups++].cgroup, sizeof(group->cgroup), cgroup);
		}
		group[at].ns += list[i].ns;
		group[at].processes++;
	}
	if (n_groups)
		qsort(group, (size_t)n_groups, sizeof(*group), by_ns);
	for (int i = 0; i < n_groups && kept < GROUPS_MAX; i++)
		if (group[i].processes > 1)
			ret->group[kept++] = group[i];
	for (int i = 0; i < kept; i++)
		ret->group[i].share = percent(ret->group[i].ns, ret->lost_ns);
	ret->groups = kept;
	free(group);
}

const char *container_of(const char *cgroup, char *dst, size_t cap)
{
	struct tenant t;

	(void)tenant_parse(cgroup, &t); /* "": it says nothing of a container */
	snprintf(dst, cap, "%.*s", strspn(t.container_id, "0123456789abcdef") == 64 ? ID_SHOWN : 64,
		 t.container_id);
	return dst;
}
