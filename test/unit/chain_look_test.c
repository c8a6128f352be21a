// SPDX-License-Identifier: Apache-2.0
/* Tests of chain/: which line of code a wait, a holder and running itself are charged to. */
#include "test/test.h"
#include "test/unit/chain_text.h"

#define US 1000ull
#define MS 1000000ull

static struct stop at_line(struct stop s, uint64_t stack)
{
	s.stack = stack;
	return s;
}

/* ---- stops */

TEST(chain_has_the_line_where_each_thread_stopped)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = at_line(woken('A', 100, 200, STATE_PIPE, 'B'), 300);

	s.run_ns = 210;
	add(t, at_line(ended('B', 110, 150, 152, STATE_READ, WAKER_block), 301));
	add(t, at_line(preempted('B', 160, 190, 77), 302));
	CHECK_STR(text_stop(t, s)->s,
		  "100-110 A.pipe#300 B.run; 110-150 A.pipe#300 B.read/block#301; "
		  "150-152 A.pipe#300 B.wake#301; 152-160 A.pipe#300 B.run; "
		  "160-190 A.pipe#300 B.preempted@77#302; 190-200 A.pipe#300 B.run; "
		  "200-210 A.wake#300");
	timeline_free(t);
	return 0;
}

TEST(chain_says_why_a_line_is_not_known)
{
	struct timeline *t = timeline_of("A");
	struct stop s = at_line(ended('A', 0, 9, 9, STATE_SLEEP, WAKER_timer), NO_STACK_unreadable);

	CHECK_U64(text_stop(t, s)->first.chain.hop[0].stack, NO_STACK_unreadable);
	timeline_free(t);
	return 0;
}

TEST(chain_names_the_line_that_collected_garbage)
{
	struct timeline *t = timeline_of("A");

	add(t, at_line(overlay('A', 10, 20, STATE_GC), 300));
	add(t, overlay('A', 30, 40, STATE_GC));
	add(t, look('A', 25, 301)); /* before it */
	add(t, look('A', 30, 302));
	add(t, look('A', 35, 303));
	add(t, overlay('A', 50, 60, STATE_GC));
	add(t, look('A', 60, 304)); /* behind it */
	CHECK_STR(text_walk(t, 'A', 0, 100)->s, "10-20 A.gc#300; 30-40 A.gc#302; 50-60 A.gc");
	timeline_free(t);
	return 0;
}

/* ---- looks */

TEST(chain_divides_running_among_the_looks_at_it)
{
	struct timeline *t = timeline_of("AB");

	add(t, look('B', 120, 301));
	add(t, look('B', 140, 302));
	add(t, look('B', 160, 302));
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_PIPE, 'B'))->s,
		  "100-130 A.pipe B.run#301; 130-200 A.pipe B.run#302");
	timeline_free(t);
	return 0;
}

TEST(chain_trusts_a_look_no_further_than_its_reach)
{
	struct timeline *t = timeline_of("AB");

	add(t, look('B', 50 * MS, 301));
	add(t, look('B', 100 * MS, NO_STACK_no_frames));
	CHECK_STR(text_stop(t, woken('A', 0, 200 * MS, STATE_PIPE, 'B'))->s,
		  "0-35000000 A.pipe B.run; 35000000-65000000 A.pipe B.run#301; "
		  "65000000-85000000 A.pipe B.run; 85000000-115000000 A.pipe B.run#3; "
		  "115000000-200000000 A.pipe B.run");
	timeline_free(t);
	return 0;
}

TEST(chain_uses_looks_only_for_the_running_in_which_they_were_taken)
{
	struct timeline *t = timeline_of("AB");

	add(t, ended('B', 140, 150, 150, STATE_READ, WAKER_block));
	add(t, look('B', 90, 300)); /* before the wait, in the same stretch */
	add(t, look('B', 160, 301));
	CHECK_STR(
		text_stop(t, woken('A', 100, 200, STATE_PIPE, 'B'))->s,
		"100-140 A.pipe B.run#300; 140-150 A.pipe B.read/block; 150-200 A.pipe B.run#301");
	timeline_free(t);
	return 0;
}

TEST(chain_counts_a_wait_once_however_many_lines_it_saw)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = woken('A', 100, 200, STATE_PIPE, 'B');
	const struct text *got;

	s.run_ns = 205;
	add(t, look('B', 110, 301));
	add(t, look('B', 150, 302));
	add(t, look('B', 190, 301));
	got = text_stop(t, s);
	CHECK_STR(got->s, "100-130 A.pipe B.run#301; 130-170 A.pipe B.run#302; "
			  "170-200 A.pipe B.run#301; 200-205 A.wake");
	CHECK_U64(got->first.whole_ns, 100);
	CHECK(!got->first.goes_on && !got->last.goes_on);
	CHECK_U64(got->last.whole_ns, 5);
	timeline_free(t);
	return 0;
}

