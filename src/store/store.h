/* SPDX-License-Identifier: Apache-2.0 */
/* The trace database. The only module that speaks SQL. One store belongs to one thread. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "chain/chain.h"
#include "decode/record.h"
#include "rank/join.h"
#include "stack/stack.h"
#include "step/step.h"
#include "wire/gpu.h"
#include "wire/memory.h"

struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * Open path, creating it in STORE_WRITE mode; ":memory:" keeps it in memory. A file that is no
 * database of ours, or from another version, is refused. *ret is set only on success.
 */
int store_open(const char *path, enum store_mode mode, struct store **ret);

/* Commit what is pending and free. NULL is fine. */
void store_close(struct store *s);

/* Everything before this call is safe from a kill -9 once it returns 0. */
int store_commit(struct store *s);

/* Move what is committed from the log into the file, so that closing has less to do. */
void store_tidy(struct store *s);

/* Give up what was not committed; ids handed out since then are void. */
void store_rollback(struct store *s);

/* ---- retention ---- */

struct retention {
	uint64_t max_bytes, max_age_ns; /* 0: no limit */
};

/*
 * Remove some of what is too old, or too much, for about spend_ns; committed with what is written next.
 * Single calls go first, those at the time of incidents last of these; then seconds, likewise; the
 * oldest of each first; of names those that nobody has any more. 1: there is more to be removed; 0: it is within its limits, or nothing can be
 * done about it.
 */
int store_prune(struct store *s, const struct retention *keep, uint64_t now_boot_ns,
		uint64_t spend_ns);

/* Rows removed by this store; and the bytes that the file has, and has in use. */
struct store_size {
	uint64_t removed, bytes, used;
};
int store_size(struct store *s, struct store_size *ret);

/* Until when single calls, and seconds, were removed, at least in part; wall clock, 0: none were. */
struct pruned_until {
	uint64_t calls_ns, seconds_ns;
};
int store_pruned_until(struct store *s, struct pruned_until *ret);

/*
 * Is there room on the disk for what is not committed? 1: so little that it had better wait in memory;
 * -ENOSPC: more waits than is kept there.
 */
int store_room(struct store *s, uint64_t *ret_free);

/*
 * Commit, put the file aside under a name with the date, and go on in a new one: all ids are void, and a
 * run has to begin. ret_name: the old file. 1: it could not be put aside and is still written to, but
 * ids are void all the same. On error there is no file any more: the store can only be closed.
 */
int store_roll(struct store *s, char *ret_name, size_t cap);

/* ---- writing ---- */

struct run_row {
	const char *node;
	uint64_t start_ns;
	int64_t wall_minus_boot_ns; /* added to every boot time that is stored in this run */
	const char *boot_id, *version, *kernel, *gpu, *attach_mode;
	uint64_t slow_ns, count_cost_ns, timed_cost_ns;
	bool record_all;
	int cpus;
};

/* Begin a run; all later rows belong to it. */
int store_run(struct store *s, const struct run_row *run);
int store_run_end(struct store *s, uint64_t end_boot_ns);
int store_clock(struct store *s, uint64_t boot_ns, uint64_t wall_ns);

struct process_row {
	uint32_t pid, ppid;
	uint64_t start_boot_ns;
	const char *comm, *cmdline, *exe, *cgroup, *python;
	const char *python_note; /* NULL: nothing to say */
};

/* *ret is the row's id, for the calls below. */
int store_process(struct store *s, const struct process_row *row, int64_t *ret);
int store_process_name(struct store *s, int64_t process, const char *comm, const char *cmdline);
int store_process_exit(struct store *s, int64_t process, uint64_t boot_ns);
/* Why the lines of its Python code cannot be read; "": they can. */
int store_process_python(struct store *s, int64_t process, const char *note);

/* Whose processes are: see src/tenant/tenant.h. "": not known. */
struct container_row {
	const char *identity; /* what makes it this one: not stored, its hash is the row's id */
	const char *container_id, *runtime, *pod_uid, *namespace, *pod, *name, *image, *slurm_job;
	const char *unit, *label, *cgroup;
	uint64_t cgroup_id; /* 0: not known */
	bool claimed;
};
/* Written again, it is completed. *ret is the row's id. */
int store_container(struct store *s, uint64_t at_boot_ns, const struct container_row *row,
		    int64_t *ret);
int store_container_seen(struct store *s, int64_t container, uint64_t at_boot_ns);
/* container 0: none. */
int store_process_container(struct store *s, int64_t process, uint64_t from_boot_ns,
			    int64_t container, const char *cgroup);
