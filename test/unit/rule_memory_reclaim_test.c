// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_memory_reclaim.c: freeing memory before getting any, told from swap and from the disk. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void reclaiming(uint64_t running, uint64_t waiting)
{
	for (int i = 0; i < 2; i++)
		(void)scene_healthy(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, running + waiting);
		in_gap(s, STATE_RECLAIM, running);
		in_gap(s, STATE_RECLAIM_WAIT, waiting);
	}
}

TEST(memory_reclaim_counts_running_and_waiting)
{
	struct finding f;

	scene_init(&scene);
	reclaiming(150 * MS, 250 * MS);
	CHECK_ONLY(&scene, "memory-reclaim");
	CHECK(scene_judge(&scene, rule_memory_reclaim, &f));
	CHECK_STR(f.title, "Memory reclaim: python3 had to free memory before it got any");
	CHECK_U64(f.lost_ns, 1600 * MS);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(f.culprits == 0);
	return 0;
}

/* The chains of the thread's own stops say the same once more. */
TEST(memory_reclaim_counts_the_thread_s_own_time_once)
{
	struct finding f;
	int chain;

	scene_init(&scene);
	reclaiming(0, 400 * MS);
	chain = scene_chain(&scene, CHAIN(self(STATE_RECLAIM_WAIT, WAKER_timer)));
	for (int i = 2; i < 6; i++) {
		struct second *s = &scene.second[0][i];

		s->wait[s->waits++] = (struct wait){
			.place = CLASS_GAP, .chain = chain, .ns = 400 * MS, .count = 40
		};
	}
	CHECK(scene_judge(&scene, rule_memory_reclaim, &f));
	CHECK_U64(f.lost_ns, 1600 * MS);
	return 0;
}

TEST(memory_reclaim_of_a_worker_is_followed_to_it)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RECLAIM_WAIT, WAKER_timer)),
		     300 * MS);
	CHECK_ONLY(&scene, "memory-reclaim");
	CHECK(scene_judge(&scene, rule_memory_reclaim, &f));
	CHECK_STR(f.title, "Memory reclaim: a worker of python3 had to free memory before it got "
			   "any");
	return 0;
}

TEST(memory_reclaim_is_silent_on_a_cold_page_cache)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_READ, WAKER_block)), 400 * MS);
	CHECK(!scene_judge(&scene, rule_memory_reclaim, &f));
	return 0;
}
