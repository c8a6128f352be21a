// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of lineage/report_fault.c: whose memory the IOMMU refused a drive. test/vm/jobs/iommu-refused*.sh has
 * such drives.
 */
#include "lineage/lineage.h"
#include "lineage/report.h"
#include "store/checkpoint.h"
#include "test/unit/store_trace.h"

#define DISK (259u << 20)
#define PART (DISK | 1)
#define OTHER (DISK | 5)
#define PCI "0000:00:04.0 (disk)"

/* Between 10 s and 11 s. */
static struct report_fault fault_at(uint64_t address)
{
	return (struct report_fault){ .device = PCI,
				      .dev = { DISK, PART },
				      .devs = 2,
				      .address = address,
				      .from_ns = 10 * SEC,
				      .to_ns = 11 * SEC,
				      .count = 1 };
}

static struct io_request_info request(uint64_t iova, uint32_t iova_bytes, uint64_t done_ns,
				      uint64_t total_ns)
{
	return (struct io_request_info){
		.what = { .disk = "nvme0n1p1",
			  .op = "write",
			  .class = "direct",
			  .fs = "",
			  .file = "/mnt/checkpoint.pt",
			  .owner = "submitter",
			  .comm = "loop",
			  .cgroup = "",
			  .dev = PART,
			  .pid = 77 },
		.one = { .done_ns = done_ns,
			 .total_ns = total_ns,
			 .bytes = 65536,
			 .because = LINEAGE_BECAUSE_SLOW | LINEAGE_BECAUSE_FAILED,
			 .iova = iova,
			 .iova_bytes = iova_bytes,
			 .nvme_status = -1,
			 .nvme_retries = -1 },
	};
}

TEST(fault_is_of_the_request_whose_memory_it_was)
{
	struct io_request_info q = request(0xffc00000, 65536, 12 * SEC, 3 * SEC);
	static const struct {
		uint64_t address;
		enum report_hit hit;
	} all[] = {
		{ 0xffc00000, REPORT_HIT_ADDRESS },   { 0xffc0ffff, REPORT_HIT_ADDRESS },
		{ 0xffc10000, REPORT_HIT_UNDER_WAY }, { 0xffbfffff, REPORT_HIT_UNDER_WAY },
		{ 0, REPORT_HIT_UNDER_WAY },          { UINT64_MAX, REPORT_HIT_UNDER_WAY },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct report_fault f = fault_at(all[i].address);

		CHECK_U64(report_fault_meets(&f, &q), all[i].hit);
	}
	return 0;
}

TEST(fault_is_of_no_request_of_another_time_or_disk)
{
	struct report_fault f = fault_at(0x1000);
	struct io_request_info q = request(0x1000, 4096, 10 * SEC, SEC);

	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS); /* done just then */
	q.one.done_ns--;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	q = request(0x1000, 4096, 13 * SEC, 2 * SEC); /* begun just then */
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS);
	q.one.done_ns++;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	q = request(0x1000, 4096, 12 * SEC, 3 * SEC);
	q.what.dev = OTHER;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	q.what.dev = DISK; /* without partitions */
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS);
	return 0;
}

/* Under way means trouble: a request that was only looked at as a sample is none. */
TEST(fault_without_its_address_is_of_slow_and_failed_requests)
{
	struct report_fault f = fault_at(0x1000);
	struct io_request_info q = request(0, 0, 12 * SEC, 3 * SEC); /* no IOMMU is known of it */

	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_UNDER_WAY);
	q.one.because = LINEAGE_BECAUSE_SLOW;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_UNDER_WAY);
	q.one.because = LINEAGE_BECAUSE_ALL;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	f.address = 0;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE); /* 0 bytes at 0 are nothing */
	return 0;
}