int store_cgroup_container(struct store *s, const char *cgroup, int64_t container);

/* Who used a disk in an interval. cgroup "": not known. */
struct disk_user_row {
	uint32_t dev, pid;
	const char *comm, *cgroup;
	uint64_t requests, bytes;
	bool kernel; /* a thread of the kernel, for somebody of that control group */
};
int store_disk_user(struct store *s, uint64_t at_boot_ns, const struct disk_user_row *row);

int store_thread(struct store *s, int64_t process, uint32_t tid, const char *comm,
		 uint64_t first_boot_ns, int64_t *ret);
int store_thread_exit(struct store *s, int64_t thread, const char *comm, uint64_t boot_ns);

int store_op_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		    const struct op_delta *delta);
int store_blame_second(struct store *s, int64_t thread, uint64_t at_boot_ns, const struct who *who);
/* Where somebody belongs who had a CPU or is on a chain. cgroup "": not known. */
int store_blamed(struct store *s, uint64_t at_boot_ns, uint32_t pid, const char *comm,
		 const char *cgroup);

/* A kernel as one library launches it; "": not known. */
struct kernel_row {
	int64_t id, process;
	uint64_t handle;
	const char *name, *source, *library;
};
int store_kernel(struct store *s,
		 struct kernel_row *row); /* id 0: a new one; else what is known now */
int store_kernel_second(struct store *s, int64_t kernel, uint64_t at_boot_ns, uint64_t launches);

int store_memory_second(struct store *s, int64_t process, uint64_t at_boot_ns,
			const struct memory_key *key, const struct memory_count *count);

/*
 * rec->stack is the id of the content already, or a reason. ret_call: the row's id; 0 where it has none
 * of its own, being there only because all are; may be NULL.
 */
int store_call(struct store *s, int64_t thread, const struct record *rec, int64_t *ret_call);
int store_loss(struct store *s, uint64_t at_boot_ns, const char *reason, uint64_t count);

/* Interned by the id of its content: the same stack, and the same frame, is written once. */
int store_put_stack(struct store *s, const struct stack *stack);

struct sample_row {
	const struct op *op; /* the call that it was in, or the gap; NULL: not stored */
	uint64_t stack; /* as struct hop's */
	uint64_t samples, ns;
	enum state
		state; /* RUN, GC or FAULT: see STOP_SAMPLE; GC or RECLAIM, timed: samples is 0 */
};
int store_sample_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
			const struct sample_row *row);

/* Interned by chain_id(): the same chain is written once. */
int store_chain(struct store *s, const struct chain *chain, int64_t *ret);

struct wait_row {
	const struct op *op; /* where it stopped; NULL (neither call nor gap): not stored */
	int64_t chain;
	uint64_t ns, count, max_ns;
};
int store_wait_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct wait_row *row);
/* The same of time in which the GPU had nothing to do; row->op means nothing. */
int store_idle_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct wait_row *row);
/* `call` as store_call() gave it. */
int store_call_wait(struct store *s, int64_t call, int64_t chain, uint64_t ns);

int store_step(struct store *s, int64_t thread, const struct step *step);
struct step_sum {
	uint64_t steps, max_ns;
	struct step sum; /* its parts are sums; index and start_ns mean nothing */
	uint32_t hist[HIST_BUCKETS];
};
int store_step_second(struct store *s, int64_t thread, uint64_t at_boot_ns,
		      const struct step_sum *row);

struct communicator_row {
	int64_t process;
	uint64_t handle, hash, parent; /* hash, parent: 0 is not known */
	int64_t rank, nranks; /* -1: not known */
	const struct op *made_by; /* NULL: before anybody looked */
	uint64_t made_boot_ns;
};
int store_communicator(struct store *s, const struct communicator_row *row, int64_t *ret);
int store_communicator_rank(struct store *s, int64_t communicator, int64_t rank, int64_t nranks);
int store_communicator_gone(struct store *s, int64_t communicator, uint64_t boot_ns);

struct communicator_counts {
	uint64_t collectives, p2p, bytes, told;
};
int store_communicator_second(struct store *s, int64_t communicator, uint64_t at_boot_ns,
			      const struct communicator_counts *row);
int store_collective(struct store *s, int64_t communicator, const struct collective *c);
/* -1: not told. */
int store_rank_env(struct store *s, int64_t process, int64_t rank, int64_t local_rank,
		   int64_t world, const char *source);

