// SPDX-License-Identifier: Apache-2.0
/* Fuzz the environment of a process: any bytes, no numbers but those that are asked for. */
#include <stdlib.h>
#include <string.h>

#include "capture/environ.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1); /* no byte behind it: a read beyond is seen */
	struct rank_env e;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy = realloc(copy, size ? size : 1);
	rank_env_parse(copy, size, &e);
	if (e.rank < -1 || e.world < -1 || e.local_rank < -1 || e.rank > 99999999)
		abort();
	if ((e.rank < 0) != !e.from[0] || (e.rank < 0 && (e.world >= 0 || e.local_rank >= 0)))
		abort();
	free(copy);
	return 0;
}
