/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of code: what the probes tell of stacks, and the stacks that rows of the store need. */
#ifndef AGENT_LINES_H
#define AGENT_LINES_H

#include "chain/chain.h"
#include "stack/stack.h"
#include "store/store.h"

struct lines;

/* on: false makes one that knows no stack and takes no news. */
struct lines *lines_new(bool on);
void lines_free(struct lines *l);

/* Brings what is waiting in the ring of news, each record to lines_news(). */
typedef void (*lines_fetch_fn)(struct lines *l, void *arg);
void lines_source(struct lines *l, lines_fetch_fn fetch, void *arg);

/* One record of that ring; `lines` is the struct lines. */
void lines_news(const void *record, size_t size, void *lines);

/*
 * From the id that the probes gave to the id of the content, with the native frames of the call from
 * `site` (0: no call) where these are known. A reason stays what it is; NO_STACK_lost: never heard of.
 */
uint64_t stack_content(const struct stacks *stacks, uint64_t id, uint64_t site);

/* The same, and what is not known yet is fetched first: its news may still be in the ring. */
uint64_t lines_stack(struct lines *l, uint64_t id, uint64_t site);

/*
 * Write what this row needs, once. A stack that cannot be written (it is gone, or too many were new in
 * this second) becomes the reason for having none.
 */
int lines_store(struct lines *l, struct store *store, uint64_t *stack);
int lines_store_chain(struct lines *l, struct store *store, struct chain *chain, int64_t *ret);

/* The store gave up what was not committed. */
void lines_rollback(struct lines *l);

/* The innermost line that the user wrote; NULL: not known. Borrowed until the next lines_turn() but one. */
const struct frame *lines_frame(const struct lines *l, uint64_t id);

/* "forward() at train.py:142", or "" where that is not known. Returns dst. */
char *lines_say(const struct lines *l, uint64_t id, char *dst, size_t cap);

/* The process is gone: what it had mapped says nothing about the next one of that number. */
void lines_gone(struct lines *l, uint32_t pid);

/* Symbols of processes, whether lines are wanted or not. Borrowed until the next call of any of these. */
struct native;
struct native *lines_native(struct lines *l);

/* Once a second. */
void lines_tick(struct lines *l);

/*
 * True: soon too much is held. The caller lets the probes tell everything anew, brings what they had told
 * until then, and calls lines_turn(): what is known so far still is until the next time.
 */
bool lines_filling(const struct lines *l);
void lines_turn(struct lines *l);

/* Rows whose stack was not stored, because too many were new in one second. */
uint64_t lines_skipped(const struct lines *l);

#endif
