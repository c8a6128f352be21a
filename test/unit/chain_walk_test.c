// SPDX-License-Identifier: Apache-2.0
/* Tests of chain/walk.c: who is charged for a wait, to the nanosecond. */
#include "test/unit/chain_text.h"

#include <stdlib.h>

#include "base/clock.h"
#include "test/test.h"

#define US 1000ull
#define MS 1000000ull

/* ---- one hop */

TEST(chain_ends_at_a_device_with_the_state_that_waited_for_it)
{
	struct timeline *t = timeline_of("A");
	struct stop s = ended('A', 100, 180, 190, STATE_READ, WAKER_block);
	const struct text *got;

	s.nr = 17;
	s.irq = 36;
	s.fd = 5;
	s.obj = 4711;
	s.obj2 = 8;
	s.flags = STOP_IOWAIT;
	s.cpu = 2;
	s.cpu_pid = 99;
	got = text_stop(t, s);
	CHECK_STR(got->s, "100-180 A.read/block; 180-190 A.wake@99");
	CHECK(got->first.op == OP_GAP && got->last.op == OP_GAP);
	CHECK(got->first.chain.hop[0].serial == 1);
	CHECK(got->first.chain.hop[0].pid == 101 && got->first.chain.hop[0].tid == 201);
	CHECK(got->first.chain.hop[0].nr == 17 && got->first.chain.hop[0].irq == 36);
	CHECK(got->first.chain.hop[0].fd == 5 && got->first.chain.hop[0].flags == STOP_IOWAIT);
	CHECK(got->first.chain.hop[0].obj == 4711 && got->first.chain.hop[0].obj2 == 8);
	CHECK(got->first.chain.hop[0].cpu_pid == 0);
	CHECK(got->last.chain.hop[0].cpu == 2 && got->last.chain.hop[0].nr == -1);
	CHECK(got->last.chain.hop[0].obj == 0 && got->last.chain.hop[0].irq == -1);
	timeline_free(t);
	return 0;
}

TEST(chain_of_each_waker_that_is_no_thread_is_complete)
{
	struct timeline *t = timeline_of("A");

	for (enum waker by = 0; by < WAKER_COUNT; by++) {
		const struct text *got = text_stop(t, ended('A', 0, 9, 9, STATE_SOCKET, by));

		CHECK(got->pieces == 1 && got->ns == 9);
		CHECK(got->first.chain.hop[0].by == by);
		CHECK(got->first.chain.complete == (by != WAKER_task));
		CHECK(got->first.chain.hops == 1 + (by == WAKER_task));
	}
	timeline_free(t);
	return 0;
}

TEST(chain_of_a_thread_that_never_blocked_is_one_hop)
{
	struct timeline *t = timeline_of("A");
	struct stop quota = ended('A', 10, 10, 60, STATE_THROTTLED, WAKER_nobody);
	struct stop woken_early = ended('A', 10, 10, 60, STATE_FUTEX, WAKER_nobody);

	CHECK_STR(text_stop(t, preempted('A', 10, 60, 77))->s, "10-60 A.preempted@77");
	CHECK_STR(text_stop(t, quota)->s, "10-60 A.throttled");
	CHECK_STR(text_stop(t, woken_early)->s, "10-60 A.wake");
	quota.wake_ns = 40; /* then the quota let it go, and it queued */
	quota.cpu_pid = 77;
	CHECK_STR(text_stop(t, quota)->s, "10-40 A.throttled; 40-60 A.preempted@77");
	timeline_free(t);
	return 0;
}

TEST(chain_of_a_wait_that_nobody_saw_is_unknown)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = ended('A', 10, 10, 60, STATE_UNKNOWN, WAKER_nobody);

	CHECK_STR(text_stop(t, s)->s, "10-60 A.unknown?");
	/* Adopted while it waited: for what is not known, for whom is. */
	CHECK_STR(text_stop(t, woken('A', 10, 60, STATE_UNKNOWN, 'B'))->s, "10-60 A.unknown B.run");
	timeline_free(t);
	return 0;
}

/* ---- cascades */

