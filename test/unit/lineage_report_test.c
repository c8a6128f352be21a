// SPDX-License-Identifier: Apache-2.0
/* Tests of the I/O stall report, lineage/report*.c. */
#include <errno.h>

#include "lineage/report.h"
#include "test/unit/store_trace.h"

#define DISK_A 0x800001u
#define DISK_B 0x800002u

struct story {
	uint64_t wait_ns; /* for the file, in each of three seconds */
	uint64_t request_ns; /* of each request of its disk, */
	uint32_t requests; /* ... so many a second */
	uint64_t neighbour; /* bytes a second */
	uint32_t errors;
	uint64_t map_ns, bounced; /* of each request of its disk, and bytes a second */
	uint32_t refused; /* the IOMMU refuses this disk its memory; 0: none */
};

static struct io_what what(uint32_t dev, const char *file, uint32_t pid, uint64_t ino)
{
	return (struct io_what){ .disk = dev == DISK_A ? "nvme0n1" : "nvme1n1",
				 .op = "read",
				 .class = "file",
				 .fs = "ext4",
				 .file = file,
				 .owner = "submitter",
				 .comm = pid == 100 ? "python3" : "rsync",
				 .cgroup = "",
				 .dev = dev,
				 .fs_dev = dev,
				 .gen = 1,
				 .pid = pid,
				 .ino = ino };
}

static struct io_counts counts(uint64_t n, uint64_t ns, uint64_t bytes)
{
	struct io_counts c = {
		.requests = n, .bytes = bytes, .timed = n, .total_ns = n * ns, .max_ns = ns
	};

	c.hist[hist_bucket(ns)] = (uint32_t)n;
	return c;
}

static void map(struct io_counts *c, uint64_t ns, uint64_t bounced)
{
	if (!ns)
		return;
	c->map = (struct io_maps){ .mapped = c->timed, .ns = c->timed * ns, .max_ns = ns };
	c->map.hist[hist_bucket(ns)] = (uint32_t)c->timed;
	c->map.bounced = bounced;
}

/* In the fifth second, while a request of the file is under way that has that memory. */
static int refuse(struct store *s, const struct story *story)
{
	struct host_key key = { .event = HOST_iommu_fault, .obj = story->refused };
	struct host_count count = {
		.first_ns = 4 * SEC, .last_ns = 5 * SEC, .count = 1, .value = 0xfffe0000
	};
	struct io_what own = what(DISK_A, "/data/shard.1", 100, 12);
	struct io_single one = { .done_ns = 5 * SEC,
				 .total_ns = story->request_ns,
				 .bytes = 4096,
				 .because = 1,
				 .iova = 0xfffe0000,
				 .iova_bytes = 4096 };

	CHECK(!store_host_event(s, &key, &count, "0000:00:04.0 (disk)", ""));
	CHECK(!store_io_request(s, &own, &one));
	return 0;
}

static int tell(struct store *s, const struct story *story)
{
	struct process_row process = {
		.pid = 100, .comm = "python3", .cmdline = "", .exe = "", .cgroup = "", .python = ""
	};
	struct chain chain = { .hops = 1, .complete = true };
	struct wait_row wait = {
		.op = &op_table[OP_GAP], .ns = story->wait_ns, .count = 1, .max_ns = story->wait_ns
	};
	int64_t id, thread;

	CHECK(!trace_run(s));
	CHECK(!store_process(s, &process, &id));
	CHECK(!store_thread(s, id, 100, "python3", 0, &thread));
	chain.hop[0] = (struct hop){ .pid = 100,
				     .tid = 100,
				     .state = STATE_READ,
				     .by = WAKER_block,
				     .object = OBJECT_file,
				     .obj = 12,
				     .obj2 = DISK_A,
				     .nr = 0 };
	str_copy(chain.hop[0].comm, sizeof(chain.hop[0].comm), "python3");
	str_copy(chain.hop[0].name, sizeof(chain.hop[0].name), "/data/shard.1");
	CHECK(!store_chain(s, &chain, &wait.chain));
	for (uint64_t at = 1; at <= 10; at++) {
		bool stalls = story->wait_ns && at >= 4 && at < 7;
		struct io_what own = what(DISK_A, "/data/shard.1", 100, 12);
		struct io_what other = what(DISK_B, "/logs/x", 300, 99);
		struct io_what near = what(DISK_A, "/backup/y", 200, 50);
		struct io_counts usual = counts(10, 200000, 1 << 20);
		struct io_counts bad = counts(story->requests, story->request_ns, 1 << 20);
		struct io_counts more = counts(10, 300000, story->neighbour);

		bad.errors = story->errors;
		map(&usual, story->map_ns, 0);
		map(&bad, story->map_ns, story->bounced);
		CHECK(!store_io_second(s, at * SEC, &own, stalls ? &bad : &usual));
		usual.map = (struct io_maps){ 0 };
		CHECK(!store_io_second(s, at * SEC, &other, &usual));
		if (stalls && story->neighbour)
			CHECK(!store_io_second(s, at * SEC, &near, &more));
		if (stalls) {
			CHECK(!store_wait_second(s, thread, at * SEC, &wait));
			CHECK(!store_idle_second(s, thread, at * SEC, &wait));
		}
		CHECK(!store_account(s, at * SEC, &(struct account_row){ .seen = 1 }));
	}
	return story->refused ? refuse(s, story) : 0;
}

