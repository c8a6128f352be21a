// SPDX-License-Identifier: Apache-2.0
/* The closed list of causes, by name. */
#include "explain/explain.h"

const struct cause causes[] = {
#define X(id, name, text) { name, text },
	CAUSES(X)
#undef X
		{ NULL, NULL },
};

const char *cause_name(enum cause_id cause)
{
	return cause > CAUSE_none && cause < CAUSE_COUNT ? causes[cause - 1].id : "none";
}
