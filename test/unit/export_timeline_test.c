// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/fail.h"
#include "export/export.h"
#include "store/timeline.h"
#include "test/unit/json_check.h"
#include "test/unit/lines_trace.h"
#include "test/unit/one_line.h"

static char text[4 << 20];
static struct export_result result;

/* What was written, or why nothing was. */
static const char *timeline(struct export_opts opts)
{
	FILE *out = fmemopen(text, sizeof(text), "w");
	int err = store_commit(store);

	if (err)
		return why(err);
	memset(text, 0, sizeof(text));
	opts.format = EXPORT_CHROME;
	err = export_timeline(store, &opts, out, &result);
	fclose(out);
	one_line(text);
	return err ? why(err) : text;
}

static int count(const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static int put_call(enum op_id op, uint64_t start, uint64_t dur, uint32_t depth)
{
	struct record rec = { .op = &op_table[op],
			      .start_ns = start,
			      .dur_ns = dur,
			      .depth = depth,
			      .because = BECAUSE_ALL,
			      .stream = 0x10 };

	rec.state_ns[STATE_RUN] = dur;
	return store_call(store, thread, &rec, NULL);
}

LINES_TEST(timeline_of_nothing_says_so_and_writes_nothing)
{
	CHECK_STR(timeline((struct export_opts){ 0 }), "the trace is empty");
	if (fill_worker())
		return 1;
	CHECK_STR(timeline((struct export_opts){ .pid = 1 }),
		  "pid 1 is none of the 1 traced processes in that time");
	CHECK_STR(timeline((struct export_opts){ .container = "0123456789ab" }),
		  "no container 0123456789ab in that time; there are none");
	CHECK_STR(timeline((struct export_opts){ .window = { BOOT_NS + 99 * SEC, 0 } }),
		  "nothing was traced in that time");
	CHECK(!text[0]);
	return 0;
}

/* A worker that is not traced itself, but keeps the loop waiting: it has a track, and an arrow. */
LINES_TEST(timeline_leads_from_who_was_waited_for_to_who_waited)
{
	if (fill_worker())
		return 1;
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(strstr(text, "\"process_name\",\"args\":{\"name\":\"gpu-node-01: python3\"}"));
	CHECK(strstr(text, "\"args\":{\"name\":\"gpu-node-01: loader, not traced\"}"));
	CHECK(strstr(text,
		     "\"name\":\"keeps python3 4821 waiting (sums per second), thread 4900\""));
	CHECK(strstr(text, "\"name\":\"waits (sums per second), thread 4821\""));
	CHECK(strstr(text, "\"name\":\"waiting on a pipe for loader (pid 4900)\""));
	CHECK(strstr(text, "\"name\":\"blocked: waiting on a pipe\""));
	CHECK(strstr(text, "\"line\":\"train.py:31 train\"")); /* where it waited */
	CHECK(strstr(text, "\"line\":\"images.py:142 Images.decode\"")); /* what the other did */
	CHECK(count("\"ph\":\"s\"") == count("\"ph\":\"f\""));
	CHECK(count("\"ph\":\"s\"") >= 6); /* six bad seconds */
	CHECK(result.hidden == 0);
	return 0;
}

LINES_TEST(timeline_puts_calls_inside_calls_and_overlapping_ones_apart)
{
	if (begin_trace())
		return 1;
	CHECK(!put_call(OP_cudaMalloc, SEC, 10 * MSEC, 0));
	CHECK(!put_call(OP_cuMemAlloc_v2, SEC + MSEC, 8 * MSEC, 1));
	CHECK(!put_call(OP_cudaFree, SEC + 5 * MSEC, 10 * MSEC, 0)); /* cannot be, on one thread */
	CHECK(!loop_second(2 * SEC, STATE_RUN, 0));
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(strstr(text, "\"ph\":\"X\",\"pid\":4821,\"tid\":4821,\"name\":\"cudaMalloc\""));
	CHECK(strstr(text, "\"ph\":\"X\",\"pid\":4821,\"tid\":4821,\"name\":\"cuMemAlloc_v2\""));
	CHECK(!strstr(text, "\"tid\":4821,\"name\":\"cudaFree\""));
	CHECK(strstr(text, "\"name\":\"overlapping calls, thread 4821\""));
	return 0;
}

/* More at once than there is room for: counted, and the rest is as it was. */
LINES_TEST(timeline_counts_what_it_cannot_show)
{
	if (begin_trace())
		return 1;
	for (uint64_t i = 0; i < 20; i++)
		CHECK(!put_call(OP_cudaFree, SEC + i, SEC / 2 + 2 * i, 0));
	CHECK(!loop_second(3 * SEC, STATE_RUN, 0));
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(count("\"name\":\"cudaFree\"") == 8);
	CHECK_U64(result.hidden, 12);
	CHECK(strstr(text, "\"name\":\"slices that are not shown here\""));
	CHECK(strstr(text, "\"args\":{\"slices\":12,"));
	return 0;
}

/* One process that two runs of the agent saw is one; another with its pid is another. */
LINES_TEST(timeline_tells_processes_with_one_pid_apart)
{
	struct process_row again = { .pid = 4821,
				     .start_boot_ns = 5 + 100 * MSEC,
				     .comm = "python3",
				     .cmdline = "",
				     .exe = "",
				     .cgroup = "",
				     .python = "" };
	int64_t id;

	if (begin_trace())
		return 1;
	CHECK(!put_call(OP_cudaMalloc, SEC, MSEC, 0));
	CHECK(!loop_second(2 * SEC, STATE_RUN, 0));
	CHECK(!trace_run(store)); /* the agent was started anew */
	CHECK(!store_process(store, &again, &id));
	CHECK(!store_thread(store, id, 4821, "python3", 3 * SEC, &thread));
	CHECK(!put_call(OP_cudaMalloc, 3 * SEC, MSEC, 0));
	again.start_boot_ns = 10 * SEC;
	CHECK(!store_process(store, &again, &id));
	CHECK(!store_thread(store, id, 4821, "python3", 10 * SEC, &thread));
	CHECK(!put_call(OP_cudaMalloc, 11 * SEC, MSEC, 0));
	CHECK(!loop_second(12 * SEC, STATE_RUN, 0));
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(count("\"name\":\"process_name\"") == 3); /* and the node */
	CHECK(strstr(text, "\"name\":\"gpu-node-01: python3 (pid 4821)\""));
	CHECK(count("\"ph\":\"X\",\"pid\":4821,\"tid\":4821,\"name\":\"cudaMalloc\"") == 2);
	CHECK(count("\"ph\":\"X\",\"pid\":10000001,\"tid\":10000001,\"name\":\"cudaMalloc\"") == 1);
	return 0;
}

/* A queue has work from the first that was given to it until somebody has waited for it. */
LINES_TEST(timeline_shows_a_queue_as_long_as_it_may_have_work)
{
	if (begin_trace())
		return 1;
	CHECK(!put_call(OP_cudaMemcpyAsync, SEC, MSEC, 0));
	CHECK(!put_call(OP_cudaLaunchKernel, SEC + 2 * MSEC, 0, 0));
	CHECK(!put_call(OP_cudaStreamSynchronize, SEC + 3 * MSEC, 7 * MSEC, 0));
	CHECK(!put_call(OP_cudaLaunchKernel, SEC + 50 * MSEC, 0, 0));
	CHECK(!put_call(OP_cudaDeviceSynchronize, SEC + 60 * MSEC, 5 * MSEC, 0));
	CHECK(!loop_second(2 * SEC, STATE_RUN, 0));
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(strstr(text, "\"name\":\"GPU queue: stream 0x10\""));
	CHECK(count("\"name\":\"has or had work\"") == 2);
	CHECK(strstr(text, "\"has or had work\",\"cat\":\"queue\",\"ts\":1000000.000"));
	CHECK(strstr(text, "\"ts\":1010000.000}"));
	CHECK(strstr(text, "\"has or had work\",\"cat\":\"queue\",\"ts\":1050000.000"));
	CHECK(strstr(text, "\"ts\":1065000.000}"));
	return 0;
}

LINES_TEST(timeline_shows_what_was_lost_and_what_was_not_looked_at)
{
	struct shed_row shed = { .what = "launches",
				 .from_ns = 2 * SEC,
				 .to_ns = 3 * SEC,
				 .cost_pct = 1.5,
				 .calls = 70 };

	if (fill_worker())
		return 1;
	CHECK(!store_loss(store, 4 * SEC, "ring_full", 17));
	CHECK(!store_shed(store, &shed));
	CHECK(json_valid(timeline((struct export_opts){ 0 })));
	CHECK(strstr(text, "\"name\":\"ring_full\",\"cat\":\"lost records\""));
	CHECK(strstr(text, "\"args\":{\"lost\":17}"));
	CHECK(strstr(text, "\"name\":\"launches\",\"cat\":\"not looked at, to cost less\","
			   "\"ts\":2000000.000,\"dur\":1000000.000"));
	CHECK(strstr(text, "\"calls not counted, estimated\":70,\"cost in percent\":1.5"));
	return 0;
}

static int stop_at_once(double share, uint64_t slices, void *arg)
{
	(void)share;
	(void)slices;
	(void)arg;
	return fail(-EINTR, "enough");
}

LINES_TEST(timeline_stops_when_it_is_told_to)
{
	if (fill_worker())
		return 1;
	CHECK_STR(timeline((struct export_opts){ .progress = stop_at_once }), "enough");
	return 0;
}

LINES_TEST(timeline_says_that_it_could_not_be_written)
{
	struct export_opts opts = { .format = EXPORT_PERFETTO };
	FILE *full = fopen("/dev/full", "w");

	if (fill_worker())
		return 1;
	CHECK(full);
	CHECK(export_timeline(store, &opts, full, &result) == -EIO);
	(void)fclose(full);
	return 0;
}

/* ---- the store's side of it ---- */

struct intervals {
	struct interval last;
	int n;
};

static int on_interval(const struct interval *i, void *arg)
{
	struct intervals *all = arg;

	all->last = *i;
	all->n++;
	return 0;
}

LINES_TEST(intervals_have_their_waits_most_first_and_the_rest_as_a_sum)
{
	struct intervals all = { 0 };

	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= 2; i++)
		CHECK(!loop_second(i * SEC, STATE_PIPE, 600 * MSEC));
	for (uint32_t i = 0; i < INTERVAL_PARTS + 3; i++) {
		struct chain c = waits_for_worker(0, 0);

		c.hop[1].pid = c.hop[1].tid = 5000 + i;
		CHECK(!put_wait(2 * SEC, &c, (i + 1) * MSEC, 1));
	}
	CHECK(!store_each_interval(store, (struct window){ 0, 0 }, on_interval, &all));
	CHECK(all.n == 2);
	CHECK_U64(all.last.at_ns, BOOT_NS + 2 * SEC);
	CHECK_U64(all.last.state_ns[STATE_PIPE], 600 * MSEC);
	CHECK(all.last.waits == INTERVAL_PARTS);
	CHECK_U64(all.last.wait[0].ns, (INTERVAL_PARTS + 3) * MSEC);
	CHECK_U64(all.last.rest_waits, 3);
	CHECK_U64(all.last.rest_wait_ns, (1 + 2 + 3) * MSEC);
	return 0;
}

static int nothing(const struct value_row *row, void *arg)
{
	(void)row;
	(void)arg;
	return 0;
}

static int no_span(const struct span_row *row, void *arg)
{
	(void)row;
	(void)arg;
	return 0;
}

/* A row of the tables with a mistake in its SQL would be seen by nobody until it has data. */
LINES_TEST(values_and_spans_can_be_asked_for)
{
	for (const struct value_kind *k = value_kinds; k->name; k++)
		if (store_each_value(store, (struct window){ 0, 0 }, k, nothing, NULL))
			return test_fail(__FILE__, __LINE__, "%s: %s", k->name, why(-EIO));
	for (const struct span_kind *k = span_kinds; k->track; k++)
		if (store_each_span(store, (struct window){ 0, 0 }, k, no_span, NULL))
			return test_fail(__FILE__, __LINE__, "%s: %s", k->track, why(-EIO));
	return 0;
}
