// SPDX-License-Identifier: Apache-2.0
/* Processes that went to another control group. */
#include "agent/agent_int.h"

static void on_moved(uint32_t pid, const struct told_group *group, void *arg)
{
	struct agent *a = arg;

	agent_stored(a, roster_moved(a->roster, pid, group));
	blamed_forget_one(a->blamed, pid); /* told anew when it is to blame again */
}

void agent_note_moves(struct agent *a)
{
	capture_each_moved(a->capture, on_moved, a);
}

const char *agent_tenant(struct agent *a, uint32_t pid)
{
	return a->tenants ? tenants_label(a->tenants, pid) : "";
}
