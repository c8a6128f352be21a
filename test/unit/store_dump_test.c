// SPDX-License-Identifier: Apache-2.0
/* Tests of store/dump.c, and of names that only an attacker would choose. */
#include <errno.h>

#include "base/fail.h"
#include "cmd/assets.h"
#include "store/checkpoint.h"
#include "store/write_io.h"
#include "test/unit/made_stack.h"
#include "test/unit/trace.h"

/* Anything but NUL, as comm and argv may be. */
static const char *const hostile[] = {
	"'); DROP TABLE call; --",
	"\"quoted\" `too`",
	"line\nbreak\r\ttab",
	"\x1b[2J\x07",
	"\xff\xfe\x80",
	"\xe2\x80\xae",
	"%s%n%1000d",
	"?1 :name @x $y",
	"/* */ ;",
	"",
	"'",
	"\\",
};

/* What version 2 added: chains, waits, steps, the host, incidents. */
static int fill_waits(struct store *s, int64_t thread, uint32_t i)
{
	struct chain chain = { .hops = 2, .complete = i & 1 };
	struct step step = { .index = i, .start_ns = i, .dur_ns = UINT64_MAX, .idle_ns = 3 };
	struct step_sum sum = { .steps = i, .sum = step, .hist = { i, 0, 1 } };
	struct wait_row wait = { .op = &op_table[i], .ns = i, .count = 1, .max_ns = UINT64_MAX };
	int64_t call = 0;

	for (int k = 0; k < chain.hops; k++) {
		struct hop *hop = &chain.hop[k];

		*hop = (struct hop){ .pid = i, .nr = -1, .obj = 1ull << 63, .obj2 = UINT64_MAX };
		str_copy(hop->comm, sizeof(hop->comm), hostile[i]);
		str_copy(hop->name, sizeof(hop->name), hostile[i]);
	}
	CHECK(!store_chain(s, &chain, &wait.chain));
	CHECK(!store_wait_second(s, thread, i, &wait));
	CHECK(!store_idle_second(s, thread, i, &wait));
	CHECK(!store_call(s, thread, &(struct record){ .op = &op_table[i] }, &call));
	CHECK(!store_call_wait(s, call, wait.chain, i));
	CHECK(!store_call(s, thread, &(struct record){ .op = &op_table[i], .because = BECAUSE_ALL },
			  NULL));
	CHECK(!store_step(s, thread, &step));
	CHECK(!store_step_second(s, thread, i, &sum));
	CHECK(!store_cost(s, i, &(struct cost_row){ .launch_ns = i, .worst_pct = 0.25 }));
	CHECK(!store_shed(s, &(struct shed_row){ .what = "launches", .from_ns = i, .calls = i }));
	return 0;
}

static int fill_tenants(struct store *s, int64_t process, uint32_t i)
{
	const char *text = hostile[i];
	struct container_row row = { .identity = text,
				     .container_id = text,
				     .runtime = text,
				     .pod_uid = text,
				     .namespace = text,
				     .pod = text,
				     .name = text,
				     .image = text,
				     .slurm_job = text,
				     .unit = text,
				     .label = text,
				     .cgroup = text,
				     .cgroup_id = UINT64_MAX - i };
	int64_t container = 0;

	CHECK(!store_container(s, i, &row, &container));
	CHECK(!store_container_seen(s, container, i + 1));
	CHECK(!store_process_container(s, process, i, container, text));
	CHECK(!store_cgroup_container(s, text, container));
	CHECK(!store_disk_user(s, i,
			       &(struct disk_user_row){ i, i, text, text, i, UINT64_MAX, true }));
	return 0;
}

static int fill_stacks(struct store *s, int64_t thread, uint32_t i)
{
	struct made_stack made = { 0 };
	struct sample_row row = { .op = &op_table[OP_GAP], .stack = UINT64_MAX - i, .ns = i };

	make_frame(&made, FRAME_python, hostile[i], hostile[ARRAY_LEN(hostile) - 1 - i], (int)i);
	make_frame(&made, FRAME_native, hostile[i], "/lib/libc.so.6", 0);
	CHECK(!store_put_stack(s, made_stack(&made, row.stack)));
	CHECK(!store_sample_second(s, thread, i, &row));
	return 0;
}