TEST(chain_of_too_many_lines_joins_those_that_are_the_same)
{
	struct timeline *t = timeline_of("AB");
	const struct text *got;

	for (uint64_t i = 0; i < 1000; i++)
		add(t, look('B', 10 * i, 300 + i % 50));
	got = text_stop(t, woken('A', 0, 10000, STATE_PIPE, 'B'));
	CHECK(got->pieces == 50);
	CHECK_U64(got->ns, 10000);
	for (uint64_t i = 0; i < 1000; i++)
		add(t, look('B', 20000 + 10 * i, 300 + i));
	got = text_stop(t, woken('A', 20000, 30000, STATE_PIPE, 'B'));
	CHECK_STR(got->s, "20000-30000 A.pipe B.run"); /* several are none in particular */
	CHECK(got->first.chain.complete);
	timeline_free(t);
	return 0;
}

TEST(timeline_holds_so_many_looks_of_a_thread_and_then_the_latest)
{
	struct timeline *t = timeline_of("AB");
	uint64_t n = 8192 + 100;

	for (uint64_t i = 1; i <= n; i++)
		add(t, look('B', i * MS, 300));
	add(t, look('B', n * MS, 301)); /* the same moment again */
	add(t, look('B', MS, 302)); /* too old by now */
	CHECK_U64(timeline_count(t), 8192);
	/* Nothing but lines was lost. */
	CHECK_STR(text_stop(t, woken('A', MS, 2 * MS, STATE_PIPE, 'B'))->s,
		  "1000000-2000000 A.pipe B.run");
	CHECK_STR(text_stop(t, woken('A', n * MS, n * MS + 1, STATE_PIPE, 'B'))->s,
		  "8292000000-8292000001 A.pipe B.run#300");
	timeline_prune(t, n * MS);
	CHECK_U64(timeline_count(t), 0);
	timeline_free(t);
	return 0;
}

/* ---- a thread's own running */

struct runs {
	char s[512];
	size_t len;
};

static void keep_run(const struct run *r, void *arg)
{
	struct runs *runs = arg;

	runs->len += (size_t)snprintf(runs->s + runs->len, sizeof(runs->s) - runs->len,
				      "%s%llu-%llu#%llu/%d%s", runs->len ? "; " : "",
				      (unsigned long long)r->from_ns, (unsigned long long)r->to_ns,
				      (unsigned long long)r->stack, r->op, r->look ? "!" : "");
}

TEST(chain_runs_are_what_lies_between_stops_and_overlays)
{
	struct timeline *t = timeline_of("A");
	struct stop in_call = look('A', 170, 302);
	struct runs got = { 0 };

	in_call.op = 7;
	add(t, ended('A', 130, 140, 145, STATE_READ, WAKER_block));
	add(t, overlay('A', 110, 120, STATE_GC));
	add(t, look('A', 115, 300));
	add(t, look('A', 125, 301));
	add(t, in_call);
	add(t, ended('A', 200, 210, 210, STATE_READ, WAKER_block));
	chain_runs(t, serial_of('A'), 100, 300, keep_run, &got);
	snprintf(got.s + got.len, sizeof(got.s) - got.len, " gap %d", OP_GAP);
	{
		char want[128];

		snprintf(want, sizeof(want),
			 "100-110#300/%d; 120-125#301/%d; 125-130#301/%d!; 145-170#302/7; "
			 "170-200#302/7! gap %d",
			 OP_GAP, OP_GAP, OP_GAP, OP_GAP);
		CHECK_STR(got.s, want);
	}
	timeline_free(t);
	return 0;
}

TEST(chain_runs_of_nobody_and_of_a_time_that_was_lost_are_none)
{
	struct timeline *t = timeline_of("AB");
	struct runs got = { 0 };

	add(t, look('A', 100, 300));
	chain_runs(t, 99, 0, 1000, keep_run, &got);
	chain_runs(t, serial_of('B'), 0, 1000, keep_run, &got);
	timeline_gap(t, 150);
	chain_runs(t, serial_of('A'), 0, 150, keep_run, &got);
	CHECK_STR(got.s, "");
	timeline_free(t);
	return 0;
}

