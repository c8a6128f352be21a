// SPDX-License-Identifier: Apache-2.0
/* Tests of chain/timeline.c, id.c and names.c: what is kept, how much of it, and under which name. */
#include <stdlib.h>

#include "base/clock.h"
#include "chain/chain_int.h"
#include "test/test.h"
#include "test/unit/chain_text.h"

#define THREAD_MAX ((uint64_t)THREAD_STOPS_MAX)
#define ALL_MAX ((uint64_t)STOPS_MAX)

/* ---- adding */

TEST(timeline_sorts_stops_that_come_out_of_order)
{
	struct timeline *t = timeline_of("A");

	add(t, ended('A', 300, 310, 320, STATE_READ, WAKER_block));
	add(t, ended('A', 100, 110, 120, STATE_SLEEP, WAKER_timer));
	add(t, ended('A', 200, 210, 220, STATE_WRITE, WAKER_block));
	CHECK_U64(timeline_count(t), 3);
	CHECK_STR(text_walk(t, 'A', 0, 1000)->s,
		  "100-110 A.sleep/timer; 110-120 A.wake; 200-210 A.write/block; 210-220 A.wake; "
		  "300-310 A.read/block; 310-320 A.wake");
	timeline_free(t);
	return 0;
}

TEST(timeline_keeps_any_order_the_same)
{
	struct timeline *forth = timeline_of("A"), *back = timeline_of("A");
	struct timeline *mixed = timeline_of("A");
	struct stop s;

	for (uint64_t i = 0; i < 97; i++) {
		add(forth, ended('A', i * 10, i * 10 + 5, i * 10 + 7, STATE_READ, WAKER_block));
		s = ended('A', 960 - i * 10, 965 - i * 10, 967 - i * 10, STATE_READ, WAKER_block);
		add(back, s);
		s.from_ns = i * 31 % 97 * 10;
		s.wake_ns = s.from_ns + 5;
		s.run_ns = s.from_ns + 7;
		add(mixed, s);
	}
	CHECK_STR(text_walk(back, 'A', 0, 2000)->s, text_walk(forth, 'A', 0, 2000)->s);
	CHECK_STR(text_walk(mixed, 'A', 0, 2000)->s, text_walk(forth, 'A', 0, 2000)->s);
	timeline_free(forth);
	timeline_free(back);
	timeline_free(mixed);
	return 0;
}

/* As it is when a thread moves about: one CPU's memory is read after the other's. */
TEST(timeline_takes_what_comes_cpu_by_cpu)
{
	struct timeline *t = timeline_of("A");
	uint64_t start = clock_cpu_ns(), cpus = 64;

	for (uint64_t cpu = 0; cpu < cpus; cpu++)
		for (uint64_t i = cpu; i < THREAD_MAX; i += cpus)
			add(t, ended('A', i * 10, i * 10 + 5, i * 10 + 7, STATE_READ, WAKER_block));
	CHECK_U64(timeline_count(t), THREAD_MAX);
	CHECK_U64(text_walk(t, 'A', 0, UINT64_MAX)->ns, THREAD_MAX * 7);
	CHECK_STR(text_walk(t, 'A', 100, 120)->s,
		  "100-105 A.read/block; 105-107 A.wake; 110-115 A.read/block; 115-117 A.wake");
	timeline_free(t);
	CHECK(clock_cpu_ns() - start < 5000000000ull);
	return 0;
}

TEST(timeline_keeps_a_moment_once)
{
	struct timeline *t = timeline_of("A");

	add(t, ended('A', 100, 150, 160, STATE_READ, WAKER_block));
	add(t, ended('A', 100, 150, 160, STATE_READ, WAKER_block)); /* read twice */
	CHECK_U64(timeline_count(t), 1);
	add(t, ended('A', 120, 170, 180, STATE_SLEEP, WAKER_timer)); /* cannot be */
	add(t, ended('A', 90, 190, 200, STATE_PIPE, WAKER_irq));
	CHECK_STR(text_walk(t, 'A', 0, 1000)->s,
		  "90-100 A.pipe/irq; 100-150 A.read/block; 150-160 A.wake; "
		  "160-170 A.sleep/timer; 170-180 A.wake; 180-190 A.pipe/irq; 190-200 A.wake");
	timeline_free(t);
	return 0;
}

