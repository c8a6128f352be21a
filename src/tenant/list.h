/* SPDX-License-Identifier: Apache-2.0 */
/* Everybody that a trace knows of, and who of them is meant by a name. */
#ifndef TENANT_LIST_H
#define TENANT_LIST_H

#include "tenant/tenant.h"

struct hash;

struct tenant_list {
	struct tenant *tenant;
	struct hash *index; /* by number */
	int count;
};

/* One that is in the list already stays as it was. */
void tenant_list_put(struct tenant_list *l, const struct tenant *t);
/* As far as the path of a group tells: all there is in traces from before tenants were stored. */
void tenant_list_add(struct tenant_list *l, const char *cgroup);
void tenant_list_release(struct tenant_list *l);

/* Whose a control group is, with all that is known of it. Borrowed from the list, or scratch. */
const struct tenant *tenant_list_of(const struct tenant_list *l, const char *cgroup,
				    struct tenant *scratch);

bool same_tenant(const struct tenant *a, const struct tenant *b);
uint64_t tenant_number(const struct tenant *t); /* the same for the same one */

/* Who is meant by `text`: one, or all of one pod. */
struct tenant_choice {
	const struct tenant_list *list;
	const char *text;
	bool claimed; /* none that really has that name: then those count who only say so */
};

/* -ENODATA: nobody is; -EINVAL: several are. */
int tenant_choose_by(const struct tenant_list *l, const char *text, struct tenant_choice *ret);
bool tenant_chosen(const struct tenant_choice *c, const char *cgroup);

#endif
