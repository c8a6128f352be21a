// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_wait.c and store/read_wait.c: chains, and the time charged to them. */
#include <errno.h>
#include <inttypes.h>

#include "test/unit/store_trace.h"

/* A thread waits for a worker, who waits for a disk. Every field has a value of its own. */
static struct chain disk_chain(void)
{
	return (struct chain){
		.hop = {
			{ .serial = 1, .pid = 10, .tid = 11, .comm = "python3",
			  .state = STATE_FUTEX, .by = WAKER_task, .nr = 202, .irq = 12, .fd = 13,
			  .flags = STOP_HEALED, .cpu = 14, .cpu_pid = 15,
			  .obj = UINT64_MAX, .obj2 = 1ull << 63, .stack = UINT64_MAX - 2,
			  .object = OBJECT_gil, .relation = RELATION_self, .name = "the GIL",
			  .device = "virtio1-req.0" },
			{ .serial = 2, .pid = 20, .tid = 21, .comm = "loader",
			  .state = STATE_READ, .by = WAKER_block, .nr = -1, .irq = 22, .fd = 23,
			  .flags = STOP_IOWAIT | STOP_PACKET_LOSS, .cpu = 24, .cpu_pid = 25,
			  .obj = 26, .obj2 = 27, .stack = NO_STACK_unreadable,
			  .object = OBJECT_file, .relation = RELATION_child,
			  .name = "train/part-17", .device = "nvme0q3" },
		},
		.hops = 2,
		.complete = true,
	};
}

static int same_hop(const struct hop *got, const struct hop *want)
{
	CHECK_U64(got->pid, want->pid);
	CHECK_U64(got->tid, want->tid);
	CHECK_STR(got->comm, want->comm);
	CHECK(got->state == want->state);
	CHECK(got->by == want->by);
	CHECK(got->nr == want->nr);
	CHECK_U64(got->flags, want->flags);
	CHECK_U64(got->cpu, want->cpu);
	CHECK_U64(got->cpu_pid, want->cpu_pid);
	CHECK_U64(got->obj, want->obj);
	CHECK_U64(got->obj2, want->obj2);
	CHECK_U64(got->stack, want->stack);
	CHECK(got->object == want->object);
	CHECK(got->relation == want->relation);
	CHECK_STR(got->name, want->name);
	CHECK(got->irq == want->irq);
	CHECK_STR(got->device, want->device);
	CHECK(!got->serial && got->fd == -1); /* not kept */
	return 0;
}

static int same_chain(const struct chain *got, const struct chain *want)
{
	CHECK(got->hops == want->hops);
	CHECK(got->complete == want->complete);
	for (int i = 0; i < want->hops; i++) {
		if (same_hop(&got->hop[i], &want->hop[i]))
			return 1;
	}
	return 0;
}

STORE_TEST(store_keeps_a_chain_exactly)
{
	struct chain chain = disk_chain(), got;
	int64_t id = 0;

	CHECK(!trace_run(store));
	CHECK(!store_chain(store, &chain, &id));
	CHECK(id == (int64_t)chain_id(&chain));
	CHECK_STR(
		trace_ask(store,
			  "SELECT n, pid, tid, c.text, relation, state, waker, object, w.text,"
			  " cpu, cpu_pid, nr, flags, obj, obj2, complete, hop.chain=chain.id,"
			  " irq, d.text"
			  " FROM hop JOIN chain ON chain.id=chain JOIN string c ON c.id=comm"
			  " JOIN string w ON w.id=name JOIN string d ON d.id=device ORDER BY n"),
		"0|10|11|python3|self|futex|task|gil|the GIL|14|15|202|1|-1|"
		"-9223372036854775808|1|1|12|virtio1-req.0;"
		"1|20|21|loader|child|read|block|file|train/part-17|24|25|-1|12|26|27|1|1|22|nvme0q3");
	CHECK(!store_find_chain(store, id, &got));
	return same_chain(&got, &chain);
}

STORE_TEST(store_keeps_every_state_waker_object_and_relation_by_name)
{
	for (int i = 0; i < STATE_COUNT; i++) {
		struct chain chain = disk_chain(), got;
		int64_t id;

		chain.hop[1].state = (enum state)i;
		chain.hop[1].by = (enum waker)(i % WAKER_COUNT);
		chain.hop[1].object = (enum object)(i % OBJECT_COUNT);
		chain.hop[1].relation = (enum relation)(i % RELATION_COUNT);
		chain.complete = i & 1;
		CHECK(!store_chain(store, &chain, &id));
		CHECK(!store_find_chain(store, id, &got));
		if (same_chain(&got, &chain))
			return 1;
	}
	CHECK((int)STATE_COUNT >= (int)WAKER_COUNT); /* each was there */
	CHECK((int)STATE_COUNT >= (int)OBJECT_COUNT);
	CHECK_STR(trace_ask(store, "SELECT DISTINCT object FROM hop WHERE state='run' AND n=1"),
		  ""); /* nothing that has a name */
	return 0;
}