/* Whatever a damaged trace says. */
TEST(fault_survives_numbers_that_wrap)
{
	struct report_fault f = fault_at(0xfff);
	struct io_request_info q = request(UINT64_MAX - 4095, UINT32_MAX, 12 * SEC, 3 * SEC);

	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_UNDER_WAY); /* not around the end */
	f.address = UINT64_MAX;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS);
	q.one.total_ns = UINT64_MAX; /* since before time */
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS);
	q.one.done_ns = 0;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	q.one.done_ns = UINT64_MAX;
	q.one.total_ns = 0;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	f.from_ns = 0;
	f.to_ns = UINT64_MAX;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_ADDRESS);
	f.devs = 0;
	CHECK_U64(report_fault_meets(&f, &q), REPORT_HIT_NONE);
	return 0;
}

/* Addresses are used again within the second: the one that had to be tried again it was. */
TEST(fault_takes_the_likeliest_request_in_any_order)
{
	struct io_request_info all[] = {
		request(0x9000, 4096, 12 * SEC, 3 * SEC), /* another address */
		request(0x1000, 4096, 11 * SEC, SEC / 2), /* the address, and well */
		request(0x1000, 4096, 12 * SEC, 2 * SEC), /* ... and tried again */
		request(0x8000, 4096, 12 * SEC, 4 * SEC),
	};

	all[1].one.because = LINEAGE_BECAUSE_ALL;
	all[2].what.file = "/mnt/it";
	for (size_t first = 0; first < ARRAY_LEN(all); first++) {
		struct report_fault f = fault_at(0x1000);

		for (size_t i = 0; i < ARRAY_LEN(all); i++)
			report_fault_add(&f, &all[(first + i) % ARRAY_LEN(all)]);
		CHECK_U64(f.hit, REPORT_HIT_ADDRESS);
		CHECK_U64(f.requests, 1);
		CHECK_STR(f.file, "/mnt/it");
	}
	return 0;
}

TEST(fault_counts_the_requests_under_way_and_keeps_the_longest)
{
	struct report_fault f = fault_at(0x1000);
	struct io_request_info q = request(0x9000, 4096, 12 * SEC, 2 * SEC);

	report_fault_add(&f, &q);
	q.one.total_ns = 3 * SEC;
	q.what.file = "/mnt/longest";
	report_fault_add(&f, &q);
	q.one.part = 1;
	report_fault_add(&f, &q);
	q.one.part = 0;
	q.one.total_ns = SEC;
	report_fault_add(&f, &q);
	CHECK_U64(f.hit, REPORT_HIT_UNDER_WAY);
	CHECK_U64(f.requests, 3);
	CHECK_U64(f.parts, 1);
	CHECK_STR(f.file, "/mnt/longest");
	return 0;
}

/* ---- a whole report ---- */

static int store_fault(uint64_t value, uint64_t at_ns, const char *name)
{
	static const uint32_t devs[] = { PART, DISK }; /* as a folder is read */

	for (size_t i = 0; i < ARRAY_LEN(devs); i++) {
		struct host_key key = { .event = HOST_iommu_fault, .obj = devs[i] };
		struct host_count count = { .first_ns = at_ns - SEC,
					    .last_ns = at_ns,
					    .count = devs[i] == DISK,
					    .value = value };

		CHECK(!store_host_event(store, &key, &count, name, ""));
	}
	return 0;
}

static int store_request(struct io_request_info q, const char *file, uint64_t tag)
{
	struct io_counts c = { .requests = 1,
			       .bytes = q.one.bytes,
			       .timed = 1,
			       .total_ns = q.one.total_ns,
			       .max_ns = q.one.total_ns };

	c.hist[hist_bucket(q.one.total_ns)] = 1;
	q.what.file = file;
	q.what.tag = tag;
	CHECK(!store_io_request(store, &q.what, &q.one));
	CHECK(!store_io_second(store, q.one.done_ns, &q.what, &c));
	CHECK(!store_account(store, q.one.done_ns, &(struct account_row){ .seen = 1 }));
	return 0;
}

/* What the report says, to be freed; NULL: it says nothing. */
static char *said(uint64_t tag)
{
	struct report *r = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (report_make(store, (struct window){ 0, 0 }, tag, &r))
		return NULL;
	out = open_memstream(&text, &len);
	report_text(r, out);
	report_json(r, out);
	fclose(out);
	report_free(r);
	return text;
}

