/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks: events carry boot time, people read wall time, we account for our own CPU time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Time since boot, suspend included: what bpf_ktime_get_boot_ns() returns. */
uint64_t clock_boot_ns(void);

/* Time since 1970. */
uint64_t clock_wall_ns(void);

/* Add this to boot time to get wall time; changes when somebody sets the clock. */
int64_t clock_wall_minus_boot(void);

/* How long the host has been suspended since boot: boot time less the monotonic clock. */
uint64_t clock_slept_ns(void);

/* CPU time that all threads of this process have used. */
uint64_t clock_cpu_ns(void);

#endif