STORE_TEST(store_keeps_chains_of_every_length)
{
	for (int hops = 1; hops <= HOPS_MAX; hops++) {
		struct chain chain = { .hops = hops }, got;
		int64_t id;

		for (int i = 0; i < hops; i++)
			chain.hop[i] = disk_chain().hop[i % 2];
		CHECK(!store_chain(store, &chain, &id));
		CHECK(!store_find_chain(store, id, &got));
		if (same_chain(&got, &chain))
			return 1;
	}
	return 0;
}

STORE_TEST(store_find_chain_of_none_says_so_and_touches_nothing)
{
	struct chain got = { .hops = 77 };

	CHECK(store_find_chain(store, 5, &got) == -ENOENT);
	CHECK(got.hops == 77);
	CHECK(strstr(why(-ENOENT), "no chain 5"));
	return 0;
}

/* ---- once is enough ---- */

static int changes(void)
{
	return sqlite3_total_changes(store->db);
}

STORE_TEST(store_writes_a_chain_once_and_a_known_one_costs_no_statement)
{
	struct chain chain = disk_chain();
	int64_t id, again = 0;
	int before;

	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_commit(store));
	before = changes();
	for (int i = 0; i < 100; i++) {
		CHECK(!store_chain(store, &chain, &again));
		CHECK(again == id);
	}
	CHECK(changes() == before);
	CHECK(sqlite3_get_autocommit(store->db)); /* no transaction was begun: no SQL was run */
	CHECK_STR(trace_ask(store, "SELECT count(*), (SELECT count(*) FROM hop) FROM chain"),
		  "1|2");
	return 0;
}

STORE_TEST(store_writes_a_chain_again_after_it_was_rolled_back)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	CHECK(!store_chain(store, &chain, &id));
	store_rollback(store);
	CHECK(store_find_chain(store, id, &got) == -ENOENT);
	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_commit(store));
	CHECK(!store_find_chain(store, id, &got));
	return same_chain(&got, &chain); /* with the names, which were given up too */
}

/* An error may have undone the batch that wrote it. */
STORE_TEST(store_writes_a_chain_again_after_an_error)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_exec(store, "DELETE FROM hop; DELETE FROM chain; DELETE FROM string"));
	CHECK(store_exec(store, "no SQL") < 0);
	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_find_chain(store, id, &got));
	return same_chain(&got, &chain);
}

/* Another life of the agent, whose cache is empty, meets the file of the last one. */
DIR_TEST(store_writes_a_chain_once_over_many_runs)
{
	struct chain chain = disk_chain();
	int64_t id[3];

	for (int i = 0; i < 3; i++) {
		struct store *s;

		CHECK(!store_open(trace_db, STORE_WRITE, &s));
		CHECK(!store_chain(s, &chain, &id[i]));
		CHECK(!store_commit(s));
		CHECK(id[i] == id[0]);
		CHECK_STR(trace_ask(s, "SELECT count(*), (SELECT count(*) FROM hop) FROM chain"),
			  "1|2");
		store_close(s);
	}
	return 0;
}

STORE_TEST(store_writes_more_chains_than_it_remembers)
{
	struct chain chain = { .hops = 1 };
	int64_t id;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < IDS_KNOWN + 100; i++) {
			chain.hop[0].pid = i;
			CHECK(!store_chain(store, &chain, &id));
		}
	}
	CHECK_STR(trace_ask(store, "SELECT count(*), (SELECT count(*) FROM hop) FROM chain"),
		  "65636|65636");
	return 0;
}

/* ---- damaged and hostile ---- */

