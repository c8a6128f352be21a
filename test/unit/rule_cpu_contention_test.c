// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_cpu_contention.c: facts as literals, findings to the last digit. */
#include <inttypes.h>
#include <stdio.h>

#include "test/unit/scene.h"

static struct second_blame hog[] = { { 4242, 3, "stress", 300 * MS },
				     { 99, 3, "kworker/3:1", 50 * MS },
				     { 0, 3, "swapper/3", 10 * MS } };

/* A second of a thread that waited 400 ms, 350 of them for a CPU that others had. */
static struct second contended(uint64_t at_ns)
{
	return (struct second){
		.at_ns = at_ns,
		.state_ns = { [STATE_RUN] = 400 * MS,
			      [STATE_PREEMPTED] = 300 * MS,
			      [STATE_WAKE] = 100 * MS,
			      [STATE_GPU] = 200 * MS },
		.sync_wait_ns = 150 * MS,
		.sync_runnable_ns = 50 * MS,
		.launches = 1000,
		.calls = 1100,
		.blame = hog,
		.blames = ARRAY_LEN(hog),
	};
}

/* A second where nothing was wrong. */
static struct second healthy(uint64_t at_ns)
{
	return (struct second){
		.at_ns = at_ns,
		.state_ns = { [STATE_RUN] = 700 * MS,
			      [STATE_WAKE] = 5 * MS,
			      [STATE_GPU] = 295 * MS },
		.launches = 1000,
		.calls = 1100,
	};
}

static struct thread_facts thread_of(int64_t id, struct second *second, int seconds)
{
	return (struct thread_facts){ .id = id,
				      .process = 1,
				      .pid = 4821,
				      .tid = 4820 + (uint32_t)id,
				      .node = "gpu-node-01",
				      .process_comm = "python3",
				      .comm = "trainer",
				      .second = second,
				      .seconds = seconds };
}

static bool judge(struct thread_facts *first, int n, struct finding *ret)
{
	struct facts facts = {
		.window = { AT(0), AT(100) }, .cpus = 16, .thread = first, .threads = n
	};

	return rule_cpu_contention(&facts, first, n, ret);
}

/* One thread with these seconds. */
static bool judge_one(struct second *second, int seconds, struct finding *ret)
{
	struct thread_facts t = thread_of(1, second, seconds);

	return judge(&t, 1, ret);
}

TEST(contention_names_the_hog_and_what_it_took)
{
	struct second s[] = { healthy(AT(1)), contended(AT(2)), healthy(AT(3)), contended(AT(4)),
			      healthy(AT(5)) };
	struct finding f;

	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_STR(f.cause, "cpu-contention");
	CHECK_STR(f.title, "CPU contention: stress had the CPU that python3 needed");
	CHECK_U64(f.lost_ns, 700 * MS); /* 350 twice: the idle CPU took nothing */
	CHECK_U64(f.affected_ns, 2 * S); /* the healthy seconds are not in it */
	CHECK_NEAR(f.lost_pct, 35, 1e-9);
	CHECK_U64(f.first_ns, AT(1));
	CHECK_U64(f.last_ns, AT(4));
	CHECK_U64(f.thread, 1);
	CHECK(f.culprits == 2);
	CHECK_U64(f.culprit[0].pid, 4242);
	CHECK_STR(f.culprit[0].comm, "stress");
	CHECK_U64(f.culprit[0].ns, 600 * MS);
	CHECK_U64(f.culprit[0].cpus, 1 << 3);
	CHECK_NEAR(f.culprit[0].share, 600.0 / 7, 1e-9);
	CHECK_U64(f.culprit[1].pid, 99);
	CHECK_U64(f.culprit[1].ns, 100 * MS);
	CHECK_NEAR(f.culprit[1].share, 100.0 / 7, 1e-9);
	CHECK(f.severity == SEVERITY_HIGH);
	return 0;
}

/* At best all of it; at worst what neither the sync calls nor a wait for the GPU could hide. */
TEST(contention_bounds_the_gain)
{
	struct second s[] = { contended(AT(1)) };
	struct finding f;

	CHECK(judge_one(s, 1, &f));
	CHECK_NEAR(f.gain_low_pct, 15, 1e-9); /* 350 - 50 - 150 of 1000 */
	CHECK_NEAR(f.gain_high_pct, 35, 1e-9);
	s[0].sync_wait_ns = 900 * MS;
	CHECK(judge_one(s, 1, &f));
	CHECK_NEAR(f.gain_low_pct, 0, 1e-9);
	s[0].sync_wait_ns = 0;
	s[0].sync_runnable_ns = 400 * MS; /* all of it inside sync calls */
	CHECK(judge_one(s, 1, &f));
	CHECK_NEAR(f.gain_low_pct, 0, 1e-9);
	s[0].sync_runnable_ns = 0;
	CHECK(judge_one(s, 1, &f));
	CHECK_NEAR(f.gain_low_pct, 35, 1e-9);
	return 0;
}

