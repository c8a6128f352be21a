/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the probes within the budget: a thread that looks four times a second at what they cost and
 * does what capture/budget.h says. A thread of its own, because a storm does not wait until the agent
 * has stored its second.
 */
#ifndef CAPTURE_THROTTLE_H
#define CAPTURE_THROTTLE_H

#include "capture/capture.h"

struct throttle;

/* limit: a share of the traced processes' time; 0: only count. */
int throttle_start(struct capture *c, double limit, struct throttle **ret);

/* The thread is gone when this returns; what was shed is over. Counting goes on. */
void throttle_stop(struct throttle *t);
void throttle_free(struct throttle *t);

/* See capture_spent(), capture_each_shed() and capture_blind(). */
void throttle_spent(struct throttle *t, struct capture_spent *ret);
void throttle_each_shed(struct throttle *t, shed_fn fn, void *arg);
bool throttle_blind(struct throttle *t);

#endif
