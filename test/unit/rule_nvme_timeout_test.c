// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_nvme_timeout.c, on rows; test/vm/jobs/nvme-timeout.sh has a disk that hangs. */
#include "test/unit/scene.h"

#define DISK (259ull << 20 | 2)

static struct scene scene;

/* A loop that waits 31 s for one read of a file on that disk, and an event of a disk. */
static void hang(uint64_t on, uint64_t wait_ns, const char *name, enum host_event event)
{
	struct hop file = named(self(STATE_READ, WAKER_block), OBJECT_file, "/data/shard-17");
	struct second *s;

	scene_init(&scene);
	scene.f.window.to_ns = AT(60);
	file.obj2 = DISK;
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	s = scene_second(&scene, 0);
	s->at_ns = AT(35);
	scene_wait(&scene, s, scene_chain(&scene, CHAIN(file)), wait_ns, 1);
	scene_event(&scene, event, 0, on, AT(34));
	scene.event[0].ns = 31 * S;
	scene.event[0].count = 1;
	str_copy(scene.event[0].name, sizeof(scene.event[0].name), name);
}

TEST(nvme_timeout_is_a_wait_for_a_disk_that_did_not_answer)
{
	struct finding f;

	hang(DISK, 31 * S, "nvme0n1p2", HOST_disk_slow);
	CHECK_ONLY(&scene, "nvme-timeout");
	CHECK(scene_judge(&scene, rule_nvme_timeout, &f));
	CHECK_STR(f.title, "Disk timeout: python3 waited while nvme0n1p2 did not answer");
	CHECK_U64(f.lost_ns, 31 * S);
	CHECK(f.culprits == 0);
	CHECK_STR(f.object.name, "/data/shard-17");
	CHECK(strstr(f.fix[0], "nvme0n1p2"));
	CHECK(strstr(f.basis, "1 requests of that disk took 31 s in all"));
	return 0;
}

/* Another disk, no NVMe disk, a shorter wait, only an error: then it is a slow read. */
TEST(nvme_timeout_needs_that_very_disk_and_as_long_a_wait)
{
	hang(DISK + 1, 31 * S, "nvme1n1p2", HOST_disk_slow);
	CHECK_ONLY(&scene, "disk-read");
	hang(DISK, 31 * S, "sda2", HOST_disk_slow);
	CHECK_ONLY(&scene, "disk-read");
	hang(DISK, 5 * S, "nvme0n1p2", HOST_disk_slow);
	CHECK_ONLY(&scene, "disk-read");
	hang(DISK, 31 * S, "nvme0n1p2", HOST_disk_error);
	CHECK_ONLY(&scene, "disk-read");
	return 0;
}

/* Its driver says that it gave up: then a shorter wait is that, too. */
TEST(nvme_timeout_is_told_by_the_driver)
{
	struct finding f;

	hang(DISK, 2 * S, "nvme0n1", HOST_disk_timeout);
	CHECK_ONLY(&scene, "nvme-timeout");
	CHECK(scene_judge(&scene, rule_nvme_timeout, &f));
	CHECK(strstr(f.basis, "gave up 1 requests and reset the controller 0 times"));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	hang(DISK, 2 * S, "nvme0n1", HOST_disk_reset);
	CHECK_ONLY(&scene, "nvme-timeout");
	hang(DISK + 1, 2 * S, "nvme1n1", HOST_disk_timeout);
	CHECK_ONLY(&scene, "disk-read");
	return 0;
}
