// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_swap.c: what comes back from swap, told from other faults and from reclaim. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void thrash(uint64_t major)
{
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);
		bool bad = i >= 2;

		loop_in(s, bad ? 600 * MS : 0);
		if (!bad)
			continue;
		in_gap(s, STATE_RUN, 300 * MS);
		in_gap(s, STATE_RECLAIM, 200 * MS);
		in_gap(s, STATE_FAULT, 100 * MS);
		s->counter[COUNTER_major] = major;
		s->counter[COUNTER_minor] = 3000;
		s->gap_counter[COUNTER_kernel_ns] = 450 * MS;
	}
}

TEST(swap_has_all_of_it_and_leaves_nothing_to_reclaim)
{
	struct finding f;

	scene_init(&scene);
	thrash(2000);
	scene_swap(&scene, 2000);
	CHECK_ONLY(&scene, "swap");
	CHECK(scene_judge(&scene, rule_swap, &f));
	CHECK_U64(f.lost_ns, 4 * (450 * MS + 100 * MS));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(f.culprits == 0);
	return 0;
}

TEST(swap_is_silent_when_nothing_came_from_swap)
{
	struct finding f;

	scene_init(&scene);
	thrash(2000);
	scene_swap(&scene, 0);
	CHECK(!scene_judge(&scene, rule_swap, &f));
	CHECK(scene_judge(&scene, rule_memory_reclaim, &f));
	scene_init(&scene);
	thrash(2000); /* the host does not tell */
	scene_swap(&scene, -1);
	CHECK(!scene_judge(&scene, rule_swap, &f));
	return 0;
}

/* Memory is written and swapped out, and hardly any of it comes back: that is reclaim. */
TEST(swap_is_silent_when_little_came_back)
{
	struct finding f;

	scene_init(&scene);
	thrash(180);
	for (int i = 2; i < 6; i++) {
		scene.second[0][i].state_ns[STATE_FAULT] = 0;
		in_gap(&scene.second[0][i], STATE_RUN, 100 * MS);
	}
	scene_swap(&scene, 180);
	CHECK(!scene_judge(&scene, rule_swap, &f));
	CHECK(scene_judge(&scene, rule_memory_reclaim, &f));
	return 0;
}

/* Others swap; this thread has no major fault. */
TEST(swap_is_silent_when_only_others_swap)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		(void)scene_healthy(&scene);
	scene_swap(&scene, 9000);
	CHECK_NONE(&scene);
	return 0;
}

TEST(swap_is_what_a_worker_s_fault_waits_for_then)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_FAULT, WAKER_block)),
		     300 * MS);
	scene_swap(&scene, 2000);
	CHECK_ONLY(&scene, "swap");
	return 0;
}