TEST(timeline_lays_an_overlay_around_those_inside_it)
{
	struct timeline *t = timeline_of("A");

	add(t, overlay('A', 120, 130, STATE_RECLAIM));
	add(t, overlay('A', 150, 160, STATE_RECLAIM));
	add(t, overlay('A', 100, 200, STATE_GC));
	CHECK_U64(timeline_count(t), 5);
	CHECK_STR(text_walk(t, 'A', 0, 1000)->s,
		  "100-120 A.gc; 120-130 A.reclaim; 130-150 A.gc; 150-160 A.reclaim; "
		  "160-200 A.gc");
	timeline_free(t);
	return 0;
}

TEST(timeline_takes_no_nonsense)
{
	struct timeline *t = timeline_of("A");
	struct stop s = ended('A', 100, 50, 200, 250, 250);

	memset(s.waker_comm, 'x', sizeof(s.waker_comm));
	CHECK_STR(text_stop(t, s)->s, "100-200 A.unknown/other?");
	s.wake_ns = 500;
	s.state = STATE_RUN; /* a stop is what is not running */
	CHECK_STR(text_stop(t, s)->s, "100-200 A.unknown/other?");
	s.state = STATE_FUTEX;
	s.by = WAKER_task;
	s.waker = 7;
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex xxxxxxxxxxxxxxx.unknown?");
	s.state = STATE_WAKE; /* never blocked, so nobody ended that */
	s.cpu_pid = 5;
	CHECK_STR(text_stop(t, s)->s, "100-200 A.wake@5");

	s.flags = STOP_OVERLAY;
	add(t, s); /* no state of a running thread */
	s.state = STATE_RUN;
	add(t, s);
	CHECK_STR(text_stop(t, s)->s, "");
	s = ended('A', 100, 100, 100, STATE_READ, WAKER_block);
	add(t, s);
	s.run_ns = 0; /* being written */
	add(t, s);
	CHECK_STR(text_stop(t, s)->s, "");
	s.run_ns = 200;
	s.serial = 0;
	add(t, s);
	timeline_thread(t, 0, &(struct task_info){ .pid = 1, .tid = 1 });
	CHECK_STR(text_stop(t, s)->s, "");
	CHECK_U64(timeline_count(t), 0);
	timeline_free(t);
	timeline_free(NULL);
	return 0;
}

/* ---- threads */

TEST(timeline_holds_stops_of_a_thread_without_a_name)
{
	struct timeline *t = timeline_of("A");
	const struct text *got;

	add(t, ended('B', 120, 140, 140, STATE_READ, WAKER_block));
	got = text_walk(t, 'B', 0, 1000);
	CHECK_STR(got->s, "120-140 .read/block");
	CHECK(got->first.chain.hop[0].serial == 2 && got->first.chain.hop[0].tid == 0);
	/* Others know it; since when it was followed they do not. */
	CHECK_STR(text_stop(t, woken('A', 100, 150, STATE_PIPE, 'B'))->s,
		  "100-120 A.pipe B.unknown?; 120-140 A.pipe B.read/block; 140-150 A.pipe B.run");
	follow(t, 'B', 110);
	CHECK_STR(text_stop(t, woken('A', 100, 150, STATE_PIPE, 'B'))->s,
		  "100-110 A.pipe B.unknown?; 110-120 A.pipe B.run; "
		  "120-140 A.pipe B.read/block; 140-150 A.pipe B.run");
	timeline_free(t);
	return 0;
}

TEST(timeline_forgets_a_thread_with_all_its_stops)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = woken('A', 100, 200, STATE_FUTEX, 'B');

	add(t, ended('A', 0, 5, 9, STATE_READ, WAKER_block));
	add(t, ended('B', 110, 120, 130, STATE_READ, WAKER_block));
	add(t, overlay('B', 130, 140, STATE_GC));
	timeline_forget(t, serial_of('B'));
	timeline_forget(t, serial_of('B'));
	timeline_forget(t, 4711);
	CHECK_U64(timeline_count(t), 1);
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex B.unknown?");
	s.waker_serial = 0; /* nor is it found by its tid */
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex B.unknown?");
	CHECK_STR(text_walk(t, 'B', 0, 1000)->s, "");
	timeline_free(t);
	return 0;
}