static int fill_io(struct store *s, uint32_t i)
{
	const char *text = hostile[i];
	struct io_what what = { text, text, text, text, text,       text,       text, text,
				i,    i,    i,    i,    UINT64_MAX, 1ull << 63, i & 1 };
	struct io_counts counts = { .requests = i, .bytes = UINT64_MAX, .hist = { i, 0, 1 } };
	struct io_single one = {
		.done_ns = i, .device_ns = i, .rq_tag = -1, .error = i, .map_ns = i
	};

	CHECK(!store_io_second(s, i, &what, &counts));
	CHECK(!store_io_request(s, &what, &one));
	return 0;
}

static int fill_host(struct store *s, uint32_t i)
{
	struct host_key key = { i % HOST_COUNT, i, UINT64_MAX };
	struct host_count count = { .first_ns = i, .last_ns = i, .count = 1 };
	struct system_row row = {
		.busy_pct = 0.1 * i, .load1 = 1.0 / 3, .steal_pct = -1, .blocked = -1
	};
	struct incident_row incident = { .cause = hostile[i],
					 .comm = hostile[i],
					 .culprit = hostile[i],
					 .title = hostile[i],
					 .severity = hostile[i],
					 .first_ns = 1,
					 .last_ns = 2 };

	str_copy(count.comm, COMM_LEN, hostile[i]);
	CHECK(!store_host_event(s, &key, &count, "10.0.0.2:9000", "/a"));
	CHECK(!store_system_second(s, i, &row));
	CHECK(!store_core_second(s, i, (int)i, i, i & 1 ? 3000 : -1));
	CHECK(!store_incident(s, &incident));
	CHECK(!store_incident(s, &incident));
	return 0;
}

static int fill_gpus(struct store *s, uint32_t i)
{
	struct gpu_row row = {
		.index = i, .name = hostile[i], .uuid = hostile[i], .bus_id = hostile[i]
	};
	struct gpu_values values = { .known = 1ull << GPU_util_pct, .value = { 21500 } };
	struct gpu_error_row error = {
		.bus_id = hostile[i], .comm = hostile[i], .text = hostile[i], .code = i
	};
	int64_t gpu = 0;

	CHECK(!store_gpu(s, i, &row, &gpu));
	CHECK(!store_gpu_second(s, gpu, i, &values));
	CHECK(!store_gpu_process(s, gpu, i, i, i, i));
	CHECK(!store_gpu_error(s, &error));
	return 0;
}

static int fill_ranks(struct store *s, int64_t process, int64_t thread, uint32_t i)
{
	struct communicator_row row = { .process = process,
					.handle = UINT64_MAX - i,
					.hash = i % 2 ? UINT64_MAX : 0,
					.rank = i % 3 ? (int64_t)i : -1,
					.nranks = 32,
					.made_by = i % 2 ? &op_table[OP_ncclCommInitRank] : NULL,
					.made_boot_ns = i };
	struct communicator_counts counts = { i, i, UINT64_MAX, i };
	struct collective c = { .thread = thread,
				.call = { .op = &op_table[OP_ncclReduce],
					  .seq = i,
					  .bytes_known = i % 2,
					  .stream = UINT64_MAX,
					  .type = "float32",
					  .redop = "sum",
					  .root = -7 },
				.join = i % 2 ? JOIN_stream : JOIN_none,
				.sync = i % 2 ? &op_table[OP_cudaStreamSynchronize] : NULL,
				.sync_start_ns = 3,
				.sync_end_ns = 4 };
	int64_t id;

	CHECK(!store_communicator(s, &row, &id));
	CHECK(!store_communicator_second(s, id, i, &counts));
	CHECK(!store_collective(s, id, &c));
	CHECK(!store_rank_env(s, process, i, -1, 32, "RANK"));
	return 0;
}

