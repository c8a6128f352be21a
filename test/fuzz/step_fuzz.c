// SPDX-License-Identifier: Apache-2.0
/* Any beats: steps follow each other, and their parts add up. */
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct told {
	uint64_t steps, end_ns;
};

static void check(const struct step *step, void *arg)
{
	struct told *t = arg;
	uint64_t sum = step->host_ns + step->data_ns + step->copy_ns + step->sync_ns +
		       step->coll_ns + step->other_ns;

	if (sum != step->dur_ns || step->idle_ns > step->dur_ns || step->index != t->steps ||
	    step->start_ns < t->end_ns)
		abort();
	t->steps++;
	t->end_ns = step->start_ns + step->dur_ns;
}

/* The input is a loop that is run many times, with an op, a length and a wait in each three bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct stepper *s = stepper_new();
	struct told told = { 0, 0 };
	uint64_t now_ns = 1, median_ns = 0;
	uint32_t beats = 0;

	for (size_t i = 0; len >= 3 && i < 2500; i++) {
		const uint8_t *d = data + i * 3 % (len - 2);
		struct beat b = { .op = d[0] % 80u | (d[1] & 3u) << 16, .count = 1 };

		b.start_ns = now_ns += (uint64_t)(d[2] & 15) << (d[2] >> 4);
		b.end_ns = now_ns += (uint64_t)(d[1] >> 2) << (d[2] & 31);
		b.in_ns = d[2] & 1 ? b.end_ns - b.start_ns : (uint64_t)d[1] << d[2] % 57;
		b.wait_ns = (uint64_t)d[2] << d[1] % 57;
		if (d[0] == 255)
			b.start_ns = d[1]; /* time goes back */
		if (d[0] == 254)
			stepper_break(s);
		stepper_add(s, &b, 1, check, &told);
	}
	if (stepper_period(s, &beats, &median_ns) && (beats < 2 || !told.steps))
		abort();
	stepper_free(s);
	return 0;
}
