/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules look at: the time of every calling thread, second by second, and who is to blame. */
#ifndef EXPLAIN_FACTS_H
#define EXPLAIN_FACTS_H

#include "explain/classify.h"
#include "explain/explain.h"

struct second_blame {
	uint32_t pid, cpu;
	char comm[COMM_LEN];
	uint64_t ns;
};

/* Stops of one thread in one interval that are charged to one chain. */
struct wait {
	enum op_class place;
	int chain; /* index of facts.chain */
	int path; /* index of facts.path: the same with its lines */
	uint64_t ns, count, max_ns;
	struct verdict verdict; /* by facts_classify() */
};

/* Where the thread ran in one interval, by looks at it. */
struct look {
	enum op_class place;
	enum state state; /* RUN, GC or FAULT: see STOP_SAMPLE; GC or RECLAIM if timed */
	uint64_t stack, ns;
	uint64_t samples; /* 0: not looked at but timed */
};

/* A runtime call contains a driver call that does the same: they are counted apart. */
enum layer { LAYER_RUNTIME, LAYER_DRIVER, LAYERS };

/* All calls of one class. */
struct class_sum {
	uint64_t calls[LAYERS], bytes[LAYERS];
	uint64_t nested,
		nested_bytes; /* of these: inside another traced call; 0: none, or not told */
	uint64_t ns; /* of outermost calls, waiting for a CPU left out: sums of states */
	uint64_t total_ns; /* of all, nested ones too */
};

/* Those of a distribution that are below a limit. */
struct short_sum {
	uint64_t count, ns;
};

/* What the thread's own running between calls amounts to, if that is what the GPU waits for. */
enum load { LOAD_none, LOAD_syncs, LOAD_launches, LOAD_work };

/* One interval between two looks of the agent, about a second; longer where a gap was. */
struct second {
	uint64_t at_ns; /* its end */
	uint64_t state_ns[STATE_COUNT];
	uint64_t gap_ns[STATE_COUNT]; /* of these: between calls, and in launches */
	uint64_t counter[COUNTER_COUNT], gap_counter[COUNTER_COUNT];
	struct class_sum class[CLASS_COUNT];
	uint64_t sync_wait_ns; /* on CPU or blocked inside synchronising calls: waits for the GPU */
	uint64_t sync_runnable_ns; /* waiting for a CPU inside such calls: the GPU may be busy */
	uint64_t sync_state_ns[STATE_COUNT]; /* of sync_wait_ns */
	uint64_t gpu_blocked_ns; /* blocked in calls that wait for the GPU, of all classes */
	uint64_t calls,
		launches; /* launches: with those that were not looked at, by facts_scale() */
	uint64_t hidden_ns; /* launches were not looked at */
	uint64_t launches_seen;
	struct short_sum short_gap, short_sync[LAYERS];
	uint64_t gap_hist_ns, long_gap_ns; /* gaps by their distribution: all, from 1 ms on */
	uint64_t blocking_copies; /* they wait for the GPU like a synchronisation */
	struct second_blame *blame;
	struct wait *wait;
	struct look *look;
	int blames, waits, looks;
	uint64_t steps, step_ns, idle_ns; /* steps that ended here; idle: the GPU, at least */
	uint64_t looked_gc_ns; /* of STATE_GC: by looks, not timed */
	enum load load; /* by facts_classify() */
	bool warm_up; /* the device was opened or code was loaded here or just before */
	bool launches_unknown; /* hidden, and too little was seen of them to tell */
};

#define SHORT_GAP_NS 100000ull
#define SHORT_SYNC_NS 250000ull
#define LONG_GAP_NS 1000000ull

struct op_sum {
	char symbol[64];
	uint64_t calls, done, total_ns;
	uint32_t hist[HIST_BUCKETS];
};

/* Time in which the GPU waited for this thread. */
struct idle_ns {
	int chain; /* index of facts.chain */
	uint64_t ns;
	int path; /* index of facts.path */
};