static int fill_tags(struct store *s, uint32_t i)
{
	struct tag_target_row target = { .tag = UINT64_MAX - i,
					 .kind = "file",
					 .source = "xattr",
					 .uid = -1,
					 .file = { .dev = i, .ino = UINT64_MAX },
					 .path = i % 2 ? hostile[i] : NULL };
	struct checkpoint c = { .file = target.file, .size = UINT64_MAX, .closed_ns = i };
	struct checked_event e = { .event = TAG_EVENT_WRITE +
					    i % (TAG_EVENT_SYNC_BEGUN - TAG_EVENT_WRITE),
				   .a = UINT64_MAX };
	int64_t row = 0;

	CHECK(!store_tag(s, target.tag, hostile[i], i));
	CHECK(!store_tag_target(s, &target));
	CHECK(!store_checkpoint(s, &c, hostile[i], &row));
	CHECK(row);
	str_copy(c.digest.hex, sizeof(c.digest.hex), "00");
	CHECK(!store_checkpoint(s, &c, hostile[i], &row));
	CHECK(!store_checkpoint_event(s, row, &e));
	e.event = TAG_EVENT_SYNC_BEGUN;
	CHECK(store_checkpoint_event(s, row, &e) == -EBADMSG);
	return 0;
}

static int fill(struct store *s)
{
	struct account_row account = { 1, 2, 3, 4, 5, 6, 7, 8 };
	int64_t process, thread;

	CHECK(!trace_run(s));
	for (uint32_t i = 0; i < ARRAY_LEN(hostile); i++) {
		struct process_row row = { .pid = i,
					   .start_boot_ns = i,
					   .comm = hostile[i],
					   .cmdline = hostile[i],
					   .exe = hostile[i],
					   .cgroup = hostile[i],
					   .python = hostile[i] };
		struct coverage_row coverage = { .library = hostile[i],
						 .build_id = hostile[i],
						 .note = hostile[i],
						 .inode = i,
						 .ops = 1 };
		struct memory_key memory = { .kind = i % KIND_COUNT, .device = -1 };
		struct memory_count balance = { .current = UINT64_MAX, .high = UINT64_MAX / 2 };
		struct kernel_row kernel = { .handle = UINT64_MAX - i };
		struct op_delta delta = { .op = &op_table[i],
					  .calls = i,
					  .done = i,
					  .nested = 1 + i,
					  .total_ns = UINT64_MAX,
					  .hist = { i, 0, UINT32_MAX } };
		struct record rec = { .op = &op_table[OP_GAP],
				      .next = &op_table[i],
				      .ret = -1,
				      .start_ns = i,
				      .because = BECAUSE_SLOW,
				      .who_count = 1 };

		str_copy(rec.who[0].comm, COMM_LEN, hostile[i]);
		rec.who[0].pid = i;
		CHECK(!store_process(s, &row, &process));
		if (fill_tenants(s, process, i))
			return 1;
		CHECK(!store_thread(s, process, i, hostile[i], i, &thread));
		CHECK(!store_op_second(s, thread, i, &delta));
		CHECK(!store_blame_second(s, thread, i, &rec.who[0]));
		CHECK(!store_blamed(s, i, i, hostile[i], hostile[i]));
		CHECK(!store_call(s, thread, &rec, NULL));
		CHECK(!store_coverage(s, process, &coverage));
		CHECK(!store_loss(s, i, hostile[i], i));
		kernel.process = process;
		kernel.name = kernel.source = kernel.library = hostile[i];
		CHECK(!store_kernel(s, &kernel));
		CHECK(!store_kernel_second(s, kernel.id, i, i));
		CHECK(!store_memory_second(s, process, i, &memory, &balance));
		CHECK(!store_exec(s, "INSERT INTO pruned VALUES(1, 'age', 5, 6)"
				     " ON CONFLICT DO UPDATE SET rows=rows+1"));
		if (fill_tags(s, i) || fill_waits(s, thread, i) || fill_host(s, i) ||
		    fill_io(s, i) || fill_gpus(s, i) || fill_stacks(s, thread, i) ||
		    fill_ranks(s, process, thread, i))
			return 1;
	}
	CHECK(!store_account(s, 20, &account));
	CHECK(!store_clock(s, 1, 2));
	return 0;
}

struct names {
	size_t at;
	int wrong;
};

