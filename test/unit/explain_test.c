// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/: a trace goes in through the store, the answer comes out as text and JSON. */
#include <errno.h>
#include <inttypes.h>

#include "test/unit/explain_trace.h"
#include "test/unit/json_check.h"

/*
 * Thirty seconds of one training thread: healthy, then ten seconds where a process 4242 has its
 * CPU for most of the time, then healthy again. Each second adds up to exactly one second.
 */
enum {
	SECONDS = 30,
	BAD_FIRST = 11,
	BAD_LAST = 20,
	GAPS = 100,
	SYNCS = 50,
	LAUNCHES = 1000,
	LAUNCHES_BAD = 400
};

static int begin(const char *comm)
{
	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, comm, &process));
	CHECK(!store_thread(store, process, 4822, comm, 0, &thread));
	return 0;
}

/* One second of one op: so many calls of each so long, and where the time went. */
static int op_row(uint32_t op, uint64_t at, uint32_t calls, uint64_t each_ns,
		  const uint64_t state_ns[STATE_COUNT])
{
	struct op_delta d = { .op = &op_table[op],
			      .calls = calls,
			      .done = calls,
			      .total_ns = calls * each_ns,
			      .max_ns = each_ns };

	memcpy(d.state_ns, state_ns, sizeof(d.state_ns));
	if (op_timed(op_table[op].class))
		d.hist[hist_bucket(each_ns)] = calls;
	CHECK(!store_op_second(store, thread, at, &d));
	return 0;
}

static int healthy_second(uint64_t at)
{
	static const uint64_t none[STATE_COUNT], sync[STATE_COUNT] = { [STATE_GPU] = 600 * MSEC };
	static const uint64_t gap[STATE_COUNT] = {
		[STATE_RUN] = 390 * MSEC, [STATE_WAKE] = 10 * MSEC
	};
	struct who idle = { 0, 2, 10 * MSEC, "swapper/2" };

	CHECK(!op_row(OP_cuLaunchKernel, at, LAUNCHES, 0, none));
	CHECK(!op_row(OP_cudaStreamSynchronize, at, SYNCS, 12 * MSEC, sync));
	CHECK(!op_row(OP_GAP, at, GAPS, 4 * MSEC, gap));
	CHECK(!store_blame_second(store, thread, at, &idle));
	return 0;
}

/* Slow gaps that start in the second before at; the same two culprits as in the sums. */
static int slow_gaps(uint64_t at)
{
	struct record gap = {
		.op = &op_table[OP_GAP],
		.next = &op_table[OP_cuLaunchKernel],
		.because = BECAUSE_SLOW,
		.dur_ns = 50 * MSEC,
		.state_ns = { [STATE_RUN] = 10 * MSEC, [STATE_PREEMPTED] = 40 * MSEC },
		.who_count = 1,
		.who = { { 4242, 2, 40 * MSEC, "stress" } },
	};

	for (uint64_t i = 1; i <= 3; i++) {
		gap.start_ns = at - SEC + i * 200 * MSEC;
		CHECK(!store_call(store, thread, &gap, NULL));
	}
	gap.state_ns[STATE_RUN] = 45 * MSEC; /* slow, but not by waiting: no evidence */
	gap.state_ns[STATE_PREEMPTED] = 5 * MSEC;
	CHECK(!store_call(store, thread, &gap, NULL));
	return 0;
}

static int contended_second(uint64_t at)
{
	static const uint64_t none[STATE_COUNT], sync[STATE_COUNT] = { [STATE_GPU] = 100 * MSEC };
	static const uint64_t gap[STATE_COUNT] = {
		[STATE_RUN] = 300 * MSEC, [STATE_PREEMPTED] = 500 * MSEC, [STATE_WAKE] = 100 * MSEC
	};
	static const struct who who[] = { { 4242, 2, 350 * MSEC, "stress" },
					  { 4242, 3, 200 * MSEC, "stress" },
					  { 99, 3, 30 * MSEC, "kworker/3:1" },
					  { 0, 3, 20 * MSEC, "swapper/3" } };

	CHECK(!op_row(OP_cuLaunchKernel, at, LAUNCHES_BAD, 0, none));
	CHECK(!op_row(OP_cudaStreamSynchronize, at, SYNCS, 2 * MSEC, sync));
	CHECK(!op_row(OP_GAP, at, GAPS, 40 * MSEC, gap));
	for (size_t i = 0; i < ARRAY_LEN(who); i++)
		CHECK(!store_blame_second(store, thread, at, &who[i]));
	return slow_gaps(at);
}