/* The old one is forgotten late, when the new one has its tid already. */
TEST(timeline_finds_the_latest_thread_of_a_tid)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = woken('A', 100, 200, STATE_FUTEX, 'B');
	struct task_info info = { .pid = 102, .tid = 202, .adopted_ns = 90, .comm = "new" };

	s.waker_serial = 0;
	timeline_thread(t, 77, &info);
	timeline_forget(t, serial_of('B'));
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex new.run");
	info.tid = 303;
	memset(info.comm, 'y', sizeof(info.comm));
	timeline_thread(t, 77, &info);
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex B.unknown?");
	s.waker = 303;
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex yyyyyyyyyyyyyyy.run");
	timeline_free(t);
	return 0;
}

/* ---- bounds */

TEST(timeline_prune_drops_what_is_over_and_remembers_that)
{
	struct timeline *t = timeline_of("ABC");
	struct stop s = woken('A', 100, 200, STATE_FUTEX, 'B');

	add(t, ended('B', 110, 120, 120, STATE_READ, WAKER_block));
	add(t, ended('B', 130, 170, 170, STATE_READ, WAKER_block));
	add(t, overlay('B', 121, 122, STATE_GC));
	add(t, ended('D', 1, 2, 3, STATE_READ, WAKER_block));
	timeline_prune(t, 150);
	CHECK_U64(timeline_count(t), 1);
	CHECK_STR(text_stop(t, s)->s, "100-130 A.futex B.unknown?; 130-170 A.futex B.read/block; "
				      "170-200 A.futex B.run");
	timeline_prune(t, 0); /* never back */
	timeline_gap(t, 10);
	CHECK_STR(text_stop(t, woken('A', 140, 160, STATE_FUTEX, 'C'))->s,
		  "140-150 A.futex C.unknown?; 150-160 A.futex C.run");
	timeline_prune(t, UINT64_MAX);
	CHECK_U64(timeline_count(t), 0);
	CHECK_STR(text_stop(t, s)->s, "100-200 A.futex B.unknown?");
	timeline_free(t);
	return 0;
}

TEST(timeline_holds_so_many_stops_of_a_thread_and_then_the_latest)
{
	struct timeline *t = timeline_of("AB");
	struct stop s = ended('B', 5, 6, 7, STATE_READ, WAKER_block);

	for (uint64_t i = 0; i < THREAD_MAX; i++)
		add(t, ended('B', i * 10, i * 10 + 5, i * 10 + 5, STATE_READ, WAKER_block));
	CHECK_U64(timeline_count(t), THREAD_MAX);
	CHECK_STR(text_stop(t, woken('A', 0, 20, STATE_PIPE, 'B'))->s,
		  "0-5 A.pipe B.read/block; 5-10 A.pipe B.run; 10-15 A.pipe B.read/block; "
		  "15-20 A.pipe B.run");
	s.from_ns = THREAD_MAX * 10;
	s.wake_ns = s.run_ns = s.from_ns + 5;
	add(t, s);
	CHECK_U64(timeline_count(t), THREAD_MAX);
	CHECK_STR(text_stop(t, woken('A', 0, 20, STATE_PIPE, 'B'))->s,
		  "0-5 A.pipe B.unknown?; 5-10 A.pipe B.run; 10-15 A.pipe B.read/block; "
		  "15-20 A.pipe B.run");
	add(t, ended('B', 7, 8, 9, STATE_READ, WAKER_block)); /* older than all: not kept */
	CHECK_U64(timeline_count(t), THREAD_MAX);
	CHECK_STR(text_stop(t, woken('A', 0, 20, STATE_PIPE, 'B'))->s,
		  "0-9 A.pipe B.unknown?; 9-10 A.pipe B.run; 10-15 A.pipe B.read/block; "
		  "15-20 A.pipe B.run");
	for (uint64_t i = THREAD_MAX + 1; i < 5 * THREAD_MAX; i++)
		add(t, ended('B', i * 10, i * 10 + 5, i * 10 + 5, STATE_READ, WAKER_block));
	CHECK_U64(timeline_count(t), THREAD_MAX);
	CHECK_U64(text_walk(t, 'B', 0, UINT64_MAX)->ns, THREAD_MAX * 5);
	CHECK_U64(text_walk(t, 'B', 0, UINT64_MAX)->first.from_ns, 4 * THREAD_MAX * 10);
	timeline_free(t);
	return 0;
}