/* *ret is what the report says; also it must not fail to print. */
static int ask(struct store *s, const struct story *story, enum report_verdict *ret,
	       char **ret_text)
{
	struct report *r = NULL;
	size_t len = 0;
	FILE *out;

	if (tell(s, story))
		return 1;
	CHECK(!report_make(s, (struct window){ 0, 0 }, 0, &r));
	*ret = r->verdict;
	out = open_memstream(ret_text, &len);
	report_text(r, out);
	report_json(r, out);
	fclose(out);
	report_free(r);
	CHECK(*ret_text);
	return 0;
}

#define VERDICT(name, wanted, words, ...)                                                          \
	STORE_TEST(name)                                                                           \
	{                                                                                          \
		struct story story = { __VA_ARGS__ };                                              \
		enum report_verdict got = REPORT_NO_STALL;                                         \
		char *text = NULL;                                                                 \
		bool said;                                                                         \
                                                                                                   \
		if (ask(store, &story, &got, &text))                                               \
			return 1;                                                                  \
		said = text && strstr(text, words);                                                \
		free(text);                                                                        \
		CHECK_U64(got, wanted);                                                            \
		CHECK(said);                                                                       \
		return 0;                                                                          \
	}

VERDICT(report_blames_a_slow_disk_with_its_file, REPORT_DISK_SLOW, "nvme0n1 is slow",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1)
VERDICT(report_says_that_a_disk_is_busy, REPORT_DISK_BUSY, "more to do than it can",
	.wait_ns = 900 * MSEC, .request_ns = 10 * MSEC, .requests = 90)
VERDICT(report_names_the_neighbour, REPORT_NEIGHBOUR, "rsync (pid 200)", .wait_ns = 900 * MSEC,
	.request_ns = 10 * MSEC, .requests = 90, .neighbour = 1 << 30)
VERDICT(report_does_not_blame_a_disk_that_answers, REPORT_BEFORE_DISK,
	"lost before the disk was asked", .wait_ns = 900 * MSEC, .request_ns = MSEC, .requests = 10)
VERDICT(report_puts_errors_first, REPORT_ERRORS, "3 requests failed on nvme0n1",
	.wait_ns = 900 * MSEC, .request_ns = 500 * MSEC, .requests = 1, .errors = 1)
VERDICT(report_finds_no_stall_where_nobody_waits, REPORT_NO_STALL, "no thread that feeds a GPU",
	.wait_ns = 0)
VERDICT(report_does_not_blame_the_other_disk, REPORT_DISK_SLOW, "nvme1n1: normal, not involved",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1)

VERDICT(report_blames_the_iommu_that_refused_the_disk_its_memory, REPORT_STUCK,
	"the IOMMU refused nvme0n1 its memory 1 times, at 0xfffe0000: requests stuck on nvme0n1",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1, .refused = DISK_A)
VERDICT(report_blames_the_iommu_for_errors_too, REPORT_ERRORS,
	"at 0xfffe0000: 3 requests failed on nvme0n1", .wait_ns = 900 * MSEC,
	.request_ns = 500 * MSEC, .requests = 1, .errors = 1, .refused = DISK_A)
VERDICT(report_advises_where_the_iommu_refuses, REPORT_STUCK,
	"1. find out why the IOMMU refuses nvme0n1 its memory", .wait_ns = 300 * MSEC,
	.request_ns = 290 * MSEC, .requests = 1, .refused = DISK_A)