/* name: of key->obj; cgroup: whose. "": not known. */
int store_host_event(struct store *s, const struct host_key *key, const struct host_count *fresh,
		     const char *name, const char *cgroup);

/* Negative: this host does not tell (stored as NULL). */
struct system_row {
	double busy_pct, iowait_pct, steal_pct, load1;
	int64_t running, blocked;
	int64_t mem_total_kb, mem_available_kb, swap_used_kb;
	int64_t swap_in_pages, swap_out_pages, major_faults;
	int64_t psi_cpu_us, psi_memory_us, psi_io_us;
};
int store_system_second(struct store *s, uint64_t at_boot_ns, const struct system_row *row);
int store_core_second(struct store *s, uint64_t at_boot_ns, int cpu, double busy_pct, int64_t mhz);

struct gpu_row {
	uint32_t index;
	const char *name, *uuid, *bus_id;
};
/* *ret is the row's id, for the calls below. */
int store_gpu(struct store *s, uint64_t first_boot_ns, const struct gpu_row *row, int64_t *ret);
int store_gpu_second(struct store *s, int64_t gpu, uint64_t at_boot_ns, const struct gpu_values *v);
/* A process is told from another of that pid by first_boot_ns. bytes: GPU_BYTES_UNKNOWN. */
int store_gpu_process(struct store *s, int64_t gpu, uint32_t pid, uint64_t first_boot_ns,
		      uint64_t at_boot_ns, uint64_t bytes);

struct gpu_error_row {
	const char *bus_id, *comm, *text;
	uint32_t code, pid;
	uint64_t at_ns; /* boot time where it is written, wall time where it is read */
};
int store_gpu_error(struct store *s, const struct gpu_error_row *row);

struct incident_row {
	int64_t id; /* 0: make one and set it; else extend that one */
	const char *cause, *comm, *culprit, *title, *severity; /* culprit: "" is nobody */
	uint32_t pid, culprit_pid;
	uint64_t first_ns, last_ns, lost_ns; /* wall clock */
};
/* Of one that exists cause, pid and comm stay; its time and loss only grow. -ENOENT: it is gone. */
int store_incident(struct store *s, struct incident_row *row);

struct account_row {
	uint64_t seen, submitted, filtered, dropped, received;
	uint64_t probe_ns, agent_ns, traced_ns;
};
int store_account(struct store *s, uint64_t at_boot_ns, const struct account_row *row);

/* What it cost in an interval. See schema.sql. */
struct cost_row {
	uint64_t launch_ns, call_ns, stepped_ns, record_ns, stack_ns, switch_ns, related_ns;
	uint64_t other_ns, agent_ns, cpus_ns;
	double worst_pct, budget_pct;
};
int store_cost(struct store *s, uint64_t at_boot_ns, const struct cost_row *row);

/* What was not looked at; one that goes on is told again, longer. Boot times when written. */
struct shed_row {
	const char *what;
	uint64_t from_ns, to_ns;
	double cost_pct;
	uint64_t calls; /* estimated */
};
int store_shed(struct store *s, const struct shed_row *row);

struct coverage_row {
	const char *library, *build_id, *note;
	uint64_t inode, since_boot_ns;
	int ops, stepped, refused, missing;
};
int store_coverage(struct store *s, int64_t process, const struct coverage_row *row);

/* ---- reading; strings are borrowed for the length of the callback ---- */

/* A window of wall-clock time; to_ns 0 means "until now". */
struct window {
	uint64_t from_ns, to_ns;
};

/* First and last thing stored. -ENODATA when there is nothing. */
int store_span(struct store *s, struct window *ret);

struct thread_info {
	int64_t thread, process;
	const char *node, *process_comm, *comm, *cmdline, *cgroup, *python, *python_note;
	uint32_t pid, tid;
};

/* Non-zero from any callback stops the walk and is returned. */
int store_each_thread(struct store *s, struct window w,
		      int (*fn)(const struct thread_info *, void *), void *arg);

/* Of a file of several nodes, seen as one of them: the threads of others that use NCCL. */
int store_each_stranger(struct store *s, int (*fn)(const struct thread_info *, void *), void *arg);

struct op_second_row {
	int64_t thread;
	const char *symbol, *class;
	uint64_t at_ns, calls, done, errors, bytes, total_ns, max_ns;
	uint64_t nested, nested_bytes; /* of calls and bytes: inside another traced call */
	uint64_t state_ns[STATE_COUNT];
	uint64_t counter[COUNTER_COUNT];
	uint32_t hist[HIST_BUCKETS];
};

