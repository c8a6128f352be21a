// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/classify.c: what each kind of chain is called, row by row. */
#include "explain/classify.h"

#include "test/unit/scene.h"

static const struct around quiet, swap = { .swapping = true }, resent = { .resent = true },
				  killed = { .killed = true }, feeder = { .feeder = 1 };

static struct hop thread(uint32_t tid, enum state state, enum waker by)
{
	return hop_of(TRAINER, tid, state, by);
}

static struct hop stranger(enum state state, enum waker by)
{
	return hop_of(STRANGER, STRANGER, state, by);
}

static struct hop flagged(struct hop h, uint32_t flags)
{
	h.flags = flags;
	return h;
}

static struct hop kernel(enum state state)
{
	struct hop h = hop_of(0, 77, state, WAKER_nobody);

	h.relation = RELATION_kernel;
	return h;
}

struct row {
	struct chain chain;
	enum op_class place;
	enum cause_id cause;
	const struct around *around;
	enum healthy healthy;
	int who;
};

static int check(const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct verdict v = classify(&row[i].chain, row[i].place, row[i].around);

		if (v.cause != row[i].cause || v.healthy != row[i].healthy || v.who != row[i].who)
			return test_fail(__FILE__, __LINE__, "row %zu: %s, healthy %d, who %d", i,
					 cause_name(v.cause), v.healthy, v.who);
	}
	return 0;
}

#define LOCK(h) named(h, OBJECT_lock, "0x1000")
#define GIL(h) named(h, OBJECT_gil, "the GIL")
#define TCP(h) named(h, OBJECT_tcp, "10.0.0.2:7700")
#define UNIX(h) named(h, OBJECT_unix_socket, "")
#define BLAME(c, by_whom) CLASS_GAP, CAUSE_##c, &quiet, HEALTHY_no, by_whom
#define FINE(why) CLASS_GAP, CAUSE_none, &quiet, HEALTHY_##why, WHO_NOBODY

TEST(classify_names_what_the_thread_itself_waits_for)
{
	const struct row row[] = {
		{ CHAIN(self(STATE_READ, WAKER_block)), BLAME(disk_read, 0) },
		{ CHAIN(self(STATE_PATH, WAKER_block)), BLAME(disk_read, 0) },
		{ CHAIN(self(STATE_WRITE, WAKER_timer)), BLAME(disk_write, 0) },
		{ CHAIN(self(STATE_FSYNC, WAKER_kthread)), BLAME(disk_write, 0) },
		{ CHAIN(self(STATE_FAULT, WAKER_block)), BLAME(disk_read, 0) },
		{ CHAIN(self(STATE_FAULT, WAKER_kthread)), BLAME(page_fault, 0) },
		{ CHAIN(self(STATE_FAULT, WAKER_block)), CLASS_GAP, CAUSE_swap, &swap, HEALTHY_no,
		  WHO_NOBODY },
		{ CHAIN(self(STATE_RECLAIM_WAIT, WAKER_timer)), BLAME(memory_reclaim, WHO_NOBODY) },
		{ CHAIN(self(STATE_SLEEP, WAKER_timer)), BLAME(self_sleep, 0) },
		{ CHAIN(self(STATE_THROTTLED, WAKER_nobody)), BLAME(cpu_quota, WHO_NOBODY) },
		{ CHAIN(robbed(self(STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		  BLAME(cpu_contention, WHO_CPU) },
		{ CHAIN(self(STATE_WAKE, WAKER_nobody)), FINE(small) }, /* the CPU was idle */
		{ CHAIN(flagged(self(STATE_SYSCALL, WAKER_block), STOP_IOWAIT)),
		  BLAME(disk_read, 0) },
		{ CHAIN(self(STATE_SYSCALL, WAKER_other)), BLAME(unknown, 0) },
		{ CHAIN(self(STATE_UNKNOWN, WAKER_other)), BLAME(unknown, WHO_NOBODY) },
		{ CHAIN(self(STATE_GC, WAKER_nobody)), BLAME(python_gc, 0) },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(classify_takes_a_timed_wait_that_nothing_ended_for_a_sleep)
{
	const struct row row[] = {
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_timer))), BLAME(self_sleep, 0) },
		{ CHAIN(self(STATE_POLL, WAKER_timer)), BLAME(self_sleep, 0) },
		{ CHAIN(GIL(self(STATE_FUTEX, WAKER_timer))), BLAME(gil, 0) }, /* asks again */
	};

	return check(row, ARRAY_LEN(row));
}

/* In a call of the driver every way to wait is its way to wait for the GPU. */
TEST(classify_finds_waiting_for_the_gpu_healthy)
{
	static const enum state states[] = { STATE_SLEEP, STATE_GPU,    STATE_POLL,
					     STATE_FUTEX, STATE_DEVICE, STATE_SYSCALL };
	static const enum op_class places[] = { CLASS_SYNC, CLASS_COPY, CLASS_GRAPH,
						CLASS_COLL, CLASS_P2P,  CLASS_FREE };

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		for (size_t k = 0; k < ARRAY_LEN(places); k++) {
			struct chain alone = CHAIN(self(states[i], WAKER_irq));
			struct chain helped = CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)),
						    thread(4830, states[i], WAKER_irq));

			CHECK(classify(&alone, places[k], &quiet).healthy == HEALTHY_gpu);
			CHECK(classify(&helped, places[k], &quiet).healthy == HEALTHY_gpu);
		}
	}
	return 0;
}