TEST(timeline_gives_memory_back)
{
	struct timeline *t = timeline_of("B");
	const struct track *track = &timeline_find(t, serial_of('B'))->stops;

	for (uint64_t i = 0; i < 5 * THREAD_MAX; i++)
		add(t, ended('B', i * 10, i * 10 + 5, i * 10 + 5, STATE_READ, WAKER_block));
	CHECK(track->room <= 2 * THREAD_MAX);
	timeline_prune(t, (5 * THREAD_MAX - 100) * 10);
	CHECK(track->count == 100 && track->room == 200);
	CHECK_U64(text_walk(t, 'B', 0, UINT64_MAX)->ns, 500);
	timeline_prune(t, UINT64_MAX);
	CHECK(!track->base && !track->room);
	timeline_free(t);
	return 0;
}

static void add_late(struct timeline *t, uint32_t serial, uint64_t at)
{
	struct stop s = ended('A', at, at + 5, at + 5, STATE_READ, WAKER_block);

	s.serial = serial;
	add(t, s);
}

TEST(timeline_holds_so_many_stops_of_all_threads_and_then_the_latest)
{
	struct timeline *t = timeline_of("A");
	uint64_t start = clock_cpu_ns(), n = 3 * ALL_MAX, held = 0;
	struct text last;

	for (uint64_t i = 0; i < n; i++) {
		add_late(t, 2 + (uint32_t)(i % 100), i * 10);
		held = timeline_count(t);
		CHECK(held <= ALL_MAX);
		CHECK(held >= (i < ALL_MAX ? i : ALL_MAX / 8 * 7));
	}
	last = *text_walk(t, 'B' + (int)((n - 1) % 100), 0, UINT64_MAX);
	CHECK_U64(last.last.from_ns, (n - 1) * 10);
	/* The latest of all threads are there, without a hole. */
	CHECK(last.first.from_ns >= (n - held - 100) * 10);
	CHECK(last.first.from_ns < (n - held + 100) * 10);
	/* And what is gone is known to be: nobody ran then. */
	CHECK_STR(text_stop(t, woken('A', 0, 20, STATE_PIPE, 'B'))->s, "0-20 A.pipe B.unknown?");
	CHECK_STR(text_stop(t, woken('A', n * 10 - 8, n * 10 - 6, STATE_PIPE, 'C'))->s,
		  "3932152-3932154 A.pipe C.run");
	timeline_free(t);
	CHECK(clock_cpu_ns() - start < 5000000000ull);
	return 0;
}

/* ---- ids */

static struct chain two_hops(void)
{
	return (struct chain){
		.hops = 2,
		.complete = true,
		.hop = { { .serial = 1,
			   .pid = 101,
			   .tid = 201,
			   .state = STATE_FUTEX,
			   .by = WAKER_task,
			   .nr = 202,
			   .irq = -1,
			   .fd = -1,
			   .obj = 0x7000,
			   .object = OBJECT_lock,
			   .relation = RELATION_self },
			 { .serial = 2,
			   .pid = 102,
			   .tid = 202,
			   .state = STATE_READ,
			   .by = WAKER_block,
			   .irq = 36,
			   .fd = 5,
			   .obj = 4711,
			   .object = OBJECT_file,
			   .relation = RELATION_child,
			   .name = "data/train.bin" } },
	};
}