TEST(chain_tells_a_worker_that_worked_from_one_that_waited)
{
	struct timeline *t = timeline_of("AB");

	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_PIPE, 'B'))->s, "100-200 A.pipe B.run");
	add(t, ended('B', 110, 150, 152, STATE_READ, WAKER_block));
	add(t, preempted('B', 160, 190, 77));
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_PIPE, 'B'))->s,
		  "100-110 A.pipe B.run; 110-150 A.pipe B.read/block; 150-152 A.pipe B.wake; "
		  "152-160 A.pipe B.run; 160-190 A.pipe B.preempted@77; 190-200 A.pipe B.run");
	timeline_free(t);
	return 0;
}

TEST(chain_goes_on_to_whom_the_waker_waited_for)
{
	struct timeline *t = timeline_of("ABC");
	const struct text *got;

	add(t, woken('A', 100, 200, STATE_FUTEX, 'B'));
	add(t, woken('B', 120, 190, STATE_SOCKET, 'C'));
	add(t, ended('C', 130, 170, 170, STATE_FSYNC, WAKER_block));
	got = text_walk(t, 'A', 0, 1000);
	CHECK_STR(got->s, "100-120 A.futex B.run; 120-130 A.futex B.socket C.run; "
			  "130-170 A.futex B.socket C.fsync/block; 170-190 A.futex B.socket C.run; "
			  "190-200 A.futex B.run");
	CHECK_U64(got->ns, 100);
	CHECK(got->last.chain.hop[0].by == WAKER_task && got->last.chain.hop[1].serial == 2);
	timeline_free(t);
	return 0;
}

/* An idle worker's stop began before the one who waits for it did. */
TEST(chain_clips_a_worker_that_was_idle_before)
{
	struct timeline *t = timeline_of("ABC");

	add(t, woken('B', 0, 130, STATE_PIPE, 'C'));
	add(t, ended('C', 0, 110, 110, STATE_SLEEP, WAKER_timer));
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_PIPE, 'B'))->s,
		  "100-110 A.pipe B.pipe C.sleep/timer; 110-130 A.pipe B.pipe C.run; "
		  "130-200 A.pipe B.run");
	timeline_free(t);
	return 0;
}

TEST(chain_stops_at_a_thread_that_it_has_seen)
{
	struct timeline *t = timeline_of("AB");

	add(t, woken('A', 100, 200, STATE_FUTEX, 'B'));
	add(t, woken('B', 110, 150, STATE_FUTEX, 'A')); /* the clocks of two CPUs */
	CHECK_STR(text_walk(t, 'A', 0, 1000)->s,
		  "100-110 A.futex B.run; 110-150 A.futex B.futex/task?; 150-200 A.futex B.run");
	CHECK_STR(text_stop(t, woken('A', 0, 9, STATE_FUTEX, 'A'))->s, "0-9 A.futex/task?");
	timeline_free(t);
	return 0;
}

TEST(chain_stops_at_its_greatest_depth)
{
	struct timeline *t = timeline_of("ABCDEFGHIJ");
	const struct text *got;

	for (int who = 'A'; who < 'J'; who++)
		add(t, woken(who, 100, 200, STATE_FUTEX, who + 1));
	got = text_walk(t, 'A', 0, 1000);
	CHECK_STR(got->s, "100-200 A.futex B.futex C.futex D.futex E.futex F.futex G.futex "
			  "H.futex/task?");
	CHECK(got->first.chain.hops == HOPS_MAX);
	CHECK_STR(text_walk(t, 'C', 0, 1000)->s,
		  "100-200 C.futex D.futex E.futex F.futex G.futex H.futex I.futex J.run");
	timeline_free(t);
	return 0;
}

/* ---- what was not seen */

TEST(chain_names_a_waker_that_is_not_followed)
{
	struct timeline *t = timeline_of("A");
	struct stop s = woken('A', 100, 200, STATE_SOCKET, 'X');
	const struct text *got = text_stop(t, s); /* followed, they say, but never introduced */
	const struct hop *h = &got->first.chain.hop[1];

	CHECK_STR(got->s, "100-200 A.socket X.unknown?");
	CHECK(h->serial == 24 && h->pid == 124 && h->tid == 224);
	s.waker_serial = 0;
	got = text_stop(t, s);
	CHECK_STR(got->s, "100-200 A.socket X.unknown?");
	CHECK(h->serial == 0 && h->pid == 124 && h->tid == 224);
	timeline_free(t);
	return 0;
}