static int same_name(const struct thread_info *info, void *arg)
{
	struct names *n = arg;
	const char *want = hostile[n->at++ % ARRAY_LEN(hostile)];

	n->wrong += !streq(info->comm, want) || !streq(info->process_comm, want) ||
		    !streq(info->cmdline, want) || !streq(info->python, want);
	return 0;
}

TEST(store_keeps_hostile_names_byte_by_byte)
{
	struct names n = { 0 };
	struct store *s;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	CHECK(!store_commit(s));
	CHECK(!store_each_thread(s, (struct window){ 0, 0 }, same_name, &n));
	CHECK_U64(n.at, ARRAY_LEN(hostile));
	CHECK(!n.wrong);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM call"), "24");
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	store_close(s);
	return 0;
}

static char *dump(struct store *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = store_dump(s, out);

	fclose(out);
	if (!err)
		return text;
	free(text);
	return NULL;
}

/* Every table has rows in the test, so one that the dump forgets is seen. */
static const char *const tables[] = {
	"node",
	"string",
	"run",
	"clock",
	"process",
	"thread",
	"op",
	"op_second",
	"nested_second",
	"blame_second",
	"call",
	"call_block",
	"call_culprit",
	"chain",
	"hop",
	"wait_second",
	"call_wait",
	"step",
	"step_second",
	"host_event",
	"system_second",
	"core_second",
	"incident",
	"loss",
	"account",
	"coverage",
	"frame",
	"stack",
	"stack_frame",
	"sample_second",
	"blamed",
	"idle_second",
	"gpu",
	"gpu_second",
	"gpu_process",
	"gpu_error",
	"communicator",
	"communicator_second",
	"collective",
	"rank_env",
	"cost_second",
	"shed",
	"kernel",
	"kernel_second",
	"memory_second",
	"container",
	"process_container",
	"cgroup_container",
	"disk_user_second",
	"tag",
	"tag_target",
	"checkpoint",
	"checkpoint_event",
	"io_second",
	"io_request",
	"pruned",
};

TEST(store_dump_and_load_give_the_same_trace)
{
	struct store *s, *copy;
	char *text, *again;
	int same;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	CHECK_U64(ARRAY_LEN(tables),
		  strtoull(trace_ask(s, "SELECT count(*) FROM sqlite_master WHERE type='table'"),
			   NULL, 10));
	text = dump(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char sql[64], want[64];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		str_copy(want, sizeof(want), trace_ask(s, sql));
		CHECK(!streq(want, "0"));
		CHECK_STR(trace_ask(copy, sql), want);
	}
	again = dump(copy);
	CHECK(again);
	same = streq(text, again);
	free(text);
	free(again);
	CHECK(same);
	store_close(copy);
	store_close(s);
	return 0;
}