VERDICT(report_does_not_blame_the_iommu_for_another_disk, REPORT_DISK_SLOW, "nvme0n1 is slow",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1, .refused = DISK_B)
VERDICT(report_does_not_blame_the_iommu_for_a_short_request, REPORT_DISK_BUSY,
	"more to do than it can", .wait_ns = 900 * MSEC, .request_ns = 10 * MSEC, .requests = 90,
	.refused = DISK_A)

VERDICT(report_says_that_mapping_is_well, REPORT_DISK_SLOW, "DMA mapping on nvme0n1: normal, p50 ",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1, .map_ns = 3000)
VERDICT(report_says_that_mapping_is_slow, REPORT_DISK_SLOW, "DMA mapping on nvme0n1: slow",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1, .map_ns = 2 * MSEC)
VERDICT(report_advises_where_mapping_is_slow, REPORT_DISK_SLOW, "look for swiotlb=force or too",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1, .map_ns = 2 * MSEC)
VERDICT(report_says_why_mapping_is_not_measured, REPORT_DISK_SLOW,
	"DMA mapping on nvme0n1: not measured: the kernel has no tracepoint nvme_setup_cmd",
	.wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1)
VERDICT(report_names_the_file_that_was_bounced, REPORT_DISK_SLOW,
	"bounced: 3 MiB of /data/shard.1, data of python3 (pid 100)\n", .wait_ns = 300 * MSEC,
	.request_ns = 290 * MSEC, .requests = 1, .map_ns = 3000, .bounced = 1 << 20)

/* A long mapping of a short request counts, a short one of a long request does not. */
TEST(report_judges_mapping_by_length_and_share)
{
	struct report_disk d = { .name = "nvme0n1" };
	struct io_counts c = counts(100, 10 * MSEC, 4096);

	CHECK_U64(report_judge_maps(&d), REPORT_MAP_UNKNOWN);
	map(&c, 200000, 0);
	d.write.map = c.map;
	d.write.total_ns = c.total_ns;
	CHECK_U64(report_judge_maps(&d), REPORT_MAP_NORMAL); /* 2 % */
	d.write.total_ns = c.total_ns / 10;
	CHECK_U64(report_judge_maps(&d), REPORT_MAP_SLOW); /* 20 % */
	map(&c, 2000, 0);
	d.write.map = c.map;
	d.write.total_ns = 100 * 5000ull;
	CHECK_U64(report_judge_maps(&d), REPORT_MAP_NORMAL); /* 40 %, of nothing */
	map(&c, 2 * MSEC, 0);
	d.read.map = c.map;
	d.read.total_ns = 100 * SEC;
	CHECK_U64(report_judge_maps(&d), REPORT_MAP_SLOW); /* whatever its share */
	return 0;
}

STORE_TEST(report_of_a_trace_without_disks_says_so)
{
	struct report *r = NULL;

	CHECK(!trace_run(store));
	CHECK(!store_account(store, SEC, &(struct account_row){ .seen = 1 }));
	CHECK(report_make(store, (struct window){ 0, 0 }, 0, &r) == -ENODATA);
	CHECK(!r);
	return 0;
}

/* Each read has its price; only waits that stand out, or add up, are a stall. */
VERDICT(report_of_many_short_waits_is_no_stall, REPORT_NO_STALL, "no thread that feeds a GPU",
	.wait_ns = 15 * MSEC, .request_ns = MSEC, .requests = 15)

/* The file that was waited for has no tag: asked for one, it is not what was meant. */
STORE_TEST(report_of_one_tag_leaves_out_other_files)
{
	struct story story = { .wait_ns = 300 * MSEC, .request_ns = 290 * MSEC, .requests = 1 };
	struct io_what tagged = what(DISK_A, "/data/shard.1", 100, 12);
	struct io_counts some = counts(1, MSEC, 4096);
	struct report *r = NULL;

	if (tell(store, &story))
		return 1;
	CHECK(!report_make(store, (struct window){ 0, 0 }, 80042, &r));
	CHECK_U64(r->verdict, REPORT_NO_STALL);
	report_free(r);
	tagged.tag = 80042;
	CHECK(!store_io_second(store, 5 * SEC, &tagged, &some));
	CHECK(!report_make(store, (struct window){ 0, 0 }, 80042, &r));
	CHECK_U64(r->verdict, REPORT_DISK_SLOW);
	CHECK_U64(r->tag_count, 1);
	CHECK_U64(r->tags[0].tag, 80042);
	report_free(r);
	return 0;
}