/* Nobody of ours writes these, but a file comes from anywhere. */
STORE_TEST(store_find_chain_takes_unknown_names_for_unknown_and_stays_in_range)
{
	static const char *const bad[] = { "''",      "'nonsense'", "'FUTEX'", "999999", "-1",
					   "x'00ff'", "'futex '",   "1e300",   "'%s%n'" };
	struct chain chain = disk_chain(), got;
	int64_t id;

	CHECK(!store_chain(store, &chain, &id));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char sql[256];

		snprintf(sql, sizeof(sql),
			 "UPDATE hop SET state=%s, waker=%s, object=%s, relation=%s, nr=%s,"
			 " comm=%s, name=%s, cpu=%s",
			 bad[i], bad[i], bad[i], bad[i], bad[i], bad[i], bad[i], bad[i]);
		CHECK(!store_exec(store, sql));
		CHECK(!store_find_chain(store, id, &got));
		CHECK(got.hops == 2 && got.complete);
		CHECK(got.hop[0].state == STATE_UNKNOWN);
		CHECK(got.hop[0].by == WAKER_other);
		CHECK(got.hop[0].object == OBJECT_none);
		CHECK(got.hop[0].relation == RELATION_foreign);
		CHECK(got.hop[0].nr >= -1 && got.hop[0].nr <= INT16_MAX);
		CHECK_STR(got.hop[0].comm, ""); /* no such strings */
		CHECK_STR(got.hop[0].name, "");
	}
	return 0;
}

STORE_TEST(store_find_chain_ends_where_a_hop_is_missing)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	chain.hop[2] = chain.hop[0];
	chain.hops = 3;
	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_exec(store, "DELETE FROM hop WHERE n=1"));
	CHECK(!store_find_chain(store, id, &got));
	CHECK(got.hops == 1 && !got.complete); /* who comes after it is not told */
	if (same_hop(&got.hop[0], &chain.hop[0]))
		return 1;
	CHECK(!store_exec(store, "DELETE FROM hop WHERE n=0"));
	CHECK(store_find_chain(store, id, &got) == -ENOENT); /* nobody waited: no chain */
	CHECK(!store_exec(store, "DELETE FROM hop"));
	CHECK(store_find_chain(store, id, &got) == -ENOENT);
	return 0;
}

STORE_TEST(store_find_chain_of_one_that_is_too_long_is_cut)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_exec(store,
			  "WITH RECURSIVE more(k) AS (SELECT 2 UNION ALL SELECT k+1 FROM more"
			  " WHERE k < 1000) INSERT INTO hop SELECT chain, k, pid, tid, comm,"
			  " relation, state, waker, object, name, cpu, cpu_pid, nr, flags, obj,"
			  " obj2, stack, irq, device FROM hop, more WHERE n=0"));
	CHECK(!store_exec(store,
			  "INSERT INTO hop SELECT chain, -3, pid, tid, comm, relation,"
			  " state, waker, object, name, cpu, cpu_pid, nr, flags, obj, obj2, stack,"
			  " irq, device FROM hop WHERE n=0"));
	CHECK(!store_find_chain(store, id, &got));
	CHECK(got.hops == HOPS_MAX && !got.complete);
	if (same_hop(&got.hop[1], &chain.hop[1]))
		return 1;
	return same_hop(&got.hop[HOPS_MAX - 1], &chain.hop[0]);
}

STORE_TEST(store_find_chain_cuts_names_that_are_too_long)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	CHECK(!store_chain(store, &chain, &id));
	CHECK(!store_exec(store, "UPDATE string SET text=printf('%.*c', 5000, 'x')"));
	CHECK(!store_find_chain(store, id, &got));
	CHECK_STR(got.hop[0].comm, "xxxxxxxxxxxxxxx");
	CHECK_U64(strlen(got.hop[0].name), sizeof(got.hop[0].name) - 1);
	return 0;
}

/* Names that fill their room to the last byte: nothing is read too far, nothing is cut. */
STORE_TEST(store_chain_takes_names_without_an_end)
{
	struct chain chain = disk_chain(), got;
	int64_t id;

	memset(chain.hop[0].comm, 'c', sizeof(chain.hop[0].comm));
	memset(chain.hop[0].name, 'n', sizeof(chain.hop[0].name));
	CHECK(!store_chain(store, &chain, &id));
	CHECK_STR(trace_ask(store, "SELECT length(c.text), length(w.text) FROM hop"
				   " JOIN string c ON c.id=comm JOIN string w ON w.id=name"
				   " WHERE n=0"),
		  "16|128");
	CHECK(!store_find_chain(store, id, &got));
	CHECK_STR(got.hop[0].comm, "ccccccccccccccc");
	return 0;
}

/* ---- time ---- */

static int copy_wait(const struct wait_info *row, void *arg)
{
	CHECK_STR(row->symbol, row->ns == 30 ? "(between calls)" : "cudaMemcpy");
	CHECK_STR(row->class, row->ns == 30 ? "gap" : "copy");
	((struct wait_info *)arg)[row->ns == 30] = *row;
	return 0;
}