TEST(contention_is_silent_on_a_healthy_thread)
{
	struct second s[] = { healthy(AT(1)), healthy(AT(2)) };
	struct thread_facts none = thread_of(1, NULL, 0);
	struct finding f;

	CHECK(!judge_one(s, ARRAY_LEN(s), &f));
	CHECK(!judge(&none, 1, &f));
	CHECK(!judge(&none, 0, &f));
	return 0;
}

TEST(contention_is_silent_when_the_cpu_was_idle)
{
	struct second_blame idle[] = { { 0, 3, "swapper/3", 400 * MS } };
	struct second s = contended(AT(1));
	struct finding f;

	s.blame = idle;
	s.blames = 1;
	CHECK(!judge_one(&s, 1, &f));
	return 0;
}

TEST(contention_is_silent_below_a_twentieth_of_the_time)
{
	struct second_blame some[] = { { 4242, 3, "stress", 50 * MS - 1 } };
	struct second s[100];
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(s); i++) {
		s[i] = contended(AT(i));
		s[i].blame = some;
		s[i].blames = 1;
	}
	CHECK(!judge_one(s, ARRAY_LEN(s), &f));
	some[0].ns++;
	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_U64(f.lost_ns, 5 * S);
	CHECK_NEAR(f.lost_pct, 5, 1e-9);
	return 0;
}

TEST(contention_is_silent_below_twenty_milliseconds)
{
	struct second_blame some[] = { { 4242, 3, "stress", 20 * MS - 1 } };
	struct second s = { .at_ns = AT(1),
			    .state_ns = { [STATE_RUN] = 80 * MS, [STATE_PREEMPTED] = 20 * MS } };
	struct finding f;

	s.blame = some;
	s.blames = 1;
	CHECK(!judge_one(&s, 1, &f));
	some[0].ns++;
	CHECK(judge_one(&s, 1, &f));
	CHECK_U64(f.lost_ns, 20 * MS);
	return 0;
}

/* Threads wait at the same time: the sum would be more than anybody can gain. */
TEST(contention_counts_the_thread_that_waited_longest_not_the_sum)
{
	struct second a[] = { contended(AT(1)), contended(AT(2)) };
	struct second b[] = { contended(AT(1)), contended(AT(2)), contended(AT(3)) };
	struct second c[] = { contended(AT(2)) };
	struct thread_facts t[] = { thread_of(1, a, 2), thread_of(2, b, 3), thread_of(3, c, 1) };
	struct finding f;

	CHECK(judge(t, ARRAY_LEN(t), &f));
	CHECK_U64(f.thread, 2);
	CHECK_U64(f.lost_ns, 1050 * MS);
	CHECK_U64(f.affected_ns, 3 * S);
	CHECK_U64(f.last_ns, AT(3));
	CHECK(strstr(f.basis, "thread 4822 "));
	return 0;
}

TEST(contention_merges_one_culprit_over_cpus_and_uses_its_latest_name)
{
	struct second_blame early[] = { { 4242, 0, "sh", 100 * MS }, { 4242, 1, "sh", 50 * MS } };
	struct second_blame late[] = { { 4242, 14, "stress", 200 * MS },
				       { 7, 14, "sshd", 1 * MS } };
	struct second s[] = { contended(AT(1)), contended(AT(2)) };
	struct finding f;

	s[0].blame = early;
	s[0].blames = 2;
	s[1].blame = late;
	s[1].blames = 2;
	CHECK(judge_one(s, 2, &f));
	CHECK(f.culprits == 2);
	CHECK_STR(f.culprit[0].comm, "stress");
	CHECK_U64(f.culprit[0].ns, 350 * MS);
	CHECK_U64(f.culprit[0].cpus, 1 << 0 | 1 << 1 | 1 << 14);
	CHECK_STR(f.culprit[1].comm, "sshd");
	CHECK(strstr(f.title, "stress had"));
	return 0;
}