/* By thread, then time. */
int store_each_op_second(struct store *s, struct window w,
			 int (*fn)(const struct op_second_row *, void *), void *arg);

struct blame_row {
	int64_t thread;
	uint64_t at_ns, ns;
	uint32_t pid, cpu;
	const char *comm;
};
int store_each_blame(struct store *s, struct window w, int (*fn)(const struct blame_row *, void *),
		     void *arg);

struct blamed_row {
	uint64_t at_ns;
	uint32_t pid;
	const char *comm, *cgroup;
};
/* Everybody told of before the end of the window, by pid, then time. */
int store_each_blamed(struct store *s, struct window w,
		      int (*fn)(const struct blamed_row *, void *), void *arg);

struct call_row {
	int64_t id, thread;
	const char *symbol, *next; /* next: NULL unless a gap */
	uint64_t start_ns, dur_ns, because, usual_ns, stack;
	uint64_t state_ns[STATE_COUNT];
	uint64_t counter[COUNTER_COUNT];
};

/* Slow outermost calls and gaps, longest first. */
int store_each_slow(struct store *s, struct window w, int limit,
		    int (*fn)(const struct call_row *, void *), void *arg);

/* Those that were not over when their trace ended. */
int store_each_open(struct store *s, struct window w, int limit,
		    int (*fn)(const struct call_row *, void *), void *arg);

/* The chains that one stored call is charged to, longest first. */
int store_each_call_wait(struct store *s, int64_t call,
			 int (*fn)(int64_t chain, uint64_t ns, void *), void *arg);

struct wait_info {
	int64_t thread, chain;
	const char *symbol, *class; /* where it stopped */
	uint64_t at_ns, ns, count, max_ns;
};
/* By thread, then time. */
int store_each_wait(struct store *s, struct window w, int (*fn)(const struct wait_info *, void *),
		    void *arg);

/* symbol and class are "". */
int store_each_idle(struct store *s, struct window w, int (*fn)(const struct wait_info *, void *),
		    void *arg);

/* A chain by its id; only what explains needs is filled in (no serial, no fd). -ENOENT: none. */
int store_find_chain(struct store *s, int64_t id, struct chain *ret);

/* ---- stacks: ids are those of their content; below STACK_REASONS it is why there is none ---- */

/* By its id; strings are printable. One piece of memory: free() it. -ENOENT: none is stored. */
int store_find_stack(struct store *s, uint64_t id, struct stack **ret);

struct sample_info {
	int64_t thread;
	const char *symbol, *class; /* where it was */
	const char *state;
	uint64_t at_ns, stack, samples, ns;
};
/* By thread, then time. */
int store_each_sample(struct store *s, struct window w,
		      int (*fn)(const struct sample_info *, void *), void *arg);

/* Stored calls of one op and stack that began in one second. A sample: see call.because. */
struct call_stack_info {
	int64_t thread;
	const char *symbol, *class;
	uint64_t first_ns, stack, calls, ns;
	uint64_t fair; /* of calls: not for being slow, so that they stand for all */
};
int store_each_call_stack(struct store *s, struct window w,
			  int (*fn)(const struct call_stack_info *, void *), void *arg);

/* Of the stored calls, and of the time charged to chains: how much has a stack, or why it has none. */
struct stack_counts {
	uint64_t calls, wait_ns; /* with a stack */
	uint64_t no_calls[NO_STACK_COUNT], no_wait_ns[NO_STACK_COUNT];
};
int store_stack_counts(struct store *s, struct window w, struct stack_counts *ret);

struct step_info {
	int64_t thread;
	uint64_t at_ns;
	struct step_sum sum;
};
int store_each_step_second(struct store *s, struct window w,
			   int (*fn)(const struct step_info *, void *), void *arg);

/* Launches in the window, by kernel; most first in each process. */
struct kernel_info {
	struct kernel_row row;
	uint64_t launches;
};
int store_each_kernel(struct store *s, struct window w,
		      int (*fn)(const struct kernel_info *, void *), void *arg);

/* Of each process, kind and device, by time: the rows of the window, and the last one before it. */
struct memory_info {
	int64_t process;
	const char *kind;
	int device;
	uint64_t at_ns;
	struct memory_count count;
};
int store_each_memory(struct store *s, struct window w,
		      int (*fn)(const struct memory_info *, void *), void *arg);

