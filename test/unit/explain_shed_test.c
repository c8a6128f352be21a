// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/shed.c: seconds in which launches were looked at for a part of the time. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */
static struct shed_facts spans[SCENE_SECONDS];

/* Launches were seen for the first `seen_ns` of each second. */
static void shed(uint64_t seen_ns)
{
	scene.f.shed = spans;
	for (int k = 0; k < scene.thread[0].seconds; k++)
		spans[scene.f.sheds++] = (struct shed_facts){ AT(k) + seen_ns, AT(k + 1), 0 };
	facts_scale(&scene.f);
}

/*
 * A loop that launches `count` kernels a second in gaps of which nine tenths are short, as it is
 * seen in a part of the second: without what was not looked at.
 */
static void launches(uint64_t count, uint64_t syncs, uint64_t sync_ns, double part)
{
	struct second *s = scene_second(&scene, 0);
	uint64_t gaps = S - sync_ns;

	in_gap(s, STATE_RUN, gaps);
	in_call(s, CLASS_SYNC, STATE_RUN, sync_ns);
	called(s, CLASS_LAUNCH, (uint64_t)((double)count * part));
	called(s, CLASS_SYNC, syncs);
	s->gap_hist_ns = (uint64_t)((double)gaps * part);
	s->short_gap = (struct short_sum){ (uint64_t)((double)count * part),
					   (uint64_t)((double)gaps * part * 0.9) };
}

TEST(shed_launches_are_estimated_from_what_was_seen)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		launches(40000, 50, 500 * MS, 0.1);
	shed(100 * MS);
	for (int i = 0; i < 6; i++) {
		const struct second *s = &scene.thread[0].second[i];

		CHECK_U64(s->launches_seen, 4000);
		CHECK_NEAR(s->launches, 40000, 100);
		CHECK_NEAR(s->hidden_ns, 900 * MS, (double)MS);
		CHECK(!s->launches_unknown);
	}
	CHECK_NONE(&scene);
	return 0;
}

TEST(shed_launches_are_exact_where_nothing_was_shed)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		launches(40000, 50, 500 * MS, 1);
	facts_scale(&scene.f);
	CHECK_U64(scene.thread[0].second[3].launches, 40000);
	CHECK_U64(scene.thread[0].second[3].launches_seen, 40000);
	CHECK_U64(scene.thread[0].second[3].hidden_ns, 0);
	return 0;
}

/* Without its launches a second looks like one long gap: of that nobody is accused. */
TEST(shed_launches_do_not_look_like_a_gpu_that_is_not_fed)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++) {
		launches(40000, 50, 10 * MS, 0.02);
		scene.thread[0].second[i].long_gap_ns = 0;
	}
	shed(20 * MS);
	CHECK_U64(scene.thread[0].second[2].long_gap_ns, 0);
	CHECK_ONLY(&scene, "launch-bound"); /* which it is: nothing else, and not host-bound */
	return 0;
}

TEST(shed_launches_of_which_nothing_was_seen_are_not_known)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		launches(40000, 2000, 100 * MS, 0);
	shed(0);
	CHECK(scene.thread[0].second[2].launches_unknown);
	CHECK_U64(scene.thread[0].second[2].launches, 0);
	CHECK_NONE(&scene);
	return 0;
}

/* One second has no window at all: those beside it tell. */
TEST(shed_launches_are_estimated_from_the_seconds_around)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		launches(40000, 50, 500 * MS, i % 2 ? 0.2 : 0);
	shed(0);
	CHECK_NEAR(scene.thread[0].second[2].launches, 40000, 2000);
	return 0;
}

TEST(shed_launches_do_not_hide_a_slow_disk)
{
	struct chain c =
		CHAIN(named(self(STATE_READ, WAKER_block), OBJECT_file, "train/shard-03.bin"));

	scene_init(&scene);
	scene_stalls(&scene, c, 300 * MS);
	for (int i = 0; i < scene.thread[0].seconds; i++) {
		struct second *s = &scene.thread[0].second[i];

		s->launches /= 10;
		s->gap_hist_ns = s->gap_ns[STATE_RUN] / 10;
	}
	shed(100 * MS);
	CHECK_ONLY(&scene, "disk-read");
	return 0;
}
