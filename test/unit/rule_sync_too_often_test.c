// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_sync_too_often.c: waiting after every kernel, told from a loop that waits once a step. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

/* So many synchronisations, each after one launch, beside a usual loop. */
static struct second *item_second(uint64_t syncs)
{
	struct second *s = scene_second(&scene, 0);
	uint64_t brief = syncs * 20000, gaps = syncs * 2 * 15000;

	loop_in(s, brief + gaps);
	in_call(s, CLASS_SYNC, STATE_RUN, brief);
	in_gap(s, STATE_RUN, gaps);
	called(s, CLASS_LAUNCH, syncs);
	called(s, CLASS_SYNC, syncs);
	s->short_sync[LAYER_RUNTIME] = (struct short_sum){ syncs, brief };
	s->short_gap = (struct short_sum){ syncs * 2, gaps };
	s->gap_hist_ns = gaps + s->gap_ns[STATE_RUN];
	return s;
}

TEST(sync_too_often_counts_the_gaps_beside_short_waits)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		(void)scene_healthy(&scene);
	for (int i = 0; i < 4; i++)
		(void)item_second(10000);
	CHECK_ONLY(&scene, "sync-too-often");
	CHECK(scene_judge(&scene, rule_sync_too_often, &f));
	CHECK_U64(f.lost_ns, 4 * (300 * MS)); /* the GPU has nothing to do in them */
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(strstr(f.title, "waits for the GPU 100"));
	CHECK(strstr(f.fix[0], ".item()"));
	return 0;
}

/* A runtime call contains the driver's: the same wait, seen twice. */
TEST(sync_too_often_counts_nested_calls_once)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = item_second(10000);

		s->class[CLASS_SYNC].calls[LAYER_DRIVER] = s->class[CLASS_SYNC].calls[0];
		s->short_sync[LAYER_DRIVER] = s->short_sync[LAYER_RUNTIME];
	}
	CHECK(scene_judge(&scene, rule_sync_too_often, &f));
	CHECK_U64(f.lost_ns, 4 * (300 * MS));
	return 0;
}

/* The same launches took a tenth of a millisecond each when it did not wait for every one. */
TEST(sync_too_often_counts_what_launches_take_longer_than_usual)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 3; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, 500 * MS);
		in_call(s, CLASS_SYNC, STATE_RUN, 500 * MS);
		called(s, CLASS_LAUNCH, 10000);
		called(s, CLASS_SYNC, 100);
	}
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, 200 * MS);
		in_call(s, CLASS_SYNC, STATE_RUN, 800 * MS);
		called(s, CLASS_LAUNCH, 4000);
		called(s, CLASS_SYNC, 4000);
		s->short_gap = (struct short_sum){ 8000, 200 * MS };
		s->short_sync[LAYER_RUNTIME] = (struct short_sum){ 4000, 800 * MS };
	}
	CHECK_ONLY(&scene, "sync-too-often");
	CHECK(scene_judge(&scene, rule_sync_too_often, &f));
	CHECK_NEAR(f.lost_ns, 4 * (600 * MS), MS);
	return 0;
}

/* Kernels of a millisecond, each waited for: the GPU is idle for as long as the next one is prepared. */
static void long_kernels(uint64_t syncs, uint64_t each_ns, uint64_t idle_ns)
{
	struct second *s = scene_second(&scene, 0);

	in_gap(s, STATE_RUN, syncs * each_ns);
	in_call(s, CLASS_SYNC, STATE_GPU, S - syncs * each_ns);
	called(s, CLASS_LAUNCH, 2 * syncs);
	called(s, CLASS_SYNC, syncs);
	s->gap_hist_ns = syncs * each_ns;
	s->long_gap_ns = each_ns >= LONG_GAP_NS ? syncs * each_ns : 0;
	s->steps = syncs;
	s->idle_ns = idle_ns;
}

TEST(sync_too_often_counts_idle_gaps_beside_long_waits)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		long_kernels(700, 430000, 290 * MS);
	CHECK_ONLY(&scene, "sync-too-often");
	CHECK(scene_judge(&scene, rule_sync_too_often, &f));
	CHECK_U64(f.lost_ns, 4 * (290 * MS));
	/* A GPU that others keep busy, long work between two waits, few of them. */
	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		long_kernels(700, 430000, 50 * MS);
	CHECK(!scene_judge(&scene, rule_sync_too_often, &f));
	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		long_kernels(150, 2 * MS, 300 * MS);
	CHECK(!scene_judge(&scene, rule_sync_too_often, &f));
	scene_init(&scene);
	for (int i = 0; i < 4; i++)
		long_kernels(60, 800000, 200 * MS);
	CHECK(!scene_judge(&scene, rule_sync_too_often, &f));
	return 0;
}

TEST(sync_too_often_is_silent_when_the_waits_are_long_or_few)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		(void)scene_healthy(&scene); /* 100 a second, 56 launches each */
	CHECK_NONE(&scene);
	scene_init(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(&scene, 0);

		in_call(s, CLASS_SYNC, STATE_RUN, 950 * MS); /* 1 ms each: the GPU works */
		in_gap(s, STATE_RUN, 50 * MS);
		called(s, CLASS_LAUNCH, 950);
		called(s, CLASS_SYNC, 950);
		s->short_gap = (struct short_sum){ 1900, 50 * MS };
	}
	CHECK_NONE(&scene);
	return 0;
}
