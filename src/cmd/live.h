/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent sees right now: a table that redraws itself, a table at the end, or JSON lines. */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include "agent/agent.h"

enum live_mode { LIVE_PLAIN, LIVE_SCREEN, LIVE_JSON };

struct live;

struct live *live_new(enum live_mode mode);
void live_free(struct live *l);

void live_start(struct live *l, struct agent *a);
void live_update(struct live *l, struct agent *a); /* once a second */

/* As they happen: lines below the table, lines of text, or lines of JSON. */
void live_stall(const struct stall *stall, void *live);
void live_incident(const struct finding *finding, void *live);

void live_end(struct live *l, struct agent *a); /* after agent_stop() */

#endif
