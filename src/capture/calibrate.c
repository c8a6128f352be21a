// SPDX-License-Identifier: Apache-2.0
/* What a probe costs, measured with the real programs on a function that begins like NVIDIA's. */
#include "capture/calibrate.h"

#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"

#define CALLS 101
#define COLD_BYTES 524288 /* half the second-level cache of a server: see doc/overhead.md */

static uint64_t mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int ascending(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/*
 * ns per call of fn, reading the clock included: the median, which a preemption or an interrupt does
 * not move. Before each call memory is walked, as a real program would: in a tight loop a probe finds
 * everything in the caches and looks cheaper than it is.
 */
static uint64_t per_call(void (*fn)(void))
{
	static volatile char cold[COLD_BYTES];
	uint64_t took[CALLS];

	for (int i = 0; i < CALLS; i++) {
		uint64_t start;

		for (size_t k = 0; k < COLD_BYTES; k += 64)
			cold[k]++;
		start = mono_ns();
		fn();
		took[i] = mono_ns() - start;
	}
	qsort(took, CALLS, sizeof(took[0]), ascending);
	return took[CALLS / 2];
}

/* ns that a probe at that site adds to a call. 0: could not be attached. */
static uint64_t probed(const struct libs_opts *o, bool timed, void (*fn)(void), uint64_t offset)
{
	struct site site = { .offset = offset, .cookie = OP_CALIBRATE };
	struct attach count = libs_count_only(o);
	struct attach entry = { .mode = o->mode, .prog_fd = o->prog_enter };
	struct attach at_return = { .mode = o->mode, .prog_fd = o->prog_return, .at_return = true };
	struct links links = { 0 };
	struct links *all[] = { &links };
	uint64_t bare = per_call(fn), with;
	int err;

	err = link_sites(&links, timed ? &entry : &count, "/proc/self/exe", &site, 1);
	if (!err && timed && o->mode != ATTACH_SESSION)
		err = link_sites(&links, &at_return, "/proc/self/exe", &site, 1);
	with = err ? 0 : per_call(fn);
	links_close(all, 1);
	if (err)
		log_debug("calibration: %s", why(err));
	return with > bare ? with - bare : 0;
}

void calibrate(const struct libs_opts *opts, bool *shed_returns, struct capture_cost *ret)
{
	uint64_t offset, stepped, with_return;

	if (link_target_offset(&offset))
		return;
	*shed_returns = true;
	ret->count_ns = probed(opts, false, link_target, offset);
	ret->timed_ns = probed(opts, true, link_target, offset);
	/* One byte further on: `pop %rbp`, which the kernel has to single-step. */
	stepped = probed(opts, false, link_target, offset + 1);
	ret->stepped_ns = stepped > ret->count_ns ? stepped - ret->count_ns : 0;
	*shed_returns = false;
	if (!opts->count_returns)
		return;
	with_return = probed(opts, false, link_target, offset);
	ret->return_ns = with_return > ret->count_ns ? with_return - ret->count_ns : 0;
}
