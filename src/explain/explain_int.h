/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make an explanation and those that print it. */
#ifndef EXPLAIN_EXPLAIN_INT_H
#define EXPLAIN_EXPLAIN_INT_H

#include "base/json.h"
#include "explain/facts.h"

/* book.c: the stacks of a trace, each read once. */
struct book *book_new(struct store *s);
void book_free(struct book *b);
int book_read(struct book *b, uint64_t id); /* one that is not stored is no error */
const struct stack *book_find(const struct book *b, uint64_t id);

/* The frame that stands for a stack; NULL: none does, and *ret_why says why. Borrowed from b. */
const struct frame *book_line(const struct book *b, uint64_t id, enum no_stack *ret_why);

/* lines.c: where in the code each finding was, and its culprits; lost time by line. */
int add_lines(struct store *s, const struct facts *f, struct explanation *e);
/* checkpoints.c: where the file that was waited for is one; when all else is done. */
int name_checkpoints(struct store *s, struct explanation *e);

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

/* gpus.c: how the GPUs were, and their errors. */
void add_gpus(const struct facts *f, struct explanation *e);

/* print_gpu.c */
void print_gpus(const struct explanation *e, FILE *out);
void json_gpus(struct json *j, const struct explanation *e);

/* straggler.c: why a rank is late, and its place among the findings, which are ranked already. */
void add_own_causes(const struct facts *f, struct explanation *e);
void lift_stragglers(struct explanation *e);

/* idle.c: what the GPU waited for, of the threads [first, first + n). */
void add_idle(const struct facts *f, const struct thread_facts *first, int n, struct summary *sum);
void idle_part_of(const struct chain *c, struct idle_part *ret);

/* kernels.c: what each process launched, and which of its libraries. */
int add_kernels(struct store *s, struct explanation *e);
void print_kernels(const struct summary *s, bool in_full, FILE *out);
struct json;
void json_kernels(struct json *j, const struct summary *s);

/* memory.c */
struct memory_point {
	uint64_t at_ns, bytes; /* so much from then on */
};
double memory_growth(const struct memory_point *p, int n,
		     struct window w); /* bytes a minute; 0: no */
int add_memory(struct store *s, struct explanation *e);
void print_memory(const struct summary *s, FILE *out);
void json_memory(struct json *j, const struct summary *s);

/* print_cost.c */
void print_cost(const struct explanation *e, FILE *out);
void print_shed(const struct explanation *e, FILE *out);
void json_cost(struct json *j, const struct explanation *e);
void json_shed(struct json *j, const struct explanation *e);

/* shed.c */
int add_shed(struct store *s, struct explanation *e);

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

/* "forward() at train.py:142", or why it is not known. Returns dst. */
char *line_text(const struct line *line, const char *python_note, char *dst, size_t cap);
const char *line_why(const struct line *line, const char *python_note);

/* print_json_rank.c: "because", of a straggler. */
struct json;
void json_own_cause(struct json *j, const struct finding *f);

/* print_json_disk.c: what a disk did for the file, where it is known. */
void json_disk(struct json *j, const struct finding *f);

/* print_lines.c: parts of the text. */
void print_where(const struct finding *f, FILE *out);
void print_stacks(const struct explanation *e, const struct finding *f, FILE *out);
void print_by_line(const struct explanation *e, FILE *out);
void print_lines_known(const struct explanation *e, FILE *out);
const char *print_at(const struct line *line, char *dst, size_t cap); /* ", f() at x.py:1", or "" */

/* Of threads that run Python: stored calls and waiting time, and how much of it has a stack. */
struct lines_known {
	uint64_t calls, wait_ns;
	double calls_pct, wait_pct;
};
struct lines_known lines_known(const struct explanation *e);

/* "waited 3.1 s on a pipe", without the number: what this hop did, and on what. */
void hop_what(const struct chain *c, int h, char *dst, size_t cap);

/* print_text.c: what every answer in words begins and ends with. */
void print_heading(const struct explanation *e, FILE *out);
void print_loss(const struct explanation *e, FILE *out);

#endif
