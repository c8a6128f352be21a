// SPDX-License-Identifier: Apache-2.0
/* Tests of agent/lines.c: ids of the probes to ids of contents, and what the store gets. */
#include "agent/lines.h"

#include "base/clock.h"
#include "test/unit/store_trace.h"

#define ASCII (1u << 6 | 1u << 5 | 1u << 2)
#define GENERATION 5

/* Instruction 0 is on the first line, 2 on the next, and so on. */
static void tell_code(struct lines *l, uint64_t addr, const char *name, const char *file)
{
	struct py_code r = { .kind = NEWS_code,
			     .pid = 42,
			     .generation = GENERATION,
			     .fp = 1,
			     .code = addr,
			     .version = 0x30a,
			     .line = 10,
			     .name_len = (int64_t)strlen(name),
			     .file_len = (int64_t)strlen(file),
			     .table_len = 20,
			     .name_state = ASCII,
			     .file_state = ASCII };

	memcpy(r.name, name, strlen(name));
	memcpy(r.file, file, strlen(file));
	for (size_t i = 0; i < 20; i += 2) {
		r.table[i] = 2;
		r.table[i + 1] = i > 0;
	}
	lines_news(&r, sizeof(r), l);
}

static void tell_stack(struct lines *l, uint64_t id, uint64_t code, int lasti)
{
	struct py_stack r = { .kind = NEWS_stack,
			      .pid = 42,
			      .generation = GENERATION,
			      .frames = 1,
			      .id = id,
			      .frame = { { .code = code, .fp = 1, .lasti = lasti } } };

	lines_news(&r, sizeof(r), l);
}

static struct lines *two_stacks(void)
{
	struct lines *l = lines_new(true);

	tell_code(l, 0x1000, "Net.forward", "/data/job/train.py");
	tell_stack(l, 1000, 0x1000, 2);
	tell_stack(l, 1001, 0x1000, 4);
	return l;
}

TEST(lines_translate_what_the_probes_told)
{
	struct lines *l = two_stacks();
	uint64_t a = lines_stack(l, 1000, 0), b = lines_stack(l, 1001, 0);
	char text[64];

	CHECK(a >= STACK_REASONS && b >= STACK_REASONS && a != b && a != 1000);
	CHECK_U64(lines_stack(l, 1000, 0x5555), a); /* the C stack of that call is not known */
	CHECK_U64(lines_stack(l, NO_STACK_unreadable, 0), NO_STACK_unreadable);
	CHECK_U64(lines_stack(l, 1002, 0), NO_STACK_lost);
	CHECK_STR(lines_say(l, a, text, sizeof(text)), "Net.forward() at train.py:11");
	CHECK_STR(lines_say(l, b, text, sizeof(text)), "Net.forward() at train.py:12");
	CHECK_STR(lines_say(l, NO_STACK_lost, text, sizeof(text)), "");
	lines_free(l);
	lines_free(NULL);
	return 0;
}

static void fetch(struct lines *l, void *arg)
{
	++*(int *)arg;
	(void)lines_stack(l, 7777, 0); /* who asks while it is fetched does not fetch again */
	tell_stack(l, 1002, 0x1000, 6);
}

TEST(lines_fetch_news_that_they_have_not_seen_yet)
{
	struct lines *l = two_stacks();
	char text[64];
	int fetched = 0;

	lines_source(l, fetch, &fetched);
	(void)lines_stack(l, 1000, 0);
	(void)lines_stack(l, 0, 0);
	CHECK(fetched == 0);
	lines_say(l, lines_stack(l, 1002, 0), text, sizeof(text));
	CHECK(fetched == 1);
	CHECK_STR(text, "Net.forward() at train.py:13");
	CHECK_U64(lines_stack(l, 1003, 0), NO_STACK_lost);
	CHECK(fetched == 2);
	lines_free(l);
	return 0;
}

