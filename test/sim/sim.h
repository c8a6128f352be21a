/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU made of clocks: what the generated libraries and the programs that use them agree on. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>

#include "wire/ops.h"

#define SIM_ARGS 13 /* as many as the longest signature passes */
#define SIM_EXPORT __attribute__((visibility("default")))

/* As every generated entry point looks to its caller. */
typedef int (*sim_entry)(long, long, long, long, long, long, long, long, long, long, long, long,
			 long);

extern const struct op sim_rows[OP_COUNT];
extern const struct op_shape sim_shapes[OP_COUNT];

/* The row whose symbol is the len bytes at name, or -1. */
int sim_find(const char *name, unsigned long len);

/* What each entry point does: count, then fail or behave as its row says. Returns a CUDA error. */
int sim_call(enum op_id id, const long args[SIM_ARGS]);

/* Let libcuda do the work of a libcudart row. False: no driver row matches, *ret is untouched. */
bool sim_driver_call(enum op_id id, const long args[SIM_ARGS], int *ret);

/* ---- nccl.c: ranks that meet; sim.c has the streams that they wait on */

struct sim_room; /* what the ranks of a communicator share */

/* The work of a stream in front of a collective: done at own_end_ns, or since_ns after the one before. */
struct sim_queued {
	long own_end_ns, since_ns;
};

int sim_nccl(enum op_id id, const long *args); /* communicators and groups; an error of NCCL */
long sim_nccl_bytes(enum op_id id, const long *args);
bool sim_nccl_meets(enum op_id id, const long *args, long dur_ns); /* false: with nobody */
long sim_meet_end(struct sim_room *room, long seq); /* waits until all have come */
void sim_queue_meet(long stream, struct sim_room *room, long seq, struct sim_queued *ret);
long sim_now_ns(void);
long sim_meet_ns(void); /* nobody waits longer for the others */
void sim_doze(void); /* once in a loop that waits for another rank */

/* Exported by each library; any of them speaks for the whole process. */

/* Set a knob of README.md by its environment name. Returns 0 or -EINVAL, and changes nothing. */
SIM_EXPORT int sim_set(const char *name, const char *value);

/* How often this process called symbol, failures included; -1 if there is no such symbol. */
SIM_EXPORT long sim_counter(const char *symbol);

/* The state that the libraries of one process share. */
struct sim_device;
SIM_EXPORT struct sim_device *sim_device(void);

#endif
