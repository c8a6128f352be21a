// SPDX-License-Identifier: Apache-2.0
#include "tenant/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/util.h"

#define NAMED_MAX 8 /* in a message */

/* ---- who there is ---- */

bool same_tenant(const struct tenant *a, const struct tenant *b)
{
	char x[512], y[512];

	return streq(tenant_identity(a, x, sizeof(x)), tenant_identity(b, y, sizeof(y)));
}

/* Of what makes it this one; two of the same number are told apart by same_tenant(). */
uint64_t tenant_number(const struct tenant *t)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	char text[512];

	for (const char *c = tenant_identity(t, text, sizeof(text)); *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
	return hash;
}

static const struct tenant *find(const struct tenant_list *l, const struct tenant *t)
{
	uint64_t number = tenant_number(t);
	const int *at = l->index ? hash_get(l->index, &number) : NULL;

	return at && same_tenant(&l->tenant[*at - 1], t) ? &l->tenant[*at - 1] : NULL;
}

void tenant_list_put(struct tenant_list *l, const struct tenant *t)
{
	uint64_t number = tenant_number(t);
	int *at;

	if (!l->index)
		l->index = hash_new(sizeof(uint64_t), sizeof(int));
	at = hash_put(l->index, &number);
	if (*at)
		return;
	if (!(l->count & (l->count - 1)))
		l->tenant = xrealloc(l->tenant, (size_t)l->count * 2 + 1, sizeof(*l->tenant));
	l->tenant[l->count++] = *t;
	*at = l->count;
}

void tenant_list_add(struct tenant_list *l, const char *cgroup)
{
	struct tenant t;

	if (tenant_parse(cgroup, &t) > TENANT_ROOT)
		tenant_list_put(l, &t);
}

void tenant_list_release(struct tenant_list *l)
{
	free(l->tenant);
	hash_free(l->index);
}

const struct tenant *tenant_list_of(const struct tenant_list *l, const char *cgroup,
				    struct tenant *scratch)
{
	const struct tenant *known = NULL;

	if (tenant_parse(cgroup, scratch) > TENANT_ROOT)
		known = find(l, scratch);
	return known ? known : scratch;
}

/* ---- who is meant ---- */

static bool is_meant(const struct tenant_choice *c, const struct tenant *t)
{
	return tenant_matches(t, c->text) && (c->claimed || !t->claimed);
}

bool tenant_chosen(const struct tenant_choice *c, const char *cgroup)
{
	struct tenant scratch;

	return cgroup[0] && is_meant(c, tenant_list_of(c->list, cgroup, &scratch));
}

/* Up to NAMED_MAX of those that are meant, or that could have been. Returns how many. */
static int name_some(const struct tenant_choice *c, bool meant, char *dst, size_t cap)
{
	char label[TENANT_LABEL_CAP];
	size_t at = 0;
	int named = 0;

	for (int i = 0; i < c->list->count && named < NAMED_MAX && at < cap; i++) {
		const struct tenant *t = &c->list->tenant[i];

		if (meant ? is_meant(c, t) : tenant_foreign(t))
			at += (size_t)snprintf(dst + at, cap - at, "%s%s", named++ ? ", " : "",
					       tenant_label(t, label, sizeof(label)));
	}
	return named;
}

/* Those of one pod are meant together; else a name must be of one. */
int tenant_choose_by(const struct tenant_list *l, const char *text, struct tenant_choice *ret)
{
	const struct tenant *first = NULL;
	bool several = false;
	char names[512] = "";
	int named;

	*ret = (struct tenant_choice){ .list = l, .text = text, .claimed = true };
	for (int i = 0; i < l->count; i++)
		if (tenant_matches(&l->tenant[i], text) && !l->tenant[i].claimed)
			ret->claimed = false;
	for (int i = 0; i < l->count; i++) {
		const struct tenant *t = &l->tenant[i];

		if (!is_meant(ret, t))
			continue;
		if (first && (!t->pod_uid[0] || !streq(t->pod_uid, first->pod_uid)))
			several = true;
		first = first ? first : t;
	}
	if (first && !several)
		return 0;
	named = name_some(ret, several, names, sizeof(names));
	if (several)
		return fail(-EINVAL, "--container %s is not one: %s", text, names);
	return fail(-ENODATA, "no container %s in that time; there %s %s", text,
		    named == 1 ? "is" : "are", named ? names : "none");
}