TEST(store_loaded_trace_answers_like_the_recorded_one)
{
	struct names n = { 0 };
	struct account_row account;
	struct store *s, *copy;
	struct window span;
	char *text;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	text = dump(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	free(text);
	CHECK(!store_each_thread(copy, (struct window){ 0, 0 }, same_name, &n));
	CHECK(n.at == ARRAY_LEN(hostile) && !n.wrong);
	CHECK(!store_span(copy, &span));
	CHECK_U64(span.to_ns, BOOT_NS + 20);
	CHECK(!store_account_total(copy, span, &account));
	CHECK_U64(account.received, 5);
	CHECK_STR(trace_ask(copy, "SELECT hex(hist), total_ns FROM op_second WHERE calls=7"),
		  "000702FFFFFFFF0F|9223372036854775807");
	store_close(copy);
	store_close(s);
	return 0;
}

/* All or nothing: half a recording would be a trace that looks right and is not. */
DIR_TEST(store_load_of_a_broken_recording_leaves_nothing_behind)
{
	struct store *s;
	int err;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	err = store_load(s, "INSERT INTO node VALUES(1,'a');\nINSERT INTO node VALUES(2,");
	CHECK(err < 0);
	CHECK(why(err)[0]);
	store_close(s);
	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM node"), "0");
	CHECK(!store_load(s, "INSERT INTO node VALUES(1,'a');"));
	CHECK_STR(trace_ask(s, "SELECT name FROM node"), "a");
	store_close(s);
	return 0;
}

TEST(store_dump_reports_what_it_could_not_write)
{
	FILE *full = fopen("/dev/full", "w");
	struct store *s;
	int err;

	CHECK(full);
	setvbuf(full, NULL, _IONBF, 0);
	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	CHECK(!trace_run(s));
	err = store_dump(s, full);
	fclose(full);
	store_close(s);
	CHECK(err == -EIO);
	return 0;
}

static int same_chain_names(const struct wait_info *row, void *arg)
{
	struct store *s = arg;
	struct chain chain;
	const char *want;

	CHECK(!store_find_chain(s, row->chain, &chain));
	CHECK(chain.hops == 2);
	want = hostile[chain.hop[0].pid % ARRAY_LEN(hostile)];
	for (int i = 0; i < chain.hops; i++) {
		CHECK_STR(chain.hop[i].name, want);
		CHECK(strncmp(chain.hop[i].comm, want, COMM_LEN - 1) == 0);
		CHECK_U64(chain.hop[i].obj, 1ull << 63);
		CHECK_U64(chain.hop[i].obj2, UINT64_MAX);
	}
	return 0;
}

static int same_incident(const struct incident_row *row, void *arg)
{
	const char *want = hostile[(*(size_t *)arg)++ % ARRAY_LEN(hostile)];

	CHECK_STR(row->cause, want);
	CHECK_STR(row->comm, want);
	CHECK_STR(row->culprit, want);
	CHECK_STR(row->title, want);
	CHECK_STR(row->severity, want);
	return 0;
}

static int same_event(const struct host_event_row *row, void *arg)
{
	(void)arg;
	CHECK(strncmp(row->comm, hostile[row->pid % ARRAY_LEN(hostile)], COMM_LEN - 1) == 0);
	return 0;
}

static int same_system(const struct system_info *row, void *arg)
{
	CHECK_NEAR(row->row.busy_pct, 0.1 * (double)*(size_t *)arg, 1e-12);
	CHECK_NEAR(row->row.load1, 1.0 / 3, 1e-12);
	CHECK(row->row.steal_pct < 0 && row->row.blocked < 0 && !row->row.running);
	++*(size_t *)arg;
	return 0;
}

/* Names, bits, fractions and what is not known, through text and back. */
TEST(store_loaded_waits_hosts_and_incidents_are_the_recorded_ones)
{
	struct window all = { 0, 0 };
	struct store *s, *copy;
	size_t incidents = 0, seconds = 0;
	char *text;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	if (fill(s))
		return 1;
	text = dump(s);
	store_close(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	free(text);
	if (store_each_wait(copy, all, same_chain_names, copy) ||
	    store_each_incident(copy, all, same_incident, &incidents) ||
	    store_each_host_event(copy, all, same_event, NULL) ||
	    store_each_system(copy, all, same_system, &seconds))
		return 1;
	CHECK_U64(incidents, ARRAY_LEN(hostile));
	CHECK_U64(seconds, ARRAY_LEN(hostile));
	store_close(copy);
	return 0;
}

/* Nobody of ours writes one, but a file can hold it, and SQL has no word for it. */
TEST(store_dump_writes_infinity_so_that_it_can_be_loaded)
{
	struct store *s, *copy;
	char *text;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	CHECK(!store_exec(s, "INSERT INTO core_second VALUES(1,1,1,9e999,1),(1,1,2,-9e999,1)"));
	text = dump(s);
	store_close(s);
	CHECK(text);
	CHECK(!store_open(":memory:", STORE_WRITE, &copy));
	CHECK(!store_load(copy, text));
	free(text);
	CHECK_STR(trace_ask(copy, "SELECT busy_pct FROM core_second ORDER BY cpu"), "Inf;-Inf");
	store_close(copy);
	return 0;
}

/* It is text in the tree: a column more in the schema, and it is old. */
TEST(the_recording_of_the_demo_fits_the_schema)
{
	struct store *s;
	int err;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	err = store_load(s, asset_incident_sql);
	store_close(s);
	if (err)
		return test_fail(__FILE__, __LINE__, "%s", why(err));
	return 0;
}