static int says(uint64_t tag, const char *wanted)
{
	char *text = said(tag);
	bool found = text && strstr(text, wanted);

	if (!found)
		fprintf(stderr, "%s\n", text ? text : "nothing");
	free(text);
	CHECK(found);
	return 0;
}

STORE_TEST(report_names_the_file_and_the_tag_of_a_fault)
{
	CHECK(!trace_run(store));
	CHECK(!store_tag(store, 42, "checkpoint_write/run42", SEC));
	if (store_fault(0xfffe1000, 11 * SEC, PCI) ||
	    store_request(request(0xfffe0000, 65536, 12 * SEC, 3 * SEC), "/mnt/checkpoint.pt",
			  42) ||
	    store_request(request(0xfff00000, 65536, 12 * SEC, 5 * SEC), "/mnt/other.pt", 0))
		return 1;
	return says(0,
		    "IOMMU fault: " PCI " was refused 0xfffe1000: memory of a write of 64 KiB of "
		    "/mnt/checkpoint.pt at offset 0, data of loop (pid 77), tag "
		    "checkpoint_write/run42\n") ||
	       says(0, "\"hit\":\"address\"") || says(0, "  1 IOMMU faults\n") ||
	       says(42, "tag checkpoint_write/run42\n");
}

STORE_TEST(report_says_which_requests_were_under_way_when_the_address_is_of_none)
{
	CHECK(!trace_run(store));
	if (store_fault(0x5000, 11 * SEC, PCI) ||
	    store_request(request(0xfffe0000, 65536, 12 * SEC, 3 * SEC), "/mnt/\x1b[2J", 42) ||
	    store_request(request(0xfff00000, 65536, 12 * SEC, 2 * SEC), "/mnt/b", 0))
		return 1;
	return says(0, "not the data of a request that is known; under way on nvme0n1p1 then: 2 "
		       "requests, the longest a write of 64 KiB of /mnt/\\x1b[2J at offset 0, data "
		       "of loop (pid 77), tag 42\n") ||
	       says(41, "2 requests, the longest without the tag of this report\n");
}

STORE_TEST(report_of_a_fault_with_no_request_says_so)
{
	CHECK(!trace_run(store));
	if (store_fault(0x5000, 11 * SEC, PCI) ||
	    store_request(request(0x5000, 4096, 20 * SEC, SEC), "/mnt/later", 0))
		return 1;
	return says(0, "no slow or failed request of nvme0n1p1 was under way then\n") ||
	       says(0, "\"request\":null");
}

/* Of an older trace, or of another device: no disk is known. */
STORE_TEST(report_of_a_fault_of_an_unknown_device_names_no_file)
{
	struct host_key key = { .event = HOST_iommu_fault, .obj = 0x9e3779b97f4a7c15ull };
	struct host_count count = {
		.first_ns = 10 * SEC, .last_ns = 11 * SEC, .count = 1, .value = 0xfffe0000
	};

	CHECK(!trace_run(store));
	CHECK(!store_host_event(store, &key, &count, PCI, ""));
	key.obj = 0;
	CHECK(!store_host_event(store, &key, &count, PCI, ""));
	if (store_request(request(0xfffe0000, 65536, 12 * SEC, 3 * SEC), "/mnt/a", 0))
		return 1;
	return says(0, "  2 IOMMU faults\n") || says(0, "\"iommu_faults\":[]");
}

STORE_TEST(report_of_many_faults_is_bounded_and_counts_the_rest)
{
	CHECK(!trace_run(store));
	for (uint64_t i = 0; i < REPORT_FAULTS + 7; i++)
		if (store_fault(0x1000 * i, 11 * SEC + i, PCI))
			return 1;
	if (store_request(request(0xfffe0000, 65536, 12 * SEC, 3 * SEC), "/mnt/a", 0))
		return 1;
	return says(0, "  and 7 more IOMMU faults of disks\n") ||
	       says(0, "\"iommu_faults_left_out\":7");
}