TEST(chain_finds_a_waker_by_tid_if_it_was_adopted_since)
{
	struct timeline *t = timeline_of("A");
	struct stop s = woken('A', 100, 200, STATE_PIPE, 'B');

	s.waker_serial = 0;
	follow(t, 'B', 150);
	add(t, ended('B', 160, 180, 180, STATE_READ, WAKER_block));
	CHECK_STR(text_stop(t, s)->s, "100-150 A.pipe B.unknown?; 150-160 A.pipe B.run; "
				      "160-180 A.pipe B.read/block; 180-200 A.pipe B.run");
	s.waker_pid = 7; /* the tid came back in another process */
	CHECK_STR(text_stop(t, s)->s, "100-200 A.pipe B.unknown?");
	s.waker_pid = 102;
	follow(t, 'B', 200); /* or is adopted too late to tell anything */
	s.waker_comm[0] = 'b';
	CHECK_STR(text_stop(t, s)->s, "100-200 A.pipe b.unknown?");
	timeline_free(t);
	return 0;
}

TEST(chain_does_not_take_the_time_before_birth_or_adoption_for_running)
{
	struct timeline *t = timeline_of("A");

	follow(t, 'B', 150);
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_FUTEX, 'B'))->s,
		  "100-150 A.futex B.unknown?; 150-200 A.futex B.run");
	timeline_free(t);
	return 0;
}

/* A stop that is held is true even where others may have been lost. */
TEST(chain_after_a_gap_uses_what_is_left)
{
	struct timeline *t = timeline_of("AB");

	add(t, ended('B', 110, 130, 130, STATE_READ, WAKER_block));
	timeline_gap(t, 170);
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_FUTEX, 'B'))->s,
		  "100-110 A.futex B.unknown?; 110-130 A.futex B.read/block; "
		  "130-170 A.futex B.unknown?; 170-200 A.futex B.run");
	timeline_free(t);
	return 0;
}

/* ---- timed waits */

/* Waits of 5 ms each for the interpreter's lock, 10 us of running between. */
static uint64_t ask_for_gil(struct timeline *t, uint64_t at, int times, struct stop last)
{
	for (int i = 0; i < times; i++, at += 5 * MS + 20 * US) {
		struct stop s = ended('A', at, at + 5 * MS, at + 5 * MS + 10 * US, STATE_FUTEX,
				      WAKER_timer);

		s.obj = 0x7000 + 8 * (i % 2); /* a condition variable has two words to wait on */
		add(t, s);
	}
	last.run_ns += at - last.from_ns;
	last.wake_ns += at - last.from_ns;
	last.from_ns = at;
	last.obj = 0x7000;
	add(t, last);
	return last.run_ns;
}

TEST(chain_charges_a_timed_wait_to_who_ended_the_last)
{
	struct timeline *t = timeline_of("AB");
	const struct text *got;

	add(t, preempted('B', 6 * MS, 7 * MS, 9));
	ask_for_gil(t, 0, 2, woken('A', 0, 3 * MS, STATE_FUTEX, 'B'));
	got = text_walk(t, 'A', 0, MS * 1000);
	CHECK_STR(got->s, "0-5000000 A.futex B.run; 5000000-5010000 A.wake; "
			  "5020000-6000000 A.futex B.run; 6000000-7000000 A.futex B.preempted@9; "
			  "7000000-10020000 A.futex B.run; 10020000-10030000 A.wake; "
			  "10040000-13040000 A.futex B.run");
	CHECK(got->first.chain.hop[0].by == WAKER_task);
	CHECK_U64(got->ns, 13040000 - 20 * US);
	timeline_free(t);
	return 0;
}

TEST(chain_of_timed_waits_that_nobody_ends_is_the_timers)
{
	struct timeline *t = timeline_of("AB");

	ask_for_gil(t, 0, 1, ended('A', 0, 5 * MS, 5 * MS, STATE_FUTEX, WAKER_timer));
	CHECK_STR(text_walk(t, 'A', 0, 5 * MS)->s, "0-5000000 A.futex/timer");
	ask_for_gil(t, 100 * MS, 1, ended('A', 0, 5 * MS, 5 * MS, STATE_FUTEX, WAKER_irq));
	CHECK_STR(text_walk(t, 'A', 100 * MS, 105 * MS)->s, "100000000-105000000 A.futex/timer");
	timeline_free(t);
	return 0;
}