struct thread_facts {
	int64_t id, process;
	struct second *second;
	struct op_sum *op; /* over the whole window */
	struct idle_ns *idle;
	int seconds, ops, idles;
	uint32_t pid, tid;
	char node[65], process_comm[COMM_LEN], comm[COMM_LEN], cmdline[256], cgroup[CGROUP_LEN];
	char python_note[160]; /* why its lines cannot be read; "": they can, or it is not Python */
	uint64_t steps;
	struct step step_sum;
	uint32_t step_hist[HIST_BUCKETS];
	/* What is usual, by facts_classify(): */
	double quiet_kernel; /* share of its time in the kernel while it has few page faults */
	double quiet_host_ns; /* running between calls for each launch; negative: not known */
	double quiet_launch_ns; /* all time for each launch; negative: not known */
	double quiet_round_ns; /* all time from one synchronisation to the next; negative: not known */
	int64_t rank; /* meant only where it is `ranked` */
	bool ranked;
	bool always_faults; /* it never has few page faults */
	bool feeds; /* launches a good part of what its process launches */
};

/* Who waited for whom, whatever the lines of code: hop.stack is 0. */
struct chain_facts {
	int64_t id;
	struct chain chain;
};

/* A row of `chain`: one way in which a chain went through the code. */
struct path {
	int64_t id;
	int chain; /* index of facts.chain */
	uint64_t stack[HOPS_MAX];
};

struct host_facts {
	enum host_event event;
	uint32_t pid;
	char comm[COMM_LEN], name[128], cgroup[CGROUP_LEN];
	uint64_t at_ns, first_ns, obj, count, ns, value;
};

/* One pid is known to descend from another. */
struct descent {
	uint32_t parent, child;
};

/* A collective that a process waited for: the last of its communicator in front of that wait. */
struct coll_facts {
	int64_t process, thread, communicator;
	uint64_t hash, seq; /* hash: the same in all ranks; 0: whose meeting it was is not known */
	int64_t rank, nranks; /* -1: not known */
	uint64_t start_ns; /* it arrived */
	uint64_t sync_start_ns, sync_end_ns; /* it waited */
	bool sure; /* it is certain that it waited for this one */
	bool aligned; /* hash and seq are by when the waits ended, not by name */
};

/* Where somebody belongs who is not traced himself, from some time on. */
struct belonging {
	uint32_t pid;
	uint64_t at_ns;
	char cgroup[CGROUP_LEN];
};

/* What somebody gave to a disk, in one interval. */
struct disk_use {
	uint64_t at_ns, bytes;
	uint32_t dev, pid;
	char comm[COMM_LEN], cgroup[CGROUP_LEN]; /* cgroup "": whose it was is not known */
	bool kernel; /* a thread of the kernel, for somebody of that control group */
};

/* A GPU, whatever the number of runs that saw it. */
struct gpu_facts {
	uint32_t index;
	char name[96], uuid[96], bus_id[32];
	struct gpu_second_info *second; /* by time; .gpu means nothing */
	struct gpu_process_info *user;
	int seconds, users;
	int64_t *id; /* of its rows */
	int ids;
};

/* Launches were not looked at. */
struct shed_facts {
	uint64_t from_ns, to_ns;
	uint64_t calls; /* how many there were in it: an estimate */
};

/* Requests of disks for one file; ino 0: all of a disk, whose number is fs_dev. */
struct io_facts {
	uint64_t ino, fs_dev;
	uint64_t requests, bytes, timed, max_ns;
	uint64_t worst_ns, worst_offset; /* of those told one by one, */
	bool has_worst; /* ... if there is one */
	bool writes;
	uint32_t owner_pid;
	uint64_t owner_bytes;
	char disk[32], owner[COMM_LEN];
	uint32_t hist[HIST_BUCKETS];
};

