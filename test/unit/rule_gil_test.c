// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_gil.c: a thread that computes in Python, told from other locks and from turns. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static struct chain gil(struct hop holder)
{
	return CHAIN(named(self(STATE_FUTEX, WAKER_task), OBJECT_gil, "the GIL"), holder);
}

TEST(gil_blames_the_process_and_names_the_thread)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, gil(hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)), 600 * MS);
	CHECK_ONLY(&scene, "gil");
	CHECK(scene_judge(&scene, rule_gil, &f));
	CHECK_STR(f.title, "GIL: thread 4830 of python3 held Python's interpreter lock");
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK_STR(f.culprit[0].comm, "python3");
	CHECK_U64(f.lost_ns, 2400 * MS);
	return 0;
}

/* Whoever asks for the lock wakes up every 5 ms by a timer: who holds it is not in that chain. */
TEST(gil_waits_that_a_timer_ended_count_as_well)
{
	struct finding f;
	int timed;

	scene_init(&scene);
	scene_stalls(&scene, gil(hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)), 200 * MS);
	timed = scene_chain(&scene,
			    CHAIN(named(self(STATE_FUTEX, WAKER_timer), OBJECT_gil, "the GIL")));
	for (int i = 2; i < 6; i++)
		scene_wait(&scene, &scene.second[0][i], timed, 100 * MS, 20);
	CHECK_ONLY(&scene, "gil");
	CHECK(scene_judge(&scene, rule_gil, &f));
	CHECK_U64(f.lost_ns, 1200 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	return 0;
}

/* Who held it is looked at now and then only, where looking is dear: the chain with him is shown. */
TEST(gil_shows_a_chain_with_the_holder)
{
	struct finding f;
	int timed;

	scene_init(&scene);
	scene_stalls(&scene, gil(hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)), 50 * MS);
	timed = scene_chain(&scene,
			    CHAIN(named(self(STATE_FUTEX, WAKER_timer), OBJECT_gil, "the GIL")));
	for (int i = 2; i < 6; i++)
		scene_wait(&scene, &scene.second[0][i], timed, 500 * MS, 100);
	CHECK(scene_judge(&scene, rule_gil, &f));
	CHECK_U64(f.lost_ns, 2200 * MS);
	CHECK_U64(f.chain.hops, 2);
	CHECK_U64(f.chain.hop[1].tid, 4830);
	return 0;
}

TEST(gil_held_by_a_thread_that_others_keep_off_the_cpu_is_contention)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(
		&scene,
		gil(robbed(hop_of(TRAINER, 4830, STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		400 * MS);
	CHECK_ONLY(&scene, "cpu-contention");
	CHECK(scene_judge(&scene, rule_cpu_contention_worker, &f));
	CHECK_STR(f.culprit[0].comm, "stress");
	return 0;
}

/* Threads that all feed the GPU take turns: the time of each is judged where it spends it. */
TEST(gil_shared_by_threads_that_feed_the_gpu_is_a_turn)
{
	scene_init(&scene);
	scene_stalls(&scene, gil(hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)), 250 * MS);
	(void)scene_thread(&scene, TRAINER, 4830, "python3");
	for (int i = 0; i < 6; i++)
		loop_in(scene_second(&scene, 1), 0);
	CHECK_NONE(&scene);
	return 0;
}
