// SPDX-License-Identifier: Apache-2.0
/* Which kernels a process launched, and which of its libraries: complete counts, no judgement. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "explain/explain_int.h"

#define SHARES_MAX 512 /* kernels of a process; the rest is one */
#define LIBRARIES_SHOWN 5
#define KERNELS_SHOWN 6
#define NAME_SHOWN 60

/* "/usr/lib/libtorch_cuda.so.2" is libtorch_cuda to people. */
static void library_name(const char *path, char *dst, size_t cap)
{
	const char *slash = strrchr(path, '/');
	char *so;

	text_safe(dst, cap, slash ? slash + 1 : path);
	so = strstr(dst, ".so");
	if (so && so != dst)
		*so = '\0';
}

static void add_share(struct launch_share **list, int *n, const char *name, uint64_t launches)
{
	struct launch_share *to = NULL;

	for (int i = 0; i < *n; i++)
		if (streq((*list)[i].name, name))
			to = &(*list)[i];
	if (!to && *n == SHARES_MAX)
		to = &(*list)[SHARES_MAX - 1];
	if (!to) {
		*list = xrealloc(*list, (size_t)*n + 1, sizeof(**list));
		to = &(*list)[(*n)++];
		*to = (struct launch_share){ 0 };
		str_copy(to->name, sizeof(to->name), name);
	}
	to->launches += launches;
}

static int on_kernel(const struct kernel_info *info, void *arg)
{
	struct explanation *e = arg;
	char name[256];

	for (int i = 0; i < e->summaries; i++) {
		struct summary *s = &e->summary[i];

		if (s->process != info->row.process)
			continue;
		text_safe(name, sizeof(name), info->row.name);
		add_share(&s->kernel, &s->kernels, name, info->launches);
		s->told += info->launches;
		s->named += name[0] ? info->launches : 0;
		library_name(info->row.library, name, sizeof(name));
		add_share(&s->library, &s->libraries, name, info->launches);
	}
	return 0;
}

static int by_launches(const void *x, const void *y)
{
	const struct launch_share *a = x, *b = y;

	if (a->launches != b->launches)
		return a->launches > b->launches ? -1 : 1;
	return strcmp(a->name, b->name);
}

int add_kernels(struct store *s, struct explanation *e)
{
	int err = store_each_kernel(s, e->window, on_kernel, e);

	for (int i = 0; i < e->summaries; i++) {
		struct summary *sum = &e->summary[i];

		if (sum->kernels)
			qsort(sum->kernel, (size_t)sum->kernels, sizeof(*sum->kernel), by_launches);
		if (sum->libraries)
			qsort(sum->library, (size_t)sum->libraries, sizeof(*sum->library),
			      by_launches);
	}
	return err;
}

void print_kernels(const struct summary *s, bool in_full, FILE *out)
{
	char n[UNITS_CAP];

	if (!s->told)
		return;
	fputs("  launches:", out);
	for (int i = 0; i < s->libraries && i < LIBRARIES_SHOWN; i++) {
		const struct launch_share *l = &s->library[i];

		fprintf(out, "%s %.0f %% %s", i ? "," : "", percent(l->launches, s->told),
			l->name[0] ? l->name : "from an unknown library");
	}
	fprintf(out, "; %.1f %% of %s have a kernel's name\n", percent(s->named, s->told),
		format_count(n, sizeof(n), s->told));
	for (int i = 0; in_full && i < s->kernels && i < KERNELS_SHOWN; i++) {
		const struct launch_share *k = &s->kernel[i];

		fprintf(out, "    %5.1f %%  %8s  %.*s%s\n", percent(k->launches, s->told),
			format_count(n, sizeof(n), k->launches), NAME_SHOWN,
			k->name[0] ? k->name : "(name not known)",
			strlen(k->name) > NAME_SHOWN ? "..." : "");
	}
}

static void json_shares(struct json *j, const char *key, const struct launch_share *list, int n)
{
	json_open(j, key, '[');
	for (int i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		if (list[i].name[0])
			json_str(j, "name", list[i].name);
		else
			json_null(j, "name");
		json_u64(j, "launches", list[i].launches);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_kernels(struct json *j, const struct summary *s)
{
	json_open(j, "kernels", '{');
	json_u64(j, "launches", s->told);
	json_u64(j, "named", s->named);
	json_shares(j, "by_kernel", s->kernel, s->kernels);
	json_shares(j, "by_library", s->library, s->libraries);
	json_close(j, '}');
}