struct facts {
	struct window window;
	struct thread_facts *thread; /* by process */
	int threads, cpus;
	struct chain_facts *chain;
	int chains;
	struct path *path;
	int paths;
	struct host_facts *event; /* by the time of the last of each */
	int events;
	struct system_info *system; /* by time */
	int systems;
	struct descent *descent;
	int descents;
	struct belonging *belonging; /* by pid, then time */
	struct gpu_facts *gpu; /* by number */
	struct gpu_error *gpu_error; /* by time */
	int belongings, gpus, gpu_errors;
	struct coll_facts *coll; /* by hash, then sequence number: a meeting is together */
	struct thread_facts *stranger; /* of other nodes, met in collectives: names only */
	int colls, disk_uses, ios, strangers;
	struct shed_facts *shed; /* by time */
	struct disk_use *disk_use; /* by time */
	struct io_facts *io;
	int sheds;
	int kills, resends, failures; /* of events; failures: of devices */
	uint64_t lost_stops; /* history that was overwritten before it was read */
};

/* load.c */
int facts_load(struct store *s, struct window w, struct facts *ret);
void facts_release(struct facts *f);
int load_ranks(struct store *s, struct window w,
	       struct facts *f); /* load_rank.c, the part of NCCL */
void release_ranks(struct facts *f);

/* load_gpu.c: the part of that which is about GPUs. */
int facts_load_gpus(struct store *s, struct facts *f);
void facts_release_gpus(struct facts *f);

/* load_io.c: disk requests by file. */
int facts_load_io(struct store *s, struct facts *f);
const struct io_facts *facts_io(const struct facts *f, uint64_t ino, uint64_t fs_dev, bool writes);
/* The hop of the finding's chain that waits for a file, the last one; NULL: it is about none. */
struct hop *finding_file(struct finding *f);
/* Fill in what the disk did for that file. */
void finding_disk(const struct facts *f, bool writes, struct finding *ret);
/* ... in words, for the basis; what is not known is said. Returns dst. */
char *finding_disk_text(const struct finding *f, char *dst, size_t cap);

/*
 * gpus.c: does this process compute on this GPU? Where there is but one and it does not say (or counts
 * processes otherwise, in a container) it is taken for granted, and *ret_assumed is set.
 */
bool facts_uses_gpu(const struct facts *f, uint32_t pid, const struct gpu_facts *gpu,
		    bool *ret_assumed);
/* "GPU 0 (NVIDIA H200)". Returns dst. */
char *gpu_title(const struct gpu_facts *gpu, char *dst, size_t cap);

/* shed.c: read when launches were not looked at, and put estimates in their place. */
int facts_load_shed(struct store *s, struct facts *f);
void facts_scale(struct facts *f);

/* verdicts.c: fill in what follows from the rest; called by facts_load(). */
void facts_classify(struct facts *f);
/* Did requests of an NVMe disk take so long that it must have been stuck? */
bool facts_disk_stuck(const struct host_facts *e);
/* Is this the connection of `ours` (as stop.obj2), seen from either end? */
bool same_socket(uint64_t ours, uint64_t theirs);

/* load_rank.c: by its row, of this node or another; NULL: none. */
const struct thread_facts *facts_any_thread(const struct facts *f, int64_t id);

/* meet.c: which collectives of different processes are the same; called by facts_load(). */
void facts_meet(struct facts *f);
/* Do two processes belong to one communicator? */
bool facts_same_job(const struct facts *f, int64_t process, int64_t other);

/* host.c: the part of that which is about running between calls. */
void facts_loads(struct facts *f);
uint64_t second_host(const struct thread_facts *t, const struct second *s);

/* Well, but before or after one of that kind: a part of it may be of that kind, too. */
bool second_beside(const struct thread_facts *t, const struct second *s, enum load load);

/* Running in short gaps while the GPU was known to be idle, as it is after a synchronisation. */
uint64_t second_idle_beside(const struct second *s);

/* How often it waited until the GPU had done everything. */
uint64_t second_drains(const struct second *s);
/* ... beyond what is usual for so many launches, where the program's own work is the trouble. */
uint64_t second_excess(const struct thread_facts *t, const struct second *s);

