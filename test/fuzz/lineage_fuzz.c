// SPDX-License-Identifier: Apache-2.0
/* Anything as a record of the storage probes, and as a line of a process's mounts. */
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[LINEAGE_PATH], *copy = malloc(size + 1);
	struct mount mount;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	copy[size] = '\0';
	(void)mount_parse(copy, &mount);
	if (!lineage_check(copy, size)) {
		struct lineage_name name;
		uint32_t kind;

		memcpy(&kind, copy, sizeof(kind));
		if (kind == LINEAGE_NAME) {
			struct paths *paths = paths_new();
			struct lineage_key key;

			memcpy(&name, copy, sizeof(name));
			key = (struct lineage_key){ .ino = name.ino,
						    .fs_dev = name.fs_dev,
						    .gen = name.gen };
			paths_add(paths, &name);
			(void)paths_find(paths, &key, path, sizeof(path));
			paths_free(paths);
		}
	}
	free(copy);
	return 0;
}
