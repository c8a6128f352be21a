/* SPDX-License-Identifier: Apache-2.0 */
/* Facts in, findings out. Rules are pure: no I/O, no clock. Text and JSON print the same findings. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/store.h"
#include "tenant/list.h"

#define CULPRITS_MAX 8
#define FIXES_MAX 4
#define EVIDENCE_MAX 6
#define EFFECTS_MAX 2
#define GROUPS_MAX 3
#define LOSS_REASONS 64 /* more than there are */
#define CGROUP_LEN 256
#define TITLE_LEN 288 /* of a finding: 160, and whose tenants it is about */

/* The closed list of causes, by name, and what each means. */
#define CAUSES(X)                                                                                  \
	X(cpu_contention, "cpu-contention", "somebody else had the CPU")                           \
	X(cpu_quota, "cpu-quota", "the CPU limit of a control group was used up")                  \
	X(disk_read, "disk-read", "waiting for a file to be read")                                 \
	X(disk_write, "disk-write", "waiting for a file to be written")                            \
	X(checkpoint_stall, "checkpoint-stall", "waiting for a checkpoint to be written")          \
	X(nvme_timeout, "nvme-timeout", "a disk did not answer in time")                           \
	X(dma_bounce, "dma-bounce", "data was copied on its way to a device")                      \
	X(iommu_fault, "iommu-fault", "a device was refused its memory")                           \
	X(network_retransmit, "network-retransmit", "packets were lost and sent again")            \
	X(network_peer, "network-peer", "the other end of a connection took its time")             \
	X(memory_reclaim, "memory-reclaim", "memory had to be freed before it could be used")      \
	X(page_fault, "page-fault", "memory was touched for the first time, page by page")         \
	X(swap, "swap", "memory had to come back from swap")                                       \
	X(oom, "oom", "the kernel killed a process for want of memory")                            \
	X(lock, "lock", "another thread held a lock")                                              \
	X(gil, "gil", "another thread held Python's interpreter lock")                             \
	X(data_loader, "data-loader", "the next batch was not ready")                              \
	X(python_gc, "python-gc", "Python collected garbage")                                      \
	X(host_bound, "host-bound", "the program's own work left the GPU idle")                    \
	X(self_sleep, "self-sleep", "the program slept by itself")                                 \
	X(gpu_throttled, "gpu-throttled", "the GPU lowered its clocks")                            \
	X(gpu_error, "gpu-error", "the GPU reported an error")                                     \
	X(gpu_shared, "gpu-shared", "another process used the GPU")                                \
	X(copy_bound, "copy-bound", "copies between host and GPU")                                 \
	X(sync_too_often, "sync-too-often", "waiting for the GPU after every little work")         \
	X(launch_bound, "launch-bound", "kernels too small to be launched one by one")             \
	X(alloc_churn, "alloc-churn", "GPU memory allocated and freed all the time")               \
	X(cold_start, "cold-start", "opening the GPU and loading code")                            \
	X(straggler, "straggler", "another rank was late")                                         \
	X(unknown, "unknown", "a wait that could not be followed to its end")

enum cause_id {
	CAUSE_none,
#define X(id, name, text) CAUSE_##id,
	CAUSES(X)
#undef X
		CAUSE_COUNT,
};

struct cause {
	const char *id, *title;
};
extern const struct cause causes[]; /* in the order of the enum, without none; ends with NULL */
const char *cause_name(enum cause_id cause);

enum severity { SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };
extern const char *const severity_names[]; /* "LOW", ... */

/* How sure: arithmetic on complete records, one record, or a rule with a stated assumption. */
enum evidence { EVIDENCE_PROVEN, EVIDENCE_OBSERVED, EVIDENCE_INFERRED };

/*
 * A line of code: of the innermost frame that the user wrote or, where there is none, of the innermost
 * of Python. Not known: file is "", and why says the reason.
 */
struct line {
	char file[256], func[128];
	int line;
	double share; /* percent of what it was asked for that happened there */
	enum no_stack why; /* of what has no line */
	uint64_t stack; /* the one with most of it, for explain_stack(); 0: none */
};

struct culprit {
	uint32_t pid; /* 0: nobody, the CPU was idle; PID_IRQ: it served interrupts */
	uint32_t tid; /* 0: not one thread of it */
	char comm[COMM_LEN];
	uint64_t ns;
	double share; /* of the time lost */
	uint64_t cpus; /* bit per CPU where it happened; CPUs above 63 are not shown */
	struct line line; /* where it was meanwhile */
	char cgroup[CGROUP_LEN]; /* "": not known */
	bool beside; /* nobody waited for it, but it kept the disk busy meanwhile */
};

/* What several processes of one control group did together. */
struct cgroup_share {
	char cgroup[CGROUP_LEN];
	uint64_t ns;
	double share; /* of the time lost */
	int processes;
};

/* How an op changed between the time outside the finding and inside it. */
struct effect {
	char op[64];
	uint64_t p50_before, p99_before, p50_during, p99_during;
};

/* What it was about, where it has a name. */
struct thing {
	enum object kind;
	char name[128];
};

