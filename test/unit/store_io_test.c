// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_io.c and store/read_io.c: disk requests, and waits for files. */
#include <errno.h>

#include "store/read_io.h"
#include "test/unit/store_trace.h"

static const struct io_what checkpoint = { .disk = "nvme0n1",
					   .op = "write",
					   .class = "file",
					   .fs = "xfs",
					   .file = "/ckpt/step1.pt",
					   .owner = "dirtier",
					   .comm = "python3",
					   .cgroup = "/job",
					   .dev = 259 << 20,
					   .fs_dev = 259 << 20,
					   .gen = 7,
					   .pid = 4821,
					   .ino = UINT64_MAX,
					   .tag = 1ull << 63,
					   .readahead = true };

static int check_second(const struct io_second_info *s, void *arg)
{
	CHECK_U64(s->at_ns, BOOT_NS + 5 * SEC);
	CHECK_STR(s->what.disk, "nvme0n1");
	CHECK_STR(s->what.op, "write");
	CHECK_STR(s->what.class, "file");
	CHECK_STR(s->what.fs, "xfs");
	CHECK_STR(s->what.file, "/ckpt/step1.pt");
	CHECK_STR(s->what.owner, "dirtier");
	CHECK_STR(s->what.comm, "python3");
	CHECK_U64(s->what.dev, 259 << 20);
	CHECK_U64(s->what.gen, 7);
	CHECK_U64(s->what.pid, 4821);
	CHECK_U64(s->what.ino, UINT64_MAX);
	CHECK_U64(s->what.tag, 1ull << 63);
	CHECK(s->what.readahead);
	CHECK_U64(s->counts.requests, 1);
	CHECK_U64(s->counts.merged, 2);
	CHECK_U64(s->counts.bytes, 3);
	CHECK_U64(s->counts.timed, 4);
	CHECK_U64(s->counts.total_ns, 5);
	CHECK_U64(s->counts.max_ns, 6);
	CHECK_U64(s->counts.slow, 7);
	CHECK_U64(s->counts.errors, 8);
	CHECK_U64(s->counts.requeues, 9);
	CHECK_U64(s->counts.hist[HIST_BUCKETS - 1], 10);
	CHECK_U64(s->counts.map.mapped, 11);
	CHECK_U64(s->counts.map.ns, 12);
	CHECK_U64(s->counts.map.max_ns, 13);
	CHECK_U64(s->counts.map.failed, 14);
	CHECK_U64(s->counts.map.bounced, 15);
	CHECK_U64(s->counts.map.iommu, 16);
	CHECK_U64(s->counts.map.hist[0], 17);
	CHECK_U64(s->counts.map.unmapped, 18);
	CHECK_U64(s->counts.map.unmap_ns, 19);
	CHECK_U64(s->counts.map.unmap_max_ns, 20);
	++*(int *)arg;
	return 0;
}

STORE_TEST(store_keeps_the_requests_of_a_second_exactly)
{
	struct io_counts counts = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, { 0 }, { 11, 12, 13, 14, 15, 16, 18, 19, 20, { 17 } }
	};
	int n = 0;

	counts.hist[HIST_BUCKETS - 1] = 10;
	CHECK(!trace_run(store));
	CHECK(!store_io_second(store, 5 * SEC, &checkpoint, &counts));
	if (store_each_io_second(store, (struct window){ 0, 0 }, check_second, &n))
		return 1;
	CHECK_U64(n, 1);
	CHECK(!store_each_io_second(store, (struct window){ 0, BOOT_NS + 4 * SEC }, check_second,
				    &n));
	CHECK_U64(n, 1);
	CHECK_STR(trace_ask(store, "SELECT disk, file, comm, pid, requests, bytes FROM io_files"),
		  "nvme0n1|/ckpt/step1.pt|python3|4821|3|3");
	return 0;
}

static int check_request(const struct io_request_info *q, void *arg)
{
	int *n = arg;

	if (!*n) { /* what failed comes first, however short */
		CHECK_U64(q->one.error, 10);
		CHECK_U64(q->one.device_ns, 0);
		CHECK_U64(q->one.map_ns, 0);
		CHECK(q->one.nvme_status == 0x281);
		CHECK(q->one.nvme_retries == 5);
		CHECK_U64(q->one.iova_bytes, 0);
		CHECK_U64(q->one.unmap_ns, 0);
	} else {
		CHECK_U64(q->one.total_ns, 200);
		CHECK_U64(q->one.device_ns, 150);
		CHECK_U64(q->one.sector, 4096);
		CHECK_U64(q->one.file_offset, 1 << 20);
		CHECK(q->one.rq_tag == -1);
		CHECK_U64(q->one.queue, 3);
		CHECK_U64(q->one.submitter_tid, 99);
		CHECK_U64(q->one.done_ns, BOOT_NS + SEC);
		CHECK_STR(q->what.file, "/ckpt/step1.pt");
		CHECK_U64(q->one.map_ns, 1234);
		CHECK_U64(q->one.bounced, 4096);
		CHECK_U64(q->one.iommu, 2);
		CHECK(q->one.nvme_status == -1);
		CHECK(q->one.nvme_retries == -1);
		CHECK_U64(q->one.iova, UINT64_MAX - 4095);
		CHECK_U64(q->one.iova_bytes, 4096);
		CHECK_U64(q->one.unmap_ns, 77);
	}
	++*n;
	return 0;
}

