// SPDX-License-Identifier: Apache-2.0
/* Tests of capture/trouble.c: lines as kernels have written them. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "capture/kmsg.h"
#include "test/test.h"

static bool parse(const char *text, struct trouble *ret)
{
	char record[600];
	int n = snprintf(record, sizeof(record), "3,812,1234567,-;%s\n SUBSYSTEM=pci\n", text);

	return trouble_parse(record, (size_t)n, ret);
}

struct example {
	const char *text;
	enum host_event event;
	const char *device;
	uint64_t value;
};

TEST(trouble_knows_the_words_of_drivers)
{
	static const struct example all[] = {
		{ "nvme nvme0: I/O tag 256 (2100) opcode 0x1 (I/O Cmd) QID 1 timeout, aborting "
		  "req_op:WRITE(1) size:65536",
		  HOST_disk_timeout, "nvme0", 65536 },
		{ "nvme nvme12: I/O 66 (I/O Cmd) QID 1 timeout, aborting", HOST_disk_timeout,
		  "nvme12", 0 },
		{ "nvme nvme0: I/O 2 QID 1 timeout, aborting", HOST_disk_timeout, "nvme0", 0 },
		{ "nvme nvme0: I/O 2 QID 1 timeout, completion polled", HOST_disk_timeout, "nvme0",
		  0 },
		{ "nvme nvme0: I/O tag 256 (2100) opcode 0x1 (I/O Cmd) QID 1 timeout, reset controller",
		  HOST_disk_reset, "nvme0", 0 },
		{ "nvme nvme1: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
		  HOST_disk_reset, "nvme1", 0 },
		{ "DMAR: [DMA Read NO_PASID] Request device [00:02.0] fault addr 0x1234000 [fault "
		  "reason 0x06] PTE Read access is not set",
		  HOST_iommu_fault, "0000:00:02.0", 0x1234000 },
		{ "DMAR: [DMA Write] Request device [3B:00.1] PASID ffffffff fault addr dead000 [fault "
		  "reason 05] PTE Write access is not set",
		  HOST_iommu_fault, "0000:3b:00.1", 0xdead000 },
		{ "AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:c1:00.0 domain=0x0010 "
		  "address=0xfee00000 flags=0x0020]",
		  HOST_iommu_fault, "0000:c1:00.0", 0xfee00000 },
		{ "nvidia 0000:c1:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0010 "
		  "address=0x1000 flags=0x0020]",
		  HOST_iommu_fault, "0000:c1:00.0", 0x1000 },
		{ "nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, "
		  "(Receiver ID)",
		  HOST_pci_error, "0000:01:00.0", 0 },
	};
	struct trouble t;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		CHECK(parse(all[i].text, &t));
		CHECK_U64(t.event, all[i].event);
		CHECK_STR(t.device, all[i].device);
		CHECK_U64(t.value, all[i].value);
	}
	return 0;
}

TEST(trouble_is_nothing_else)
{
	static const char *const others[] = {
		"nvme nvme0: Abort status: 0x0",
		"nvme nvme0: 2/0/0 default/read/poll queues",
		"nvme nvmeX: I/O 2 QID 1 timeout, aborting",
		"nvme : I/O 2 QID 1 timeout, aborting",
		"my nvme nvme0: I/O 2 QID 1 timeout, aborting",
		"DMAR: Request device [zz:02.0] fault addr 0x1",
		"DMAR: Request device [00:02.0",
		"DMAR: IOMMU enabled",
		"PCIe Bus Error: severity=Corrected",
		"",
	};
	static const char forged[] = "11,1,1,-;nvme nvme0: I/O 2 QID 1 timeout, aborting\n";
	struct trouble t;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!parse(others[i], &t));
	/* Facility 1: written by a process, which cannot have 0. */
	CHECK(!trouble_parse(forged, strlen(forged), &t));
	for (size_t n = 0; n < strlen(forged); n++)
		CHECK(!trouble_parse(forged + 1, n, &t) || n > 30);
	CHECK(!trouble_parse("", 0, &t));
	return 0;
}

static void count_disk(const char *disk, uint64_t dev, bool whole, void *arg)
{
	(void)disk;
	(void)dev;
	(void)whole;
	++*(int *)arg;
}

TEST(trouble_finds_no_disks_of_no_controller)
{
	int n = 0;

	CHECK(trouble_disks("nvme4711", count_disk, &n) == 0 && n == 0);
	CHECK(trouble_disks("..", count_disk, &n) == 0 && n == 0);
	CHECK(trouble_pci_disks("ffff:ff:1f.7", count_disk, &n) == 0 && n == 0);
	CHECK(trouble_pci_disks("", count_disk, &n) == 0 && n == 0);
	CHECK(trouble_pci_disks("../../../class", count_disk, &n) == 0 && n == 0);
	CHECK(trouble_pci_disks("0000:00:00.0000000000000000000", count_disk, &n) == 0 && n == 0);
	return 0;
}
