// SPDX-License-Identifier: Apache-2.0
/* Tests of store/prune.c: what goes first, what stays, and that it ends. */
#include <errno.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "test/unit/trace.h"

#define MINUTE (60 * SEC)

/* One second of a busy process: packed calls, slow ones with a wait and a culprit, counts. */
static int fill_second(struct store *s, int64_t thread, uint64_t at, int calls)
{
	struct record rec = { .op = &op_table[OP_cudaMemcpyAsync], .dur_ns = 100 };
	struct op_delta delta = { .op = rec.op, .calls = (uint64_t)calls, .nested = 1 };
	struct wait_row wait = { .op = rec.op, .chain = 5, .ns = 7, .count = 1 };
	int64_t call;

	for (int i = 0; i < calls; i++) {
		rec.start_ns = at + (uint64_t)i;
		rec.aux = (uint64_t)i * 0x9e3779b97f4a7c15ull; /* nothing that packs well */
		rec.because = i % 100 ? BECAUSE_ALL : BECAUSE_SLOW;
		rec.who_count = i % 100 ? 0 : 1;
		CHECK(!store_call(s, thread, &rec, &call));
		if (call)
			CHECK(!store_call_wait(s, call, 5, 7));
	}
	CHECK(!store_op_second(s, thread, at, &delta));
	CHECK(!store_wait_second(s, thread, at, &wait));
	CHECK(!store_account(s, at, &(struct account_row){ .seen = 1 }));
	CHECK(!store_step(s, thread, &(struct step){ .start_ns = at }));
	CHECK(!store_loss(s, at, "ring_full", 1));
	return store_commit(s);
}

static int fill_trace(struct store *s, uint64_t from, uint64_t to, uint64_t every, int calls)
{
	int64_t process, thread;

	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	CHECK(!store_thread(s, process, 4821, "python3", 1, &thread));
	for (uint64_t at = from; at < to; at += every)
		CHECK(!fill_second(s, thread, at, calls));
	return 0;
}

static int prune_all(struct store *s, struct retention keep, uint64_t now)
{
	int more, rounds = 0;

	while ((more = store_prune(s, &keep, now, SEC / 1000)) > 0)
		CHECK(rounds++ < 100000);
	CHECK(!more);
	CHECK(!store_commit(s));
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	return 0;
}

static int64_t ask_seconds(struct store *s, const char *sql)
{
	return (strtoll(trace_ask(s, sql), NULL, 10) - BOOT_NS) / (int64_t)SEC;
}

#define NOTHING_HANGS                                                                              \
	"SELECT (SELECT count(*) FROM call_wait WHERE call NOT IN (SELECT id FROM call)) +"        \
	" (SELECT count(*) FROM call_culprit WHERE call NOT IN (SELECT id FROM call)) +"           \
	" (SELECT count(*) FROM nested_second WHERE (thread, op, at_ns) NOT IN"                    \
	" (SELECT thread, op, at_ns FROM op_second)) +"                                            \
	" (SELECT count(*) FROM thread WHERE process NOT IN (SELECT id FROM process))"

DIR_TEST(prune_by_age_removes_all_that_is_older_and_nothing_else)
{
	struct retention keep = { .max_age_ns = 10 * MINUTE };
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (fill_trace(s, 0, 30 * MINUTE, 20 * SEC, 150))
		return 1;
	if (prune_all(s, keep, 30 * MINUTE))
		return 1;
	CHECK(ask_seconds(s, "SELECT min(at_ns) FROM op_second") == 1200);
	CHECK(ask_seconds(s, "SELECT min(at_ns) FROM account") == 1200);
	CHECK(ask_seconds(s, "SELECT min(at_ns) FROM loss") == 1200);
	CHECK(ask_seconds(s, "SELECT min(start_ns) FROM every_call") == 1200);
	CHECK(ask_seconds(s, "SELECT min(start_ns) FROM step") == 1200);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM op_second"), "30");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM every_call"), "4500");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM thread"), "1"); /* it lives */
	CHECK_STR(trace_ask(s, NOTHING_HANGS), "0");
	CHECK_STR(trace_ask(s,
			    "SELECT what, rows > 0, (until_ns - 1700000000000000000) / 1000000000"
			    " BETWEEN 1180 AND 1200 FROM pruned"),
		  "age|1|1");
	store_close(s);
	return 0;
}