STORE_TEST(lines_store_only_what_a_row_needs_and_once)
{
	int64_t id;
	struct chain c = { .hops = 3 };
	struct lines *l = two_stacks();
	int err;

	c.hop[0].stack = lines_stack(l, 1000, 0);
	c.hop[1].stack = NO_STACK_lost;
	c.hop[2].stack = 99999; /* of another time */
	err = lines_store_chain(l, store, &c, &id);
	err |= lines_store_chain(l, store, &c, &id);
	err |= lines_store(l, store, &c.hop[0].stack);
	if (!err) {
		CHECK_STR(trace_ask(store, "SELECT func, file, line FROM stack_line"),
			  "Net.forward|/data/job/train.py|11");
		store_rollback(store);
		lines_rollback(l);
		err = lines_store(l, store, &c.hop[0].stack);
	}
	lines_free(l);
	CHECK(!err);
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM stack"), "1");
	CHECK(c.hop[0].stack >= STACK_REASONS);
	CHECK_U64(c.hop[2].stack, NO_STACK_lost); /* it could not be written: no row names it */
	return 0;
}

STORE_TEST(lines_store_so_many_in_a_second)
{
	struct lines *l = lines_new(true);
	uint64_t stack = 0;
	int err = 0;

	for (uint64_t i = 0; i < 5000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%llu", (unsigned long long)i);
		tell_code(l, 0x1000 + 16 * i, name, "/data/job/train.py");
		tell_stack(l, 1000 + i, 0x1000 + 16 * i, 2);
		stack = lines_stack(l, 1000 + i, 0);
		err |= lines_store(l, store, &stack);
	}
	CHECK(!err);
	CHECK_U64(stack, NO_STACK_over_budget);
	CHECK_U64(lines_skipped(l), 904);
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM stack"), "4096");
	lines_tick(l);
	for (uint64_t i = 0; i < 5000; i++) {
		stack = lines_stack(l, 1000 + i, 0);
		err |= lines_store(l, store, &stack);
	}
	lines_free(l);
	CHECK(!err);
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM stack"), "5000");
	return 0;
}

STORE_TEST(lines_know_what_was_told_before_the_last_turn)
{
	struct lines *l = two_stacks();
	uint64_t a = lines_stack(l, 1000, 0), stack = a;
	int err;

	CHECK(!lines_filling(l));
	lines_turn(l);
	CHECK_U64(lines_stack(l, 1000, 0), a);
	tell_stack(l, 1005, 0x1000, 2); /* its code was told before */
	CHECK(lines_stack(l, 1005, 0) >= STACK_REASONS);
	lines_turn(l);
	CHECK_U64(lines_stack(l, 1000, 0), NO_STACK_lost);
	tell_code(l, 0x1000, "Net.forward", "/data/job/train.py"); /* and again */
	tell_stack(l, 1000, 0x1000, 2);
	CHECK_U64(lines_stack(l, 1000, 0), a);
	lines_turn(l);
	err = lines_store(l, store, &stack);
	lines_free(l);
	CHECK(!err);
	CHECK_U64(stack, a);
	return 0;
}

TEST(lines_turn_before_anything_is_lost)
{
	struct lines *l = lines_new(true);
	uint64_t lost = 0;
	int turns = 0;

	for (uint32_t i = 0; i < 30000; i++) {
		tell_code(l, 0x1000 + i, "f", "/x.py");
		tell_stack(l, 1000 + i, 0x1000 + i, 2);
		if (lines_filling(l)) {
			lines_turn(l);
			turns++;
		}
		lost += lines_stack(l, 1000 + i, 0) == NO_STACK_lost;
	}
	lines_free(l);
	CHECK(turns > 2);
	CHECK_U64(lost, 0);
	return 0;
}

STORE_TEST(lines_that_are_off_know_nothing)
{
	struct lines *l = lines_new(false);
	uint64_t stack = 1000;
	char text[64];

	tell_code(l, 0x1000, "f", "/x.py");
	tell_stack(l, 1000, 0x1000, 2);
	CHECK_U64(lines_stack(l, 1000, 0), NO_STACK_not_looked);
	CHECK_U64(lines_stack(l, NO_STACK_no_python, 0), NO_STACK_no_python);
	CHECK(!lines_store(l, store, &stack));
	CHECK_U64(stack, NO_STACK_lost);
	CHECK_STR(lines_say(l, 1000, text, sizeof(text)), "");
	lines_tick(l);
	CHECK(!lines_filling(l));
	lines_turn(l);
	lines_rollback(l);
	lines_free(l);
	return 0;
}
