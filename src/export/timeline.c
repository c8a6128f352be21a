// SPDX-License-Identifier: Apache-2.0
/* A trace as a timeline: each kind of thing in turn, none of them held in memory. */
#include "export/timeline.h"

#include <errno.h>

#include "base/fail.h"
#include "base/util.h"

static int clip(struct timeline_out *t)
{
	struct window span;
	int err = store_span(t->store, &span);

	if (err)
		return err;
	t->w.from_ns = max_u64(t->opts->window.from_ns, span.from_ns);
	t->w.to_ns = t->opts->window.to_ns; /* 0: single calls may be later than the last sums */
	t->end_ns = t->w.to_ns ? min_u64(t->w.to_ns, span.to_ns) : span.to_ns;
	if (t->w.from_ns > t->end_ns)
		return fail(-ENODATA, "nothing was traced in that time");
	return 0;
}

static uint64_t first_clock(const struct timeline_out *t)
{
	int64_t least = 0;

	for (int i = 0; i < t->nodes; i++)
		least = t->node[i].shift_ns < least ? t->node[i].shift_ns : least;
	return t->w.from_ns - min_u64(t->w.from_ns, (uint64_t)-least);
}

/* It is to be seen where one looks, not only where the command was given. */
static void say_hidden(struct timeline_out *t)
{
	uint64_t hidden = t->hidden;
	struct mark m;

	tl_sequence(t, 0);
	mark_init(&m, 0, t->end_ns, t->end_ns, "slices that are not shown here", "lost");
	mark_u64(&m, "slices", hidden);
	mark_str(&m, "why", "too many overlap without being inside one another");
	if (tl_place(t, tl_lanes(t, tl_node_track(t, 0), "not shown here"), &m))
		sink_mark(&t->sink, &m);
}

static int write_all(struct timeline_out *t)
{
	static int (*const parts[])(struct timeline_out *) = {
		tl_spans,       tl_findings,    tl_calls,     tl_steps,
		tl_collectives, tl_call_chains, tl_intervals, tl_values,
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_LEN(parts); i++)
		err = parts[i](t);
	if (!err && t->hidden)
		say_hidden(t);
	return err;
}

int export_timeline(struct store *s, const struct export_opts *opts, FILE *out,
		    struct export_result *ret)
{
	struct timeline_out t = { .store = s, .opts = opts };
	int frozen = store_freeze(s);
	int err = frozen < 0 ? frozen : clip(&t);

	*ret = (struct export_result){ 0 };
	if (!err)
		err = tl_begin(&t);
	if (!err) {
		if (opts->format == EXPORT_PERFETTO)
			perfetto_sink(&t.sink, out, t.w.from_ns);
		else
			chrome_sink(&t.sink, out, t.w.from_ns, first_clock(&t));
		err = write_all(&t);
		t.sink.ops->finish(&t.sink);
		t.sink.ops->free(&t.sink);
	}
	ret->slices = t.sink.marks;
	ret->hidden = t.hidden;
	tl_release(&t);
	if (frozen > 0)
		store_thaw(s);
	if (!err && (fflush(out) || ferror(out)))
		err = fail(-EIO, "cannot be written");
	return err;
}
