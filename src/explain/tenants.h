/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explain/: tenants of findings and processes. */
#ifndef EXPLAIN_TENANTS_H
#define EXPLAIN_TENANTS_H

#include "base/json.h"
#include "explain/facts.h"
#include "tenant/list.h"

/* Everybody of the window, into e->tenants. */
int tenants_load(struct store *s, const struct facts *f, struct explanation *e);

/* Whose a control group is, with all that the trace knows of it. Borrowed from e, or scratch. */
const struct tenant *tenant_of(const struct explanation *e, const char *cgroup,
			       struct tenant *scratch);

/* One tenant had most of what a finding of another is about. */
struct delay {
	struct tenant by, whom;
	const struct culprit *top; /* the worst process of it; borrowed from the finding */
	uint64_t ns; /* of all its processes that are told */
};
bool tenant_delayed(const struct explanation *e, const struct finding *f, struct delay *ret);

/* Say so in titles and fixes. */
void name_tenants(struct explanation *e);

/* "tenant ml/train-0", "cron.service of the host", "the host itself". Returns dst. */
char *tenant_title(const struct tenant *t, char *dst, size_t cap);

/* explain.c: what is not kept is forgotten. keep_pid decides over what is of a process. */
void explain_keep(struct explanation *e, bool (*keep)(const struct finding *f, void *arg),
		  bool (*keep_pid)(uint32_t pid, void *arg), void *arg);

/* print_tenants.c: "container", "cgroup", "tenant" of a process; null where they are not known. */
void json_cgroup(struct json *j, const struct explanation *e, const char *cgroup);
void json_containers(struct json *j, const struct explanation *e);
void print_tenant(const struct explanation *e, const struct finding *f, FILE *out);
/* Only where it tells something: another group than that of the finding's process. */
void print_cgroup(const struct explanation *e, const struct finding *f, const char *cgroup,
		  FILE *out);

#endif
