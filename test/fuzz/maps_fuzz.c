// SPDX-License-Identifier: Apache-2.0
/* Any text as a maps file: lines make sense, and paths stay inside the text. */
#include "capture/maps.h"

#include <stdlib.h>
#include <string.h>

#include "wire/ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct text {
	const char *start, *end;
};

static int check(const struct map_line *line, void *arg)
{
	const struct text *t = arg;
	int lib = maps_lib(line->path);

	if (line->start >= line->end || line->path < t->start || line->path > t->end ||
	    line->path + strlen(line->path) > t->end || lib < -1 || lib >= LIB_COUNT)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(1, len + 1);
	struct text t = { text, text + len };

	memcpy(text, data, len);
	(void)maps_lib(text);
	if (maps_parse(text, check, &t))
		abort();
	free(text);
	return 0;
}