TEST(contention_names_the_worst_of_many_culprits_in_order)
{
	struct second_blame many[200];
	struct second s = contended(AT(1));
	struct finding f;

	for (uint32_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (struct second_blame){ 1000 + i, i, "worker", MS + (i < 60 ? i : 0) };
	s.blame = many;
	s.blames = ARRAY_LEN(many);
	CHECK(judge_one(&s, 1, &f));
	CHECK_U64(f.lost_ns, 200 * MS + 59 * 60 / 2);
	CHECK(f.culprits == CULPRITS_MAX);
	for (int i = 0; i < f.culprits; i++)
		CHECK_U64(f.culprit[i].pid, 1059 - (uint32_t)i);
	CHECK_NEAR(f.culprit[0].share, 100.0 * (MS + 59) / (200 * MS + 1770), 1e-6);
	return 0;
}

/* Over an hour many come and go; the one who took most is named however late it came. */
TEST(contention_names_the_hog_that_came_after_a_crowd)
{
	struct second_blame crowd[300];
	struct second s[] = { contended(AT(1)), contended(AT(2)) };
	struct finding f;

	for (uint32_t i = 0; i < ARRAY_LEN(crowd); i++)
		crowd[i] = (struct second_blame){ 1000 + i, 1, "cron", MS };
	s[0].blame = crowd;
	s[0].blames = ARRAY_LEN(crowd);
	CHECK(judge_one(s, 2, &f));
	CHECK_STR(f.culprit[0].comm, "stress");
	CHECK_U64(f.culprit[0].ns, 300 * MS);
	CHECK_NEAR(f.culprit[0].share, 100.0 * 300 / 650, 1e-9);
	CHECK_STR(f.culprit[1].comm, "kworker/3:1");
	return 0;
}

/* A mask of 64 CPUs: those above it are left out, not wrapped. */
TEST(contention_leaves_out_cpus_that_do_not_fit_the_mask)
{
	struct second_blame high[] = { { 4242, 64, "stress", 200 * MS },
				       { 4242, UINT32_MAX, "stress", 100 * MS },
				       { 4242, 63, "stress", 50 * MS } };
	struct second s = contended(AT(1));
	struct finding f;

	s.blame = high;
	s.blames = ARRAY_LEN(high);
	CHECK(judge_one(&s, 1, &f));
	CHECK_U64(f.culprit[0].ns, 350 * MS);
	CHECK_U64(f.culprit[0].cpus, 1ull << 63);
	return 0;
}

/* ---- advice ---- */

/* The finding for a hog on the CPUs of mask, on a machine with that many. */
static bool judge_cpus(uint64_t mask, int cpus, uint32_t pid, struct finding *ret)
{
	struct second_blame blame[64];
	struct second s = contended(AT(1));
	struct thread_facts t = thread_of(1, &s, 1);
	struct facts facts = {
		.window = { AT(0), AT(2) }, .cpus = cpus, .thread = &t, .threads = 1
	};

	s.blame = blame;
	s.blames = 0;
	for (uint32_t i = 0; i < 64; i++) {
		if (mask >> i & 1)
			blame[s.blames++] = (struct second_blame){ pid, i, "stress", 100 * MS };
	}
	return rule_cpu_contention(&facts, &t, 1, ret);
}

TEST(contention_advice_names_the_pid_and_the_cpus_as_ranges)
{
	static const struct {
		uint64_t mask;
		int cpus;
		const char *fix;
	} row[] = {
		{ 1 << 15, 16, "keep stress off CPU 15: taskset -a -p -c 0-14 4242" },
		{ 1 << 0, 16, "keep stress off CPU 0: taskset -a -p -c 1-15 4242" },
		{ 1 << 1 | 1 << 3, 16, "keep stress off CPU 1,3: taskset -a -p -c 0,2,4-15 4242" },
		{ 0x0ff0, 16, "keep stress off CPU 4-11: taskset -a -p -c 0-3,12-15 4242" },
		{ 1 << 1, 2, "keep stress off CPU 1: taskset -a -p -c 0 4242" },
		{ 1ull << 63, 64, "keep stress off CPU 63: taskset -a -p -c 0-62 4242" },
	};
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		CHECK(judge_cpus(row[i].mask, row[i].cpus, 4242, &f));
		CHECK(f.fixes == 2);
		CHECK_STR(f.fix[0], row[i].fix);
		CHECK_STR(f.fix[1],
			  "let the training process win: renice -n 19 -p 4242, or a cpuset of "
			  "its own for pid 4821");
	}
	return 0;
}

TEST(contention_advice_does_not_move_a_hog_that_has_nowhere_to_go)
{
	struct finding f;

	CHECK(judge_cpus(0xffff, 16, 4242, &f));
	CHECK(f.fixes == 1);
	CHECK(strstr(f.fix[0], "renice -n 19 -p 4242"));
	CHECK(judge_cpus(1, 0, 4242, &f)); /* how many there are is not known */
	CHECK(f.fixes == 1);
	CHECK(judge_cpus(1, -1, 4242, &f)); /* a file can say anything */
	CHECK(f.fixes == 1);
	return 0;
}

