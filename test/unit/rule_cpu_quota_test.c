// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_cpu_quota.c, and that it and contention are told apart. */
#include "test/unit/scene.h"

/* A second of which the quota took throttled_ns. */
static struct second second_of(uint64_t at_ns, uint64_t throttled_ns)
{
	return (struct second){
		.at_ns = at_ns,
		.state_ns = { [STATE_RUN] = S - throttled_ns, [STATE_THROTTLED] = throttled_ns },
		.calls = 100,
	};
}

static struct thread_facts thread_of(int64_t id, struct second *second, int seconds)
{
	return (struct thread_facts){ .id = id,
				      .process = 1,
				      .pid = 4821,
				      .tid = 4820 + (uint32_t)id,
				      .process_comm = "python3",
				      .second = second,
				      .seconds = seconds };
}

static const struct facts facts = { .window = { AT(0), AT(100) }, .cpus = 16 };

static bool judge_one(struct second *second, int seconds, struct finding *ret)
{
	struct thread_facts t = thread_of(1, second, seconds);

	return rule_cpu_quota(&facts, &t, 1, ret);
}

TEST(quota_reports_exactly_what_the_scheduler_took)
{
	struct second s[] = { second_of(AT(1), 0), second_of(AT(2), 300 * MS),
			      second_of(AT(3), 500 * MS), second_of(AT(4), 10 * MS) };
	struct finding f;

	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_STR(f.cause, "cpu-quota");
	CHECK_STR(f.title, "CPU quota: the control group of python3 used up its limit");
	CHECK_U64(f.lost_ns, 800 * MS); /* the last second is below a twentieth */
	CHECK_U64(f.affected_ns, 2 * S);
	CHECK_NEAR(f.lost_pct, 40, 1e-9);
	CHECK_NEAR(f.gain_low_pct, 0, 1e-9); /* more quota may only move the wait to the GPU */
	CHECK_NEAR(f.gain_high_pct, 40, 1e-9);
	CHECK_U64(f.first_ns, AT(1));
	CHECK_U64(f.last_ns, AT(3));
	CHECK(f.culprits == 0);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(f.severity == SEVERITY_HIGH);
	CHECK(f.fixes == 1);
	CHECK(strstr(f.fix[0], "CPU limit of pid 4821"));
	CHECK(strstr(f.basis, "thread 4821 "));
	return 0;
}

TEST(quota_is_silent_without_throttling_or_below_a_twentieth)
{
	struct second none[] = { second_of(AT(1), 0) };
	struct second little[] = { second_of(AT(1), 50 * MS - 1), second_of(AT(2), 50 * MS - 1) };
	struct second brief = { .at_ns = AT(1),
				.state_ns = {
					[STATE_RUN] = 80 * MS, [STATE_THROTTLED] = 20 * MS - 1 } };
	struct finding f;

	CHECK(!judge_one(none, 1, &f));
	CHECK(!judge_one(little, 2, &f));
	little[0] = second_of(AT(1), 50 * MS);
	CHECK(judge_one(little, 2, &f));
	CHECK_U64(f.lost_ns, 50 * MS);
	CHECK(!judge_one(&brief, 1, &f));
	brief.state_ns[STATE_THROTTLED]++;
	CHECK(judge_one(&brief, 1, &f));
	return 0;
}

TEST(quota_counts_the_thread_that_was_stopped_longest_not_the_sum)
{
	struct second a = second_of(AT(1), 300 * MS), b = second_of(AT(2), 400 * MS);
	struct thread_facts t[] = { thread_of(1, &a, 1), thread_of(2, &b, 1), thread_of(3, &a, 1) };
	struct finding f;

	CHECK(rule_cpu_quota(&facts, t, ARRAY_LEN(t), &f));
	CHECK_U64(f.thread, 2);
	CHECK_U64(f.lost_ns, 400 * MS);
	CHECK_U64(f.last_ns, AT(2));
	return 0;
}

/* The same symptom from outside: the process does not run although it could. */
TEST(quota_is_not_taken_for_contention_nor_the_other_way_round)
{
	struct second_blame hog[] = { { 4242, 1, "stress", 400 * MS } };
	struct second_blame idle[] = { { 0, 1, "swapper/1", 400 * MS } };
	struct second stopped = second_of(AT(1), 400 * MS), robbed = second_of(AT(1), 0);
	struct thread_facts t = thread_of(1, &stopped, 1);
	struct finding f;

	stopped.blame = idle;
	stopped.blames = 1;
	CHECK(rule_cpu_quota(&facts, &t, 1, &f));
	CHECK(!rule_cpu_contention(&facts, &t, 1, &f));

	robbed.state_ns[STATE_RUN] = 600 * MS;
	robbed.state_ns[STATE_PREEMPTED] = 400 * MS;
	robbed.blame = hog;
	robbed.blames = 1;
	t.second = &robbed;
	CHECK(!rule_cpu_quota(&facts, &t, 1, &f));
	CHECK(rule_cpu_contention(&facts, &t, 1, &f));
	return 0;
}

TEST(quota_and_contention_of_one_second_are_each_counted_once)
{
	struct second_blame hog[] = { { 4242, 1, "stress", 200 * MS } };
	struct second both = second_of(AT(1), 300 * MS);
	struct thread_facts t = thread_of(1, &both, 1);
	struct finding quota, contention;

	both.state_ns[STATE_RUN] = 500 * MS;
	both.state_ns[STATE_WAKE] = 200 * MS;
	both.blame = hog;
	both.blames = 1;
	CHECK(rule_cpu_quota(&facts, &t, 1, &quota));
	CHECK(rule_cpu_contention(&facts, &t, 1, &contention));
	CHECK_U64(quota.lost_ns, 300 * MS);
	CHECK_U64(contention.lost_ns, 200 * MS);
	return 0;
}

TEST(quota_of_a_worker_counts_while_it_is_waited_for)
{
	static struct scene scene;
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_THROTTLED, WAKER_nobody)),
		     400 * MS);
	CHECK_ONLY(&scene, "cpu-quota");
	CHECK(scene_judge(&scene, rule_cpu_quota, &f));
	CHECK_STR(f.title, "CPU quota: the control group of a worker of python3 used up its limit");
	CHECK_U64(f.lost_ns, 1600 * MS);
	CHECK(strstr(f.fix[0], "pid 4900"));
	return 0;
}
