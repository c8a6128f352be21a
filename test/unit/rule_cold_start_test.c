// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_cold_start.c: a long first call in a short trace, and in a long one. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void opens(uint64_t ns)
{
	struct second *s = scene_second(&scene, 0);

	in_call(s, CLASS_INIT, STATE_RUN, ns);
	called(s, CLASS_INIT, 2);
	called(s, CLASS_LAUNCH, 10);
	in_gap(s, STATE_RUN, S - ns);
	s->warm_up = true;
}

TEST(cold_start_counts_opening_and_loading)
{
	struct finding f;

	scene_init(&scene);
	opens(900 * MS);
	opens(600 * MS);
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	CHECK_ONLY(&scene, "cold-start");
	CHECK(scene_judge(&scene, rule_cold_start, &f));
	CHECK_U64(f.lost_ns, 1500 * MS);
	CHECK_NEAR(f.lost_pct, 30, 1e-9);
	CHECK(f.severity == SEVERITY_MEDIUM);
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	return 0;
}

/* The library that the first launch loads is probed a moment later: its first call is not seen. */
TEST(cold_start_begins_with_the_first_call)
{
	struct finding f;
	struct second *s;

	scene_init(&scene);
	s = scene_second(&scene, 0);
	in_gap(s, STATE_RUN, 1200 * MS);
	called(s, CLASS_LAUNCH, 1);
	called(s, CLASS_INIT, 1);
	s = scene_second(&scene, 0);
	in_call(s, CLASS_INIT, STATE_RUN, 1300 * MS);
	loop_in(s, 500 * MS);
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	CHECK(scene_judge(&scene, rule_cold_start, &f));
	CHECK_U64(f.lost_ns, 2500 * MS);
	return 0;
}

TEST(cold_start_does_not_matter_in_a_long_run)
{
	scene_init(&scene);
	opens(400 * MS);
	for (int i = 0; i < 9; i++)
		(void)scene_healthy(&scene);
	CHECK_NONE(&scene);
	scene_init(&scene);
	opens(290 * MS); /* short anyway */
	(void)scene_healthy(&scene);
	CHECK_NONE(&scene);
	return 0;
}