/* Who has exited is forgotten once all of his rows are. */
DIR_TEST(prune_forgets_processes_that_have_no_rows)
{
	struct retention keep = { .max_age_ns = MINUTE };
	int64_t process, thread;
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (fill_trace(s, 0, 10 * MINUTE, 20 * SEC, 1))
		return 1;
	CHECK(!trace_process(s, 99, "short", &process));
	CHECK(!store_thread(s, process, 99, "short", SEC, &thread));
	CHECK(!store_thread_exit(s, thread, "short", 2 * SEC));
	CHECK(!store_process_exit(s, process, 2 * SEC));
	if (prune_all(s, keep, 10 * MINUTE))
		return 1;
	CHECK_STR(trace_ask(s, "SELECT pid FROM process"), "4821");
	CHECK_STR(trace_ask(s, NOTHING_HANGS), "0");
	store_close(s);
	return 0;
}

static int tell_incident(struct store *s, uint64_t from, uint64_t to)
{
	struct incident_row row = {
		.cause = "disk-read",
		.comm = "python3",
		.culprit = "",
		.title = "t",
		.severity = "HIGH",
		.pid = 4821,
		.first_ns = (uint64_t)BOOT_NS + from,
		.last_ns = (uint64_t)BOOT_NS + to,
	};

	return store_incident(s, &row);
}

/* Blocks first, then calls, those of the incident last; counts stay. */
DIR_TEST(prune_by_size_keeps_incidents_longer_and_counts_longest)
{
	struct retention keep = { 0 };
	struct store_size before, after;
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (fill_trace(s, 0, 30 * MINUTE, 5 * SEC, 600))
		return 1;
	CHECK(!tell_incident(s, 5 * MINUTE, 6 * MINUTE));
	CHECK(!store_size(s, &before));
	keep.max_bytes = before.used * 6 / 10;
	if (prune_all(s, keep, 30 * MINUTE))
		return 1;
	CHECK(!store_size(s, &after));
	CHECK(after.used <= keep.max_bytes && after.used > keep.max_bytes / 2);
	CHECK(after.bytes <= keep.max_bytes * 105 / 100); /* free pages go back, too */
	CHECK(after.removed > 0);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM op_second"), "360");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM wait_second"), "360");
	CHECK_STR(trace_ask(s,
			    "SELECT count(*) FROM every_call WHERE (start_ns - 1700000000000000000)"
			    " / 1000000000 BETWEEN 300 AND 360"),
		  "7800"); /* all of the incident: 13 seconds of 600 */
	CHECK(ask_seconds(s, "SELECT min(last_ns) FROM call_block WHERE (last_ns -"
			     " 1700000000000000000) / 1000000000 NOT BETWEEN 290 AND 370") > 370);
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM pruned WHERE what LIKE 'incident%'"), "0");
	CHECK_STR(trace_ask(s, NOTHING_HANGS), "0");

	/* With less room the incident's calls go as well, before any count. */
	keep.max_bytes = before.used * 13 / 100;
	if (prune_all(s, keep, 30 * MINUTE))
		return 1;
	CHECK_STR(trace_ask(s, "SELECT count(*) > 0 FROM pruned WHERE what='incident_blocks'"),
		  "1");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM op_second"), "360");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM incident"), "1");
	store_close(s);
	return 0;
}

/* A limit below what two seconds take cannot be kept, and does not loop for ever. */
DIR_TEST(prune_never_takes_the_last_two_seconds)
{
	struct retention keep = { .max_bytes = 4096 };
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (fill_trace(s, 0, 3 * MINUTE, SEC, 10))
		return 1;
	if (prune_all(s, keep, 3 * MINUTE))
		return 1;
	CHECK_STR(trace_ask(s, "SELECT count(*), (min(at_ns) - 1700000000000000000) / 1000000000"
			       " FROM op_second"),
		  "2|178");
	CHECK_STR(trace_ask(s, "SELECT count(*) FROM every_call"), "20");
	store_close(s);
	return 0;
}

