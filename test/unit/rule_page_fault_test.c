// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_page_fault.c: a storm of faults, told from swap and from honest work. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

/* Four seconds with so many faults and so much time in the kernel, after two without. */
static void storm(uint64_t minor, uint64_t kernel_ns)
{
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);
		bool bad = i >= 2;

		loop_in(s, bad ? 500 * MS : 0);
		if (bad)
			in_gap(s, STATE_RUN, 500 * MS);
		s->counter[COUNTER_minor] = s->gap_counter[COUNTER_minor] = bad ? minor : 100;
		s->counter[COUNTER_kernel_ns] = s->gap_counter[COUNTER_kernel_ns] =
			bad ? kernel_ns : 20 * MS;
	}
}

TEST(page_fault_charges_the_kernel_time_beyond_what_is_usual)
{
	struct finding f;

	scene_init(&scene);
	storm(100000, 420 * MS);
	CHECK_ONLY(&scene, "page-fault");
	CHECK(scene_judge(&scene, rule_page_fault, &f));
	CHECK_U64(f.lost_ns, 4 * (400 * MS));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(strstr(f.basis, "2.0 %"));
	return 0;
}

TEST(page_fault_is_silent_without_many_faults_or_much_time)
{
	struct finding f;

	scene_init(&scene);
	storm(1500, 420 * MS);
	CHECK(!scene_judge(&scene, rule_page_fault, &f));
	scene_init(&scene);
	storm(100000, 110 * MS); /* 9 % beyond the usual 2 */
	CHECK(!scene_judge(&scene, rule_page_fault, &f));
	return 0;
}

/* It has always been like that: a fifth of the time is its way to work, a third is a waste. */
TEST(page_fault_of_a_program_that_always_has_many_hurts_later)
{
	struct finding f;

	for (int much = 0; much < 2; much++) {
		scene_init(&scene);
		storm(100000, (much ? 330 : 200) * MS);
		for (int i = 0; i < 2; i++)
			scene.second[0][i] = scene.second[0][2 + i];
		scene.second[0][0].at_ns = AT(1);
		scene.second[0][1].at_ns = AT(2);
		CHECK(scene_judge(&scene, rule_page_fault, &f) == much);
	}
	return 0;
}

/* Time in the kernel that is reclaim is known as such. */
TEST(page_fault_leaves_reclaim_to_reclaim)
{
	struct finding f;

	scene_init(&scene);
	storm(100000, 420 * MS);
	for (int i = 2; i < 6; i++) {
		scene.second[0][i].state_ns[STATE_RUN] -= 350 * MS;
		scene.second[0][i].gap_ns[STATE_RUN] -= 350 * MS;
		in_gap(&scene.second[0][i], STATE_RECLAIM, 350 * MS);
	}
	CHECK(!scene_judge(&scene, rule_page_fault, &f));
	CHECK_ONLY(&scene, "memory-reclaim");
	return 0;
}

TEST(page_fault_is_swap_when_pages_come_back_from_there)
{
	scene_init(&scene);
	storm(100000, 420 * MS);
	for (int i = 2; i < 6; i++)
		scene.second[0][i].counter[COUNTER_major] = 5000;
	scene_swap(&scene, 4000);
	CHECK_ONLY(&scene, "swap");
	return 0;
}
