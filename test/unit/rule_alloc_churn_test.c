// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_alloc_churn.c: allocating in every step, told from allocating at the start. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static struct second *allocating(uint64_t calls, uint64_t ns)
{
	struct second *s = scene_second(&scene, 0);

	loop_in(s, ns);
	in_call(s, CLASS_ALLOC, STATE_RUN, ns * 3 / 4);
	in_call(s, CLASS_FREE, STATE_RUN, ns / 4);
	called(s, CLASS_ALLOC, calls);
	called(s, CLASS_FREE, calls);
	return s;
}

TEST(alloc_churn_counts_the_time_in_these_calls)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		(void)scene_healthy(&scene);
	for (int i = 0; i < 4; i++)
		(void)allocating(500, 400 * MS);
	CHECK_ONLY(&scene, "alloc-churn");
	CHECK(scene_judge(&scene, rule_alloc_churn, &f));
	CHECK_U64(f.lost_ns, 1600 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	return 0;
}

TEST(alloc_churn_is_silent_at_the_start_and_on_little)
{
	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		allocating(500, 400 * MS)->warm_up = true;
	for (int i = 0; i < 4; i++)
		(void)allocating(500, 45 * MS);
	CHECK_NONE(&scene);
	scene_init(&scene);
	(void)allocating(4, 400 * MS); /* four large ones */
	(void)scene_healthy(&scene);
	CHECK_NONE(&scene);
	return 0;
}
