/* SPDX-License-Identifier: Apache-2.0 */
/* What has been going on since the start, per process: what the live table shows. */
#ifndef AGENT_BOARD_H
#define AGENT_BOARD_H

#include "agent/agent.h"
#include "agent/roster.h"
#include "decode/record.h"

struct board;

struct board *board_new(void);
void board_free(struct board *b);

void board_op(struct board *b, const struct person *p, const struct op_delta *delta);
void board_blame(struct board *b, const struct person *victim, const struct who *who);

/* Forget processes that are gone when there are many: the store has them. */
void board_shrink(struct board *b);

/* Borrowed until the next call of the same function. */
const struct op_live *board_ops(struct board *b, size_t *ret_count);
const struct blame_live *board_blames(struct board *b, size_t *ret_count);

#endif
