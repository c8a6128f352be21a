// SPDX-License-Identifier: Apache-2.0
/* Sums over beats, so that the parts of a step add up to its length. */
#include "step/split.h"

#include <string.h>

#include "base/util.h"

static const struct op *op_of(const struct beat *b)
{
	return BEAT_OP(b->op) < OP_SLOTS ? &op_table[BEAT_OP(b->op)] : &op_table[OP_GAP];
}

/* Work that the GPU has after this call. */
static bool submits(const struct beat *b)
{
	switch (op_of(b)->class) {
	case CLASS_GRAPH: /* not those that are recorded or made */
		return strstr(op_of(b)->symbol, "Launch") != NULL;
	case CLASS_LAUNCH:
	case CLASS_FILL:
	case CLASS_COPY:
	case CLASS_COLL:
	case CLASS_P2P:
		return true;
	default:
		return false;
	}
}

/* An event may be an old one: only the wait for a stream or for the device leaves nothing to do. */
static bool drains(const struct beat *b)
{
	return op_of(b)->class == CLASS_SYNC && !strstr(op_of(b)->symbol, "Event");
}

static enum part part_of(const struct op *op)
{
	switch (op->class) {
	case CLASS_SYNC:
		return PART_SYNC;
	case CLASS_COPY:
		return PART_COPY;
	case CLASS_COLL:
	case CLASS_P2P:
		return PART_COLL;
	case CLASS_GRAPH: /* launching one is the host's work, as any launch */
		return strstr(op->symbol, "Launch") ? PART_COUNT : PART_OTHER;
	case CLASS_ALLOC:
	case CLASS_FREE:
	case CLASS_MODULE:
	case CLASS_INIT:
		return PART_OTHER;
	default:
		return PART_COUNT;
	}
}

void split_reset(struct split *s)
{
	*s = (struct split){ .blind = s->blind };
}

void split_gap(struct split *s, const struct beat *b)
{
	uint64_t gap = b->start_ns - min_u64(s->end_ns, b->start_ns);
	uint64_t before = min_u64(b->wait_ns, gap);

	/* With one call, all of its wait was before it; with more, at least what does not fit. */
	s->part_ns[PART_DATA] += before;
	s->wait_left_ns = b->wait_ns - before;
	if (s->idle_since_ns && submits(b)) {
		s->idle_ns += b->start_ns - min_u64(s->idle_since_ns, b->start_ns);
		s->idle_since_ns = 0;
	}
}

void split_border(struct split *s, uint64_t ns, struct step *ret)
{
	uint64_t left = ns - min_u64(s->start_ns, ns), part[PART_COUNT];

	if (s->idle_since_ns && s->idle_since_ns < ns) {
		s->idle_ns += ns - s->idle_since_ns;
		s->idle_since_ns = ns;
	}
	if (ret) {
		*ret = (struct step){ .start_ns = s->start_ns, .dur_ns = left };
		ret->idle_ns = min_u64(s->idle_ns, left);
		for (int p = 0; p < PART_COUNT; p++) {
			part[p] = min_u64(s->part_ns[p], left);
			left -= part[p];
		}
		ret->sync_ns = part[PART_SYNC];
		ret->coll_ns = part[PART_COLL];
		ret->copy_ns = part[PART_COPY];
		ret->other_ns = part[PART_OTHER];
		ret->data_ns = part[PART_DATA];
		ret->host_ns = left;
	}
	s->start_ns = ns;
	s->idle_ns = 0;
	memset(s->part_ns, 0, sizeof(s->part_ns));
}

void split_beat(struct split *s, const struct beat *b)
{
	uint64_t dur = b->end_ns - min_u64(b->start_ns, b->end_ns);
	uint64_t in = min_u64(b->in_ns, dur);
	enum part part = part_of(op_of(b));

	if (part != PART_COUNT)
		s->part_ns[part] += in;
	s->part_ns[PART_DATA] += min_u64(s->wait_left_ns, dur - in);
	s->end_ns = b->end_ns;
	if (drains(b) && !s->blind)
		s->idle_since_ns = b->end_ns;
}