STORE_TEST(store_keeps_the_waits_of_a_second_exactly)
{
	struct wait_row copy = { &op_table[OP_cudaMemcpy], -5, 20, 21, 22 };
	struct wait_row gap = { &op_table[OP_GAP], 7, 30, 31, 32 };
	struct wait_row nowhere = { NULL, 7, 40, 41, 42 };
	struct wait_info got[2] = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_wait_second(store, thread, 50, &copy));
	CHECK(!store_wait_second(store, thread, 50, &gap));
	CHECK(!store_wait_second(store, thread, 50, &nowhere));
	if (store_each_wait(store, (struct window){ 0, 0 }, copy_wait, got))
		return 1;
	CHECK(got[0].thread == thread && got[0].chain == -5);
	CHECK_U64(got[0].at_ns, BOOT_NS + 50);
	CHECK_U64(got[0].ns, 20);
	CHECK_U64(got[0].count, 21);
	CHECK_U64(got[0].max_ns, 22);
	CHECK(got[1].chain == 7);
	CHECK_U64(got[1].count, 31);
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM wait_second"), "2");
	return 0;
}

STORE_TEST(store_adds_up_a_wait_that_is_told_twice_in_a_second)
{
	struct wait_row one = { &op_table[OP_cudaMemcpy], 5, 20, 2, 15 };
	struct wait_row two = { &op_table[OP_cudaMemcpy], 5, 30, 3, 11 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_wait_second(store, thread, 50, &one));
	CHECK(!store_wait_second(store, thread, 50, &two));
	CHECK_STR(trace_ask(store, "SELECT chain, ns, count, max_ns FROM wait_second"),
		  "5|50|5|15");
	return 0;
}

static int list_waits(const struct wait_info *row, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 40, " %" PRId64 "@%" PRIu64, row->thread, (uint64_t)(row->at_ns - BOOT_NS));
	return 0;
}

STORE_TEST(store_gives_waits_by_thread_then_time)
{
	struct wait_row row = { &op_table[OP_cudaMemcpy], 5, 20, 2, 15 };
	int64_t thread = 0, other, process = 1;
	char got[256] = "";

	if (make_thread(&thread))
		return 1;
	CHECK(!store_thread(store, process, 4823, "other", 7, &other));
	for (uint64_t at = 30; at >= 10; at -= 10) {
		CHECK(!store_wait_second(store, other, at, &row));
		CHECK(!store_wait_second(store, thread, at, &row));
	}
	CHECK(!store_each_wait(store, (struct window){ BOOT_NS + 10, BOOT_NS + 30 }, list_waits,
			       got));
	CHECK_STR(got, " 1@20 1@30 2@20 2@30");
	return 0;
}

static int list_chains(int64_t chain, uint64_t ns, void *arg)
{
	char *at = (char *)arg + strlen(arg);

	snprintf(at, 40, " %" PRId64 "=%" PRIu64, chain, ns);
	return chain == 9 ? -EINTR : 0;
}

STORE_TEST(store_gives_the_chains_of_a_call_longest_first)
{
	char got[256] = "";

	CHECK(!trace_run(store));
	CHECK(!store_call_wait(store, 1, 5, 10));
	CHECK(!store_call_wait(store, 1, -6, 30));
	CHECK(!store_call_wait(store, 2, 9, 99));
	CHECK(!store_call_wait(store, 1, 7, 20));
	CHECK(!store_each_call_wait(store, 1, list_chains, got));
	CHECK_STR(got, " -6=30 7=20 5=10");
	got[0] = '\0';
	CHECK(!store_each_call_wait(store, 3, list_chains, got));
	CHECK_STR(got, "");
	CHECK(store_each_call_wait(store, 2, list_chains, got) == -EINTR);
	return 0;
}

static int copy_idle(const struct wait_info *row, void *arg)
{
	*(struct wait_info *)arg = *row;
	return 0;
}

STORE_TEST(store_keeps_idle_time_exactly_and_adds_what_is_told_twice)
{
	struct chain chain = disk_chain();
	struct wait_row row = { .ns = 10, .count = 2, .max_ns = 7 };
	struct wait_info got = { 0 };
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_chain(store, &chain, &row.chain));
	CHECK(!store_idle_second(store, thread, 20, &row));
	CHECK(!store_idle_second(store, thread, 20, &row));
	if (store_each_idle(store, (struct window){ 0, 0 }, copy_idle, &got))
		return 1;
	CHECK(got.thread == thread && got.chain == row.chain);
	CHECK_U64(got.at_ns, BOOT_NS + 20);
	CHECK_U64(got.ns, 20);
	CHECK_U64(got.count, 4);
	CHECK_U64(got.max_ns, 7);
	return 0;
}