static int fill(void)
{
	struct coverage_row coverage = { .library = "/usr/lib/libcuda.so.1",
					 .build_id = "c0ffee",
					 .note = "",
					 .since_boot_ns = 1,
					 .ops = 22,
					 .missing = 1 };
	struct account_row account = { .seen = 1150,
				       .submitted = 4,
				       .filtered = 1144,
				       .dropped = 2,
				       .received = 4,
				       .probe_ns = 1000,
				       .agent_ns = 1000,
				       .traced_ns = SEC };

	if (begin("python3"))
		return 1;
	CHECK(!store_coverage(store, process, &coverage));
	for (uint64_t i = 1; i <= SECONDS; i++) {
		bool bad = i >= BAD_FIRST && i <= BAD_LAST;

		if (bad ? contended_second(i * SEC) : healthy_second(i * SEC))
			return 1;
		CHECK(!store_account(store, i * SEC, &account));
	}
	CHECK(!store_loss(store, 5 * SEC, "ring_full", 60));
	CHECK(!store_commit(store));
	return 0;
}

static uint64_t wall(uint64_t boot_ns)
{
	return BOOT_NS + boot_ns;
}

EXPLAIN_TEST(explain_finds_the_contention_and_nothing_else)
{
	const struct finding *f;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_STR(f->cause, "cpu-contention");
	CHECK_STR(f->title, "CPU contention: stress had the CPU that python3 needed");
	CHECK_U64(f->lost_ns, 5800 * MSEC);
	CHECK_U64(f->affected_ns, 10 * SEC);
	CHECK_NEAR(f->lost_pct, 58, 1e-9);
	CHECK_NEAR(f->gain_low_pct, 57.1429, 0.001); /* the pace fell by that much */
	CHECK_NEAR(f->gain_high_pct, 58, 1e-9);
	CHECK(f->severity == SEVERITY_HIGH);
	CHECK(f->evidence == EVIDENCE_PROVEN); /* the 600 ms of waits are all charged */
	CHECK_U64(f->pid, 4821);
	CHECK_U64(f->tid, 4822);
	CHECK_STR(f->node, "gpu-node-01");
	CHECK_STR(f->comm, "python3");
	CHECK_STR(f->cmdline, "python3 train.py");
	CHECK_STR(f->op, "before cuLaunchKernel");
	CHECK(f->culprits == 2);
	CHECK_U64(f->culprit[0].pid, 4242);
	CHECK_STR(f->culprit[0].comm, "stress");
	CHECK_U64(f->culprit[0].ns, 5500 * MSEC);
	CHECK_U64(f->culprit[0].cpus, 1 << 2 | 1 << 3);
	CHECK_NEAR(f->culprit[0].share, 100 * 55.0 / 58, 1e-9);
	CHECK_U64(f->culprit[1].pid, 99);
	CHECK_STR(f->fix[0], "keep stress off CPU 2-3: taskset -a -p -c 0-1,4-15 4242");
	return 0;
}

/* The rows know the moment, the seconds only the second. */
EXPLAIN_TEST(explain_says_when_it_began_and_ended)
{
	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	CHECK_U64(answer.finding[0].first_ns, wall((BAD_FIRST - 1) * SEC + 200 * MSEC));
	CHECK_U64(answer.finding[0].last_ns, wall((BAD_LAST - 1) * SEC + 650 * MSEC));
	return 0;
}

EXPLAIN_TEST(explain_quotes_rows_that_exist_and_carry_the_wait)
{
	const struct finding *f;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_U64(f->count, 30); /* 3 of 4 in ten seconds: the others were slow by themselves */
	CHECK(f->ids == EVIDENCE_MAX);
	for (int i = 0; i < f->ids; i++) {
		char sql[128];

		snprintf(sql, sizeof(sql),
			 "SELECT thread, preempted_ns FROM call WHERE id=%" PRId64, f->id[i]);
		CHECK_STR(trace_ask(store, sql), "1|40000000");
		for (int k = 0; k < i; k++)
			CHECK(f->id[k] != f->id[i]);
	}
	return 0;
}