/* Somebody will paste it into a shell: half a list of CPUs is another list of CPUs. */
TEST(contention_advice_is_never_cut_short)
{
	static const uint64_t masks[] = { 0x5555555555555555, 0xaaaaaaaaaaaaaaaa,
					  0x9249249249249249, 0x00ff00ff00ff00ff };
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		CHECK(judge_cpus(masks[i], 64, UINT32_MAX - 1, &f));
		CHECK(f.fixes >= 1);
		for (int k = 0; k < f.fixes; k++) {
			const char *taskset = strstr(f.fix[k], "taskset");

			CHECK(strlen(f.fix[k]) < sizeof(f.fix[k]) - 1);
			if (taskset)
				CHECK(strstr(taskset, " 4294967294"));
		}
	}
	return 0;
}

TEST(contention_with_itself_is_another_finding_with_another_remedy)
{
	struct second_blame both[] = { { 4242, 3, "stress", 100 * MS },
				       { 4821, 2, "pt_data_worker", 250 * MS } };
	struct second s = contended(AT(1));
	struct thread_facts t = thread_of(1, &s, 1);
	struct facts facts = { .window = { AT(0), AT(2) }, .cpus = 16, .thread = &t, .threads = 1 };
	struct finding other, own;

	s.blame = both;
	s.blames = 2;
	CHECK(rule_cpu_contention(&facts, &t, 1, &other));
	CHECK_U64(other.lost_ns, 100 * MS);
	CHECK(other.culprits == 1);
	CHECK_U64(other.culprit[0].pid, 4242);
	CHECK(rule_cpu_contention_own(&facts, &t, 1, &own));
	CHECK_STR(own.cause, "cpu-contention");
	CHECK_STR(own.title, "CPU contention: the threads of python3 compete for too few CPUs");
	CHECK_U64(own.lost_ns, 250 * MS);
	CHECK(own.culprits == 1);
	CHECK_U64(own.culprit[0].pid, 4821);
	CHECK_NEAR(own.culprit[0].share, 100, 1e-9);
	CHECK(own.fixes == 1);
	CHECK(strstr(own.fix[0], "competes with its own threads"));
	CHECK(strstr(own.fix[0], "OMP_NUM_THREADS"));
	CHECK(strstr(own.fix[0], "CPU 2"));
	CHECK(!strstr(own.fix[0], "renice"));
	CHECK(!strstr(own.fix[0], "taskset"));
	return 0;
}

TEST(contention_with_itself_is_silent_when_only_others_had_the_cpu)
{
	struct second s = contended(AT(1));
	struct thread_facts t = thread_of(1, &s, 1);
	struct facts facts = { .window = { AT(0), AT(2) }, .cpus = 16, .thread = &t, .threads = 1 };
	struct finding f;

	CHECK(!rule_cpu_contention_own(&facts, &t, 1, &f));
	return 0;
}

/* ---- how sure ---- */

TEST(contention_is_proven_only_when_the_waits_are_charged_to_somebody)
{
	struct second s = contended(AT(1));
	struct finding f;

	s.state_ns[STATE_PREEMPTED] = 270 * MS; /* 360 of 370, an idle CPU included */
	CHECK(judge_one(&s, 1, &f));
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(strstr(f.basis, "97 % of its waits"));
	s.state_ns[STATE_PREEMPTED] = 300 * MS; /* 360 of 400 */
	CHECK(judge_one(&s, 1, &f));
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	CHECK(strstr(f.basis, "90 % of its waits"));
	CHECK_U64(f.lost_ns, 350 * MS); /* what nobody is charged with is not blamed on anybody */
	return 0;
}

TEST(contention_is_severe_by_share_of_the_time_or_of_the_window)
{
	struct second_blame some[] = { { 4242, 3, "stress", 60 * MS } };
	struct second s[100];
	struct finding f;

	for (size_t i = 0; i < ARRAY_LEN(s); i++) {
		s[i] = contended(AT(1 + i));
		s[i].blame = some;
		s[i].blames = 1;
	}
	CHECK(judge_one(s, 1, &f)); /* 6 % of one second */
	CHECK(f.severity == SEVERITY_LOW);
	CHECK(judge_one(s, 100, &f)); /* 6 % of the window of 100 */
	CHECK(f.severity == SEVERITY_MEDIUM);
	some[0].ns = 120 * MS;
	CHECK(judge_one(s, 1, &f)); /* 12 % of one second: over before anybody noticed */
	CHECK(f.severity == SEVERITY_LOW);
	CHECK(judge_one(s, 5, &f)); /* of five */
	CHECK(f.severity == SEVERITY_MEDIUM);
	CHECK(judge_one(s, 100, &f));
	CHECK(f.severity == SEVERITY_HIGH);
	return 0;
}

