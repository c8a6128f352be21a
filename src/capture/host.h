/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about this host and about one process, from /proc and /sys. */
#ifndef CAPTURE_HOST_H
#define CAPTURE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host {
	char kernel[128];
	char distro[128];
	char machine[32];
	char boot_id[40];
	bool btf;
	char lockdown[32];
	uint64_t caps; /* our own effective capabilities */
	int cpus;
	uint64_t mem_bytes;
	char cgroup[16]; /* "v1", "v2" or "hybrid" */
	char driver[128]; /* NVIDIA driver version line, "" without one */
	int gpus;
	char gpu_name[96]; /* model of the first GPU, or "" */
	char virt
		[32]; /* what kind of guest we are, like "vm" or "vm docker"; "" if nothing tells */
	bool bpf_stats;
};

/* Never fails: what cannot be read is empty. */
void host_read(struct host *ret);

/* The same below another root directory, an open descriptor: for tests. */
void host_read_at(int root, struct host *ret);

/* Do we hold a capability: CAP_SYS_ADMIN 21, CAP_PERFMON 38, CAP_BPF 39, ... */
bool host_has_cap(const struct host *h, int cap);

/* Every string is claimed by the process itself; all are made safe to print. */
struct proc_info {
	int pid, ppid;
	uint64_t start_ns; /* CLOCK_BOOTTIME, in clock ticks of usually 10 ms */
	char comm[16 + 1];
	char cmdline[512]; /* arguments joined by spaces, secrets replaced by *** */
	char exe[256];
	bool ending; /* it is over, and waits to be noticed by its parent at most */
};

/* -ESRCH when the process is gone. What it may hide (exe, cmdline) is then "". */
int proc_read(int pid, struct proc_info *ret);

/* When it began, as above; 0: it is gone. */
uint64_t proc_start_ns(int pid);

/*
 * The control group; false, and dst "": it is gone. Or it is ending, and not known any more: then the kernel says "/"
 * of all groups of version 1.
 */
bool proc_cgroup(int pid, char *dst, size_t cap, bool *ret_ending);

/* "3.12" when the executable or a mapped library says so, else "" and -ENOENT. */
int python_version(int pid, char *dst, size_t cap);

#endif
