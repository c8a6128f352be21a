/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes must be told about the running kernel before they are loaded; from its BTF. */
#ifndef CAPTURE_KERNEL_H
#define CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct kernel {
	/* Of per-CPU variables, relative to `runqueues`; 0: this kernel has no such thing. */
	int64_t preempt_count_offset, steal_offset;
	uint32_t gpu_major[4]; /* of NVIDIA's device files; 0: none */
};

/* Never fails: what cannot be found is left 0. */
void kernel_read(struct kernel *ret);

/* Does the kernel have this tracepoint, with a pointer as its first argument if `pointer`? */
bool kernel_has_tracepoint(const char *name, bool pointer);

#define SYSCALL_NUMBERS 512
#define SYSCALL_FD 0x100
#define SYSCALL_POLL 0x200
#define SYSCALL_SELECT 0x400
#define SYSCALL_OPEN 0x800 /* the flags decide: the second argument, */
#define SYSCALL_OPENAT 0x1000 /* ... or the third */

/* For each system call the state of a thread that waits in it, see probe/block.bpf.h. */
void syscall_states(uint16_t ret[SYSCALL_NUMBERS]);

#endif