TEST(contention_by_many_blames_no_single_one)
{
	struct second_blame crowd[] = { { 10, 3, "sh", 40 * MS },
					{ 11, 3, "make", 35 * MS },
					{ 12, 3, "cc1", 35 * MS },
					{ 13, 3, "as", 30 * MS } };
	struct second s[] = { contended(AT(1)) };
	struct finding f;

	s[0].blame = crowd;
	s[0].blames = ARRAY_LEN(crowd);
	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_STR(f.title, "CPU contention: 4 processes had the CPU that python3 needed");
	CHECK_U64(f.fixes, 1);
	CHECK_STR(
		f.fix[0],
		"no single process is to blame: give pid 4821 a cpuset of its own, or more cores");
	return 0;
}

TEST(contention_by_a_few_names_them)
{
	struct second_blame few[] = { { 10, 3, "sh", 40 * MS },
				      { 11, 3, "make", 35 * MS },
				      { 12, 5, "cc1", 35 * MS },
				      { 13, 3, "as", 2 * MS } };
	struct second s[] = { contended(AT(1)) };
	struct finding f;

	s[0].blame = few;
	s[0].blames = ARRAY_LEN(few);
	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_STR(f.title, "CPU contention: sh, make and cc1 had the CPU that python3 needed");
	CHECK_U64(f.fixes, 2);
	CHECK_STR(f.fix[0], "keep them off CPU 3,5: for p in 10 11 12; do taskset -a -p -c "
			    "0-2,4,6-15 $p; done");
	CHECK_STR(f.fix[1], "let the training process win: renice -n 19 -p 10 11 12, or a cpuset "
			    "of its own for pid 4821");
	str_copy(few[1].comm, sizeof(few[1].comm), "sh");
	CHECK(judge_one(s, ARRAY_LEN(s), &f));
	CHECK_STR(f.title, "CPU contention: sh and cc1 had the CPU that python3 needed");
	return 0;
}

/* ---- workers ---- */

TEST(contention_by_its_own_workers_says_so)
{
	struct second_blame child[] = { { 4900, 3, "pt_data_worker", 300 * MS } };
	struct second s = contended(AT(1));
	struct thread_facts t = thread_of(1, &s, 1);
	struct descent descent = { 4821, 4900 };
	struct facts facts = { .window = { AT(0), AT(2) },
			       .cpus = 16,
			       .thread = &t,
			       .threads = 1,
			       .descent = &descent,
			       .descents = 1 };
	struct finding f;

	s.blame = child;
	s.blames = 1;
	CHECK(rule_cpu_contention(&facts, &t, 1, &f));
	CHECK_STR(f.title, "CPU contention: python3's own worker had the CPU that it needed "
			   "(pt_data_worker, pid 4900)");
	CHECK_U64(f.culprit[0].pid, 4900);
	CHECK(strstr(f.fix[0], "fewer workers"));
	return 0;
}

TEST(contention_of_a_worker_names_who_had_its_cpu)
{
	static struct scene scene;
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_PIPE, WAKER_task),
			   robbed(worker(STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		     500 * MS);
	CHECK_ONLY(&scene, "cpu-contention");
	CHECK(scene_judge(&scene, rule_cpu_contention_worker, &f));
	CHECK_STR(f.title, "CPU contention: a worker of python3 (loader, pid 4900) was kept off "
			   "the CPU by stress");
	CHECK_U64(f.culprit[0].pid, 4242);
	CHECK_STR(f.culprit[0].comm, "stress");
	CHECK_U64(f.culprit[0].cpus, 1 << 3);
	CHECK_U64(f.lost_ns, 2 * S);
	CHECK_STR(f.fix[0], "keep stress off CPU 3: taskset -a -p -c 0-2,4-15 4242");
	return 0;
}

/* The thread's own waits for a CPU are in its split; their chains say the same once more. */
TEST(contention_of_the_thread_itself_is_counted_once)
{
	static struct scene scene;
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(robbed(self(STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		     500 * MS);
	CHECK(!scene_judge(&scene, rule_cpu_contention_worker, &f));
	return 0;
}
