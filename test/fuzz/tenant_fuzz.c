// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzz paths of control groups, lines of /proc/PID/cgroup and JSON of container runtimes and of the kubelet. Whatever
 * follows the root of a container, it stays that container; whatever comes out can be printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tenant/json.h"
#include "tenant/kubelet.h"
#include "tenant/list.h"

#define ID "4f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a9c0e11d34f2a"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_printable(const char *text, size_t cap)
{
	if (strnlen(text, cap) == cap)
		abort();
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			abort();
}

static void check_tenant(const struct tenant *t)
{
	char text[512];

	check_printable(t->container_id, sizeof(t->container_id));
	check_printable(t->pod_uid, sizeof(t->pod_uid));
	check_printable(t->pod, sizeof(t->pod));
	check_printable(t->unit, sizeof(t->unit));
	check_printable(t->path, sizeof(t->path));
	check_printable(t->slurm_job, sizeof(t->slurm_job));
	check_printable(tenant_label(t, text, TENANT_LABEL_CAP), TENANT_LABEL_CAP);
	check_printable(tenant_identity(t, text, sizeof(text)), sizeof(text));
	if (t->claimed && (!t->unit[0] || !t->container_id[0] || t->pod_uid[0]))
		abort();
}

/* The first line is a name, the others are groups: who is meant by it is one of them, or said. */
static void choose(char *text)
{
	struct tenant_list l = { 0 };
	struct tenant_choice c;
	char *next = strchr(text, '\n'), *first = next ? next + 1 : text;

	if (next)
		*next = '\0';
	for (char *path = first; path; path = next) {
		next = strchr(path, '\n');
		if (next)
			*next++ = '\0';
		tenant_list_add(&l, path);
	}
	if (!tenant_choose_by(&l, text, &c) && !l.count)
		abort();
	(void)tenant_chosen(&c, first);
	tenant_list_release(&l);
}

static void walk(struct json_value v, int depth)
{
	static const char *const keys[] = { "Name", "Config", "annotations", "id", "names" };
	struct json_value next;
	char text[128];

	if (json_string(v, text, sizeof(text)))
		check_printable(text, sizeof(text));
	for (size_t i = 0; depth < 4 && i < ARRAY_LEN(keys); i++)
		if (json_member(v, keys[i], &next))
			walk(next, depth + 1);
	if (depth < 4 && json_first(v, &next)) {
		int n = 0;

		do
			walk(next, depth + 1);
		while (n++ < 16 && json_next(&next));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1), path[TENANT_PATH_CAP], *inside;
	struct hierarchies h;
	struct tenant t;
	size_t len;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	(void)tenant_parse(copy, &t);
	check_tenant(&t);
	(void)tenant_matches(&t, copy);
	tenant_hierarchies(copy, &h);
	if (asprintf(&inside, "/docker/" ID "/%s", copy) >= 0) {
		(void)tenant_parse(inside, &t);
		if (strcmp(t.container_id, ID) != 0 || t.pod_uid[0] || t.slurm_job[0] || t.claimed)
			abort();
		free(inside);
	}
	tenant_choose(copy, path, sizeof(path));
	check_printable(path, sizeof(path));
	memcpy(copy, data, size);
	copy[size] = '\0';
	choose(copy);
	memcpy(copy, data, size);
	copy = realloc(copy, size ? size : 1); /* no byte behind it: a read beyond is seen */
	walk(json_text(copy, size), 0);
	t = (struct tenant){ .container_id = ID };
	(void)kubelet_find(copy, size, &t);
	check_tenant(&t);
	check_printable(t.namespace, sizeof(t.namespace));
	if (kubelet_body(copy, size, &len) && len > size)
		abort();
	free(copy);
	return 0;
}
