// SPDX-License-Identifier: Apache-2.0
/* Control n_groups: where a culprit belongs, and what those of one group did together. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "explain/explain_int.h"

#define ID_LEN 64 /* hexadecimal digits of a container's id */
#define ID_SHOWN 12 /* as container runtimes print it */

/* The last that was told of the pid until then; what came later is better than nothing. */
const char *facts_cgroup(const struct facts *f, uint32_t pid, uint64_t at_ns)
{
	int lo = 0, hi = f->belongings;

	for (int i = 0; i < f->threads; i++)
		if (f->thread[i].pid == pid && f->thread[i].cgroup[0])
			return f->thread[i].cgroup;
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
	return lo < f->belongings && f->belonging[lo].pid == pid ? f->belonging[lo].cgroup : "";
}

void find_cgroups(const struct facts *f, struct finding *found)
{
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

static size_t id_at(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

const char *container_of(const char *cgroup, char *dst, size_t cap)
{
	const char *lxc = strstr(cgroup, "/lxc/"), *payload = strstr(cgroup, "/lxc.payload.");
	const char *name = lxc ? lxc + 5 : payload ? payload + 13 : NULL;

	dst[0] = '\0';
	for (const char *s = cgroup; *s; s++) {
		size_t len = id_at(s);

		/* "docker-ID.scope", "cri-containerd-ID.scope", or the id alone; the last one counts */
		if (len == ID_LEN && s > cgroup && strchr("/-:", s[-1]))
			snprintf(dst, cap, "%.*s", ID_SHOWN, s);
		if (len)
			s += len - 1;
	}
	if (!dst[0] && name)
		snprintf(dst, cap, "%.*s", (int)strcspn(name, "/"), name);
	return dst;
}
