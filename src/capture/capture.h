/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the probes, attaches them to every process that maps a traced library, now or later, and
 * hands over what they saw. The only module that speaks BPF. One capture belongs to one thread.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/budget.h"
#include "capture/libs.h"
#include "capture/link.h"
#include "wire/event.h"
#include "wire/kernels.h"
#include "wire/memory.h"
#include "wire/nccl.h"
#include "wire/python.h"
#include "wire/tenant.h"

struct capture;

typedef void (*capture_fn)(const void *bytes, size_t len, void *arg);
typedef void (*process_fn)(struct capture *c, int pid, void *arg);

#define CAPTURE_SLOW_NS 1000000ull

struct capture_opts {
	int only_pid; /* 0: all */
	uint64_t slow_ns; /* 0: CAPTURE_SLOW_NS */
	uint64_t ring_bytes; /* 0: 1 MiB, or 16 MiB with record_all */
	bool record_all;
	bool launch_times; /* of launches, fills and events: needs ATTACH_SESSION */
	double budget; /* what may be taken of the traced processes' time; 0: no limit */
	bool no_stack; /* Python stacks are not looked at */
	enum attach_mode mode; /* ATTACH_AUTO: the best that works */
	libs_fn on_lib; /* hears of each (process, library) pair; may be NULL */
	process_fn on_process; /* hears of each process before its first call; may be NULL */
	capture_fn on_news; /* hears of code objects and stacks: see wire/python.h; may be NULL */
	capture_fn
		on_nccl; /* hears of communicators and collectives: see wire/nccl.h; may be NULL */
	void *arg; /* of all of these */
};

/* Load, attach, look for processes. *ret is set only on success. */
int capture_open(const struct capture_opts *opts, struct capture **ret);

/* May we trace at all, with the rights that we have? Cheaper than capture_open(), leaves nothing. */
int capture_allowed(void);

/* Would capture_open() get through the kernel's checks? Loads the probes, attaches nothing. */
int capture_try(void);

/* Detach and free. NULL is fine. */
void capture_close(struct capture *c);

/* What the agent took to start, other probes included, is no cost of every second. */
void capture_started(struct capture *c);

/*
 * Stop counting at once and begin to detach; capture_wait_detached() returns when that is done, and
 * then the counts are final. The maps can be read until capture_close().
 */
void capture_detach(struct capture *c);
void capture_wait_detached(struct capture *c);

/*
 * When all is detached: count what was going on at `ns`, when counting stopped. Calls, gaps and
 * stops that were not over then are handed over like others, marked as open.
 */
void capture_settle(struct capture *c, uint64_t ns);

enum attach_mode capture_mode(const struct capture *c);

/* What one probe hit costs on this host, measured at start. 0: not known. */
struct capture_cost {
	uint64_t count_ns; /* an op that is only counted */
	uint64_t return_ns; /* ... and more, if its return is looked at */
	uint64_t timed_ns; /* entry and return */
	uint64_t stepped_ns; /* what single-stepping adds */
};
const struct capture_cost *capture_cost(const struct capture *c);

/* Time that the probes have taken so far. Hits are known exactly, what each costs was measured. */
struct capture_spent {
	/* On the threads of traced processes: */
	uint64_t launch_ns, call_ns;
	uint64_t stepped_ns; /* more, where a site is single-stepped */
	uint64_t record_ns, stack_ns; /* measured, but for code objects that were freed */
	uint64_t switch_ns[SWITCH_KINDS]; /* of everybody; one of 64 was measured */
	uint64_t foreign_ns; /* on threads of processes that nobody asked for */
	uint64_t uncounted; /* hits on launches that were paid for, but not counted */
	uint64_t sighted_ns; /* launches could be seen for so long */
	double worst_ns; /* paid by whoever paid most, look by look */
};
void capture_spent(struct capture *c, struct capture_spent *ret);

/* Something that was not looked at for a while, to stay within the budget. */
struct shed_span {
	enum shed what;
	uint64_t from_ns, to_ns; /* boot time; to_ns: so far */
	double cost; /* the share that made it necessary */
	uint64_t calls; /* launches that were missed: an estimate */
	bool final; /* it is not told again */
};

/* Those since the last time, and those that were not final then. */
typedef void (*shed_fn)(const struct shed_span *span, void *arg);
void capture_each_shed(struct capture *c, shed_fn fn, void *arg);

/* CPUs of this host that are in use. */
int capture_cpus(const struct capture *c);

/* Are launches seen for a part of the time only? */
bool capture_blind(struct capture *c);

/*
 * Wait up to timeout_ms for new mappings, attach to them, then hand every waiting record to fn,
 * borrowed for the call. Returns how many, or a negative errno. A signal ends the wait.
 */
int capture_poll(struct capture *c, int timeout_ms, capture_fn fn, void *arg);

/* Did the last capture_poll() leave records in the ring because there were too many? */
bool capture_behind(const struct capture *c);

/* Every tally in use. `index` identifies it while it is in use. */
typedef void (*tally_fn)(uint32_t index, const struct tally *tally, void *arg);
void capture_each_tally(struct capture *c, tally_fn fn, void *arg);

/* The thread is gone and its last counts are taken: use the tally for somebody else. */
void capture_reuse_tally(struct capture *c, uint32_t index);