TEST(classify_still_sees_the_disk_and_the_hog_inside_a_call)
{
	const struct row row[] = {
		{ CHAIN(self(STATE_READ, WAKER_block)), CLASS_SYNC, CAUSE_disk_read, &quiet,
		  HEALTHY_no, 0 },
		{ CHAIN(robbed(self(STATE_WAKE, WAKER_nobody), 9, "hog")), CLASS_SYNC,
		  CAUSE_cpu_contention, &quiet, HEALTHY_no, WHO_CPU },
		{ CHAIN(self(STATE_GPU, WAKER_irq)), CLASS_GAP, CAUSE_none, &quiet, HEALTHY_gpu,
		  WHO_NOBODY },
		/* Loading code reads files: cold-start has all of it. */
		{ CHAIN(self(STATE_READ, WAKER_block)), CLASS_MODULE, CAUSE_none, &quiet,
		  HEALTHY_small, WHO_NOBODY },
		{ CHAIN(self(STATE_MMAP, WAKER_task)), CLASS_ALLOC, CAUSE_none, &quiet,
		  HEALTHY_small, WHO_NOBODY },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(classify_charges_the_end_of_the_chain)
{
	const struct row row[] = {
		/* Through a pipe: by its own work, by its disk, by who had its CPU. */
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_SLEEP, WAKER_timer)),
		  BLAME(data_loader, 1) },
		{ CHAIN(UNIX(self(STATE_SOCKET, WAKER_task)), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_READ, WAKER_block)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_FSYNC, WAKER_kthread)),
		  BLAME(disk_write, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_GC, WAKER_nobody)),
		  BLAME(python_gc, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RECLAIM, WAKER_nobody)),
		  BLAME(memory_reclaim, WHO_NOBODY) },
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			robbed(worker(STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		  BLAME(cpu_contention, WHO_CPU) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_THROTTLED, WAKER_nobody)),
		  BLAME(cpu_quota, WHO_NOBODY) },
		{ CHAIN(self(STATE_CHILD, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 1) },
		/* The kernel is a messenger. */
		{ CHAIN(self(STATE_FSYNC, WAKER_task), kernel(STATE_RUN)), BLAME(disk_write, 0) },
		/* A file that another process serves: it is the one to be quicker. */
		{ CHAIN(self(STATE_READ, WAKER_task), stranger(STATE_SLEEP, WAKER_timer)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_READ, WAKER_task), stranger(STATE_RUN, WAKER_nobody)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_PATH, WAKER_task), stranger(STATE_FUTEX, WAKER_timer)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_FSYNC, WAKER_task), stranger(STATE_RUN, WAKER_nobody)),
		  BLAME(disk_write, 1) },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_READ, WAKER_task),
			stranger(STATE_RUN, WAKER_nobody)),
		  BLAME(disk_read, 2) },
		/* ... or maps; a child that is in the way of a fault shares memory, not files. */
		{ CHAIN(self(STATE_FAULT, WAKER_task), stranger(STATE_SLEEP, WAKER_timer)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_FAULT, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(page_fault, 1) },
		/* ... by a disk of its own, or if it may. */
		{ CHAIN(self(STATE_READ, WAKER_task), stranger(STATE_READ, WAKER_block)),
		  BLAME(disk_read, 1) },
		{ CHAIN(self(STATE_READ, WAKER_task),
			robbed(stranger(STATE_PREEMPTED, WAKER_nobody), 4242, "stress")),
		  BLAME(cpu_contention, WHO_CPU) },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(classify_tells_a_lock_from_a_queue_by_who_waits_for_whom)
{
	const struct row row[] = {
		/* A thread of ours holds it, working or sleeping. */
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_RUN, WAKER_nobody)),
		  BLAME(lock, 1) },
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)),
			thread(4830, STATE_SLEEP, WAKER_timer)),
		  BLAME(lock, 1) },
		/* ... or waits for the disk itself: then that is it. */
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)),
			thread(4830, STATE_FSYNC, WAKER_block)),
		  BLAME(disk_write, 1) },
		/* The worker's sending thread waits for its main thread: a queue. */
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			LOCK(hop_of(WORKER, WORKER + 1, STATE_FUTEX, WAKER_task)),
			worker(STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 2) },
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			LOCK(hop_of(WORKER, WORKER + 1, STATE_FUTEX, WAKER_task)),
			worker(STATE_SLEEP, WAKER_timer)),
		  BLAME(data_loader, 2) },
		/* Its main thread waits for another: a lock, however it is reached. */
		{ CHAIN(self(STATE_PIPE, WAKER_task), LOCK(worker(STATE_FUTEX, WAKER_task)),
			hop_of(WORKER, WORKER + 2, STATE_SLEEP, WAKER_timer)),
		  BLAME(lock, 2) },
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			LOCK(hop_of(WORKER, WORKER + 1, STATE_FUTEX, WAKER_task)),
			LOCK(worker(STATE_FUTEX, WAKER_task)),
			hop_of(WORKER, WORKER + 2, STATE_RUN, WAKER_nobody)),
		  BLAME(lock, 3) },
		/* Shared between processes. */
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(lock, 1) },
		{ CHAIN(GIL(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_RUN, WAKER_nobody)),
		  BLAME(gil, 1) },
		{ CHAIN(GIL(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_READ, WAKER_block)),
		  BLAME(disk_read, 1) },
		/* PyTorch's backward pass: that thread feeds the GPU, nothing is lost. */
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_RUN, WAKER_nobody)),
		  CLASS_GAP, CAUSE_none, &feeder, HEALTHY_turn, WHO_NOBODY },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(classify_finds_a_server_between_requests_healthy)
{
	const struct row row[] = {
		{ CHAIN(named(self(STATE_SOCKET, WAKER_net), OBJECT_tcp_server, ":8000")),
		  FINE(idle) },
		{ CHAIN(named(self(STATE_POLL, WAKER_task), OBJECT_tcp_server, ":8000"),
			stranger(STATE_SLEEP, WAKER_timer)),
		  FINE(idle) },
		{ CHAIN(UNIX(self(STATE_SOCKET, WAKER_task)), stranger(STATE_SLEEP, WAKER_timer)),
		  FINE(idle) },
		{ CHAIN(UNIX(self(STATE_POLL, WAKER_task)), stranger(STATE_UNKNOWN, WAKER_nobody)),
		  FINE(idle) },
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			robbed(stranger(STATE_PREEMPTED, WAKER_nobody), 9, "hog")),
		  FINE(idle) },
		{ CHAIN(named(self(STATE_POLL, WAKER_net), OBJECT_events, "")), FINE(idle) },
		/* A thread of ours that takes the requests. */
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)),
			named(thread(4830, STATE_SOCKET, WAKER_net), OBJECT_tcp_server, ":8000")),
		  FINE(idle) },
	};
	struct chain terminal = CHAIN(self(STATE_DEVICE, WAKER_kthread));

	terminal.hop[0].obj = 136ull << 20;
	CHECK(classify(&terminal, CLASS_GAP, &quiet).healthy == HEALTHY_idle);
	terminal.hop[0].obj = 10ull << 20;
	CHECK(classify(&terminal, CLASS_GAP, &quiet).cause == CAUSE_unknown);
	return check(row, ARRAY_LEN(row));
}