TEST(chain_joins_timed_waits_only_for_the_same_lock_at_once)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = ended('A', 0, 5 * MS, 5 * MS, STATE_FUTEX, WAKER_timer);
	struct stop far = woken('A', 5 * MS + 10 * US, 8 * MS, STATE_FUTEX, 'B');
	struct stop late = woken('A', 105 * MS + 100 * US, 108 * MS, STATE_FUTEX, 'B');
	struct stop other = woken('A', 205 * MS + 10 * US, 208 * MS, STATE_PIPE, 'B');

	far.obj = 257;
	add(t, far);
	CHECK_STR(text_stop(t, s)->s, "0-5000000 A.futex/timer");
	s.obj = 1;
	CHECK_STR(text_stop(t, s)->s, "0-5000000 A.futex B.run");
	s = ended('A', 100 * MS, 105 * MS, 105 * MS, STATE_FUTEX, WAKER_timer);
	add(t, late); /* it ran 100 us first: it had something else to do */
	CHECK_STR(text_stop(t, s)->s, "100000000-105000000 A.futex/timer");
	s = ended('A', 200 * MS, 205 * MS, 205 * MS, STATE_FUTEX, WAKER_timer);
	add(t, other);
	CHECK_STR(text_stop(t, s)->s, "200000000-205000000 A.futex/timer");
	timeline_free(t);
	return 0;
}

TEST(chain_joins_timed_waits_across_a_wait_for_the_cpu)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = ended('A', 0, 5 * MS, 5 * MS, STATE_FUTEX, WAKER_timer);

	add(t, preempted('A', 5 * MS + 10 * US, 9 * MS, 77));
	add(t, woken('A', 9 * MS + 10 * US, 10 * MS, STATE_FUTEX, 'B'));
	CHECK_STR(text_stop(t, s)->s, "0-5000000 A.futex B.run");
	timeline_free(t);
	return 0;
}

TEST(chain_looks_ahead_no_further_than_64_stops_and_a_second)
{
	struct timeline *t = timeline_of("AB");
	struct stop last = woken('A', 0, 3 * MS, STATE_FUTEX, 'B');
	uint64_t end = ask_for_gil(t, 0, 65, last), period = 5 * MS + 20 * US, from;

	CHECK(text_walk(t, 'A', 0, 5 * MS)->first.chain.hops == 1);
	CHECK(text_walk(t, 'A', period, period + 5 * MS)->first.chain.hops == 2);

	from = end + 100 * MS;
	add(t, ended('A', from, from + MS, from + MS, STATE_FUTEX, WAKER_timer));
	add(t, woken('A', from + MS, from + 1001 * MS, STATE_FUTEX, 'B'));
	CHECK(text_walk(t, 'A', from, from + MS)->first.chain.hops == 2);
	from += 2000 * MS;
	add(t, ended('A', from, from + MS, from + MS, STATE_FUTEX, WAKER_timer));
	add(t, woken('A', from + MS, from + 1001 * MS + 1, STATE_FUTEX, 'B'));
	CHECK(text_walk(t, 'A', from, from + MS)->first.chain.hops == 1);
	timeline_free(t);
	return 0;
}

/* ---- overlays */

TEST(chain_names_what_running_was_wasted_on)
{
	struct timeline *t = timeline_of("AB");

	add(t, overlay('B', 90, 150, STATE_GC));
	add(t, preempted('B', 120, 130, 77)); /* in the middle of its collection */
	add(t, overlay('B', 180, 300, STATE_RECLAIM));
	CHECK_STR(text_stop(t, woken('A', 100, 200, STATE_FUTEX, 'B'))->s,
		  "100-120 A.futex B.gc; 120-130 A.futex B.preempted@77; 130-150 A.futex B.gc; "
		  "150-180 A.futex B.run; 180-200 A.futex B.reclaim");
	CHECK_STR(text_walk(t, 'B', 100, 200)->s,
		  "100-120 B.gc; 120-130 B.preempted@77; 130-150 B.gc; 180-200 B.reclaim");
	CHECK_STR(text_stop(t, overlay('B', 90, 150, STATE_GC))->s, "90-150 B.gc");
	timeline_gap(t, 140);
	CHECK_STR(text_walk(t, 'B', 100, 160)->s, "120-130 B.preempted@77; 140-150 B.gc");
	timeline_free(t);
	return 0;
}

/* ---- intervals */