/* What a disk did for the file that a finding is about, of all requests in the time. name "": not known. */
struct finding_disk {
	char name[32], owner[COMM_LEN]; /* owner: who read or wrote the data */
	uint64_t requests, bytes, p99_ns, max_ns, offset; /* offset: of the longest, in the file */
	uint32_t owner_pid; /* 0: not known, or several */
	bool has_offset;
};

/* What a finding lost with this stack on the thread that waited, or without one for a reason. */
struct stack_share {
	uint64_t stack, ns;
};

struct finding {
	const char *cause; /* an id of causes[] */
	enum severity severity;
	enum evidence evidence;
	char title[TITLE_LEN];
	uint64_t lost_ns; /* on the thread that waited longest */
	uint64_t affected_ns; /* that thread's time in the intervals where it happened */
	double lost_pct; /* lost / affected */
	double gain_low_pct, gain_high_pct; /* of the affected time */
	uint64_t count; /* waits, or slow calls and gaps, that carry it */
	uint64_t first_ns, last_ns;
	int64_t thread;
	uint32_t pid, tid;
	char node[65], comm[COMM_LEN], thread_comm[COMM_LEN], cmdline[256], op[64];
	char cgroup[CGROUP_LEN];
	bool ranked, by_ranked;
	bool counted; /* `count` is of waits, though there is no chain */
	struct thing object;
	struct finding_disk disk;
	struct culprit culprit[CULPRITS_MAX];
	struct cgroup_share group[GROUPS_MAX]; /* of all culprits, those not shown too */
	int culprits, groups;
	struct chain chain; /* the one with most of it; 0 hops: none, it waited for nobody */
	uint64_t hop_ns[HOPS_MAX]; /* of all chains that begin like this one, up to that hop */
	struct line where; /* of the thread that waited */
	struct line hop_line[HOPS_MAX];
	char python_note[160]; /* why the lines of its process cannot be read; "": they can */
	struct stack_share *share; /* most first; together lost_ns. Owned by the explanation */
	int shares, ids;
	int64_t id[EVIDENCE_MAX]; /* rows of `call` */
	struct effect effect[EFFECTS_MAX];
	double rate_before, rate_during; /* calls per second of the thread; 0: not known */
	double steps_before, steps_during; /* steps per second; 0: not known */
	char fix[FIXES_MAX][384]; /* a command in it is never cut */
	char basis[256]; /* what the evidence class rests on */
	char by_node[65]; /* of the culprit, where that is another one; "": the same */
	int64_t rank, by_rank; /* where it is, and of the culprit; meant where they are `ranked` */
	struct
	{ /* a straggler's own finding, in short: what makes it late; cause NULL: not known */
		const char *cause;
		char title[160];
		uint64_t lost_ns;
	} own;
	/* Which rows of `call` can carry it: bits of enum state and of enum op_class. */
	uint32_t states, places;
	int fixes, effects;
};

struct op_summary {
	char symbol[64];
	uint64_t calls, done, total_ns;
	uint32_t hist[HIST_BUCKETS];
};

/* Somebody who made it wait: a thread of its own, a worker, whoever had the CPU. */
struct helper_summary {
	uint32_t pid, tid;
	char comm[COMM_LEN];
	enum relation relation;
	enum state state; /* what it did meanwhile; PREEMPTED: it had the CPU itself */
	uint64_t ns;
};

/* Part of the time in which the GPU had nothing to do. */
struct idle_part {
	char what[192]; /* "waiting on a pipe for loader (pid 12)" */
	enum state state; /* of the thread that the GPU waited for */
	uint32_t pid, tid; /* who that one waited for; 0: itself */
	char comm[COMM_LEN];
	uint64_t ns;
};

/* Launches of one kernel, or of one library. name "": not known. */
struct launch_share {
	char name[256];
	uint64_t launches;
};

/* What a process has from CUDA, of one kind and device, at the end of the window. */
struct memory_summary {
	char kind[16]; /* of wire/memory.h */
	int device; /* -1: not known, or the host's */
	struct memory_count count;
	double growth; /* bytes a minute, where it only ever grows; 0: it does not */
};

/* An allocation that failed, the last one. */
struct failed_memory {
	char op[64]; /* "": none */
	uint64_t bytes, at_ns;
	int ret;
	struct line line;
};

/* Where the time of a process went: its main thread, or its busiest if that one hardly calls. */
struct summary {
	uint32_t pid, tid;
	char comm[COMM_LEN], cmdline[256], cgroup[CGROUP_LEN];
	char python_note[160]; /* why its lines cannot be read; "": they can, or it is not Python */
	uint64_t total_ns; /* of that thread, while traced */
	uint64_t state_ns[STATE_COUNT];
	uint64_t sync_ns; /* of these: on CPU or blocked inside a synchronising call */
	uint64_t sync_state_ns[STATE_COUNT]; /* ... by state */
	uint64_t launches, calls; /* counted */
	uint64_t launches_shed; /* estimated: those that were not looked at */
	int64_t process; /* its row */
	struct launch_share *kernel, *library; /* most first */
	int kernels, libraries;
	struct memory_summary *memory;
	int memories;
	struct failed_memory failed;
	uint64_t told, named; /* launches told by kernel; of these: with a name */
	int threads;
	struct op_summary *op; /* of all its threads, most time first */
	int ops;
	struct helper_summary *helper; /* most time first */
	int helpers;
	uint64_t steps;
	struct step step_sum;
	uint32_t step_hist[HIST_BUCKETS];
	uint64_t idle_ns; /* the GPU had nothing to do, at least; of that, most first: */
	struct idle_part *idle;
	int idles;
};

