// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/cgroup: one line per hierarchy, "4:memory:/docker/ID", "0::/user.slice". */
#include "base/text.h"
#include "base/util.h"
#include "tenant/tenant.h"

/* Of version 1, by preference: containers have a group of their own in most of them. */
static const char *const controllers[] = { "memory", "cpu",     "pids",   "devices",
					   "blkio",  "freezer", "cpuset", "name=systemd" };

#define UNIFIED ARRAY_LEN(controllers)

/* Is the word in a list like "cpu,cpuacct", which ends at a colon? */
static bool listed(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t at = 0; at < len;) {
		size_t part = strcspn(list + at, ",:");

		if (part == n && !strncmp(list + at, word, n))
			return true;
		at += part + 1;
	}
	return false;
}

/* The best controller of a line, UNIFIED, or -1; *ret_path is its path. */
static int rank_of(const char *line, const char **ret_path)
{
	const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	size_t len;

	if (!path)
		return -1;
	len = (size_t)(path - ++list);
	*ret_path = path + 1;
	if (!len)
		return starts_with(line, "0:") ? (int)UNIFIED : -1;
	for (size_t i = 0; i < UNIFIED; i++)
		if (listed(list, len, controllers[i]))
			return (int)i;
	return -1;
}

/* A group that was removed while somebody was in it is still its group. */
static void trim(char *path)
{
	static const char gone[] = " (deleted)";
	size_t len = strlen(path), n = sizeof(gone) - 1;

	if (len > n && streq(path + len - n, gone))
		path[len - n] = '\0';
}

void tenant_choose(char *text, char *dst, size_t cap)
{
	enum tenant_strength best = TENANT_ROOT;
	int best_rank = -1;
	char *next;

	text_safe(dst, cap, "");
	for (char *line = text; line && *line; line = next) {
		enum tenant_strength strength;
		const char *path = NULL;
		struct tenant t;
		int rank;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		trim(line);
		rank = rank_of(line, &path);
		if (rank < 0)
			continue;
		strength = tenant_parse(path, &t);
		if (best_rank >= 0 && (strength < best || (strength == best && rank > best_rank)))
			continue;
		best = strength;
		best_rank = rank;
		text_safe(dst, cap, path);
	}
}

void tenant_hierarchies(const char *text, struct hierarchies *ret)
{
	int best = -1;

	*ret = (struct hierarchies){ 0 };
	for (const char *line = text; line && *line;) {
		const char *path, *next = strchr(line, '\n');
		int rank = rank_of(line, &path);

		if (rank == (int)UNIFIED)
			ret->unified = true;
		else if (rank >= 0 && (best < 0 || rank < best))
			best = rank;
		line = next ? next + 1 : NULL;
	}
	ret->v1 = best >= 0;
	if (ret->v1)
		str_copy(ret->controller, sizeof(ret->controller), controllers[best]);
}