TEST(chain_walk_clips_to_its_interval)
{
	struct timeline *t = timeline_of("AB");

	add(t, woken('A', 100, 200, STATE_FUTEX, 'B'));
	add(t, ended('A', 250, 280, 300, STATE_SLEEP, WAKER_timer));
	add(t, ended('B', 140, 160, 160, STATE_READ, WAKER_block));
	CHECK_STR(text_walk(t, 'A', 150, 260)->s,
		  "150-160 A.futex B.read/block; 160-200 A.futex B.run; 250-260 A.sleep/timer");
	CHECK_STR(text_walk(t, 'A', 270, 290)->s, "270-280 A.sleep/timer; 280-290 A.wake");
	CHECK_STR(text_walk(t, 'A', 285, 295)->s, "285-295 A.wake");
	CHECK_STR(text_walk(t, 'A', 145, 146)->s, "145-146 A.futex B.read/block");
	CHECK_STR(text_walk(t, 'A', 200, 250)->s, "");
	CHECK_STR(text_walk(t, 'A', 150, 150)->s, "");
	CHECK_STR(text_walk(t, 'A', 150, 140)->s, "");
	CHECK_STR(text_walk(t, 'C', 0, 1000)->s, "");
	CHECK_U64(text_walk(t, 'A', 0, UINT64_MAX)->ns, 150);
	timeline_free(t);
	return 0;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Threads that wait for each other, for disks and for the CPU, as it happens. */
static struct timeline *random_past(uint32_t seed)
{
	static const enum state states[] = { STATE_FUTEX, STATE_PIPE, STATE_READ, STATE_THROTTLED,
					     STATE_PREEMPTED };
	struct task_info sibling = { .pid = 101, .tid = 202, .tp = 0x2000, .comm = "B" };
	struct timeline *t = timeline_of("ABCDE");

	timeline_thread(t, serial_of('B'), &sibling); /* of A: they share an interpreter */
	follow(t, 'C', next_random(&seed) % 300);
	for (int i = 0; i < 40; i++) {
		uint64_t from = next_random(&seed) % 1000, wake = from + next_random(&seed) % 90;
		int who = 'A' + (int)(next_random(&seed) % 5);
		struct stop s = woken(who, from, wake, states[next_random(&seed) % 5],
				      'A' + (int)(next_random(&seed) % 6));

		s.run_ns += next_random(&seed) % 20;
		s.cpu_pid = next_random(&seed) % 3;
		if (next_random(&seed) % 3 == 0)
			s.by = (uint8_t)(next_random(&seed) % WAKER_COUNT);
		s.stack = next_random(&seed) % 3 ? 0 : 300 + next_random(&seed) % 3;
		if (next_random(&seed) % 4 == 0)
			s.holder = next_random(&seed) % 7 * 0x1000ull;
		if (next_random(&seed) % 4 == 0)
			s.holder_stack = 400;
		if (next_random(&seed) % 8 == 0)
			s = overlay(who, from, wake + 1, STATE_GC);
		add(t, s);
		if (next_random(&seed) % 2)
			add(t, look(who, from / 2, 500 + next_random(&seed) % 3));
	}
	return t;
}

static void keep_ids(const struct piece *p, void *arg)
{
	uint64_t *id = arg, value = chain_id(&p->chain);

	for (uint64_t ns = p->from_ns; ns < p->to_ns; ns++)
		id[ns] = value;
}

TEST(chain_of_each_moment_is_the_chain_of_the_whole)
{
	for (uint32_t seed = 0; seed < 50; seed++) {
		struct timeline *t = random_past(seed);

		for (int who = 'A'; who <= 'E'; who++) {
			uint64_t whole[1200] = { 0 }, moments[1200] = { 0 };

			chain_walk(t, serial_of(who), 0, 1200, keep_ids, whole);
			for (uint64_t ns = 0; ns < 1200; ns++)
				chain_walk(t, serial_of(who), ns, ns + 1, keep_ids, moments);
			for (uint64_t ns = 0; ns < 1200; ns++)
				CHECK_U64(whole[ns], moments[ns]);
		}
		timeline_free(t);
	}
	return 0;
}

/* ---- many pieces */

/* B reads files while A waits for it: `files` times 10 ns of work and 90 of waiting. */
static struct timeline *reader(int files, int inodes)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = woken('A', 0, 100 * (uint64_t)files, STATE_PIPE, 'B');

	s.obj = 55;
	s.run_ns += 7;
	add(t, s);
	for (int i = 0; i < files; i++) {
		uint64_t at = 100 * (uint64_t)i;

		s = ended('B', at + 10, at + 100, at + 100, STATE_READ, WAKER_block);
		s.obj = 1000 + (uint64_t)(i % inodes);
		s.fd = 3 + i;
		add(t, s);
	}
	return t;
}