/* 4 ms against 40 ms; what the histogram makes of them is within a quarter. */
EXPLAIN_TEST(explain_shows_the_op_that_became_worse)
{
	const struct effect *e;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	CHECK(answer.finding[0].effects == 1); /* the sync calls became shorter: no effect */
	e = &answer.finding[0].effect[0];
	CHECK_STR(e->op, "(between calls)");
	CHECK(e->p99_before < e->p99_during);
	CHECK_NEAR(e->p99_before, 4 * MSEC, MSEC);
	CHECK_NEAR(e->p50_before, 4 * MSEC, MSEC);
	CHECK_NEAR(e->p99_during, 40 * MSEC, 10 * MSEC);
	CHECK_NEAR(e->p50_during, 40 * MSEC, 10 * MSEC);
	return 0;
}

/* Fewer launches in the same time: the gain is at least what the pace fell by. */
EXPLAIN_TEST(explain_compares_the_pace_outside_and_during)
{
	const struct finding *f;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	f = &answer.finding[0];
	CHECK_NEAR(f->rate_before, LAUNCHES + SYNCS, 1);
	CHECK_NEAR(f->rate_during, LAUNCHES_BAD + SYNCS, 1);
	CHECK_NEAR(f->gain_low_pct, 100.0 * (LAUNCHES - LAUNCHES_BAD) / (LAUNCHES + SYNCS), 0.1);
	CHECK(f->gain_low_pct < f->gain_high_pct);
	return 0;
}

EXPLAIN_TEST(explain_finds_nothing_in_the_healthy_parts)
{
	static const struct window healthy[] = {
		{ 0, BOOT_NS + (BAD_FIRST - 1) * SEC },
		{ BOOT_NS + BAD_LAST * SEC, 0 },
		{ BOOT_NS + 3 * SEC, BOOT_NS + 5 * SEC },
	};

	if (fill())
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(healthy); i++) {
		CHECK(!explain(store, healthy[i], &answer));
		CHECK(answer.findings == 0);
		CHECK(answer.summaries == 1);
		explain_free(&answer);
	}
	return 0;
}

EXPLAIN_TEST(explain_of_a_part_counts_only_that_part)
{
	struct window part = { wall(14 * SEC), wall(16 * SEC) };

	if (fill())
		return 1;
	CHECK(!explain(store, part, &answer));
	CHECK(answer.findings == 1);
	CHECK_U64(answer.finding[0].lost_ns, 1160 * MSEC);
	CHECK_U64(answer.finding[0].count, 6);
	CHECK_U64(answer.window.from_ns, part.from_ns);
	CHECK_U64(answer.window.to_ns, part.to_ns);
	CHECK_U64(answer.account.seen, 2300);
	CHECK(answer.losses == 0);
	return 0;
}

EXPLAIN_TEST(explain_summarises_where_the_time_went)
{
	const struct summary *sum;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.summaries == 1);
	sum = &answer.summary[0];
	CHECK_U64(sum->total_ns, SECONDS * SEC);
	CHECK_U64(sum->launches, 20 * LAUNCHES + 10 * LAUNCHES_BAD);
	CHECK_U64(sum->calls, 20 * LAUNCHES + 10 * LAUNCHES_BAD + SECONDS * SYNCS);
	CHECK_U64(sum->sync_ns, 20 * (600 * MSEC) + 10 * (100 * MSEC));
	CHECK_U64(sum->state_ns[STATE_PREEMPTED], 10 * (500 * MSEC));
	CHECK_U64(sum->tid, 4822);
	CHECK(sum->threads == 1);
	CHECK_U64(answer.account.dropped, SECONDS * 2ull);
	CHECK(answer.losses == 1);
	CHECK_STR(answer.loss[0].reason, "ring_full");
	CHECK_U64(answer.loss[0].count, 60);
	return 0;
}

EXPLAIN_TEST(explain_of_nothing_says_so)
{
	struct account_row account = { 0 };
	struct window later = { wall(50 * SEC), 0 };

	CHECK(explain(store, (struct window){ 0, 0 }, &answer) == -ENODATA);
	CHECK(strstr(why(-ENODATA), "empty"));
	CHECK(!trace_run(store));
	CHECK(explain(store, (struct window){ 0, 0 }, &answer) == -ENODATA); /* a run of no time */
	CHECK(!store_account(store, 10 * SEC, &account));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 0 && answer.summaries == 0);
	CHECK(explain(store, later, &answer) == -ENODATA);
	CHECK(strstr(why(-ENODATA), "nothing was traced in that time"));
	return 0;
}

