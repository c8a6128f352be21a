// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_straggler.c, meet.c and straggler.c: who is late, and who is not. */
#include "explain/explain_int.h"
#include "test/unit/scene.h"

#define RANKS 3
#define LATE 2
#define ROWS 2048
#define STEP (20 * MS)

static struct scene scene; /* of the test that runs */
static struct coll_facts coll[ROWS];

static uint32_t pid_of(int rank)
{
	return (uint32_t)(TRAINER + rank);
}

static void begin(void)
{
	scene_init(&scene);
	for (int i = 1; i < RANKS; i++)
		(void)scene_thread(&scene, pid_of(i), pid_of(i), "python3");
	for (int i = 0; i < RANKS; i++)
		for (int k = 0; k < 8; k++)
			in_gap(scene_second(&scene, i), STATE_RUN, S);
	scene.f.coll = coll;
	scene.f.colls = 0;
}

/* One meeting: each rank arrives so long after `at`, all go on `tail` after the last of them. */
static void meet(uint64_t seq, uint64_t at, const uint64_t arrives[RANKS], uint64_t tail)
{
	uint64_t last = 0;

	for (int i = 0; i < RANKS; i++)
		last = max_u64(last, arrives[i]);
	for (int i = 0; i < RANKS; i++)
		coll[scene.f.colls++] = (struct coll_facts){
			.process = pid_of(i),
			.thread = i + 1,
			.communicator = i + 10,
			.hash = 0xabc,
			.seq = seq,
			.rank = i,
			.nranks = RANKS,
			.start_ns = at + arrives[i],
			.sync_start_ns = at + arrives[i] + 10000,
			.sync_end_ns = at + last + tail,
			.sure = true,
		};
}

/* Six seconds of steps in which one rank, or each in its turn, is so late. */
static void steps(uint64_t late_ns, uint64_t tail, bool in_turn)
{
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t arrives[RANKS] = { 100000, 150000, 120000 };

		arrives[in_turn ? i % RANKS : LATE] += late_ns;
		meet(i + 1, AT(0) + i * STEP, arrives, tail);
	}
}

static void done(void)
{
	facts_meet(&scene.f);
}

TEST(straggler_is_named_with_how_late_it_is_and_who_waits)
{
	struct finding f;

	begin();
	steps(5 * MS, MS, false);
	done();
	CHECK(scene_judge(&scene, rule_straggler, &f)); /* rank 0 waits longest: it came first */
	CHECK_STR(f.cause, "straggler");
	CHECK(f.by_ranked && f.by_rank == LATE);
	CHECK_U64(f.culprit[0].pid, pid_of(LATE));
	CHECK_NEAR(f.lost_ns, 300 * (5 * MS + 10000), 2 * MS);
	CHECK(f.thread == 1);
	CHECK(strstr(f.title, "rank 2 (python3, pid 4823) comes 5.01 ms late, 2 other ranks wait"));
	CHECK(strstr(f.basis, "the last of 3 ranks in 300 of 300"));
	CHECK(f.evidence == EVIDENCE_INFERRED); /* what its GPU did is not known */
	CHECK(f.gain_low_pct < 0.01);
	return 0;
}

TEST(straggler_is_told_once_of_the_rank_that_waits_longest)
{
	struct finding f;
	int found = 0;

	begin();
	steps(5 * MS, MS, false);
	done();
	facts_classify(&scene.f);
	for (int i = 0; i < RANKS; i++)
		found += rule_straggler(&scene.f, &scene.thread[i], 1, &f);
	CHECK(found == 1);
	return 0;
}

TEST(straggler_is_nobody_where_all_are_late_in_turn_or_nobody_is)
{
	struct finding f;

	begin();
	steps(5 * MS, MS, true);
	done();
	CHECK(!scene_judge(&scene, rule_straggler, &f));
	begin();
	steps(200000, MS, false); /* a hundredth of the step */
	done();
	CHECK(!scene_judge(&scene, rule_straggler, &f));
	return 0;
}