TEST(chain_joins_equal_pieces_where_there_are_too_many)
{
	struct timeline *t = reader(31, 31);
	const struct text *got = text_walk(t, 'A', 0, 1000000);

	CHECK(got->pieces == 63); /* as it was */
	CHECK_U64(got->ns, 3107);
	timeline_free(t);

	t = reader(500, 2);
	CHECK_STR(text_walk(t, 'A', 0, 1000000)->s,
		  "0-5000 A.pipe B.run; 5000-27500 A.pipe B.read/block; "
		  "27500-50000 A.pipe B.read/block; 50000-50007 A.wake");
	timeline_free(t);
	return 0;
}

TEST(chain_of_more_files_than_pieces_names_none_of_them)
{
	struct timeline *t = reader(500, 500);
	const struct text *got = text_walk(t, 'A', 0, 1000000);

	CHECK_STR(got->s, "0-5000 A.pipe B.run; 5000-50000 A.pipe B.read/block; "
			  "50000-50007 A.wake");
	timeline_prune(t, 0);
	got = text_walk(t, 'A', 0, 50000);
	CHECK(got->last.chain.complete);
	CHECK_U64(got->last.chain.hop[0].obj, 55); /* the pipe was the same all the time */
	CHECK_U64(got->last.chain.hop[1].obj, 0);
	CHECK(got->last.chain.hop[1].fd == -1);
	timeline_free(t);
	return 0;
}

TEST(chain_of_too_many_kinds_of_waits_leaves_a_rest_that_is_not_complete)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = woken('A', 0, 2000, STATE_FUTEX, 'B');
	const struct text *got;

	s.run_ns = 2010;
	for (uint64_t i = 0; i < 200; i++) /* two hundred neighbours on its CPU */
		add(t, preempted('B', 10 * i, 10 * i + 10, 1000 + (uint32_t)i));
	got = text_stop(t, s);
	CHECK(got->pieces == PIECES_MAX);
	CHECK_U64(got->ns, 2010);
	CHECK(strstr(got->s, "; 610-620 A.futex B.preempted@1061; 620-2000 A.futex B.unknown?; "
			     "2000-2010 A.wake"));
	add(t, s);
	add(t, preempted('B', 3010, 3020, 7));
	add(t, woken('A', 3000, 3030, STATE_FUTEX, 'B'));
	CHECK(strstr(text_walk(t, 'A', 0, 9000)->s, /* each stop by itself */
		     "; 2000-2010 A.wake; 3000-3010 A.futex B.run; "
		     "3010-3020 A.futex B.preempted@7; 3020-3030 A.futex B.run"));
	timeline_free(t);
	return 0;
}

/* ---- size */

/* Eight threads that wait for each other in turn, stop after stop. */
TEST(chain_of_a_hundred_thousand_stops_is_quick)
{
	uint64_t start = clock_cpu_ns(), ns = 0;
	struct timeline *t = timeline_of("ABCDEFGHIJKLMNOP");

	for (uint64_t i = 0; i < 6250; i++)
		for (int who = 'A'; who <= 'P'; who++) {
			uint64_t at = i * 1000 + (uint64_t)(who - 'A');
			int waker = who == 'P' ? 'A' : who + 1;

			add(t, woken(who, at, at + 900, STATE_FUTEX, waker));
		}
	CHECK_U64(timeline_count(t), 100000);
	for (int who = 'A'; who <= 'P'; who++)
		ns += text_walk(t, who, 0, UINT64_MAX)->ns;
	CHECK_U64(ns, 16ull * 6250 * 900);
	for (uint64_t i = 0; i < 6250; i++) /* one short interval after the other */
		CHECK_U64(text_walk(t, 'A', i * 1000, i * 1000 + 450)->ns, 450);
	timeline_free(t);
	CHECK(clock_cpu_ns() - start < 5000 * MS);
	return 0;
}
