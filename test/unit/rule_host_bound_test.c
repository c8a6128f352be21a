// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_host_bound.c: honest work of the host, and launches that only look like it. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

/* A second with so much running between calls in few long gaps, the rest in synchronising. */
static struct second *host_second(uint64_t run_ns, uint64_t steps)
{
	struct second *s = scene_second(&scene, 0);

	in_gap(s, STATE_RUN, run_ns);
	in_call(s, CLASS_SYNC, STATE_RUN, S - run_ns);
	called(s, CLASS_LAUNCH, steps * 30);
	called(s, CLASS_SYNC, steps);
	s->steps = steps;
	s->step_ns = S;
	s->idle_ns = run_ns;
	s->gap_hist_ns = run_ns;
	s->long_gap_ns = run_ns * 19 / 20;
	s->short_gap = (struct short_sum){ steps * 30, run_ns / 20 };
	return s;
}

TEST(host_bound_counts_what_is_beyond_the_usual_work)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		(void)host_second(500 * MS, 100); /* 5 ms of the host for 30 launches */
	for (int i = 0; i < 4; i++)
		(void)host_second(900 * MS, 25);
	CHECK_ONLY(&scene, "host-bound");
	CHECK(scene_judge(&scene, rule_host_bound, &f));
	CHECK_STR(f.title, "Host-bound: the GPU waited for the work of python3 itself");
	CHECK_NEAR(f.lost_ns, 4 * (900 * MS - 125 * MS), MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(f.evidence == EVIDENCE_INFERRED);
	return 0;
}

/* The second in which it begins is mostly healthy: its part counts all the same. */
TEST(host_bound_counts_the_seconds_beside_it)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 3; i++)
		(void)host_second(450 * MS, 100);
	(void)host_second(550 * MS, 80);
	for (int i = 0; i < 3; i++)
		(void)host_second(900 * MS, 20);
	CHECK(scene_judge(&scene, rule_host_bound, &f));
	CHECK_U64(f.affected_ns, 4 * S);
	CHECK_U64(f.first_ns, AT(3));
	return 0;
}

TEST(host_bound_from_the_start_counts_all_of_it)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		(void)host_second(900 * MS, 25);
	CHECK_ONLY(&scene, "host-bound");
	CHECK(scene_judge(&scene, rule_host_bound, &f));
	CHECK_U64(f.lost_ns, 3600 * MS); /* the GPU was idle as long */
	return 0;
}

TEST(host_bound_is_silent_when_the_gpu_is_busy_for_a_good_part)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		(void)host_second(800 * MS, 50);
	CHECK_NONE(&scene); /* a fifth of the time goes into synchronising */
	return 0;
}

/* Launches wait for room in the queue, and nobody times them: the GPU is as busy as can be. */
TEST(host_bound_is_silent_when_the_queue_may_be_full)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, 940 * MS);
		in_call(s, CLASS_SYNC, STATE_RUN, 60 * MS);
		called(s, CLASS_LAUNCH, 3200);
		called(s, CLASS_SYNC, 3); /* 1,067 launches before each, 64 of them still queued */
		s->gap_hist_ns = 940 * MS;
	}
	CHECK_NONE(&scene);
	return 0;
}

TEST(host_bound_is_silent_without_any_synchronisation)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, S);
		called(s, CLASS_LAUNCH, 300);
	}
	CHECK_NONE(&scene);
	return 0;
}

TEST(host_bound_is_silent_while_the_program_starts)
{
	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		host_second(900 * MS, 25)->warm_up = true;
	for (int i = 0; i < 4; i++)
		(void)host_second(400 * MS, 100);
	CHECK_NONE(&scene);
	return 0;
}

/* It launches at a steady pace and the GPU keeps up: whether that is idle or busy is not known. */
TEST(host_bound_is_silent_when_both_may_be_equally_fast)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++) {
		struct second *s = host_second(950 * MS, 200);

		s->idle_ns = 30 * MS; /* between a synchronisation and the next launch */
		s->long_gap_ns = 0;
		s->short_gap = (struct short_sum){ 0, 0 };
	}
	CHECK_NONE(&scene);
	return 0;
}

/* The rhythm is not known, but the gaps are long. */
TEST(host_bound_is_known_by_long_gaps_as_well)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = host_second(900 * MS, 25);

		s->steps = s->idle_ns = 0;
	}
	CHECK(scene_judge(&scene, rule_host_bound, &f));
	CHECK_U64(f.lost_ns, 4 * (855 * MS));
	CHECK_NEAR(f.gain_low_pct, 0, 1e-9);
	return 0;
}
