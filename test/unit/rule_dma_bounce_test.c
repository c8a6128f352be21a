// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_dma_bounce.c, on rows: no device here needs bounce buffers. */
#include "test/unit/scene.h"

static struct scene scene;

/* Four seconds of copies of 300 ms each, and so many bytes that bounced in each. */
static void bounce(uint64_t bytes, const char *device)
{
	scene_init(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, 300 * MS);
		in_call(s, CLASS_COPY, STATE_RUN, 300 * MS);
		called(s, CLASS_COPY, 10);
		scene_event(&scene, HOST_bounce, 0, 7, s->at_ns - S / 2);
		scene.event[i].value = bytes;
		str_copy(scene.event[i].name, sizeof(scene.event[i].name), device);
	}
}

TEST(dma_bounce_costs_a_copy_of_as_many_bytes)
{
	struct finding f;

	bounce(1600000000, "0000:3b:00.0 (GPU)"); /* 200 ms at 8 bytes a nanosecond */
	CHECK(scene_judge(&scene, rule_dma_bounce, &f));
	CHECK_STR(f.cause, "dma-bounce");
	CHECK_STR(f.title,
		  "Bounce buffers: data of python3 is copied on its way to 0000:3b:00.0 (GPU)");
	CHECK_U64(f.lost_ns, 800 * MS);
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK_NEAR(f.gain_low_pct, 0, 1e-9);
	return 0;
}

TEST(dma_bounce_costs_no_more_than_the_copies_took)
{
	struct finding f;

	bounce(16000000000, "0000:3b:00.0 (GPU)");
	CHECK(scene_judge(&scene, rule_dma_bounce, &f));
	CHECK_U64(f.lost_ns, 1200 * MS);
	return 0;
}

/* A network card's packets, or a disk that nobody waited for: a note, and no finding. */
TEST(dma_bounce_of_another_device_is_no_loss)
{
	struct finding f;

	bounce(1600000000, "0000:00:05.0");
	CHECK(!scene_judge(&scene, rule_dma_bounce, &f));
	bounce(1600000000, "0000:00:06.0 (disk)");
	CHECK(!scene_judge(&scene, rule_dma_bounce, &f));
	bounce(1000000, "0000:3b:00.0 (GPU)");
	CHECK(!scene_judge(&scene, rule_dma_bounce, &f));
	return 0;
}