/* ---- who had Python's lock */

/* A and B are threads of one process, 101. */
static struct timeline *one_process(void)
{
	struct timeline *t = timeline_of("A");
	struct task_info b = { .pid = 101, .tid = 202, .tp = 0x2000, .comm = "B" };
	struct task_info c = { .pid = 101, .tid = 203, .tp = 0x3000, .comm = "C" };

	timeline_thread(t, serial_of('B'), &b);
	timeline_thread(t, serial_of('C'), &c);
	return t;
}

static struct stop asks(int who, uint64_t from, uint64_t to, uint64_t holder)
{
	struct stop s = at_line(ended(who, from, to, to, STATE_FUTEX, WAKER_timer), 300);

	s.holder = holder;
	s.holder_stack = holder ? 400 : 0;
	return s;
}

TEST(chain_charges_a_wait_for_pythons_lock_to_its_holder_whoever_ended_it)
{
	struct timeline *t = one_process();
	const struct text *got;

	add(t, preempted('B', 130, 150, 77));
	add(t, look('B', 180, 401));
	got = text_stop(t, asks('A', 100, 200, 0x2000));
	CHECK_STR(got->s, "100-130 A.futex#300 B.run#400; 130-150 A.futex#300 B.preempted@77; "
			  "150-200 A.futex#300 B.run#401");
	CHECK(got->first.chain.hop[0].by == WAKER_task);
	CHECK(got->first.chain.hop[0].object == OBJECT_gil);
	CHECK(got->first.chain.complete);
	timeline_free(t);
	return 0;
}

TEST(chain_prefers_the_holder_to_who_ended_the_wait)
{
	struct timeline *t = one_process();
	struct stop s = asks('A', 100, 200, 0x2000);

	s.by = WAKER_task;
	s.waker_serial = serial_of('C');
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex#300 B.run#400");
	s.holder = 0;
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex#300 C.run");
	timeline_free(t);
	return 0;
}

TEST(chain_follows_the_lock_from_holder_to_holder)
{
	struct timeline *t = one_process();

	add(t, at_line(asks('B', 120, 220, 0x3000), 402));
	CHECK_STR(text_stop(t, asks('A', 100, 200, 0x2000))->s,
		  "100-120 A.futex#300 B.run#400; 120-200 A.futex#300 B.futex#402 C.run#400");
	timeline_free(t);
	return 0;
}

TEST(chain_of_a_holder_that_is_not_followed_has_his_line_at_least)
{
	struct timeline *t = one_process();
	struct stop s = asks('A', 100, 200, 0x9000);
	const struct text *got = text_stop(t, s);

	CHECK(!timeline_knows_holder(t, &s));
	CHECK_STR(got->s, "100-200 A.futex#300 .unknown#400?");
	CHECK_U64(got->first.chain.hop[1].pid, 101);
	CHECK_U64(got->first.chain.hop[1].tid, 0);
	s.by = WAKER_task; /* whoever ended it has a name */
	s.waker = 999;
	s.waker_pid = 101;
	s.waker_comm[0] = 'X';
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex#300 X.unknown?");
	s.holder_stack = NO_STACK_unreadable;
	s.by = WAKER_timer;
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex/timer#300");
	timeline_free(t);
	return 0;
}

TEST(chain_takes_no_thread_for_the_holder_that_is_of_another_process_or_time)
{
	struct timeline *t = timeline_of("AB"); /* of two processes */
	struct task_info late = { .pid = 101, .tid = 204, .tp = 0x4000, .adopted_ns = 200 };
	struct stop s = asks('A', 100, 200, 0x2000), own = asks('A', 100, 200, 0x1000);
	struct stop reused = asks('A', 100, 200, 0x4000), sleeping = s;

	timeline_thread(t, serial_of('D'), &late);
	CHECK(!timeline_knows_holder(t, &s));
	CHECK(!timeline_knows_holder(t, &own));
	CHECK(!timeline_knows_holder(t, &reused));
	reused.run_ns = reused.wake_ns = 201;
	CHECK(timeline_knows_holder(t, &reused));
	timeline_forget(t, serial_of('D'));
	CHECK(!timeline_knows_holder(t, &reused));
	sleeping.state = STATE_SLEEP; /* what is no wait for a lock has no holder */
	CHECK_STR(text_stop(t, sleeping)->s, "100-200 A.sleep/timer#300");
	s.holder = 0;
	CHECK(timeline_knows_holder(t, &s));
	timeline_free(t);
	return 0;
}
