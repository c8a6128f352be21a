/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AI I/O Stall Report: what the GPUs lost to storage, by which disk, file and owner, from a trace. Rows
 * in, words out; knows nothing of the probes.
 */
#ifndef LINEAGE_REPORT_H
#define LINEAGE_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "store/read_io.h"
#include "store/store.h"
#include "wire/tag.h"

#define REPORT_COMM 32
#define REPORT_DISKS 64
#define REPORT_FILES 2048
#define REPORT_WAITS 1024
#define REPORT_TAGS 256
#define REPORT_TAGGED 1024
#define REPORT_GPUS 64
#define REPORT_SECONDS 7200
#define REPORT_OWNERS 512

struct report_sum {
	uint64_t requests, bytes, timed, total_ns, max_ns, slow, errors, requeues;
	uint32_t hist[HIST_BUCKETS];
	struct io_maps map;
};

struct report_disk {
	uint32_t dev;
	char name[64];
	struct report_sum read, write;
	struct report_sum stalled; /* of both, in the seconds of the stall, */
	struct report_sum else_; /* ... and in the others */
};

/* Who used a disk in the seconds of the stall. */
struct report_owner {
	uint32_t dev, pid;
	char comm[REPORT_COMM];
	uint64_t bytes, requests, total_ns;
};

struct report_file {
	uint32_t dev, fs_dev, pid;
	uint64_t ino, tag;
	bool journal; /* these are of the journal, on its behalf */
	char path[512], comm[REPORT_COMM], fs[16], class[16], op[16], how[16];
	struct report_sum sum;
	struct report_sum stalled;
};

/* One thread's waits for one file. */
struct report_wait {
	uint64_t ino, fs_dev;
	char state[16], name[128], comm[REPORT_COMM], process_comm[REPORT_COMM];
	uint32_t pid, tid, process_pid;
	uint64_t ns, count, max_ns, idle_ns, idle_max_ns;
	uint64_t first_ns, last_ns;
	uint64_t stack, stack_ns; /* where it waited longest */
};

struct report_tag {
	uint64_t tag;
	char label[TAG_LABEL_MAX]; /* "": not told */
	struct report_sum read, write;
};

struct report_gpu {
	int64_t id;
	uint32_t n;
	bool sm; /* SM activity; otherwise utilisation, which says less */
	double before, during, after; /* percent; negative: not known */
	uint32_t samples;
};

enum report_verdict {
	REPORT_NO_STALL, /* nobody waited for storage long enough to matter */
	REPORT_ERRORS, /* requests failed */
	REPORT_STUCK, /* requests took ten seconds or more, or had to be given to the disk again, or the
			 disk was refused its memory meanwhile */
	REPORT_DISK_SLOW, /* the disk took long for each request */
	REPORT_DISK_BUSY, /* it had more to do than it can */
	REPORT_NEIGHBOUR, /* ... for somebody else */
	REPORT_BEFORE_DISK, /* the disk answered fast: lost before it was asked */
};

extern const char *const report_verdict_names[];

struct report_signal {
	const char *event; /* as host_event has it */
	uint64_t count, ns;
};

#define REPORT_SIGNALS 8

/* What is known of whose memory the IOMMU refused. */
enum report_hit {
	REPORT_HIT_NONE,
	REPORT_HIT_UNDER_WAY, /* slow or failed requests of that disk; not proven by the address */
	REPORT_HIT_ADDRESS, /* the request's own */
};

extern const char *const report_hit_names[];

#define REPORT_FAULTS 16
#define REPORT_FAULT_DEVS 32

/* A drive was refused memory, at some time between these. */
struct report_fault {
	char device[128], disk[64]; /* disk "": none that is in the report */
	uint32_t dev[REPORT_FAULT_DEVS]; /* of its disks and partitions */
	int devs;
	uint64_t address, from_ns, to_ns, count;
	enum report_hit hit;
	uint64_t requests; /* that it may have been */
	uint64_t parts; /* rows of these that are not their first */
	/* The longest of these: */
	struct io_single one;
	uint32_t pid;
	uint64_t tag;
	char op[16], file[512], comm[REPORT_COMM];
};