/* facts.c: shared by rules. */
uint64_t second_total(const struct second *s); /* all time of an interval */
uint64_t second_start(const struct second *s);
uint64_t second_busy(const struct second *s); /* on a CPU, or waiting for the GPU or its turn */
uint64_t second_calls(const struct second *s, enum op_class class); /* each thing once */
uint64_t second_bytes(const struct second *s, enum op_class class);
bool second_faults(const struct second *s); /* so many page faults that they cost time */
bool second_swaps(const struct facts *f, const struct second *s);
/* Between calls, in the kernel, beyond reclaim and what it spends there anyway. By samples. */
uint64_t second_kernel(const struct thread_facts *t, const struct second *s);

/*
 * How much of the window, in percent, a thread worked or waited for the GPU. One that hardly does may
 * be starved, or have nothing to do: who sleeps or is far away cannot be blamed for the latter, who
 * works for it can.
 */
double thread_busy(const struct thread_facts *t);
#define BUSY_MIN_PCT 2.0
#define BUSY_AWAY_PCT 5.5
#define BUSY_ASLEEP_PCT 8.0
bool facts_swapping(const struct facts *f, uint64_t from_ns, uint64_t to_ns);
bool facts_child(const struct facts *f, uint32_t parent, uint32_t pid);
enum severity severity_of(const struct facts *f, const struct finding *found);
void add_fix(struct finding *found, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double percent(uint64_t part, uint64_t whole);

/* cgroups.c: "" is not known. */
int load_belongings(struct store *s, struct window w, struct facts *f);
const char *facts_cgroup(const struct facts *f, uint32_t pid, uint64_t at_ns);
void find_cgroups(const struct facts *f, struct finding *found); /* of its culprits */
/* Who of these belongs together; ret has its last_ns and lost_ns already. */
void group_culprits(const struct facts *f, const struct culprit *list, int n, struct finding *ret);

/* neighbours.c: who used disks; and who kept that of a finding busy, as one more culprit of it. */
int load_disk_uses(struct store *s, struct window w, struct facts *f);
void find_neighbour(const struct facts *f, const struct explanation *e, struct finding *found);

/* "0-14", "1,3": as taskset takes it. */
void format_cpus(char *dst, size_t cap, uint64_t cpus);

/*
 * One rule, one file. Judges the threads [first, first + n) of one process; true: ret is filled.
 * The caller adds where it was, the evidence rows and the effects.
 */
typedef bool (*rule_fn)(const struct facts *f, const struct thread_facts *first, int n,
			struct finding *ret);

#define RULES(X)                                                                                   \
	X(cpu_contention)                                                                          \
	X(cpu_contention_own)                                                                      \
	X(cpu_contention_worker)                                                                   \
	X(cpu_quota)                                                                               \
	X(disk_read)                                                                               \
	X(disk_write)                                                                              \
	X(nvme_timeout)                                                                            \
	X(dma_bounce)                                                                              \
	X(iommu_fault)                                                                             \
	X(network_retransmit)                                                                      \
	X(network_peer)                                                                            \
	X(memory_reclaim)                                                                          \
	X(page_fault)                                                                              \
	X(swap)                                                                                    \
	X(oom)                                                                                     \
	X(lock)                                                                                    \
	X(gil)                                                                                     \
	X(data_loader)                                                                             \
	X(python_gc)                                                                               \
	X(host_bound)                                                                              \
	X(self_sleep)                                                                              \
	X(gpu_throttled)                                                                           \
	X(gpu_error)                                                                               \
	X(gpu_shared)                                                                              \
	X(copy_bound)                                                                              \
	X(sync_too_often)                                                                          \
	X(launch_bound)                                                                            \
	X(alloc_churn)                                                                             \
	X(cold_start)                                                                              \
	X(straggler)                                                                               \
	X(unknown)

#define X(name)                                                                                    \
	bool rule_##name(const struct facts *f, const struct thread_facts *first, int n,           \
			 struct finding *ret);
RULES(X)
#undef X

#endif
