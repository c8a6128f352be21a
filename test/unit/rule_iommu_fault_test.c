// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_iommu_fault.c, on rows; test/vm/jobs/iommu-refused*.sh has a drive that faults. */
#include "test/unit/scene.h"

static struct scene scene;

/* A wait of that long in the GPU's driver, and a fault in the same second. */
static void fault(uint64_t wait_ns, const char *device, uint64_t at_ns)
{
	struct second *s;
	int chain;

	scene_init(&scene);
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	s = scene_second(&scene, 0);
	loop_in(s, wait_ns);
	chain = scene_chain(&scene, CHAIN(self(STATE_GPU, WAKER_irq)));
	scene_wait(&scene, s, chain, wait_ns, 1);
	scene_event(&scene, HOST_iommu_fault, 0, 7, at_ns);
	scene.event[0].value = 0xdead000;
	str_copy(scene.event[0].name, sizeof(scene.event[0].name), device);
}

TEST(iommu_fault_explains_a_long_wait_for_that_device)
{
	struct finding f;

	fault(600 * MS, "0000:3b:00.0 (GPU)", AT(4) - S / 2);
	CHECK_ONLY(&scene, "iommu-fault");
	CHECK(scene_judge(&scene, rule_iommu_fault, &f));
	CHECK_STR(f.title,
		  "IOMMU: 0000:3b:00.0 (GPU) was refused its memory while python3 waited for it");
	CHECK_U64(f.lost_ns, 600 * MS);
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(strstr(f.basis, "0xdead000"));
	return 0;
}

/* Another kind of device, another time, short waits: a note, and no finding. */
TEST(iommu_fault_of_another_device_or_time_explains_nothing)
{
	fault(600 * MS, "0000:00:05.0", AT(4) - S / 2);
	CHECK_NONE(&scene);
	fault(600 * MS, "0000:00:06.0 (disk)", AT(4) - S / 2);
	CHECK_NONE(&scene);
	fault(600 * MS, "0000:3b:00.0 (GPU)", AT(9));
	CHECK_NONE(&scene);
	fault(80 * MS, "0000:3b:00.0 (GPU)", AT(4) - S / 2);
	CHECK_NONE(&scene);
	return 0;
}

#define DISK (259ull << 20 | 2)

/* A wait for a file on that disk, and a fault of a drive: `on` is its disk, as far as that is known. */
static void refuse_for(uint64_t on, uint64_t wait_ns)
{
	struct hop file = named(self(STATE_READ, WAKER_block), OBJECT_file, "/data/shard-17");
	struct second *s;

	scene_init(&scene);
	file.obj2 = DISK;
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	s = scene_second(&scene, 0);
	if (wait_ns > S) {
		scene.f.window.to_ns = AT(60);
		s->at_ns = AT(35);
	} else {
		loop_in(s, wait_ns);
	}
	scene_wait(&scene, s, scene_chain(&scene, CHAIN(file)), wait_ns, 1);
	scene_event(&scene, HOST_iommu_fault, 0, on, AT(4) - S / 2);
	str_copy(scene.event[0].name, sizeof(scene.event[0].name), "0000:01:00.0 (disk)");
}

static void refuse(uint64_t on)
{
	refuse_for(on, 600 * MS);
}

/* A driver waits half a minute before it gives up. */
TEST(iommu_fault_of_a_drive_is_as_old_as_the_wait)
{
	refuse_for(DISK, 31 * S);
	CHECK_ONLY(&scene, "iommu-fault");
	refuse_for(DISK, 20 * S); /* begun later */
	CHECK_ONLY(&scene, "disk-read");
	return 0;
}

TEST(iommu_fault_of_a_drive_is_of_the_files_on_it)
{
	struct finding f;

	refuse(DISK);
	CHECK_ONLY(&scene, "iommu-fault");
	CHECK(scene_judge(&scene, rule_iommu_fault, &f));
	CHECK_STR(f.object.name, "/data/shard-17");
	refuse(DISK + 1);
	CHECK_ONLY(&scene, "disk-read");
	refuse(0); /* of an older trace: any disk */
	CHECK_ONLY(&scene, "iommu-fault");
	refuse(DISK << 32); /* ... or a number that is none of a disk */
	CHECK_ONLY(&scene, "iommu-fault");
	return 0;
}

/* A drive that was refused its memory does not answer: that is why. */
TEST(iommu_fault_of_a_drive_comes_before_its_reset)
{
	static const struct {
		uint64_t on;
		const char *rule;
	} all[] = { { DISK, "iommu-fault" }, { DISK + 1, "nvme-timeout" }, { 0, "nvme-timeout" } };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		refuse(all[i].on);
		scene_event(&scene, HOST_disk_reset, 0, DISK, AT(4) - S / 2);
		str_copy(scene.event[1].name, sizeof(scene.event[1].name), "nvme0n1");
		CHECK_ONLY(&scene, all[i].rule);
	}
	return 0;
}