TEST(classify_tells_lost_packets_from_a_slow_peer)
{
	const struct row row[] = {
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_net))), BLAME(network_peer, WHO_NOBODY) },
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_task)), stranger(STATE_SLEEP, WAKER_timer)),
		  BLAME(network_peer, 1) },
		{ CHAIN(TCP(self(STATE_POLL, WAKER_task)), stranger(STATE_UNKNOWN, WAKER_nobody)),
		  BLAME(network_peer, 1) },
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_task)), stranger(STATE_READ, WAKER_block)),
		  BLAME(network_peer, 1) },
		{ CHAIN(TCP(flagged(self(STATE_SOCKET, WAKER_net), STOP_PACKET_LOSS))),
		  BLAME(network_retransmit, WHO_NOBODY) },
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_net))), CLASS_GAP, CAUSE_network_retransmit,
		  &resent, HEALTHY_no, WHO_NOBODY },
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_task)), stranger(STATE_SOCKET, WAKER_net)),
		  CLASS_GAP, CAUSE_network_retransmit, &resent, HEALTHY_no, WHO_NOBODY },
		/* The peer was seen to sleep: it had not sent anything that could be lost. */
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_task)), stranger(STATE_SLEEP, WAKER_timer)),
		  CLASS_GAP, CAUSE_network_peer, &resent, HEALTHY_no, 1 },
		/* A worker that fetches over the network. */
		{ CHAIN(self(STATE_PIPE, WAKER_task), TCP(worker(STATE_SOCKET, WAKER_net))),
		  BLAME(network_peer, WHO_NOBODY) },
		/* A worker of our own, reached by TCP: no network. */
		{ CHAIN(TCP(self(STATE_SOCKET, WAKER_task)), worker(STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 1) },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(classify_says_unknown_rather_than_guess)
{
	const struct row row[] = {
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_UNKNOWN, WAKER_nobody)),
		  BLAME(unknown, 1) },
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)),
			thread(4830, STATE_UNKNOWN, WAKER_nobody)),
		  BLAME(unknown, 1) },
		{ CHAIN(LOCK(self(STATE_FUTEX, WAKER_irq))), BLAME(unknown, 0) },
		{ CHAIN(self(STATE_CHILD, WAKER_other)), BLAME(unknown, WHO_NOBODY) },
		{ CHAIN(self(STATE_STOPPED, WAKER_task)), BLAME(unknown, WHO_NOBODY) },
	};
	struct chain none = { 0 };

	CHECK(classify(&none, CLASS_GAP, &quiet).cause == CAUSE_unknown);
	return check(row, ARRAY_LEN(row));
}

