// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_self_sleep.c: a sleep in the loop, told from having nothing to do. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

TEST(self_sleep_in_every_step_is_found)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)), 600 * MS);
	CHECK_ONLY(&scene, "self-sleep");
	CHECK(scene_judge(&scene, rule_self_sleep, &f));
	CHECK_STR(f.title, "Sleep: python3 sleeps by itself in its loop");
	CHECK_U64(f.lost_ns, 2400 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(strstr(f.basis, "24.0 ms at a time"));
	return 0;
}

TEST(self_sleep_by_a_time_limit_is_inferred)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_POLL, WAKER_timer)), 600 * MS);
	CHECK_ONLY(&scene, "self-sleep");
	CHECK(scene_judge(&scene, rule_self_sleep, &f));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	return 0;
}

/* A wave of steps, then a pause. */
TEST(self_sleep_between_bursts_is_healthy)
{
	scene_init(&scene);
	scene_seconds(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)), 600 * MS, 1);
	CHECK_NONE(&scene);
	return 0;
}

/* It looks for work every 10 ms and finds none. */
TEST(self_sleep_of_an_idle_program_is_healthy)
{
	scene_init(&scene);
	scene_seconds(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)), 970 * MS, 97);
	CHECK_NONE(&scene);
	return 0;
}

/* Inside launches, until the queue has room: as many sleeps as launches. */
TEST(self_sleep_inside_launches_is_waiting_for_the_gpu)
{
	int chain;

	scene_init(&scene);
	chain = scene_chain(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)));
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, 100 * MS);
		in_call(s, CLASS_SYNC, STATE_SLEEP, 60 * MS);
		called(s, CLASS_LAUNCH, 3200);
		called(s, CLASS_SYNC, 3);
		scene_wait(&scene, s, chain, 840 * MS, 3100);
	}
	CHECK_NONE(&scene);
	return 0;
}

TEST(self_sleep_in_a_synchronising_call_is_waiting_for_the_gpu)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)), 600 * MS);
	for (int i = 2; i < 6; i++)
		scene.second[0][i].wait[0].place = CLASS_SYNC;
	CHECK_NONE(&scene);
	return 0;
}