/*
 * A gap of four seconds has its row when it ends; who had the CPU is known every second. Nothing
 * of that may be lost: it is the worst stall there is.
 */
EXPLAIN_TEST(explain_charges_waits_that_outlast_a_second)
{
	static const uint64_t gap[STATE_COUNT] = {
		[STATE_RUN] = 1 * SEC, [STATE_PREEMPTED] = 3 * SEC
	};
	struct who hog = { 4242, 2, 750 * MSEC, "stress" };

	if (begin("python3"))
		return 1;
	for (uint64_t i = 1; i <= 10; i++)
		CHECK(!healthy_second(i * SEC));
	for (uint64_t i = 11; i <= 14; i++)
		CHECK(!store_blame_second(store, thread, i * SEC, &hog));
	CHECK(!op_row(OP_GAP, 14 * SEC, 1, 4 * SEC, gap));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	CHECK_U64(answer.finding[0].lost_ns, 3 * SEC);
	CHECK_U64(answer.finding[0].affected_ns, 4 * SEC);
	CHECK_U64(answer.finding[0].first_ns, wall(10 * SEC));
	return 0;
}

/* ---- what is printed ---- */

static char *printed(bool json)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (json)
		explain_json(store, &answer, out);
	else
		explain_text(&answer, out);
	fclose(out);
	return text;
}

/* Field by field; programs rely on these. */
static int check_contract(const char *text)
{
	static const struct {
		const char *path, *value; /* NULL: whatever, but there */
	} field[] = {
		{ "node", "\"gpu-node-01\"" },
		{ "from_ns", "1700000000000000000" },
		{ "to_ns", "1700000030000000000" },
		{ "loss/seen", "34500" },
		{ "loss/stored", "120" },
		{ "loss/dropped", "60" },
		{ "loss/shed", "0" },
		{ "loss/ring_full", "60" },
		{ "coverage/0/pid", "4821" },
		{ "coverage/0/library", "\"/usr/lib/libcuda.so.1\"" },
		{ "findings/0/id", NULL },
		{ "findings/0/severity", "\"HIGH\"" },
		{ "findings/0/cause", "\"cpu-contention\"" },
		{ "findings/0/title", NULL },
		{ "findings/0/lost_ns", "5800000000" },
		{ "findings/0/lost_pct", "58" },
		{ "findings/0/count", "30" },
		{ "findings/0/first_ns", "1700000010200000000" },
		{ "findings/0/last_ns", "1700000019650000000" },
		{ "findings/0/where/pid", "4821" },
		{ "findings/0/where/tid", "4822" },
		{ "findings/0/where/comm", "\"python3\"" },
		{ "findings/0/where/op", "\"before cuLaunchKernel\"" },
		{ "findings/0/where/file", "null" },
		{ "findings/0/where/line", "null" },
		{ "findings/0/where/func", "null" },
		{ "findings/0/where/container", "null" },
		{ "findings/0/where/rank", "null" },
		{ "findings/0/culprits/0/pid", "4242" },
		{ "findings/0/culprits/0/comm", "\"stress\"" },
		{ "findings/0/culprits/0/container", "null" },
		{ "findings/0/culprits/0/share_pct", "94.8276" },
		{ "findings/0/culprits/1/pid", "99" },
		{ "findings/0/object", "{}" },
		{ "findings/0/gain_pct/low", "57.1429" },
		{ "findings/0/gain_pct/high", "58" },
		{ "findings/0/evidence/class", "\"proven\"" },
		{ "findings/0/evidence/ids/5", NULL },
		{ "findings/0/fix/0", NULL },
		{ "findings/0/chain/0/hop", "0" },
		{ "findings/0/chain/0/pid", "4821" },
		{ "findings/0/chain/0/ns", "5800000000" },
		{ "findings/0/chain/1/hop", "1" },
		{ "findings/0/chain/1/pid", "4242" },
		{ "findings/0/chain/1/what", "\"had that CPU\"" },
		{ "processes/0/gpu_wait_ns", "13000000000" },
	};

	CHECK(json_valid(text));
	for (size_t i = 0; i < ARRAY_LEN(field); i++) {
		const char *at = json_at(text, field[i].path);

		if (!at)
			return test_fail(__FILE__, __LINE__, "no %s", field[i].path);
		if (field[i].value && !json_is(text, field[i].path, field[i].value))
			return test_fail(__FILE__, __LINE__, "%s is %.40s, not %s", field[i].path,
					 at, field[i].value);
	}
	CHECK(!json_at(text, "findings/1"));
	CHECK(strstr(json_at(text, "findings/0/id"),
		     "gpu-node-01:cpu-contention:4821:17000000102"));
	CHECK(strncmp(json_at(text, "findings/0/evidence/ids/0"), "\"gpu-node-01:", 13) == 0);
	return 0;
}