TEST(chain_id_changes_with_everything_that_tells_chains_apart)
{
	struct chain c = two_hops();
	uint64_t id = chain_id(&c);

#define DIFFERS(field, value)                                                                      \
	do {                                                                                       \
		c = two_hops();                                                                    \
		c.field = (value);                                                                 \
		CHECK(chain_id(&c) != id);                                                         \
	} while (0)
	DIFFERS(hops, 1);
	DIFFERS(complete, false);
	DIFFERS(hop[0].pid, 1);
	DIFFERS(hop[0].tid, 1);
	DIFFERS(hop[0].state, STATE_PIPE);
	DIFFERS(hop[0].by, WAKER_timer);
	DIFFERS(hop[0].nr, -1);
	DIFFERS(hop[0].obj, 0x7008);
	DIFFERS(hop[0].object, OBJECT_gil);
	DIFFERS(hop[1].relation, RELATION_foreign);
	DIFFERS(hop[1].cpu_pid, 9);
	DIFFERS(hop[1].obj, 4712);
	DIFFERS(hop[1].name[0], 'D');
	DIFFERS(hop[1].name[4], '\0');
	DIFFERS(hop[0].stack, 300);
	DIFFERS(hop[1].stack, 300);
	DIFFERS(hop[1].device[0], 'n');
#undef DIFFERS
	return 0;
}

TEST(chain_id_is_the_same_from_one_time_to_the_next)
{
	struct chain c = two_hops();
	uint64_t id = chain_id(&c);

	CHECK_U64(id, 10768464685882165654ull); /* in the store of every run before */
	c.hop[0].serial = 77;
	c.hop[0].cpu = 9;
	c.hop[1].fd = 6;
	c.hop[1].name[127] = 'x'; /* behind the end of the text */
	CHECK_U64(chain_id(&c), id);
	c.hop[0].state = STATE_FAULT; /* obj is the instruction that faulted */
	id = chain_id(&c);
	c.hop[0].obj++;
	CHECK_U64(chain_id(&c), id);
	return 0;
}

TEST(chain_bare_id_is_the_same_whatever_the_lines_are)
{
	struct chain c = two_hops();
	uint64_t id = chain_bare_id(&c);

	CHECK_U64(id, chain_id(&c));
	c.hop[0].stack = 300;
	c.hop[1].stack = 301;
	CHECK_U64(chain_bare_id(&c), id);
	CHECK(chain_id(&c) != id);
	c.hop[1].obj++;
	CHECK(chain_bare_id(&c) != id);
	return 0;
}

/* Each CPU has a queue of its own, with an interrupt of its own: one disk is one chain. */
TEST(chain_id_knows_a_device_whichever_queue_it_answered_on)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "nvme0q3", "nvme0q17", true },     { "virtio1-req.0", "virtio1-req.1", true },
		{ "nvme0q3", "nvme1q3", false },     { "eth0", "eth1", false },
		{ "xhci_hcd", "ahci", false },       { "ahci", "", false },
		{ "eth0-rx-1", "eth1-rx-1", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct chain a = two_hops(), b = two_hops();

		str_copy(a.hop[1].device, sizeof(a.hop[1].device), pairs[i].a);
		str_copy(b.hop[1].device, sizeof(b.hop[1].device), pairs[i].b);
		b.hop[1].irq = 99;
		if ((chain_id(&a) == chain_id(&b)) != pairs[i].same)
			return test_fail(__FILE__, __LINE__, "%s, %s", pairs[i].a, pairs[i].b);
	}
	return 0;
}

/* ---- names */

TEST(every_state_waker_object_and_relation_has_its_name)
{
	for (int i = 0; i < STATE_COUNT; i++)
		CHECK(state_names[i] && state_names[i][0] && state_texts[i] && state_texts[i][0]);
	for (int i = 0; i < WAKER_COUNT; i++)
		CHECK(waker_names[i] && waker_names[i][0]);
	for (int i = 0; i < OBJECT_COUNT; i++)
		CHECK(object_names[i] && object_names[i][0]);
	for (int i = 0; i < RELATION_COUNT; i++)
		CHECK(relation_names[i] && relation_names[i][0]);
	CHECK_STR(state_names[STATE_RECLAIM_WAIT], "reclaim_wait");
	CHECK_STR(state_texts[STATE_FUTEX], "waiting for a lock or another thread");
	CHECK_STR(waker_names[WAKER_block], "block");
	CHECK_STR(object_names[OBJECT_tcp_server], "tcp_server");
	CHECK_STR(relation_names[RELATION_self], "self");
	return 0;
}
