// SPDX-License-Identifier: Apache-2.0
/* The table of carried files; their bytes come from assets.S. */
#include "cmd/assets.h"

#include <stddef.h>

#define ASSET(symbol, name) extern const char symbol##_start[], symbol##_end[];
#include "cmd/assets.def"

const struct asset assets[] = {
#define ASSET(symbol, name) { name, symbol##_start, symbol##_end },
#include "cmd/assets.def"
	{ NULL, NULL, NULL },
};
