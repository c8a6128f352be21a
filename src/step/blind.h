/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rhythm of a thread whose launches are seen for a part of the time only. Its beats are put into
 * a form that is the same whether launches were seen or not, so that one rhythm holds for both: no
 * launches but one before each synchronisation. Pure.
 */
#ifndef STEP_BLIND_H
#define STEP_BLIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

/* Of one thread. Starts as zeros. */
struct blind {
	uint64_t wait_ns; /* of launches that were left out since the last beat */
	uint64_t end_ns; /* of that one */
	struct beat last; /* which may be joined by an equal one */
	bool has_last;
};

/* ret has room for 2 * n + 1. Returns how many there are; the last one is kept until the next time. */
size_t blind_beats(struct blind *b, const struct beat *beats, size_t n, struct beat *ret);

#endif
