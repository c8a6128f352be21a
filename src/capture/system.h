/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a whole, once a second: CPUs, memory, pressure. Cheap: descriptors stay open. */
#ifndef CAPTURE_SYSTEM_H
#define CAPTURE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Since the sample before. Negative: this host does not tell, or too little time went by. The
 * shares leave each other out: what is in none of them is idle.
 */
struct system_sample {
	double busy_pct, iowait_pct, steal_pct, load1;
	int64_t running, blocked; /* threads, now */
	int64_t mem_total_kb, mem_available_kb, swap_used_kb;
	int64_t swap_in_pages, swap_out_pages, major_faults;
	int64_t psi_cpu_us, psi_memory_us, psi_io_us; /* somebody was stalled */
};

struct core_sample {
	int cpu;
	double busy_pct;
	int64_t mhz; /* now; -1: not known */
};

struct system_sampler;

/* Ready for the first sample, which is then about the time since this call. */
struct system_sampler *system_new(void);

/* The same below another root directory, an open descriptor, which is only borrowed: for tests. */
struct system_sampler *system_new_at(int root);
void system_free(struct system_sampler *s);

/* Fails only if not even the CPUs' times can be read. */
int system_sample(struct system_sampler *s, struct system_sample *ret);

/* The cores that are online, as of the last sample. Borrowed until the next one. */
size_t system_cores(const struct system_sampler *s, const struct core_sample **ret);

#endif