/* It queues late, but all of them have work for their GPUs for much longer. */
TEST(straggler_is_nobody_whose_gpu_is_busy_anyhow)
{
	static struct idle_ns idle[] = { { .ns = 1500 * MS } };
	struct finding f;

	begin();
	steps(2 * MS, 15 * MS, false);
	done();
	CHECK(!scene_judge(&scene, rule_straggler, &f));
	/* Unless its GPU was idle meanwhile. */
	(void)scene_chain(&scene, CHAIN(self(STATE_RUN, WAKER_nobody)));
	scene.thread[LATE].idle = idle;
	scene.thread[LATE].idles = 1;
	CHECK(scene_judge(&scene, rule_straggler, &f));
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	CHECK(strstr(f.basis, "its GPU had nothing to do"));
	return 0;
}

TEST(straggler_loses_nothing_by_waits_that_ended_before_it_came)
{
	struct finding f;

	begin();
	steps(5 * MS, MS, false);
	for (int i = 0; i < scene.f.colls; i++) /* of another stream, by mistake */
		coll[i].sync_end_ns = coll[i].sync_start_ns + MS;
	done();
	CHECK(!scene_judge(&scene, rule_straggler, &f));
	return 0;
}

/* Before the trace: neither a name nor the same numbers. */
TEST(straggler_is_found_where_the_communicator_has_no_name)
{
	struct finding f;

	begin();
	steps(5 * MS, MS, false);
	for (int i = 0; i < scene.f.colls; i++) {
		coll[i].hash = 0;
		coll[i].seq += (uint64_t)(coll[i].communicator * 3);
		coll[i].rank = -1;
	}
	scene.thread[LATE].rank = 7;
	scene.thread[LATE].ranked = true;
	done();
	CHECK(coll[0].hash && coll[0].aligned);
	CHECK(scene_judge(&scene, rule_straggler, &f));
	CHECK(f.by_rank == 7 && f.culprit[0].pid == pid_of(LATE));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(strstr(f.basis, "by when their waits ended"));
	CHECK(facts_same_job(&scene.f, pid_of(0), pid_of(1)));
	return 0;
}

/* Two jobs that have nothing to do with each other. */
TEST(straggler_does_not_join_jobs_that_go_their_own_ways)
{
	struct finding f;

	begin();
	steps(5 * MS, MS, false);
	for (int i = 0; i < scene.f.colls; i++) {
		uint64_t drift = (uint64_t)(coll[i].communicator - 10) * coll[i].seq * 37000;

		coll[i].hash = 0;
		coll[i].start_ns += drift;
		coll[i].sync_start_ns += drift;
		coll[i].sync_end_ns += drift;
	}
	done();
	CHECK(!coll[0].hash);
	CHECK(!scene_judge(&scene, rule_straggler, &f));
	CHECK(!facts_same_job(&scene.f, pid_of(0), pid_of(1)));
	return 0;
}

TEST(straggler_has_its_own_finding_as_the_reason_and_stands_in_front_of_it)
{
	struct finding list[2] = { 0 };
	struct explanation e = { .finding = list, .findings = 2 };

	begin();
	steps(5 * MS, MS, false);
	done();
	CHECK(scene_judge(&scene, rule_straggler, &list[1]));
	str_copy(list[1].node, sizeof(list[1].node), "gpu-node-01");
	list[0] = (struct finding){ .cause = "cpu-contention",
				    .title = "CPU contention: stress had the CPU",
				    .pid = pid_of(LATE),
				    .node = "gpu-node-01",
				    .first_ns = AT(1),
				    .last_ns = AT(4),
				    .lost_ns = 9 * S };
	add_own_causes(&scene.f, &e);
	lift_stragglers(&e);
	CHECK_STR(list[0].cause, "straggler");
	CHECK_STR(list[0].own.cause, "cpu-contention");
	CHECK_STR(list[0].own.title, "CPU contention: stress had the CPU");
	CHECK(strstr(list[0].title, ", because of cpu-contention"));
	CHECK_STR(list[1].cause, "cpu-contention");
	return 0;
}
