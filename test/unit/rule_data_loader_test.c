// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_data_loader.c: workers that work, workers that sleep, and servers. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static struct chain loads(struct hop h)
{
	return CHAIN(named(self(STATE_PIPE, WAKER_task), OBJECT_pipe, ""), h);
}

TEST(data_loader_names_the_worker)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, loads(worker(STATE_RUN, WAKER_nobody)), 600 * MS);
	CHECK_ONLY(&scene, "data-loader");
	CHECK(scene_judge(&scene, rule_data_loader, &f));
	CHECK_STR(f.title, "Data loader: python3 waited for its worker (loader, pid 4900)");
	CHECK_U64(f.culprit[0].pid, WORKER);
	CHECK_U64(f.lost_ns, 2400 * MS);
	CHECK(strstr(f.basis, "ran on a CPU"));
	CHECK(strstr(f.fix[0], "num_workers"));
	return 0;
}

TEST(data_loader_may_be_asleep_if_it_is_so_in_every_step)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, loads(worker(STATE_SLEEP, WAKER_timer)), 600 * MS);
	CHECK_ONLY(&scene, "data-loader");
	CHECK(scene_judge(&scene, rule_data_loader, &f));
	CHECK(strstr(f.basis, "slept"));
	return 0;
}

/* It hands work over from time to time: 30 steps at once, then nothing for a while. */
TEST(data_loader_is_silent_when_there_is_nothing_to_load)
{
	scene_init(&scene);
	scene_seconds(&scene, loads(worker(STATE_SLEEP, WAKER_timer)), 600 * MS, 1);
	CHECK_NONE(&scene);
	return 0;
}

TEST(data_loader_is_silent_when_a_stranger_sends)
{
	scene_init(&scene);
	scene_stalls(&scene, loads(hop_of(STRANGER, STRANGER, STATE_RUN, WAKER_nobody)), 600 * MS);
	CHECK_NONE(&scene);
	return 0;
}

TEST(data_loader_that_keeps_up_is_healthy)
{
	scene_init(&scene);
	scene_stalls(&scene, loads(worker(STATE_RUN, WAKER_nobody)), 30 * MS);
	CHECK_NONE(&scene);
	return 0;
}

/* Once, but it never came back: not a pace, and yet the loop is stuck for good. */
TEST(data_loader_that_sleeps_for_ever_is_to_blame)
{
	static struct scene sc;
	struct hop open = self(STATE_PIPE, WAKER_task);
	struct finding f;
	struct second *s;

	for (int stuck = 0; stuck < 2; stuck++) {
		scene_init(&sc);
		for (int i = 0; i < 4; i++)
			(void)scene_healthy(&sc);
		open.flags = stuck ? STOP_OPEN : 0;
		s = scene_second(&sc, 0);
		scene_wait(&sc, s, scene_chain(&sc, CHAIN(open, worker(STATE_SLEEP, WAKER_nobody))),
			   4 * S, 1);
		s->steps = 10;
		CHECK(scene_judge(&sc, rule_data_loader, &f) == stuck);
	}
	CHECK_STR(f.title, "Data loader: python3 waited for its worker (loader, pid 4900)");
	CHECK(f.evidence == EVIDENCE_INFERRED); /* nobody has ended it yet */
	CHECK_U64(f.lost_ns, 4 * S);
	return 0;
}
