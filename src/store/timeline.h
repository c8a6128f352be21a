/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a trace in the order of time, for a timeline: nothing here grows with the number of rows. */
#ifndef STORE_TIMELINE_H
#define STORE_TIMELINE_H

#include "store/store.h"

/* Strings are borrowed for the length of the callback; non-zero from it stops the walk. */

/*
 * What is read from here on is the trace as it is now, even if somebody goes on writing: until
 * store_thaw(). 1: done; 0: it is so already, by whoever writes to it here, and stays so.
 */
int store_freeze(struct store *s);
void store_thaw(struct store *s);

/* In a file of several nodes: what to add to the times of each. In others there is none. */
int store_each_node_clock(struct store *s, int (*fn)(const char *node, int64_t shift_ns, void *),
			  void *arg);

struct process_info {
	int64_t id;
	const char *node, *comm, *cmdline, *cgroup;
	uint32_t pid;
	uint64_t start_ns;
};
/* By id: in the order in which they were seen. */
int store_each_process(struct store *s, struct window w,
		       int (*fn)(const struct process_info *, void *), void *arg);

/* A call or gap as it was stored by itself. */
struct timed_call {
	int64_t thread;
	const char *symbol, *class;
	const char *next; /* of a gap: what ended it; else NULL */
	uint64_t start_ns, dur_ns, because, depth, bytes, stream, usual_ns, stack;
	int64_t ret;
	uint64_t state_ns[STATE_COUNT];
};
/* Those that begin in the window, by start_ns. */
int store_each_timed_call(struct store *s, struct window w,
			  int (*fn)(const struct timed_call *, void *), void *arg);

/* What a stored call is charged to: by thread, then start, then most first. */
struct call_chain {
	int64_t thread, chain;
	const char *symbol;
	uint64_t start_ns, dur_ns, ns;
};
int store_each_call_chain(struct store *s, struct window w,
			  int (*fn)(const struct call_chain *, void *), void *arg);

/* By thread, then start. */
int store_each_single_step(struct store *s, struct window w,
			   int (*fn)(int64_t thread, const struct step *, void *), void *arg);

/* All that is known of one thread between two looks of the agent: sums, not moments. */
#define INTERVAL_PARTS 16 /* most first; what is left is in the rests */

struct interval_wait {
	int64_t chain;
	uint64_t ns, count, max_ns;
};

struct interval_blame {
	uint32_t pid, cpu;
	uint64_t ns;
	char comm[COMM_LEN];
};

struct interval {
	int64_t thread;
	uint64_t at_ns; /* its end */
	uint64_t state_ns[STATE_COUNT]; /* together the time that it accounts for */
	struct interval_wait wait[INTERVAL_PARTS];
	struct interval_blame blame[INTERVAL_PARTS];
	int waits, blames;
	uint64_t rest_waits, rest_wait_ns, rest_blame_ns;
};
/* By thread, then time. */
int store_each_interval(struct store *s, struct window w,
			int (*fn)(const struct interval *, void *), void *arg);

/* "train.py:31 train": of a stack the line that the user wrote; "": none. */
int store_stack_line(struct store *s, uint64_t stack, char *dst, size_t cap);

/* ---- values over time; see read_values.c for the list ---- */

enum value_owner { OWNER_NODE, OWNER_GPU, OWNER_PROCESS, OWNER_THREAD };

struct value_kind {
	enum value_owner owner;
	const char *name, *unit;
	const char *sql; /* owner, label, at_ns, value, node; ?1 and ?2 are the window */
};
extern const struct value_kind value_kinds[]; /* ends with a NULL name */

struct value_row {
	int64_t owner; /* id of a node, GPU, process or thread */
	const char *node; /* of a node; else "" */
	const char *label; /* distinguishes several of an owner; "": there is one */
	uint64_t at_ns;
	double value;
};
/* By owner, then label, then time. */
int store_each_value(struct store *s, struct window w, const struct value_kind *kind,
		     int (*fn)(const struct value_row *, void *), void *arg);

struct gpu_place {
	int64_t id;
	const char *node, *name, *bus_id;
	uint32_t index;
};
int store_each_gpu_place(struct store *s, int (*fn)(const struct gpu_place *, void *), void *arg);

/* ---- things with a beginning and an end; see read_values.c for the list ---- */

struct span_kind {
	const char *track;
	const char *count_name, *value_name, *detail_name; /* what these mean; NULL: nothing */
	/* node, pid, from_ns, to_ns, name, severity, detail, count, value; by node, then from_ns */
	const char *sql;
	bool of_process; /* pid says whose it is; else it is the host's */
};
extern const struct span_kind span_kinds[]; /* ends with a NULL track */

struct span_row {
	const char *node, *name, *severity, *detail;
	uint32_t pid;
	uint64_t from_ns, to_ns, count;
	double value;
};
int store_each_span(struct store *s, struct window w, const struct span_kind *kind,
		    int (*fn)(const struct span_row *, void *), void *arg);

/* ---- collectives, with who came last ---- */

struct met_collective {
	int64_t thread, process;
	const char *symbol;
	uint64_t hash, seq, start_ns, end_ns; /* end: of the wait for it, or of the call */
	int64_t rank, nranks; /* -1: not known */
	uint64_t bytes;
	bool waited, sure; /* for it; it is certain that it was this one */
	/* Of those of its meeting that are stored, by arrival: which one it is, from 1, and how many.
	 * The last one's arrival is told by the clock of this one's node. */
	uint64_t place, places, last_start_ns;
};
/* By thread, then start. */
int store_each_met(struct store *s, struct window w,
		   int (*fn)(const struct met_collective *, void *), void *arg);

#endif
