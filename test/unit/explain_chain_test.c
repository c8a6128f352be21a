// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/ with chains: from rows in the store to what is printed, per process too. */
#include <errno.h>

#include "base/units.h"
#include "test/unit/explain_trace.h"
#include "test/unit/json_check.h"

/*
 * Ten seconds of a loop of 20 ms steps. From the fifth on its worker 4900 reads a file for most of
 * each step, and the loop waits on a pipe.
 */
enum { SECONDS = 10, BAD_FIRST = 5 };

static int64_t chain;

static uint64_t wall(uint64_t boot_ns)
{
	return BOOT_NS + boot_ns;
}

static struct chain reads(const char *path)
{
	struct chain c = { .hops = 2, .complete = true };

	c.hop[0] = (struct hop){ .pid = 4821,
				 .tid = 4821,
				 .comm = "python3",
				 .state = STATE_PIPE,
				 .by = WAKER_task,
				 .object = OBJECT_pipe,
				 .relation = RELATION_self,
				 .irq = -1,
				 .nr = 0 };
	c.hop[1] = (struct hop){ .pid = 4900,
				 .tid = 4900,
				 .comm = "loader",
				 .state = STATE_READ,
				 .by = WAKER_block,
				 .irq = 24,
				 .device = "virtio1-req.0",
				 .object = OBJECT_file,
				 .relation = RELATION_child,
				 .nr = 0,
				 .obj = 77 };
	str_copy(c.hop[1].name, sizeof(c.hop[1].name), path);
	return c;
}

static int op_row(uint32_t op, uint64_t at, uint32_t calls, enum state state, uint64_t ns)
{
	struct op_delta d = { .op = &op_table[op], .calls = calls, .done = calls, .total_ns = ns };

	d.state_ns[state] = ns;
	if (op_timed(op_table[op].class) && calls)
		d.hist[hist_bucket(ns / calls)] = calls;
	CHECK(!store_op_second(store, thread, at, &d));
	return 0;
}

/* What a second has besides the wait: steps of 8 ms on the GPU and 12 ms of the host. */
static int second(uint64_t at, uint64_t wait_ns)
{
	uint64_t rest = SEC - wait_ns;
	uint32_t steps = (uint32_t)(rest / (20 * MSEC));
	uint32_t gaps = steps * 50;
	struct op_delta gap = { .op = &op_table[OP_GAP], .calls = gaps, .done = gaps };
	struct step_sum sum = { .steps = steps, .max_ns = 30 * MSEC };

	gap.state_ns[STATE_RUN] = rest * 6 / 10 - MSEC;
	gap.state_ns[STATE_UNKNOWN] = MSEC;
	gap.state_ns[STATE_PIPE] = wait_ns;
	gap.total_ns = rest * 6 / 10 + wait_ns;
	gap.hist[hist_bucket(gap.total_ns / gap.calls)] = gaps;
	CHECK(!store_op_second(store, thread, at, &gap));
	CHECK(!op_row(OP_cuLaunchKernel, at, steps * 48, STATE_RUN, 0));
	CHECK(!op_row(OP_cudaStreamSynchronize, at, steps, STATE_GPU, rest * 4 / 10));
	sum.sum.dur_ns = SEC;
	sum.sum.host_ns = rest * 6 / 10;
	sum.sum.data_ns = wait_ns;
	sum.sum.sync_ns = rest * 4 / 10;
	sum.sum.idle_ns = wait_ns / 2;
	sum.hist[hist_bucket(SEC / steps)] = steps;
	CHECK(!store_step_second(store, thread, at, &sum));
	return 0;
}

static int slow_gap(uint64_t at)
{
	struct record gap = { .op = &op_table[OP_GAP],
			      .next = &op_table[OP_cudaMemcpyAsync],
			      .because = BECAUSE_SLOW,
			      .start_ns = at - SEC / 2,
			      .dur_ns = 50 * MSEC,
			      .usual_ns = MSEC };
	int64_t call;

	gap.state_ns[STATE_PIPE] = 48 * MSEC;
	gap.state_ns[STATE_RUN] = 2 * MSEC;
	CHECK(!store_call(store, thread, &gap, &call));
	CHECK(!store_call_wait(store, call, chain, 45 * MSEC));
	gap.start_ns += 100 * MSEC; /* as long on the pipe, for reasons that nobody looked up */
	CHECK(!store_call(store, thread, &gap, NULL));
	return 0;
}

