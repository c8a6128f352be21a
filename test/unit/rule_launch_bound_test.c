// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_launch_bound.c: tiny kernels, and long queues of them. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void launches(uint64_t count, uint64_t syncs, uint64_t sync_ns)
{
	struct second *s = scene_second(&scene, 0);

	in_gap(s, STATE_RUN, S - sync_ns);
	in_call(s, CLASS_SYNC, STATE_RUN, sync_ns);
	called(s, CLASS_LAUNCH, count);
	called(s, CLASS_SYNC, syncs);
	s->gap_hist_ns = S - sync_ns;
	s->short_gap = (struct short_sum){ count, (S - sync_ns) * 9 / 10 };
}

TEST(launch_bound_is_many_launches_in_short_gaps)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		launches(100000, 50, 10 * MS);
	CHECK_ONLY(&scene, "launch-bound");
	CHECK(scene_judge(&scene, rule_launch_bound, &f));
	CHECK_STR(f.title, "Launch-bound: python3 launches 100000 kernels a second, one by one");
	CHECK_U64(f.lost_ns, 3960 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(strstr(f.basis, "9.9 us"));
	CHECK(strstr(f.fix[0], "CUDA graphs"));
	return 0;
}

/* The same work as a graph took 5 ms from one synchronisation to the next, of which it now takes 20. */
TEST(launch_bound_loses_what_a_round_takes_longer)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 3; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, 50 * MS);
		in_call(s, CLASS_SYNC, STATE_RUN, 950 * MS);
		called(s, CLASS_GRAPH, 200);
		called(s, CLASS_SYNC, 200);
	}
	for (int i = 0; i < 4; i++)
		launches(100000, 50, 10 * MS);
	CHECK_ONLY(&scene, "launch-bound");
	CHECK(scene_judge(&scene, rule_launch_bound, &f));
	CHECK_U64(f.lost_ns, 4 * (750 * MS));
	return 0;
}

/* When it was idle its rounds were long: that says nothing of the kernels. */
TEST(launch_bound_does_not_take_idle_time_for_usual)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 3; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_SLEEP, 990 * MS);
		in_call(s, CLASS_SYNC, STATE_RUN, 10 * MS);
		called(s, CLASS_LAUNCH, 10);
		called(s, CLASS_SYNC, 10);
	}
	for (int i = 0; i < 4; i++)
		launches(100000, 50, 10 * MS);
	CHECK(scene_judge(&scene, rule_launch_bound, &f));
	CHECK_U64(f.lost_ns, 3960 * MS);
	return 0;
}

/* A thousand in the queue at each synchronisation: the GPU is behind, not the host. */
TEST(launch_bound_is_silent_when_the_gpu_is_behind)
{
	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		launches(100000, 10, 100 * MS);
	CHECK_NONE(&scene);
	return 0;
}

TEST(launch_bound_is_host_bound_when_the_gaps_are_long)
{
	scene_init(&scene);
	for (int i = 0; i < 4; i++) {
		launches(6000, 100, 50 * MS);
		scene.second[0][i].short_gap.ns = 100 * MS;
		scene.second[0][i].long_gap_ns = 800 * MS;
	}
	CHECK_ONLY(&scene, "host-bound");
	return 0;
}

/* The main thread and that of PyTorch's backward pass take turns; the latter never waits for the GPU. */
static void turns(uint64_t main_syncs_ns)
{
	int chain;

	scene_init(&scene);
	chain = scene_chain(&scene, CHAIN(named(self(STATE_FUTEX, WAKER_task), OBJECT_lock, "0x1"),
					  hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)));
	(void)scene_thread(&scene, TRAINER, 4830, "pt_autograd_0");
	for (int i = 0; i < 5; i++) {
		struct second *s = scene_second(&scene, 0), *o = scene_second(&scene, 1);

		in_gap(s, STATE_RUN, 500 * MS);
		called(s, CLASS_LAUNCH, 20000);
		scene_wait(&scene, s, chain, 500 * MS, 50);
		s->gap_hist_ns = S;
		s->short_gap = (struct short_sum){ 20000, 450 * MS };
		in_gap(o, STATE_RUN, 500 * MS - main_syncs_ns);
		in_call(o, CLASS_SYNC, STATE_RUN, main_syncs_ns);
		called(o, CLASS_SYNC, 200);
		in_gap(o, STATE_FUTEX, 500 * MS);
		called(o, CLASS_LAUNCH, 20000);
	}
}

/* Together they launch all the time. */
TEST(launch_bound_counts_the_turns_of_another_thread)
{
	turns(20 * MS);
	CHECK_ONLY(&scene, "launch-bound");
	return 0;
}

TEST(launch_bound_is_silent_when_the_other_thread_spins_in_wait_for_the_gpu)
{
	turns(450 * MS);
	CHECK_NONE(&scene);
	return 0;
}
