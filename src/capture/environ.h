/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank a process is, by the few variables of its environment that we look at. */
#ifndef CAPTURE_ENVIRON_H
#define CAPTURE_ENVIRON_H

#include <stddef.h>
#include <stdint.h>

/* -1: not told. Nothing else of an environment is ever kept: secrets live there. */
struct rank_env {
	int64_t rank, local_rank, world;
	const char *from; /* the variable that told the rank, static; "" */
};

/* bytes[0..len): NUL-separated, as /proc/PID/environ has them. */
void rank_env_parse(const char *bytes, size_t len, struct rank_env *ret);

/* Of a process, as it was started; what it set itself later is not seen. None told: all -1. */
void rank_env_read(int pid, struct rank_env *ret);

#endif
