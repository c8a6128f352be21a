/* SPDX-License-Identifier: Apache-2.0 */
/* The stops of calling threads, charged along wake-ups to what caused them, second by second. */
#ifndef AGENT_WAITS_H
#define AGENT_WAITS_H

#include "agent/blamed.h"
#include "agent/lines.h"
#include "agent/roster.h"
#include "capture/capture.h"
#include "chain/chain.h"

struct waits;

struct waits *waits_new(struct capture *capture, struct lines *lines);
void waits_free(struct waits *w);

/*
 * Read the stops since the last time and charge those of threads in the roster. Processes that were
 * seen to wake a followed thread are followed themselves from then on.
 */
void waits_read(struct waits *w, const struct roster *roster);

/* Stops held at the moment: what this costs in memory. */
size_t waits_held(const struct waits *w);

/* Everything before this moment (boot time) has been read. */
uint64_t waits_until(const struct waits *w);

/* Store what was charged since the last time. The first error is returned, the rest is tried. */
int waits_store(struct waits *w, const struct roster *roster, struct blamed *blamed,
		struct store *store, uint64_t now);

void waits_thread(struct waits *w, uint32_t serial, const struct task_info *info);
void waits_exit(struct waits *w, uint32_t serial);

/* What people call a process; `fallback` when it is gone. */
const char *waits_process(struct waits *w, uint32_t pid, const char *fallback);

/* The chains that one span of a thread is charged to, longest first; at most cap of them. */
struct share {
	struct chain chain;
	uint64_t ns, count, max_ns;
};
size_t waits_of_span(struct waits *w, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		     struct share *ret, size_t cap);

/*
 * Every piece of a span with its chain, named; running is a chain of one hop as well, and so is what
 * is not known. They add up to the span. The chain is borrowed for the call.
 */
typedef void (*walk_fn)(const struct chain *chain, uint64_t ns, void *arg);
void waits_walk(struct waits *w, uint32_t serial, uint64_t from_ns, uint64_t to_ns, walk_fn fn,
		void *arg);

#endif