/* What is written while it is pruned: the file stays as large as it may be, pages are used again. */
DIR_TEST(prune_lets_a_file_live_for_ever_at_its_limit)
{
	struct retention keep = { .max_bytes = 3 << 20 };
	int64_t process, thread;
	struct store_size size;
	uint64_t most = 0;
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	CHECK(!store_thread(s, process, 4821, "python3", 1, &thread));
	for (uint64_t at = 0; at < 20 * MINUTE; at += SEC) {
		if (fill_second(s, thread, at, 500))
			return 1;
		for (int i = 0; i < 5; i++)
			CHECK(store_prune(s, &keep, at, SEC / 1000) >= 0);
		CHECK(!store_size(s, &size));
		most = max_u64(most, size.bytes);
	}
	CHECK(!store_commit(s));
	CHECK(most <= keep.max_bytes * 11 / 10);
	CHECK(size.removed > 100);
	CHECK_STR(trace_ask(s, "PRAGMA integrity_check"), "ok");
	CHECK_STR(trace_ask(s, NOTHING_HANGS), "0");
	store_close(s);
	return 0;
}

DIR_TEST(prune_without_limits_does_nothing)
{
	struct retention keep = { 0 };
	struct store_size size;
	struct store *s;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	if (fill_trace(s, 0, 2 * MINUTE, SEC, 10))
		return 1;
	CHECK(!store_prune(s, &keep, 1000 * MINUTE, SEC));
	CHECK(!store_size(s, &size));
	CHECK_U64(size.removed, 0);
	store_close(s);
	return 0;
}

static struct chain some_chain(uint32_t pid)
{
	struct chain chain = { .hops = 2, .complete = true };

	chain.hop[0] = (struct hop){ .pid = pid, .nr = -1, .irq = -1 };
	chain.hop[1] = (struct hop){ .pid = pid + 1, .nr = -1, .irq = -1 };
	return chain;
}

#define CHAINS_LEFT "SELECT count(*), min(pid), max(pid), sum(n) FROM chain JOIN hop ON chain=id"

/* Those that a wait, an idle time or a call needs stay, and those that come meanwhile. */
DIR_TEST(prune_sweeps_chains_that_nothing_refers_to)
{
	enum { CHAINS = 3000 };
	struct wait_row wait = { .op = &op_table[0], .ns = 1 };
	struct retention keep = { .max_age_ns = MINUTE };
	int64_t process, thread;
	struct chain chain;
	struct store *s;
	int more;

	CHECK(!store_open(trace_db, STORE_WRITE, &s));
	CHECK(!trace_run(s));
	CHECK(!trace_process(s, 4821, "python3", &process));
	CHECK(!store_thread(s, process, 4821, "python3", 1, &thread));
	for (uint32_t i = 0; i < CHAINS; i++) {
		uint64_t at = i < CHAINS / 2 ? SEC : 10 * MINUTE;

		chain = some_chain(1000 + i);
		CHECK(!store_chain(s, &chain, &wait.chain));
		CHECK(!(i % 3 == 0   ? store_wait_second(s, thread, at, &wait)
			: i % 3 == 1 ? store_idle_second(s, thread, at, &wait)
				     : store_call_wait(s, i, wait.chain, 1)));
	}
	CHECK(!store_exec(s, "DELETE FROM call_wait WHERE call < 1500"));
	CHECK(!store_account(s, SEC, &(struct account_row){ 0 }));
	CHECK(!store_commit(s));
	CHECK_STR(trace_ask(s, CHAINS_LEFT), "6000|1000|4000|3000");
	do {
		more = store_prune(s, &keep, 10 * MINUTE, 1);
		chain = some_chain(1007); /* gone, and back; the file must have it in the end */
		CHECK(!store_chain(s, &chain, &wait.chain));
	} while (more > 0);
	CHECK(!more);
	CHECK(!store_wait_second(s, thread, 10 * MINUTE, &wait));
	CHECK(!store_commit(s));
	CHECK_STR(trace_ask(s,
			    "SELECT count(*) FROM wait_second WHERE chain NOT IN (SELECT id FROM"
			    " chain) UNION ALL SELECT count(*) FROM idle_second WHERE chain NOT IN"
			    " (SELECT id FROM chain) UNION ALL SELECT count(*) FROM call_wait"
			    " WHERE chain NOT IN (SELECT id FROM chain)"),
		  "0;0;0");
	/* Half of them and one; of those that are kept for nothing there are few. */
	CHECK(strtoull(trace_ask(s, "SELECT count(*) FROM chain"), NULL, 10) - 1501 < 5);
	CHECK_STR(
		trace_ask(s, "SELECT count(*) FROM hop WHERE chain NOT IN (SELECT id FROM chain)"),
		"0");
	store_close(s);
	return 0;
}