static int fill(const char *path)
{
	struct chain c = reads(path);
	struct incident_row incident = { .cause = "disk-read",
					 .comm = "python3",
					 .culprit = "loader",
					 .title = "Disk read",
					 .severity = "HIGH",
					 .pid = 4821,
					 .culprit_pid = 4900,
					 .first_ns = wall(5 * SEC),
					 .last_ns = wall(9 * SEC),
					 .lost_ns = 3 * SEC };

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4821, "python3", 0, &thread));
	CHECK(!store_chain(store, &c, &chain));
	for (uint64_t i = 1; i <= SECONDS; i++) {
		struct system_row system = { .swap_in_pages = -1 }; /* this host does not tell */
		struct wait_row wait = { .op = &op_table[OP_GAP],
					 .chain = chain,
					 .ns = 600 * MSEC,
					 .count = 20,
					 .max_ns = 40 * MSEC };

		if (second(i * SEC, i >= BAD_FIRST ? 600 * MSEC : 0))
			return 1;
		CHECK(!store_system_second(store, i * SEC, &system));
		if (i < BAD_FIRST)
			continue;
		CHECK(!store_wait_second(store, thread, i * SEC, &wait));
		if (slow_gap(i * SEC))
			return 1;
	}
	CHECK(!store_incident(store, &incident));
	CHECK(!store_commit(store));
	return 0;
}