EXPLAIN_TEST(explain_json_keeps_its_contract)
{
	char *text;
	int failed;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	text = printed(true);
	failed = check_contract(text);
	free(text);
	return failed;
}

EXPLAIN_TEST(explain_text_says_who_what_and_how_much)
{
	static const char *const want[] = { "Node gpu-node-01",
					    "[HIGH] CPU contention: stress had",
					    "python3 (pid 4821",
					    "stress (pid 4242)",
					    "58.0 %",
					    "57 to 58 % shorter",
					    "taskset -a -p -c 0-1,4-15 4242",
					    "proven",
					    "gpu-node-01:",
					    "records lost: the ring was full: 60" };
	size_t missing = ARRAY_LEN(want);
	char *text;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	text = printed(false);
	for (size_t i = 0; i < ARRAY_LEN(want) && missing == ARRAY_LEN(want); i++)
		missing = strstr(text, want[i]) ? missing : i;
	free(text);
	if (missing < ARRAY_LEN(want))
		return test_fail(__FILE__, __LINE__, "\"%s\" is not there", want[missing]);
	return 0;
}

#define ESC "\x1b[2J\xff\"'\\\n"

/* A trace may come from anywhere; every name in it is a tenant's choice. */
static int fill_hostile(void)
{
	struct run_row run = { .node = "n" ESC,
			       .start_ns = BOOT_NS,
			       .wall_minus_boot_ns = BOOT_NS,
			       .boot_id = ESC,
			       .version = ESC,
			       .kernel = "k" ESC,
			       .gpu = "g" ESC,
			       .attach_mode = ESC,
			       .cpus = -7 };
	struct process_row row = { .pid = 1,
				   .comm = "c" ESC,
				   .cmdline = "l" ESC,
				   .exe = ESC,
				   .cgroup = ESC,
				   .python = ESC };
	struct coverage_row coverage = { .library = ESC, .build_id = ESC, .note = ESC };

	CHECK(!store_run(store, &run));
	CHECK(!store_process(store, &row, &process));
	CHECK(!store_thread(store, process, 1, "t" ESC, 0, &thread));
	CHECK(!store_coverage(store, process, &coverage));
	for (uint64_t i = 1; i <= 5; i++)
		CHECK(!contended_second(i * SEC));
	CHECK(!store_loss(store, SEC, ESC, 1));
	CHECK(!store_commit(store));
	CHECK(!store_exec(store, "UPDATE op SET symbol = symbol || x'1b5b324a'"));
	CHECK(!store_exec(store, "UPDATE string SET text = text || x'1b5b324a'"));
	return 0;
}

EXPLAIN_TEST(explain_text_prints_nothing_that_a_terminal_obeys)
{
	char *text;
	bool escape;

	if (fill_hostile())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	text = printed(false);
	escape = strchr(text, 0x1b) || strchr(text, '\xff');
	free(text);
	CHECK(!escape);
	return 0;
}

EXPLAIN_TEST(explain_json_is_valid_whatever_the_names_are)
{
	bool valid, escape;
	char *text;

	if (fill_hostile())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	text = printed(true);
	valid = json_valid(text);
	escape = strchr(text, 0x1b) || strchr(text, '\xff');
	free(text);
	CHECK(valid && !escape);
	return 0;
}

EXPLAIN_TEST(explain_knows_every_cause_that_it_reports)
{
	bool known = false;

	if (fill())
		return 1;
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	CHECK(answer.findings == 1);
	for (int i = 0; causes[i].id; i++)
		known |= streq(causes[i].id, answer.finding[0].cause);
	CHECK(known);
	return 0;
}
