/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside export/: a timeline in the making. Who is shown, which tracks there are, and where on them
 * there is room; shared by the files that each put one kind of thing on it.
 */
#ifndef EXPORT_TIMELINE_H
#define EXPORT_TIMELINE_H

#include "export/export.h"
#include "export/sink.h"
#include "store/timeline.h"
#include "tenant/list.h"

#define LANES_MAX 8 /* side by side, where slices overlap */
#define DEPTH_MAX 64 /* slices inside one another */
#define TRACKS_MAX 200000

/* Room for slices of one kind: as many tracks as it takes so that none overlaps another. */
struct lanes {
	struct track def; /* id: of the first track; 0: nothing was put there yet */
	char *name; /* of all of them */
	struct {
		uint64_t track, last_ns; /* last: beginning of a slice */
		uint64_t *end; /* of the slices that are open, innermost last */
		int depth, cap;
	} lane[LANES_MAX];
	int count;
};

struct tl_node {
	char name[65];
	uint64_t track; /* 0: not yet */
	int64_t shift_ns; /* what its clock is behind the others */
};

struct tl_process {
	int node; /* index */
	uint32_t pid, shown_pid; /* shown: another one where somebody has it already */
	uint64_t start_ns;
	char comm[COMM_LEN];
	char *cmdline;
	int64_t rank; /* -1: not known */
	uint64_t track; /* 0: not yet */
	bool traced; /* else it is only on chains */
	bool selected; /* by the options */
};

struct tl_thread {
	int process; /* index */
	uint32_t tid;
	char comm[COMM_LEN];
	struct lanes *calls; /* NULL: not yet */
};

struct timeline_out {
	struct store *store;
	const struct export_opts *opts;
	struct window w; /* as asked for, but not before there is anything */
	uint64_t end_ns; /* where it ends, or the trace does */
	struct sink sink;
	uint64_t tracks, flows;
	uint64_t hidden; /* slices for which there was no room */
	struct tl_node *node;
	struct tl_process *process;
	struct tl_thread *thread;
	int nodes, processes, threads;
	struct hash *process_rows, *thread_rows; /* row id -> index + 1 */
	struct hash *by_pid; /* node and pid -> the latest process + 1 */
	struct hash *by_tid; /* process and tid -> thread + 1 */
	struct hash *taken; /* pids and tids that are shown */
	struct tenant_list tenants; /* where one of them is asked for, */
	struct tenant_choice tenant; /* ... which it is */
	struct hash *kinds; /* parent and name -> struct lanes * */
	struct hash *ids; /* the same -> track of a group or counter */
	uint32_t made_up; /* pids */
	uint64_t last_progress_ns, asked;
	int stopped; /* what opts->progress said */
};

/* ---- tracks.c ---- */

/* Read who was there. -ENODATA: nobody whom the options ask for; why() names who else. */
int tl_begin(struct timeline_out *t);
void tl_release(struct timeline_out *t);

/* NULL: not selected, or not stored. */
struct tl_thread *tl_thread(struct timeline_out *t, int64_t row);
struct tl_process *tl_process(struct timeline_out *t, int64_t row);
struct tl_process *tl_process_of(struct timeline_out *t, const struct tl_thread *thread);

/* Somebody on this node, who is made up where he is not traced; never NULL. comm: of a new one. */
struct tl_process *tl_anyone(struct timeline_out *t, int node, uint32_t pid, const char *comm);
struct tl_thread *tl_any_thread(struct timeline_out *t, int node, uint32_t pid, uint32_t tid,
				const char *comm);

int tl_node(struct timeline_out *t, const char *name); /* index; made if need be */
uint64_t tl_node_track(struct timeline_out *t, int node);
uint64_t tl_process_track(struct timeline_out *t, struct tl_process *p);
uint64_t tl_thread_track(struct timeline_out *t, struct tl_thread *thread);
/* Does anybody of this node remain? */
bool tl_node_selected(const struct timeline_out *t, int node);

/* A group below a node: made on first sight, then the same. 0: there are too many. */
uint64_t tl_group(struct timeline_out *t, uint64_t parent, const char *name);
uint64_t tl_counter(struct timeline_out *t, uint64_t parent, const char *name, const char *unit);
struct lanes *tl_lanes(struct timeline_out *t, uint64_t parent, const char *name);

/*
 * Put a slice where it overlaps none, inside those that are around it; m->track is set. Slices of a
 * `lanes` come in the order of from_ns. False: there was no room, which is counted.
 */
bool tl_place(struct timeline_out *t, struct lanes *l, struct mark *m);

/* Begin a new sequence, of times of this node: they may go back. */
void tl_sequence(struct timeline_out *t, int node);
void tl_thread_sequence(struct timeline_out *t, const struct tl_thread *thread);

/* Say how far it is; non-zero: stop. */
int tl_progress(struct timeline_out *t, uint64_t at_ns);

/* ---- one file for each kind of thing ---- */

int tl_calls(struct timeline_out *t); /* with GPU queues */
int tl_steps(struct timeline_out *t);
int tl_intervals(struct timeline_out *t); /* states and waits, by second */
int tl_call_chains(struct timeline_out *t);
int tl_values(struct timeline_out *t);
int tl_spans(struct timeline_out *t);
int tl_findings(struct timeline_out *t);
int tl_collectives(struct timeline_out *t);

#endif
