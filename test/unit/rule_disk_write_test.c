// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_disk_write.c: checkpoints, and writing that nobody waits for. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

TEST(disk_write_names_the_checkpoint)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene,
		     CHAIN(named(self(STATE_FSYNC, WAKER_kthread), OBJECT_file, "/ckpt/model.pt")),
		     350 * MS);
	CHECK_ONLY(&scene, "disk-write");
	CHECK(scene_judge(&scene, rule_disk_write, &f));
	CHECK_STR(f.title, "Disk write: python3 waited until /ckpt/model.pt was written");
	CHECK_U64(f.lost_ns, 1400 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(strstr(f.fix[0], "/ckpt/model.pt"));
	return 0;
}

TEST(disk_write_of_a_thread_that_holds_a_lock_is_a_disk_write)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(
		&scene,
		CHAIN(named(self(STATE_FUTEX, WAKER_task), OBJECT_lock, "0x10"),
		      named(hop_of(TRAINER, 4830, STATE_WRITE, WAKER_timer), OBJECT_file, "/log")),
		300 * MS);
	CHECK_ONLY(&scene, "disk-write");
	CHECK(scene_judge(&scene, rule_disk_write, &f));
	CHECK_U64(f.culprit[0].tid, 4830);
	return 0;
}

/* Somebody else writes, and nobody here waits for it. */
TEST(disk_write_is_silent_when_only_others_write)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++)
		(void)scene_healthy(&scene);
	CHECK_NONE(&scene);
	return 0;
}