EXPLAIN_TEST(explain_follows_the_chain_to_the_file)
{
	const struct finding *f;

	if (fill("/data/shard-17.bin"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_STR(f->cause, "disk-read");
	CHECK_STR(f->title, "Disk read: python3 waited for loader (pid 4900), which read "
			    "/data/shard-17.bin");
	CHECK_U64(f->lost_ns, 6 * (600 * MSEC));
	CHECK_U64(f->affected_ns, 6 * SEC);
	CHECK_U64(f->count, 120);
	CHECK_U64(f->culprit[0].pid, 4900);
	CHECK_STR(f->object.name, "/data/shard-17.bin");
	CHECK(f->chain.hops == 2);
	CHECK_U64(f->hop_ns[0], 3600 * MSEC);
	CHECK_U64(f->hop_ns[1], 3600 * MSEC);
	CHECK(f->evidence == EVIDENCE_PROVEN);
	CHECK_STR(f->op, "before cudaMemcpyAsync");
	return 0;
}

/* Half the slow gaps waited on the pipe without a known chain: they prove nothing. */
EXPLAIN_TEST(explain_quotes_only_rows_whose_chains_say_the_same)
{
	const struct finding *f;

	if (fill("/data/x"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	f = &answer.finding[0];
	CHECK(f->ids == 6);
	for (int i = 0; i < f->ids; i++)
		CHECK_U64(f->id[i] % 2, 1); /* every other row has a chain, from the first on */
	return 0;
}

EXPLAIN_TEST(explain_bounds_the_gain_by_idleness_and_pace)
{
	const struct finding *f;

	if (fill("/data/x"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	f = &answer.finding[0];
	CHECK_NEAR(f->gain_high_pct, 60, 1e-9);
	CHECK_NEAR(f->steps_before, 50, 0.1);
	CHECK_NEAR(f->steps_during, 20, 0.1);
	CHECK_NEAR(f->gain_low_pct, 60, 1e-9); /* 30 % by idleness alone, 60 by the pace */
	return 0;
}

EXPLAIN_TEST(explain_says_how_much_nobody_saw)
{
	if (fill("/data/x"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK_NEAR(answer.unexplained_pct, 0.1, 1e-9);
	return 0;
}

EXPLAIN_TEST(explain_recent_finds_the_same_in_the_last_seconds)
{
	if (fill("/data/x"))
		return 1;
	CHECK(!explain_recent(store, wall(10 * SEC), 3 * SEC, &answer));
	CHECK(answer.findings == 1);
	CHECK_STR(answer.finding[0].cause, "disk-read");
	CHECK_U64(answer.finding[0].lost_ns, 3 * (600 * MSEC));
	CHECK(answer.finding[0].ids == 0 && answer.incidents == 0);
	explain_free(&answer);
	CHECK(!explain_recent(store, wall(4 * SEC), 3 * SEC, &answer));
	CHECK(answer.findings == 0);
	explain_free(&answer);
	CHECK(explain_recent(store, wall(0), 3 * SEC, &answer) == -ENODATA);
	return 0;
}

EXPLAIN_TEST(explain_only_keeps_one_process)
{
	int64_t other;

	if (fill("/data/x"))
		return 1;
	CHECK(!trace_process(store, 5000, "other", &process));
	CHECK(!store_thread(store, process, 5000, "other", 0, &other));
	thread = other;
	for (uint64_t i = 1; i <= SECONDS; i++)
		CHECK(!second(i * SEC, 0));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.summaries == 2);
	CHECK(answer.findings == 1 && answer.incidents == 1);
	explain_only(&answer, 5000);
	CHECK(answer.summaries == 1 && answer.summary[0].pid == 5000);
	CHECK(answer.findings == 0 && answer.incidents == 0);
	return 0;
}

/* ---- what is printed ---- */

enum form { TEXT, PROCESSES, JSON };

static char *printed(enum form form)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (form == JSON)
		explain_json(store, &answer, out);
	else if (form == PROCESSES)
		explain_text_processes(&answer, out);
	else
		explain_text(&answer, out);
	fclose(out);
	return text;
}

static int check_words(enum form form, const char *const *want, size_t n)
{
	char *text = printed(form);
	size_t i = 0;

	while (i < n && strstr(text, want[i]))
		i++;
	if (i < n)
		test_fail(__FILE__, __LINE__, "\"%s\" is not in\n%s", want[i], text);
	free(text);
	return i < n;
}

EXPLAIN_TEST(explain_text_prints_a_hop_per_line)
{
	static const char *const want[] = {
		"[HIGH] Disk read: python3 waited for loader (pid 4900)",
		"  Root:   waiting for a file to be read 3.6 s of 6 s (60.0 %)\n",
		"          path /data/shard-17.bin\n",
		"          because of loader (pid 4900): 3.6 s (100 %)\n",
		"  Chain:  python3 4821: 3.6 s waiting on a pipe\n",
		"          <- loader 4900 (child): 3.6 s reading a file /data/shard-17.bin (disk),",
		" (disk), ended by interrupt 24 (virtio1-req.0)\n",
		"  Effect: steps per second 50.00 -> 20.00 (-60 %)\n",
		"  Gain:   up to 3.6 s; without it that time would be 60 % shorter\n",
		"  Fix:    read ahead",
		"  Proof:  proven; 1 file by name",
		"          120 waits carry it, e.g. gpu-node-01:",
		"waiting on pipes and sockets\n",
	};

	if (fill("/data/shard-17.bin"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	return check_words(TEXT, want, ARRAY_LEN(want));
}

EXPLAIN_TEST(explain_per_process_says_where_the_time_went)
{
	static const char *const want[] = {
		"python3 (pid 4821):",
		"  python3 train.py\n",
		"cudaStreamSynchronize        |         320 calls | p50 ",
		"cuLaunchKernel               |      15,360 calls\n",
		"  thread 4821, 10 s:\n",
		"   25.6 %    2.56 s  waiting for the GPU, in synchronising calls\n",
		"   38.3 %    3.83 s  on CPU\n",
		"   36.0 %     3.6 s  waiting on pipes and sockets\n",
		"    0.1 %     10 ms  not seen\n",
		"320 steps, median ",
		"host, 36 % data,",
		"GPU idle at least 18 %",
		"  ! loader 4900 (child): 3.6 s reading a file\n",
	};

	if (fill("/data/x"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	return check_words(PROCESSES, want, ARRAY_LEN(want));
}

EXPLAIN_TEST(explain_of_a_healthy_time_says_what_was_looked_for)
{
	static const char *const want[] = { "No stall found", " disk-read,",     " gil,",
					    " unknown.\n",    " gpu-throttled,", " straggler," };

	if (fill("/data/x"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, wall(4 * SEC) }, &answer));
	CHECK(answer.findings == 0);
	return check_words(TEXT, want, ARRAY_LEN(want));
}

static int check_json(const char *text)
{
	static const struct {
		const char *path, *value;
	} field[] = {
		{ "unexplained_pct", "0.1" },
		{ "findings/0/cause", "\"disk-read\"" },
		{ "findings/0/count", "120" },
		{ "findings/0/object/path", "\"/data/shard-17.bin\"" },
		{ "findings/0/where/op", "\"before cudaMemcpyAsync\"" },
		{ "findings/0/culprits/0/pid", "4900" },
		{ "findings/0/culprits/0/comm", "\"loader\"" },
		{ "findings/0/culprits/0/share_pct", "100" },
		{ "findings/0/throughput/steps_before_per_s", "50" },
		{ "findings/0/chain/0/hop", "0" },
		{ "findings/0/chain/0/pid", "4821" },
		{ "findings/0/chain/0/tid", "4821" },
		{ "findings/0/chain/0/comm", "\"python3\"" },
		{ "findings/0/chain/0/what", "\"waiting on a pipe\"" },
		{ "findings/0/chain/0/ns", "3600000000" },
		{ "findings/0/chain/0/line", "null" },
		{ "findings/0/chain/1/relation", "\"child\"" },
		{ "findings/0/chain/1/what",
		  "\"reading a file /data/shard-17.bin (disk), ended by interrupt 24 "
		  "(virtio1-req.0)\"" },
		{ "findings/0/chain/1/irq", "24" },
		{ "findings/0/chain/1/device", "\"virtio1-req.0\"" },
		{ "findings/0/chain/1/name", "\"/data/shard-17.bin\"" },
		{ "findings/0/chain/1/evidence", "\"proven\"" },
		{ "processes/0/split/gpu_wait", "2560000000" },
		{ "processes/0/split/message", "3600000000" },
		{ "processes/0/split/unknown", "10000000" },
		{ "processes/0/steps/count", "320" },
		{ "processes/0/steps/split/data_ns", "3600000000" },
		{ "processes/0/ops/0/op", "\"(between calls)\"" },
		{ "processes/0/waited_for/0/pid", "4900" },
		{ "incidents/0/cause", "\"disk-read\"" },
		{ "incidents/0/culprit_pid", "4900" },
		{ "incidents/0/lost_ns", "3000000000" },
	};

	CHECK(json_valid(text));
	for (size_t i = 0; i < ARRAY_LEN(field); i++) {
		const char *at = json_at(text, field[i].path);

		if (!at || !json_is(text, field[i].path, field[i].value))
			return test_fail(__FILE__, __LINE__, "%s is %.40s, not %s", field[i].path,
					 at ? at : "missing", field[i].value);
	}
	CHECK(json_at(text, "processes/0/steps/median_ns"));
	CHECK(!json_at(text, "findings/0/chain/2"));
	return 0;
}

EXPLAIN_TEST(explain_json_has_chain_object_steps_and_incidents)
{
	char *text;
	int failed;

	if (fill("/data/shard-17.bin"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	text = printed(JSON);
	failed = check_json(text);
	free(text);
	return failed;
}

/* A file may be called anything. */
EXPLAIN_TEST(explain_prints_names_of_chains_harmlessly)
{
	static const enum form forms[] = { TEXT, PROCESSES, JSON };

	if (fill("/tmp/\x1b[2J\xff\"'\\\n"))
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char *text = printed(forms[i]);
		bool bad = strchr(text, 0x1b) || strchr(text, '\xff');

		bad |= forms[i] == JSON && !json_valid(text);
		free(text);
		CHECK(!bad);
	}
	return 0;
}

/* ---- at the end ---- */

EXPLAIN_TEST(explain_tells_what_was_not_over_at_the_end)
{
	struct chain c = reads("/data/shard-17.bin");
	struct record rec = { .op = &op_table[OP_GAP],
			      .start_ns = 5 * SEC,
			      .dur_ns = 3 * SEC,
			      .because = BECAUSE_OPEN };
	int64_t call;

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4821, "python3", 0, &thread));
	CHECK(!op_row(OP_cudaLaunchKernel, SEC, 5, STATE_RUN, 0));
	rec.state_ns[STATE_PIPE] = rec.dur_ns;
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK(!store_chain(store, &c, &chain));
	CHECK(!store_call_wait(store, call, chain, rec.dur_ns));
	rec.dur_ns = SEC / 2; /* every loop is in the middle of something */
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK(!op_row(OP_cudaLaunchKernel, 8 * SEC, 5, STATE_RUN, 0));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.opens == 1);
	CHECK_U64(answer.open[0].ns, 3 * SEC);
	CHECK_STR(answer.open[0].part.what,
		  "waiting on a pipe for loader (pid 4900), which was reading a file");
	CHECK(answer.open[0].part.pid == 4900 && answer.open[0].part.state == STATE_PIPE);
	explain_only(&answer, 1);
	CHECK(answer.opens == 0);
	return 0;
}
