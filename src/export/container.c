// SPDX-License-Identifier: Apache-2.0
/* Which control groups belong to a container, by the paths that runtimes give them. */
#include <ctype.h>
#include <string.h>

#include "export/export.h"

static bool is_id(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)s[i]) && s[i] != '-' && s[i] != '_')
			return false;
	return true;
}

/*
 * One part of the path: "docker-4f3a9c.scope", "crio-4f3a9c", "4f3a9c", "job_17". Either all of it, or
 * without what runtimes put around an id, of which the beginning is enough.
 */
static bool part_matches(const char *part, size_t len, const char *want)
{
	size_t n = strlen(want), from = 0;

	if (len == n && !strncmp(part, want, n))
		return true;
	if (len > 6 && !strncmp(part + len - 6, ".scope", 6))
		len -= 6;
	for (size_t i = 0; i < len; i++)
		if (part[i] == '-' || part[i] == ':')
			from = i + 1;
	if (len - from == n && !strncmp(part + from, want, n))
		return true;
	return n >= CONTAINER_ID_MIN && len - from > n && is_id(part + from, len - from) &&
	       !strncmp(part + from, want, n);
}

bool export_in_container(const char *cgroup, const char *container)
{
	while (*cgroup) {
		size_t len = strcspn(cgroup, "/");

		if (len && part_matches(cgroup, len, container))
			return true;
		cgroup += len;
		cgroup += *cgroup == '/';
	}
	return false;
}
