// SPDX-License-Identifier: Apache-2.0
/* Reads the kernel's clocks. */
#include "base/clock.h"

#include <time.h>

#define NS_PER_S 1000000000ull

static uint64_t read_clock(clockid_t id)
{
	struct timespec t = { 0 };

	(void)clock_gettime(id, &t); /* cannot fail: the ids are constants that Linux has */
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* We may be preempted between two reads, so of several pairs the tightest one counts. */
static int64_t minus_boot(clockid_t id)
{
	uint64_t best_gap = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_boot_ns();
		uint64_t other = read_clock(id);
		uint64_t gap = clock_boot_ns() - before;

		if (gap < best_gap) {
			best_gap = gap;
			offset = (int64_t)(other - (before + gap / 2));
		}
	}
	return offset;
}

int64_t clock_wall_minus_boot(void)
{
	return minus_boot(CLOCK_REALTIME);
}

uint64_t clock_slept_ns(void)
{
	int64_t less = minus_boot(CLOCK_MONOTONIC);

	return less < 0 ? (uint64_t)-less : 0;
}

uint64_t clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
