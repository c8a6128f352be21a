/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make an explanation and those that print it. */
#ifndef EXPLAIN_EXPLAIN_INT_H
#define EXPLAIN_EXPLAIN_INT_H

#include "explain/facts.h"

/* effect.c: rows of `call` that carry the findings, and what they did to the thread's calls. */
int add_evidence(struct store *s, const struct facts *f, struct explanation *e);
int add_effects(struct store *s, const struct facts *f, struct explanation *e);

/* summary.c: one more process, of the threads [first, first + n). */
void summarise(const struct facts *f, const struct thread_facts *first, int n,
	       struct explanation *e);
void summary_release(struct summary *s);

/* cgroups.c: the container that a control group belongs to, "4f2a9c0e11d3"; "" is none. */
const char *container_of(const char *cgroup, char *dst, size_t cap);

/* happenings.c */
void add_happenings(const struct facts *f, struct explanation *e);
void happening_what(const struct happening *h, char *dst, size_t cap);

/* idle.c: what the GPU waited for, of the threads [first, first + n). */
void add_idle(const struct facts *f, const struct thread_facts *first, int n, struct summary *sum);
void idle_part_of(const struct chain *c, struct idle_part *ret);

/* open.c */
int add_open(struct store *s, const struct facts *f, struct explanation *e);

/* words.c: how things are said, in text and in JSON. */
/* "stress (pid 12)", or "interrupts". */
const char *name_who(const char *comm, uint32_t pid, char *dst, size_t cap);
extern const char *const evidence_names[];
const char *thing_key(const struct thing *thing); /* its member of "object" */

/* Where the time of a thread goes, in groups that people understand; sums of states. */
struct group {
	const char *name, *text;
	uint32_t states; /* bits; outside of synchronising calls */
};
extern const struct group groups[];
uint64_t group_ns(const struct summary *s, const struct group *g);

/* "waited 3.1 s on a pipe", without the number: what this hop did, and on what. */
void hop_what(const struct chain *c, int h, char *dst, size_t cap);

#endif