TEST(classify_charges_waits_for_a_killed_worker_to_the_kill)
{
	const struct row row[] = {
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)), CLASS_GAP,
		  CAUSE_oom, &killed, HEALTHY_no, WHO_NOBODY },
		{ CHAIN(self(STATE_CHILD, WAKER_other)), CLASS_GAP, CAUSE_oom, &killed, HEALTHY_no,
		  WHO_NOBODY },
		{ CHAIN(self(STATE_READ, WAKER_block)), CLASS_GAP, CAUSE_disk_read, &killed,
		  HEALTHY_no, 0 },
		{ CHAIN(self(STATE_SLEEP, WAKER_timer)), CLASS_GAP, CAUSE_self_sleep, &killed,
		  HEALTHY_no, 0 },
	};

	return check(row, ARRAY_LEN(row));
}

TEST(causes_are_listed_in_the_order_of_their_ids)
{
	int n = 0;

	while (causes[n].id)
		n++;
	CHECK(n == CAUSE_COUNT - 1);
	CHECK_STR(cause_name(CAUSE_none), "none");
	CHECK_STR(cause_name(CAUSE_disk_read), "disk-read");
	CHECK_STR(cause_name(CAUSE_unknown), "unknown");
	return 0;
}

/* The same lock in a worker: its threads share an interpreter, and that is its own business. */
TEST(classify_the_interpreter_lock_of_a_worker)
{
	const struct row row[] = {
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			GIL(hop_of(WORKER, WORKER + 4, STATE_FUTEX, WAKER_task)),
			hop_of(WORKER, WORKER, STATE_RUN, WAKER_nobody)),
		  BLAME(data_loader, 2) },
		{ CHAIN(self(STATE_PIPE, WAKER_task),
			GIL(hop_of(WORKER, WORKER + 4, STATE_FUTEX, WAKER_timer))),
		  BLAME(data_loader, 1) },
		{ CHAIN(GIL(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_RUN, WAKER_nobody)),
		  BLAME(gil, 1) },
	};

	return check(row, ARRAY_LEN(row));
}

/* A thread that waits for another calling thread has its turn, whatever that one does in it. */
TEST(classify_turns_of_calling_threads)
{
	const struct chain works =
		CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_RUN, WAKER_nobody));
	const struct chain sleeps =
		CHAIN(LOCK(self(STATE_FUTEX, WAKER_task)), thread(4830, STATE_SLEEP, WAKER_timer));
	struct verdict v = classify(&works, CLASS_GAP, &feeder);

	CHECK(v.cause == CAUSE_none && v.healthy == HEALTHY_turn && v.worked);
	v = classify(&sleeps, CLASS_GAP, &feeder);
	CHECK(v.cause == CAUSE_none && v.healthy == HEALTHY_turn && !v.worked);
	v = classify(&works, CLASS_GAP, &quiet);
	CHECK(v.cause == CAUSE_lock);
	return 0;
}

TEST(classify_a_wait_for_a_holder_of_whom_only_the_line_is_known)
{
	struct chain c = CHAIN(named(self(STATE_FUTEX, WAKER_task), OBJECT_gil, "the GIL"),
			       hop_of(TRAINER, 0, STATE_UNKNOWN, WAKER_nobody));
	struct around around = { 0 };
	struct verdict v;

	c.complete = false;
	v = classify(&c, CLASS_GAP, &around);
	CHECK(v.cause == CAUSE_gil && v.inferred);
	CHECK(v.who == 1 && v.what == 0);
	c.hop[0].object = OBJECT_lock;
	CHECK(classify(&c, CLASS_GAP, &around).cause == CAUSE_unknown);
	return 0;
}
