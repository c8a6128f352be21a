/* SPDX-License-Identifier: Apache-2.0 */
/* Inside capture/: its state, shared by the files that load, attach and read. */
#ifndef CAPTURE_CAPTURE_INT_H
#define CAPTURE_CAPTURE_INT_H

#include <bpf/libbpf.h>
#include <pthread.h>

#include "capture/capture.h"
#include "capture/throttle.h"
#include "capture/watch.h"
#include "wire/row.h"

#include "probe.skel.h"

#define DRAIN_PIDS 256

/* As in probe/sched.bpf.h. */
struct history_head {
	uint64_t count, writing;
	uint64_t pad[6];
};

/* Looks at one CPU, many times a second. */
struct sampler {
	struct bpf_link *link; /* NULL: none */
	int fd; /* the link's */
	bool on;
	uint32_t arrivals; /* as in struct cpu_row, when it was last looked at */
	uint64_t used_ns; /* somebody whom we follow was there */
};

struct capture {
	struct capture_opts opts;
	struct probe *probe;
	struct ring_buffer *ring, *news, *nccl, *kernel_names;
	struct sampler *samplers; /* one per CPU */
	uint64_t adopted_sampled; /* so many threads were followed when these were looked at */
	struct bpf_link *at_exit; /* of threads; outlives the others, until we have settled */
	/* The kernel's, mapped: */
	struct tally *tallies;
	struct tape *tapes;
	struct beat *beats;
	struct kernel_cell *cells;
	struct stop *history;
	struct history_head *heads;
	struct cpu_cost *costs;
	uint32_t history_size; /* per CPU */
	int cpus, cpus_online;
	uint64_t *history_read; /* per CPU: so many were taken, */
	uint64_t *history_head; /* ... and so many are to be taken in this visit */
	uint64_t beats_read[TAPES];
	uint64_t history_lost, beats_lost;
	struct libs *libs;
	struct gc_probes *gc; /* the interpreters' garbage collectors */
	struct frees *frees; /* the interpreters' code objects */
	struct watch *watch;
	struct throttle *throttle;
	struct guard *guard;
	struct capture_cost cost;
	uint64_t rescan_at, drain_at;
	struct {
		int pid;
		uint64_t inode;
		char path[256];
	} mapped[DRAIN_PIDS]; /* since the last look: one per process and file */
	int mappings;
	capture_fn fn, name_fn;
	void *arg, *name_arg;
	unsigned taken; /* records, in this visit to the ring, */
	uint64_t take_until; /* ... which ends then */
	pthread_t detacher[3];
	struct libs *detaching;
	bool detacher_runs[3];
	bool detached, behind;
};

/* Launches that are put down at the moment: see probe/row.bpf.h. */
uint64_t capture_put_down(const struct capture *c);

/* From now on each launch is looked at by itself, or not at all; or they may be put down again. */
void capture_close_rows(struct capture *c, bool closed);

/* Detaching takes a while; what comes from now on does not count. */
void capture_stop_counting(struct capture *c);

/* Map what the kernel lets us read without system calls, and fill the lists of free places. */
int capture_map(struct capture *c);

/* What is needed to walk Python's stacks; nothing where they are not wanted. */
int capture_open_stacks(struct capture *c);

/* Look at what runs, many times a second on each CPU. Without it running time has no lines. */
void capture_sample(struct capture *c);
void capture_stop_sampling(struct capture *c);

/* CPUs where nobody is followed are left asleep. Often. */
void capture_tune_sampling(struct capture *c, uint64_t now);

/* What is needed to name kernels. */
int capture_open_kernels(struct capture *c);

/* capture_choose.c: load what this kernel has tracepoints for. */
void capture_choose_tracepoints(struct probe *p);

/* Which control groups the probes tell. */
void capture_choose_groups(struct probe *p);

void capture_unmap(struct capture *c);

#endif
