/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to names: what a hop waited for, who had the CPU, who is whose child. */
#ifndef AGENT_NAMING_H
#define AGENT_NAMING_H

#include "agent/roster.h"
#include "capture/capture.h"
#include "chain/chain.h"

struct naming;

struct naming *naming_new(struct capture *capture);
void naming_free(struct naming *n);

/* Parentage as the kernel told it: it stays known when the process is gone. */
void naming_thread(struct naming *n, const struct task_info *info);

/* Fill in object, relation, name and device of every hop, and whether its thread is in the roster. */
void naming_fill(struct naming *n, struct chain *chain, const struct roster *roster);

/* What people call a process: the name of its main thread. `fallback` when it is gone. */
const char *naming_process(struct naming *n, uint32_t pid, const char *fallback);

#endif