typedef void (*task_fn)(uint32_t serial, const struct task_info *info, void *arg);
void capture_each_task(struct capture *c, task_fn fn, void *arg);
int capture_find_task(struct capture *c, uint32_t serial, struct task_info *ret);
void capture_forget_task(struct capture *c, uint32_t serial);

typedef void (*blame_fn)(const struct blame_key *key, const struct blame *blame, void *arg);
void capture_each_blame(struct capture *c, blame_fn fn, void *arg);
void capture_forget_blame(struct capture *c, const struct blame_key *key);

/*
 * Every stop since the last look, in order per CPU only. Those that were overwritten before we came
 * are counted as loss. The stop is borrowed for the call. The stacks that they name were handed to
 * on_news before.
 */
typedef void (*stop_fn)(const struct stop *stop, void *arg);
void capture_each_stop(struct capture *c, stop_fn fn, void *arg);

/* Follow a process that makes no traced calls, because it was seen to wake one that does. */
void capture_follow(struct capture *c, uint32_t pid);

/* From now on the probes walk the Python stacks of the process; forked children inherit that. */
int capture_put_python(struct capture *c, int pid, const struct py_layout *layout);
bool capture_has_python(const struct capture *c, int pid);

/* One that was inherited: from now on its walks need to look at a code object once only. */
void capture_watch_python(struct capture *c, int pid);

/* Hand over what was told of stacks since the last look; capture_poll() does so, too. */
void capture_news(struct capture *c);

/* Have every code object and stack told anew, because the listener has forgotten them. */
void capture_forget_stacks(struct capture *c);

/*
 * The finished beats of each thread since the last look, and behind them, beats[n], the last one,
 * which may still grow. broken: some before these were lost.
 */
typedef void (*beats_fn)(uint32_t serial, const struct beat *beats, size_t n, bool broken,
			 void *arg);
void capture_each_tape(struct capture *c, beats_fn fn, void *arg);
void capture_reuse_tape(struct capture *c, uint32_t index);
void capture_forget_tape(struct capture *c, uint32_t serial);

/* Every cell in use, see wire/kernels.h; borrowed. True: its thread is gone, use it for another. */
typedef bool (*cell_fn)(const struct kernel_cell *cell, void *arg);
void capture_each_kernel(struct capture *c, cell_fn fn, void *arg);

/* Probe launches of the runtime as well, to learn what kernels are called. */
void capture_learn_kernels(struct capture *c, bool on);

/* The pairs learned since the last look; they are forgotten. */
typedef void (*pair_fn)(const struct kernel_pair_key *key, const struct kernel_pair *pair,
			void *arg);
void capture_each_pair(struct capture *c, pair_fn fn, void *arg);

/* The names heard of since the last look, as records of the ring: see decode_kernel_name(). */
void capture_kernel_names(struct capture *c, capture_fn fn, void *arg);

/* The balance of each process, see wire/memory.h. */
typedef void (*memory_fn)(const struct memory_key *key, const struct memory_count *count,
			  void *arg);
void capture_each_memory(struct capture *c, memory_fn fn, void *arg);
void capture_forget_memory(struct capture *c, const struct memory_owner *owner);

/* Counts since they were forgotten last. */
typedef void (*host_fn)(const struct host_key *key, const struct host_count *count, void *arg);
void capture_each_host_event(struct capture *c, host_fn fn, void *arg);
void capture_forget_host_event(struct capture *c, const struct host_key *key);

/* Errors of GPUs since the last look, where the driver has a tracepoint for them. */
typedef void (*xid_event_fn)(const struct xid_event *event, void *arg);
void capture_each_xid(struct capture *c, xid_event_fn fn, void *arg);

/*
 * Every communicator, with its counts. Those of programs that are gone are handed over once more and
 * then forgotten.
 */
typedef void (*comm_fn)(const struct nccl_key *key, const struct nccl_comm *comm, void *arg);
void capture_each_comm(struct capture *c, comm_fn fn, void *arg);

/* The process ended at that time. */
void capture_forget_comms(struct capture *c, uint32_t pid, uint64_t exited_ns);

/* A control group as the kernel side saw it: see probe/tenant.bpf.h. */
struct told_group {
	uint64_t start_ns; /* of the process: with its pid, its identity */
	uint64_t at_ns; /* boot time: it ended, or moved there */
	uint64_t id; /* inode of the group's directory */
	char path[256]; /* safe to print; "/" is the root */
};

/* Where a process was when it ended. False: it has not ended, or too long ago. */
bool capture_gone_group(struct capture *c, uint32_t pid, struct told_group *ret);

/* When the last process with that pid ended, boot time; 0: none did, or too long ago. */
uint64_t capture_ended_ns(struct capture *c, uint32_t pid);

/* Everybody who moved to another group since the last look, and where to. */
typedef void (*moved_fn)(uint32_t pid, const struct told_group *group, void *arg);
void capture_each_moved(struct capture *c, moved_fn fn, void *arg);

/* Who used disks since the last look. group: for whom the kernel wrote back; path "": not known. */
typedef void (*disk_user_fn)(const struct disk_user_key *key, const struct disk_user *user,
			     const struct told_group *group, void *arg);
void capture_each_disk_user(struct capture *c, disk_user_fn fn, void *arg);

/* The name of a file that somebody waited for. -ENOENT: forgotten. */
int capture_file_name(struct capture *c, const struct file_key *key, struct file_name *ret);

void capture_stats(const struct capture *c, struct stats *ret);

/* The copies found so far. */
const struct libs *capture_libs(const struct capture *c);

#endif
