// SPDX-License-Identifier: Apache-2.0
/* The part of a finding's JSON that is about ranks. */
#include "base/json.h"
#include "base/util.h"
#include "explain/explain_int.h"

/* What makes the straggler late: its own finding. */
void json_own_cause(struct json *j, const struct finding *f)
{
	if (!streq(f->cause, cause_name(CAUSE_straggler)))
		return;
	if (!f->own.cause) {
		json_null(j, "because");
		return;
	}
	json_open(j, "because", '{');
	json_str(j, "cause", f->own.cause);
	json_str(j, "title", f->own.title);
	json_u64(j, "lost_ns", f->own.lost_ns);
	json_close(j, '}');
}