STORE_TEST(store_keeps_single_requests_the_worst_first)
{
	struct io_single slow = { .done_ns = SEC,
				  .total_ns = 200,
				  .device_ns = 150,
				  .sector = 4096,
				  .file_offset = 1 << 20,
				  .rq_tag = -1,
				  .queue = 3,
				  .submitter_tid = 99,
				  .map_ns = 1234,
				  .bounced = 4096,
				  .iommu = 2,
				  .nvme_status = -1,
				  .nvme_retries = -1,
				  .iova = UINT64_MAX - 4095,
				  .iova_bytes = 4096,
				  .unmap_ns = 77 };
	struct io_single failed = {
		.done_ns = SEC, .total_ns = 1, .error = 10, .nvme_status = 0x281, .nvme_retries = 5
	};
	struct io_single short_one = { .done_ns = SEC, .total_ns = 2 };
	int n = 0;

	CHECK(!trace_run(store));
	CHECK(!store_io_request(store, &checkpoint, &short_one));
	CHECK(!store_io_request(store, &checkpoint, &slow));
	CHECK(!store_io_request(store, &checkpoint, &failed));
	if (store_each_io_request(store, (struct window){ 0, 0 }, 2, check_request, &n))
		return 1;
	CHECK_U64(n, 2);
	CHECK_STR(trace_ask(store, "SELECT count(*), count(iova), count(iova_bytes),"
				   " count(unmap_ns) FROM io_request"),
		  "3|1|1|1");
	return 0;
}

static int add_wait(const struct io_wait_info *w, void *arg)
{
	char *text = arg;

	snprintf(text + strlen(text), 100, "%s %s pid %u ino %llu of %u; ", w->state, w->name,
		 w->pid, (unsigned long long)w->ino, w->process_pid);
	return 0;
}

static struct hop hop_of(uint32_t pid, enum state state, const char *name)
{
	struct hop hop = {
		.pid = pid, .tid = pid, .state = state, .obj = 12, .obj2 = 34, .nr = -1
	};

	str_copy(hop.name, sizeof(hop.name), name);
	return hop;
}

STORE_TEST(store_finds_the_waits_that_end_at_a_file)
{
	struct process_row process = {
		.pid = 100, .comm = "a", .cmdline = "", .exe = "", .cgroup = "", .python = ""
	};
	struct chain chain[3] = { { .hops = 2 }, { .hops = 1 }, { .hops = 1 } };
	struct wait_row wait = { .op = &op_table[OP_GAP], .ns = 5, .count = 1, .max_ns = 5 };
	char text[512] = "";
	int64_t id, thread;

	chain[0].hop[0] = hop_of(100, STATE_PIPE, "");
	chain[0].hop[1] = hop_of(200, STATE_READ, "/data/x"); /* a worker reads */
	chain[1].hop[0] = hop_of(100, STATE_SLEEP, "");
	chain[2].hop[0] = hop_of(100, STATE_FAULT, ""); /* of memory: no disk was waited for */
	CHECK(!trace_run(store));
	CHECK(!store_process(store, &process, &id));
	CHECK(!store_thread(store, id, 100, "a", 0, &thread));
	for (size_t i = 0; i < ARRAY_LEN(chain); i++) {
		CHECK(!store_chain(store, &chain[i], &wait.chain));
		CHECK(!store_wait_second(store, thread, SEC, &wait));
	}
	CHECK(!store_each_io_wait(store, (struct window){ 0, 0 }, false, add_wait, text));
	CHECK_STR(text, "read /data/x pid 200 ino 12 of 100; ");
	text[0] = '\0';
	CHECK(!store_each_io_wait(store, (struct window){ 0, 0 }, true, add_wait, text));
	CHECK_STR(text, "");
	return 0;
}

STORE_TEST(store_finds_the_time_of_a_step)
{
	struct process_row process = {
		.pid = 100, .comm = "a", .cmdline = "", .exe = "", .cgroup = "", .python = ""
	};
	struct step step = { .index = 80042, .start_ns = 10 * SEC, .dur_ns = SEC };
	struct window w = { 0 };
	int64_t id, thread;

	CHECK(!trace_run(store));
	CHECK(!store_process(store, &process, &id));
	CHECK(!store_thread(store, id, 100, "a", 0, &thread));
	CHECK(!store_step(store, thread, &step));
	CHECK(!store_step_window(store, 80042, &w));
	CHECK_U64(w.from_ns, BOOT_NS + 9 * SEC);
	CHECK_U64(w.to_ns, BOOT_NS + 12 * SEC);
	CHECK(store_step_window(store, 1, &w) == -ENOENT);
	return 0;
}