struct report {
	struct window window;
	struct run_info run;
	uint64_t tag; /* only this; 0: all */
	struct {
		uint64_t ino, fs_dev;
	} tagged_file[REPORT_TAGGED]; /* that have it */
	int tagged;
	struct report_disk disk[REPORT_DISKS];
	struct report_file *file;
	struct report_wait *wait;
	struct report_owner *owner;
	struct report_tag *tags;
	struct report_gpu gpu[REPORT_GPUS];
	int disks, files, waits, owners, tag_count, gpus;
	struct report_signal signal[REPORT_SIGNALS];
	struct report_fault fault[REPORT_FAULTS];
	int faults;
	uint64_t more_faults; /* that did not fit */
	uint64_t stall_second
		[REPORT_SECONDS]; /* ends of the seconds in which the primary wait fell */
	int stall_seconds;
	/* Of all files of the primary wait's disk that the same thread waited for in the same way: */
	uint64_t group_ns, group_max_ns, group_idle_ns, group_count;
	int group_files;
	uint64_t rows, idle_ns, storage_idle_ns, storage_wait_ns,
		lost_rows; /* lost_rows: did not fit */
	/* The answer: */
	enum report_verdict verdict;
	int primary; /* of wait; -1: none */
	int primary_disk, primary_file; /* -1: not known */
	int neighbour; /* of owner; -1: none */
	char func[128], source[256]; /* the line of Python that waited; "" = not known */
	int line;
	struct io_request_info worst; /* the worst request of that file or disk; strings are ours */
	char worst_file[512], worst_disk[64], worst_comm[REPORT_COMM];
	bool has_worst;
	/* The first that failed, whether somebody waited long or not; "": none did. */
	char failed_file[512], failed_disk[64], failed_comm[REPORT_COMM];
	uint64_t failed_bytes, failed_offset, failed_tag;
	int32_t failed_nvme; /* what the drive said; 0 or less: nothing */
};

/* -ENODATA: the trace has no disk requests in that time. Free with report_free(). */
int report_make(struct store *s, struct window w, uint64_t tag, struct report **ret);
void report_free(struct report *r);

void report_text(const struct report *r, FILE *out);
void report_json(const struct report *r, FILE *out);

/* ---- inside ---- */

int report_gather(struct store *s, struct report *r);
void report_judge(struct store *s, struct report *r);

/* "fsync → ext4 writeback → blk-mq → loop0", as far as it is known. */
void report_path(const struct report *r, char *dst, size_t cap);

/* What to do next, one at a time; false: no more. */
bool report_action(const struct report *r, int n, char *dst, size_t cap);

/* Of a tag: its label where somebody has said it, else its number. Returns dst. */
const char *report_tag_words(const struct report *r, uint64_t tag, char *dst, size_t cap);

enum report_map { REPORT_MAP_UNKNOWN, REPORT_MAP_NORMAL, REPORT_MAP_SLOW };

extern const char *const report_map_names[];

/* How long a disk's requests took to be mapped for DMA. */
enum report_map report_judge_maps(const struct report_disk *d);
void report_add_maps(struct io_maps *to, const struct io_maps *m);
void report_say_maps(const struct report *r, FILE *out);
void report_put_maps(struct json *j, const struct report_disk *d);
void report_put_bounced(struct json *j, const struct report *r);

/* ---- report_fault.c ---- */

/* Is that one of its disks, or a part of one? */
bool report_fault_has(const struct report_fault *f, uint32_t dev);

/* Is it this request that was refused its memory? */
enum report_hit report_fault_meets(const struct report_fault *f, const struct io_request_info *q);

/* Takes a request into account; those that are less likely than what it has are passed over. */
void report_fault_add(struct report_fault *f, const struct io_request_info *q);

void report_find_faults(struct store *s, struct report *r);

/* Of a disk: the one of which most is known, and how many there were; NULL: none. */
const struct report_fault *report_fault_of(const struct report *r, uint32_t dev,
					   uint64_t *ret_count);
void report_say_faults(const struct report *r, FILE *out);
void report_put_faults(struct json *j, const struct report *r);

/* The primary cause in one sentence. */
void report_cause(const struct report *r, char *dst, size_t cap);

#endif
