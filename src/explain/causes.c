// SPDX-License-Identifier: Apache-2.0
/* The closed list of causes, by name. */
#include "explain/explain.h"

enum { now = true, later = false };

const struct cause causes[] = {
#define X(id, when, name, text) { name, text, when },
	CAUSES(X)
#undef X
		{ NULL, NULL, false },
};

const char *cause_name(enum cause_id cause)
{
	return cause > CAUSE_none && cause < CAUSE_COUNT ? causes[cause - 1].id : "none";
}
