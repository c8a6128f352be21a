// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_copy_bound.c: copies that take long, told from copies that wait for the GPU. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void copying(uint64_t bytes)
{
	struct second *s = scene_second(&scene, 0);

	loop_in(s, 600 * MS);
	in_call(s, CLASS_COPY, STATE_SLEEP, 600 * MS);
	called(s, CLASS_COPY, 100);
	s->class[CLASS_COPY].bytes[LAYER_RUNTIME] = bytes;
}

TEST(copy_bound_counts_the_time_in_copies)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		(void)scene_healthy(&scene);
	for (int i = 0; i < 4; i++)
		copying(1500 * MS); /* 2.5 GB/s */
	CHECK_ONLY(&scene, "copy-bound");
	CHECK(scene_judge(&scene, rule_copy_bound, &f));
	CHECK_U64(f.lost_ns, 2400 * MS);
	CHECK(strstr(f.basis, "2.50 GB/s"));
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(strstr(f.fix[0], "pin_memory=True"));
	return 0;
}

/* Four bytes to the host: it waits for the loss to be computed, not to be copied. */
TEST(copy_bound_is_silent_when_a_small_copy_waits_for_the_gpu)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		copying(400);
	CHECK_NONE(&scene);
	return 0;
}
