/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of several nodes, seen as a whole or as one of them. Rows keep the time of their node's clock;
 * where the clocks differ, what is to be added is added here, when they are read.
 */
#ifndef STORE_SCOPE_H
#define STORE_SCOPE_H

#include "store/store.h"

/* Every node with a run, by name. Non-zero from fn stops and is returned. */
int store_each_node(struct store *s, int (*fn)(int64_t node, const char *name, void *arg),
		    void *arg);

/*
 * From now on the tables have the rows of this node only, 0: of all. Communicators, their collectives and
 * ranks are always of all: that is where nodes meet.
 */
int store_scope(struct store *s, int64_t node);

#endif
