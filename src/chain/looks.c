// SPDX-License-Identifier: Apache-2.0
/* What a running thread did, by the looks that were taken at it now and then. */
#include "base/util.h"
#include "chain/chain_int.h"

struct stretch stretch_at(const struct thread *thread, uint64_t at)
{
	const struct track *stops = &thread->stops;
	struct stretch s = { .looks = &thread->looks, .to_ns = UINT64_MAX };
	size_t next = track_after(stops, at);

	if (next)
		s.from_ns = track_at(stops, next - 1)->run_ns;
	if (next < stops->count)
		s.to_ns = track_at(stops, next)->from_ns;
	return s;
}

/* The i-th look, if there is one and it was taken in the stretch. */
static const struct stop *look_in(const struct stretch *s, size_t i)
{
	const struct stop *look = i < s->looks->count ? track_at(s->looks, i) : NULL;

	return look && look->run_ns >= s->from_ns && look->run_ns < s->to_ns ? look : NULL;
}

const struct stop *stretch_look(const struct stretch *s, uint64_t at, uint64_t *ret_until)
{
	size_t next = s->looks->count ? track_after(s->looks, at) : 0;
	const struct stop *before = next ? look_in(s, next - 1) : NULL, *after = look_in(s, next);
	uint64_t end = before ? before->run_ns + LOOK_REACH_NS : 0;

	if (before && after) /* each up to the middle, in whole nanoseconds */
		end = min_u64(end, before->run_ns + (after->run_ns - before->run_ns + 1) / 2);
	if (at < end) {
		*ret_until = end;
		return before;
	}
	if (!after) {
		*ret_until = s->to_ns;
		return NULL;
	}
	if (after->run_ns - at <= LOOK_REACH_NS) {
		*ret_until = after->run_ns;
		return after;
	}
	*ret_until = after->run_ns - LOOK_REACH_NS;
	return NULL;
}

/* One stretch, or the part of it that is no overlay. */
static void share_out(const struct thread *thread, uint64_t from, uint64_t to, run_fn fn, void *arg)
{
	struct stretch s = stretch_at(thread, from);
	uint64_t until;

	for (; from < to; from = until) {
		const struct stop *look = stretch_look(&s, from, &until);
		struct run run;

		until = min_u64(until, to);
		if (!look)
			continue;
		run = (struct run){ .from_ns = from,
				    .to_ns = until,
				    .stack = look->stack,
				    .op = look->op,
				    .state = look->state,
				    .look = look->run_ns >= from && look->run_ns < until };
		fn(&run, arg);
	}
}

static void runs_between(const struct thread *thread, uint64_t from, uint64_t to, run_fn fn,
			 void *arg)
{
	const struct track *overlays = &thread->overlays;

	for (size_t i = track_after(overlays, from); i < overlays->count; i++) {
		const struct stop *o = track_at(overlays, i);

		if (o->from_ns >= to)
			break;
		share_out(thread, from, max_u64(o->from_ns, from), fn, arg);
		from = min_u64(o->run_ns, to);
	}
	share_out(thread, from, to, fn, arg);
}

void chain_runs(const struct timeline *t, uint32_t serial, uint64_t from_ns, uint64_t to_ns,
		run_fn fn, void *arg)
{
	const struct thread *thread = timeline_find(t, serial);

	if (!thread || !thread->looks.count)
		return;
	from_ns = max_u64(from_ns, timeline_known_from(t, thread));
	for (size_t i = track_after(&thread->stops, from_ns); i < thread->stops.count; i++) {
		const struct stop *s = track_at(&thread->stops, i);

		if (s->from_ns >= to_ns)
			break;
		runs_between(thread, from_ns, max_u64(s->from_ns, from_ns), fn, arg);
		from_ns = s->run_ns;
	}
	runs_between(thread, from_ns, to_ns, fn, arg);
}
