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

/* The disk's own account of the file, where it is known, is part of the proof. */
TEST(disk_write_says_what_the_disk_did_for_the_file)
{
	struct io_facts io = { .ino = 12,
			       .fs_dev = 7,
			       .writes = true,
			       .requests = 9,
			       .bytes = 4096,
			       .timed = 9,
			       .max_ns = 80 * MS,
			       .owner_pid = TRAINER,
			       .disk = "nvme0n1" };
	struct hop hop = named(self(STATE_FSYNC, WAKER_kthread), OBJECT_file, "/ckpt/model.pt");
	struct finding f;

	io.hist[hist_bucket(io.max_ns)] = 9;
	hop.obj = 12;
	hop.obj2 = 7;
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(hop), 350 * MS);
	scene.f.io = &io;
	scene.f.ios = 1;
	CHECK(scene_judge(&scene, rule_disk_write, &f));
	CHECK_STR(f.disk.name, "nvme0n1");
	CHECK_U64(f.disk.owner_pid, TRAINER);
	CHECK(strstr(f.basis, "nvme0n1 had 9 requests of it (4 KiB)"));
	CHECK_STR(f.chain.hop[0].device, "nvme0n1");
	io.writes = false; /* reads of it are another matter */
	CHECK(scene_judge(&scene, rule_disk_write, &f));
	CHECK_STR(f.disk.name, "");
	CHECK(strstr(f.basis, "not told here"));
	scene.f.io = NULL;
	scene.f.ios = 0;
	return 0;
}
