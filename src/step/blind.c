// SPDX-License-Identifier: Apache-2.0
/* Beats without their launches. */
#include "step/blind.h"

#include "base/util.h"

static enum op_class class_of(const struct beat *b)
{
	return BEAT_OP(b->op) < OP_SLOTS ? op_table[BEAT_OP(b->op)].class : CLASS_GAP;
}

/* A run that was cut where nothing was seen in between: copies, allocations. */
static bool joins(const struct blind *b, const struct beat *next)
{
	return b->has_last && b->last.op == next->op && class_of(next) != CLASS_SYNC;
}

static void join(struct beat *to, const struct beat *more)
{
	to->end_ns = max_u64(to->end_ns, more->end_ns);
	to->in_ns += more->in_ns;
	to->wait_ns += more->wait_ns;
	to->count += more->count;
	to->flags |= more->flags | (to->stream != more->stream ? BEAT_MIXED : 0);
}

/* What is waited for was launched at some time before: here, as seen from the host. */
static struct beat launch_before(const struct blind *b)
{
	return (struct beat){ .op = OP_cuLaunchKernel,
			      .start_ns = b->end_ns,
			      .end_ns = b->end_ns,
			      .count = 1,
			      .flags = BEAT_MIXED };
}

size_t blind_beats(struct blind *b, const struct beat *beats, size_t n, struct beat *ret)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		struct beat next = beats[i];

		if (class_of(&next) == CLASS_LAUNCH || class_of(&next) == CLASS_FILL) {
			b->wait_ns += next.wait_ns;
			continue;
		}
		next.wait_ns += b->wait_ns;
		b->wait_ns = 0;
		if (joins(b, &next)) {
			join(&b->last, &next);
		} else {
			if (b->has_last)
				ret[out++] = b->last;
			if (b->end_ns && class_of(&next) == CLASS_SYNC)
				ret[out++] = launch_before(b);
			b->last = next;
			b->has_last = true;
		}
		b->end_ns = next.end_ns;
	}
	return out;
}
