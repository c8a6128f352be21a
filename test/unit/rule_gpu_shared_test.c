// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_gpu_shared.c: two tenants, told from two that do not meet. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

#define TENANT 6000

/* The trainer's GPU takes so long for its launches; the tenant launches or not. */
static void second(uint64_t gpu_ns, uint64_t tenant)
{
	struct second *s = scene_second(&scene, 0), *o = scene_second(&scene, 1);

	in_gap(s, STATE_RUN, S - gpu_ns);
	in_call(s, CLASS_SYNC, STATE_RUN, gpu_ns);
	called(s, CLASS_LAUNCH, 2000);
	called(s, CLASS_SYNC, 40);
	in_gap(o, STATE_POLL, S);
	called(o, CLASS_LAUNCH, tenant);
}

static void seconds(int n, uint64_t gpu_ns, bool shared)
{
	for (int i = 0; i < n; i++)
		second(gpu_ns, shared ? 900 : 0);
}

/* The GPU is as fast as ever. */
static void tenant_launches(int n, uint64_t launches)
{
	for (int i = 0; i < n; i++)
		second(400 * MS, launches);
}

static void begin(void)
{
	scene_init(&scene);
	(void)scene_thread(&scene, TENANT, TENANT, "jupyter");
}

TEST(gpu_shared_names_the_other_tenant_and_the_excess)
{
	struct finding f;

	begin();
	seconds(2, 400 * MS, false);
	seconds(4, 700 * MS, true);
	seconds(1, 400 * MS, false);
	CHECK_ONLY(&scene, "gpu-shared");
	CHECK(scene_judge(&scene, rule_gpu_shared, &f));
	CHECK_U64(f.culprit[0].pid, TENANT);
	CHECK_STR(f.culprit[0].comm, "jupyter");
	CHECK_NEAR(f.lost_ns, 4 * (300 * MS), MS);
	CHECK_U64(f.affected_ns, 4 * S);
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(strstr(f.basis, "200.0 us"));
	CHECK(strstr(f.basis, "350.0 us"));
	return 0;
}

TEST(gpu_shared_is_silent_when_it_makes_no_difference)
{
	begin();
	seconds(3, 400 * MS, false);
	seconds(4, 440 * MS, true); /* another GPU */
	CHECK_NONE(&scene);
	return 0;
}

TEST(gpu_shared_is_silent_when_there_is_nothing_to_compare_with)
{
	struct finding f;

	begin();
	seconds(6, 700 * MS, true);
	CHECK(!scene_judge(&scene, rule_gpu_shared, &f));
	begin();
	seconds(1, 400 * MS, false);
	seconds(6, 700 * MS, true);
	CHECK(!scene_judge(&scene, rule_gpu_shared, &f));
	return 0;
}

/* Slow for reasons of its own in two of six seconds: the other one has no part in it. */
TEST(gpu_shared_is_silent_when_most_shared_seconds_are_as_fast_as_ever)
{
	struct finding f;

	begin();
	seconds(3, 300 * MS, false);
	seconds(4, 300 * MS, true);
	seconds(2, 950 * MS, true);
	CHECK(!scene_judge(&scene, rule_gpu_shared, &f));
	return 0;
}

/* The seconds of two processes do not begin together: the first and the last are shared for a moment only. */
TEST(gpu_shared_does_not_count_a_second_that_is_hardly_shared)
{
	struct finding f;

	begin();
	seconds(2, 400 * MS, false);
	tenant_launches(1, 5);
	seconds(5, 700 * MS, true);
	tenant_launches(2, 30);
	CHECK(scene_judge(&scene, rule_gpu_shared, &f));
	CHECK_U64(f.affected_ns, 5 * S);
	CHECK_NEAR(f.lost_ns, 5 * (300 * MS), MS);
	return 0;
}

/* Neither alone nor together: such seconds prove nothing. */
TEST(gpu_shared_does_not_judge_by_seconds_that_are_shared_in_part)
{
	struct finding f;

	begin();
	tenant_launches(3, 300);
	seconds(4, 700 * MS, true);
	CHECK(!scene_judge(&scene, rule_gpu_shared, &f));
	return 0;
}