/* Lost time of all findings at one line of one process. */
struct line_sum {
	struct line line; /* share: of all that is in the list */
	uint32_t pid;
	char comm[COMM_LEN];
	const char *cause; /* with most of it */
	uint64_t ns, cause_ns;
};

struct incident {
	int64_t id;
	char cause[32], comm[COMM_LEN], culprit[COMM_LEN], title[TITLE_LEN], severity[16];
	uint32_t pid, culprit_pid;
	uint64_t first_ns, last_ns, lost_ns;
};

/* Something on the host in that time; whether it did any harm is for the findings to say. */
struct happening {
	enum host_event event;
	uint32_t pid; /* 0: nobody in particular */
	char comm[COMM_LEN], name[128], cgroup[CGROUP_LEN]; /* name: the other end, the device */
	uint64_t count, ns, value, first_ns, last_ns; /* value: as in struct host_count */
};

/* How a GPU was, by what it says of itself. */
struct gpu_summary {
	uint32_t index;
	char name[96], uuid[96], bus_id[32];
	int samples;
	/* Of those that told: the mean; the last of memory, limits and counts; the highest temperature. */
	struct gpu_values values;
	double throttled_pct; /* of the samples that tell why clocks are as they are; negative: none */
	uint64_t reasons; /* in any of these */
	uint64_t new_replays, new_corrected, new_uncorrected; /* in this time */
	int processes; /* that computed on it */
};

/* An error that a GPU's driver reported. */
struct gpu_error {
	uint64_t at_ns;
	uint32_t code, pid; /* pid 0: not told */
	char bus_id[16], comm[COMM_LEN], text[192];
};

/* A call or gap that was not over when the trace ended. */
struct open_wait {
	uint32_t pid, tid;
	char comm[COMM_LEN], op[64]; /* op "": between two calls */
	uint64_t start_ns, ns; /* so far */
	struct idle_part part; /* what it did most of that time */
};

/* What was not looked at, to cost no more than was allowed; in this window. */
struct shed_sum {
	uint64_t ns, first_ns, last_ns;
	uint64_t calls; /* estimated: launches that were not counted */
	double cost_pct; /* that made it necessary: the highest */
	int spans;
};

struct explanation {
	struct run_info run;
	struct window window;
	struct finding *finding;
	struct summary *summary;
	struct incident *incident;
	struct line_sum *line; /* most lost first */
	struct happening *happening; /* the rare ones first */
	struct open_wait *open; /* longest first */
	struct gpu_summary *gpu; /* by number */
	struct gpu_error *gpu_error; /* by time */
	struct book *book; /* stacks by id */
	struct tenant_list tenants; /* everybody in the trace */
	int findings, summaries, incidents, lines, happenings, opens, losses, gpus, gpu_errors;
	bool full_stack; /* for the printers: show them */
	bool of_several; /* for the printers: there are other nodes, so say which one this is */
	struct stack_counts stacks; /* how much of the trace has lines */
	double unexplained_pct; /* of the calling threads' time: not seen by anybody */
	struct account_row account;
	struct cost_row cost; /* what account.probe_ns is made of */
	struct shed_sum shed[SHED_COUNT];
	struct {
		char reason[32];
		uint64_t count;
	} loss[LOSS_REASONS];
	int losses_cut; /* so many reasons more: no file of ours has them */
	struct pruned_until pruned;
};

/* Read the window, judge, rank by time lost. Free with explain_free(). -ENODATA: nothing there. */
int explain(struct store *s, struct window w, struct explanation *ret);

/* The same of the last span_ns, for a running agent: findings only, no evidence, effects or lines. */
int explain_recent(struct store *s, uint64_t now_ns, uint64_t span_ns, struct explanation *ret);
void explain_free(struct explanation *e);

/* The stack that a line or a share stands for; NULL: not stored. */
const struct stack *explain_stack(const struct explanation *e, uint64_t stack);

/* Forget everybody but this process. */
void explain_only(struct explanation *e, uint32_t pid);

/*
 * Forget everybody but one tenant: a prefix of its id, its name, pod, "namespace/pod", job or unit.
 * -ENODATA: there is none; -EINVAL: that is more than one.
 */
int explain_only_container(struct explanation *e, const char *wanted);

/* Everybody that the trace has told of, into a list. */
int explain_tenants(struct store *s, struct tenant_list *l);

void explain_text(const struct explanation *e, FILE *out);
void explain_text_containers(const struct explanation *e, FILE *out);
void explain_text_processes(const struct explanation *e, FILE *out);
void explain_text_lines(const struct explanation *e, FILE *out);
void explain_json(struct store *s, const struct explanation *e, FILE *out);

#endif
