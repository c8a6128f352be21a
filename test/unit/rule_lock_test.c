// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_lock.c: who held it, told from a queue and from turns. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static struct chain held_by(struct hop h)
{
	return CHAIN(named(self(STATE_FUTEX, WAKER_task), OBJECT_lock, "0x7f00"), h);
}

TEST(lock_names_the_thread_that_holds_it)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, held_by(hop_of(TRAINER, 4830, STATE_SLEEP, WAKER_timer)), 500 * MS);
	CHECK_ONLY(&scene, "lock");
	CHECK(scene_judge(&scene, rule_lock, &f));
	CHECK_STR(f.title, "Lock: python3 waited for a lock that its thread 4830 (python3) held");
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK_U64(f.culprit[0].tid, 4830);
	CHECK_U64(f.lost_ns, 2 * S);
	CHECK(strstr(f.basis, "slept or waited"));
	CHECK(strstr(f.basis, "a queue that it feeds would look the same"));
	return 0;
}

TEST(lock_inside_a_worker_names_the_worker)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_PIPE, WAKER_task),
			   named(worker(STATE_FUTEX, WAKER_task), OBJECT_lock, "0x10"),
			   hop_of(WORKER, WORKER + 2, STATE_RUN, WAKER_nobody)),
		     400 * MS);
	CHECK_ONLY(&scene, "lock");
	CHECK(scene_judge(&scene, rule_lock, &f));
	CHECK_U64(f.culprit[0].pid, WORKER);
	CHECK_STR(f.culprit[0].comm, "loader");
	return 0;
}

/* The backward pass runs in a thread of its own, and the first one waits for it. */
TEST(lock_is_silent_when_the_other_thread_feeds_the_gpu)
{
	scene_init(&scene);
	scene_stalls(&scene, held_by(hop_of(TRAINER, 4830, STATE_RUN, WAKER_nobody)), 300 * MS);
	(void)scene_thread(&scene, TRAINER, 4830, "pt_autograd_0");
	for (int i = 0; i < 6; i++)
		loop_in(scene_second(&scene, 1), 0);
	CHECK_NONE(&scene);
	scene.thread[1].feeds = false;
	CHECK_ONLY(&scene, "lock");
	return 0;
}

TEST(lock_is_silent_on_a_thread_with_nothing_to_do)
{
	int chain;

	scene_init(&scene);
	chain = scene_chain(&scene, held_by(hop_of(TRAINER, 4830, STATE_SLEEP, WAKER_timer)));
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, 960 * MS);
		scene_wait(&scene, s, chain, 960 * MS, 4);
	}
	CHECK_NONE(&scene);
	return 0;
}
