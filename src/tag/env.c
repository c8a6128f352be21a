// SPDX-License-Identifier: Apache-2.0
/* CULPRIT_TAG of a process that was there before the agent; nothing else of its environment is looked at. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "tag/tag.h"

#define READ_MAX (256u << 10)

int tag_env_parse(const char *bytes, size_t len, char ret[TAG_LABEL_MAX])
{
	const size_t n = strlen(TAG_ENV);

	for (size_t at = 0; at < len;) {
		const char *var = bytes + at;
		size_t size = strnlen(var, len - at);

		at += size + 1;
		if (size <= n || memcmp(var, TAG_ENV, n) != 0 || var[n] != '=')
			continue;
		/* Cut as the probes cut it: the tag must be the same. */
		size = min_u64(size - n - 1, TAG_LABEL_MAX - 1);
		memcpy(ret, var + n + 1, size);
		ret[size] = '\0';
		return size ? 0 : -ENODATA;
	}
	return -ENODATA;
}

int tag_env_read(int pid, char ret[TAG_LABEL_MAX])
{
	char path[40], *bytes;
	size_t len = 0;
	ssize_t got;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	bytes = xcalloc(1, READ_MAX);
	while (len < READ_MAX && (got = read(fd, bytes + len, READ_MAX - len)) > 0)
		len += (size_t)got;
	close(fd);
	err = tag_env_parse(bytes, len, ret);
	explicit_bzero(bytes, len); /* it may hold secrets */
	free(bytes);
	return err;
}