/* The last allocation of each process that failed. file "": its line is not known. */
struct failed_alloc {
	int64_t process;
	const char *op, *file, *func;
	int line, ret;
	uint64_t at_ns, bytes;
};
int store_each_failed_alloc(struct store *s, struct window w,
			    int (*fn)(const struct failed_alloc *, void *), void *arg);

/* A collective that its process waited for; times are wall clock. */
struct collective_row {
	int64_t process, thread;
	uint64_t hash, seq; /* hash 0: not known */
	int64_t communicator;
	int64_t rank, nranks; /* -1: not known */
	const char *symbol;
	bool sure; /* it is certain that it waited for this one */
	uint64_t start_ns, sync_start_ns, sync_end_ns;
};
/*
 * The last one of its communicator in front of each synchronisation, by communicator, then sequence
 * number; no more than `limit` of the latest.
 */
int store_each_collective(struct store *s, struct window w, int limit,
			  int (*fn)(const struct collective_row *, void *), void *arg);

/* Which rank a process is, of the communicator with most ranks, or else by its environment. */
struct rank_row {
	int64_t process, rank, nranks; /* -1: not known */
};
int store_each_rank(struct store *s, struct window w, int (*fn)(const struct rank_row *, void *),
		    void *arg);

struct host_event_row {
	const char *event, *comm, *name, *cgroup;
	uint32_t pid;
	uint64_t at_ns, first_ns, obj, count, ns, value;
};
/* Is `obj` of an iommu_fault the number of a disk? Others are one of the device, and longer. */
bool store_is_fault_of_disk(uint64_t obj, const char *name);
int store_each_host_event(struct store *s, struct window w,
			  int (*fn)(const struct host_event_row *, void *), void *arg);

struct system_info {
	uint64_t at_ns;
	struct system_row row;
};
int store_each_system(struct store *s, struct window w,
		      int (*fn)(const struct system_info *, void *), void *arg);

struct gpu_info {
	int64_t id;
	const char *name, *uuid, *bus_id;
	uint32_t index;
};
/* Those with a sample in the window, by number. */
int store_each_gpu(struct store *s, struct window w, int (*fn)(const struct gpu_info *, void *),
		   void *arg);

struct gpu_second_info {
	int64_t gpu;
	uint64_t at_ns;
	struct gpu_values values;
};
/* By GPU, then time. */
int store_each_gpu_second(struct store *s, struct window w,
			  int (*fn)(const struct gpu_second_info *, void *), void *arg);

struct gpu_process_info {
	int64_t gpu;
	uint32_t pid;
	uint64_t first_ns, last_ns;
	uint64_t mem_used, mem_max; /* or GPU_BYTES_UNKNOWN */
};
int store_each_gpu_process(struct store *s, struct window w,
			   int (*fn)(const struct gpu_process_info *, void *), void *arg);

int store_each_gpu_error(struct store *s, struct window w,
			 int (*fn)(const struct gpu_error_row *, void *), void *arg);

/* Those seen in the window, oldest first. */
int store_each_incident(struct store *s, struct window w,
			int (*fn)(const struct incident_row *, void *), void *arg);

/* When steps of that number were, of any thread, with one step to either side. -ENOENT: none is stored. */
int store_step_window(struct store *s, uint64_t n, struct window *ret);

struct loss_row {
	const char *reason;
	uint64_t count;
};
int store_each_loss(struct store *s, struct window w, int (*fn)(const struct loss_row *, void *),
		    void *arg);

int store_account_total(struct store *s, struct window w, struct account_row *ret);

/* Sums; the percentages are the largest. */
int store_cost_total(struct store *s, struct window w, struct cost_row *ret);

/* Those that overlap the window, oldest first. */
int store_each_shed(struct store *s, struct window w, int (*fn)(const struct shed_row *, void *),
		    void *arg);

struct coverage_info {
	const char *comm, *library, *note;
	uint32_t pid;
	int ops, stepped, refused, missing;
	uint64_t since_ns;
};
int store_each_coverage(struct store *s, struct window w,
			int (*fn)(const struct coverage_info *, void *), void *arg);

/* The last run: a sentence of context. Strings live until the next call. */
struct run_info {
	char node[65], kernel[128], gpu[128], attach_mode[16], version[32];
	uint64_t start_ns, end_ns;
	uint64_t count_cost_ns; /* 0: what a probe costs was not measured */
	int cpus;
};
int store_last_run(struct store *s, struct run_info *ret);

/* ---- recordings: the whole database as SQL text, and back ---- */
int store_dump(struct store *s, FILE *out);
int store_load(struct store *s, const char *sql);

#endif
