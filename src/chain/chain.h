/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stops to chains: A waited, B ended that wait, and B itself had waited for C; the time is
 * charged to C. Pure: stops in, pieces out, no I/O, no clock.
 */
#ifndef CHAIN_CHAIN_H
#define CHAIN_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/python.h"

#define HOPS_MAX 8

/* What a hop waited for, once it has a name. */
#define OBJECTS(X)                                                                                 \
	X(none, "")                                                                                \
	X(lock, "a lock")                                                                          \
	X(gil, "Python's interpreter lock")                                                        \
	X(pipe, "a pipe")                                                                          \
	X(tcp, "a connection that it opened")                                                      \
	X(tcp_server, "a connection, or the next one, as the server")                              \
	X(unix_socket, "a local socket")                                                           \
	X(file, "a file")                                                                          \
	X(device, "a device")                                                                      \
	X(events, "one of several")                                                                \
	X(gpu, "a GPU")

enum object {
#define X(id, text) OBJECT_##id,
	OBJECTS(X)
#undef X
		OBJECT_COUNT,
};

/* Who a hop's process is to the one that makes the traced calls. */
#define RELATIONS(X)                                                                               \
	X(self, "the process itself")                                                              \
	X(child, "its child, or a child of that")                                                  \
	X(foreign, "another process")                                                              \
	X(kernel, "the kernel")

enum relation {
#define X(id, text) RELATION_##id,
	RELATIONS(X)
#undef X
		RELATION_COUNT,
};

/*
 * One link of a chain. Hop 0 is the thread that makes the traced calls. Each hop but the last was
 * blocked (`state`) until the next hop ended that. The last hop is where the time was spent: RUN is
 * the thread's own work, a blocked state was ended by `by` (a device, a timer, the kernel, a thread
 * that is on the chain already), PREEMPTED and WAKE by whoever had the CPU (cpu_pid), THROTTLED by a
 * quota. UNKNOWN is a thread that was not followed, or not yet: then the chain is not complete.
 */
struct hop {
	uint32_t serial; /* 0: not followed */
	uint32_t pid, tid;
	char comm[COMM_LEN]; /* of the thread */
	enum state state;
	enum waker by;
	int nr; /* system call; -1: none */
	int irq; /* that ended it, of WAKER_irq, block and net; -1: none */
	int fd;
	uint32_t flags; /* STOP_* */
	uint32_t cpu, cpu_pid;
	uint64_t obj, obj2; /* as in struct stop */
	uint64_t stack; /* of Python, by its content; below STACK_REASONS: why none is known */
	/* Filled in by whoever can look it up: */
	bool calls; /* makes traced calls itself; not stored, as the store knows who does */
	enum object object;
	enum relation relation;
	char name[128]; /* of the object: a path, an address; or of cpu_pid */
	char device[32]; /* whose interrupt that is: "nvme0q3" */
};

struct chain {
	struct hop hop[HOPS_MAX];
	int hops;
	bool complete; /* false: who ended the last wait is known, what he did meanwhile is not */
};

/* A piece of a thread's time, with the chain that it is charged to. */
struct piece {
	uint64_t from_ns, to_ns;
	/* Where a wait went through several lines of code it has a piece for each: the length of all,
	 * the same in each, and whether this one goes on from the one before it. */
	uint64_t whole_ns;
	bool goes_on;
	uint16_t op; /* the place: the outermost traced call, OP_GAP, OP_SLOTS for neither */
	struct chain chain;
};

/* ---- the recent past of every followed thread ---- */

struct timeline;

struct timeline *timeline_new(void);
void timeline_free(struct timeline *t);

/* Names for serials: a hop whose thread is not introduced has no name. */
void timeline_thread(struct timeline *t, uint32_t serial, const struct task_info *info);
bool timeline_knows(const struct timeline *t, uint32_t serial);
void timeline_forget(struct timeline *t, uint32_t serial);

/* From here on the past of a thread is complete. UINT64_MAX: nothing is known of it. */
uint64_t timeline_complete_from(const struct timeline *t, uint32_t serial);

/* Its serial, pid, tid and name, as hops have them. */
void timeline_name(const struct timeline *t, uint32_t serial, struct hop *ret);

/*
 * Stops come roughly in order; those of one thread never overlap, overlays aside. At most 8192 of a
 * thread and 131072 in all are held; the oldest go first, and what needs them is not complete. Looks
 * at a running thread (STOP_SAMPLE) are held as well, as many and no longer. The stacks of a stop are
 * those of struct hop already.
 */
void timeline_add(struct timeline *t, const struct stop *stop);

/* History before this was lost, or is given up: what needs it is not complete. */
void timeline_gap(struct timeline *t, uint64_t ns);
void timeline_prune(struct timeline *t, uint64_t before_ns);

/* Is the thread known that had Python's lock when this wait began? True where nobody had. */
bool timeline_knows_holder(const struct timeline *t, const struct stop *stop);

/* How many stops are held, for the memory account. */
size_t timeline_count(const struct timeline *t);

/*
 * Walk every stop of `serial` inside [from_ns, to_ns] and hand its pieces to fn: the blocked part
 * cascaded along wake-ups, the runnable part to who had the CPU. What an overlay covers of the time
 * between stops is a piece with one hop (GC, RECLAIM). Pieces come in the order of time, do not
 * overlap and, with the thread's own running time, add up to the interval. The piece is borrowed for
 * the call.
 *
 * A stop has at most PIECES_MAX of them. Where there were more, equal chains are joined, and if need
 * be those that differ only in their objects (obj is 0 then), or in these and their stacks (likewise):
 * the sum of each is exact, its place within the stop is not. Chains for which even that leaves no
 * room share the last piece, which is not complete.
 */
#define PIECES_MAX 64

typedef void (*piece_fn)(const struct piece *piece, void *arg);
void chain_walk(const struct timeline *t, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		piece_fn fn, void *arg);

/* The pieces of one stop. */
void chain_of_stop(const struct timeline *t, const struct stop *stop, piece_fn fn, void *arg);

/*
 * A thread's own running between stops and overlays, divided among the looks taken at it. Each look
 * stands for the time next to it in the same stretch of running, LOOK_REACH_NS at most to either side;
 * what is farther from all of them is left out. The run is borrowed for the call.
 */
#define LOOK_REACH_NS 15000000ull

struct run {
	uint64_t from_ns, to_ns;
	uint64_t stack; /* as in struct hop */
	uint16_t op; /* as in struct piece */
	enum state state; /* RUN, GC or FAULT: see STOP_SAMPLE */
	bool look; /* the look itself lies in it */
};

typedef void (*run_fn)(const struct run *run, void *arg);
void chain_runs(const struct timeline *t, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		run_fn fn, void *arg);

/* Same shape: same threads, states, objects and stacks; the id is stable across runs of the agent. */
uint64_t chain_id(const struct chain *c);

/* The same, whatever the stacks are. */
uint64_t chain_bare_id(const struct chain *c);

extern const char *const state_names[STATE_COUNT]; /* as in the store: "futex" */
extern const char *const state_texts[STATE_COUNT]; /* as people read it */
extern const char *const waker_names[WAKER_COUNT];
extern const char *const object_names[OBJECT_COUNT];
extern const char *const relation_names[RELATION_COUNT];

#endif
