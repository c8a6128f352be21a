// SPDX-License-Identifier: Apache-2.0
/*
 * From a chain to its cause. The last hop is where the time was spent, so its state decides; if it
 * worked or slept by itself, what it was reached through decides: a lock, or a message.
 */
#include "explain/classify.h"

#include "base/util.h"

#define BIT(n) (1u << (n))

/* Waiting for somebody to send something. */
#define MESSAGES (BIT(STATE_PIPE) | BIT(STATE_SOCKET) | BIT(STATE_POLL))
#define FILES_ (BIT(STATE_READ) | BIT(STATE_PATH) | BIT(STATE_WRITE) | BIT(STATE_FSYNC))
#define ON_CPU (BIT(STATE_RUN) | BIT(STATE_IRQ) | BIT(STATE_STEAL))
#define NOT_RUNNING (BIT(STATE_PREEMPTED) | BIT(STATE_WAKE) | BIT(STATE_THROTTLED))

/* How a call of the driver waits for its device, whichever way it was told to. */
#define DRIVER_WAITS                                                                               \
	(ON_CPU | BIT(STATE_SLEEP) | BIT(STATE_GPU) | BIT(STATE_POLL) | BIT(STATE_FUTEX) |         \
	 BIT(STATE_PIPE) | BIT(STATE_DEVICE) | BIT(STATE_SYSCALL) | BIT(STATE_MMAP))

/* Calls that wait until the GPU has done something. The others have business of their own. */
#define GPU_CALLS                                                                                  \
	(BIT(CLASS_SYNC) | BIT(CLASS_GRAPH) | BIT(CLASS_COPY) | BIT(CLASS_COLL) | BIT(CLASS_P2P) | \
	 BIT(CLASS_FREE) | BIT(CLASS_LAUNCH) | BIT(CLASS_FILL))
#define COLD_CALLS (BIT(CLASS_INIT) | BIT(CLASS_MODULE))

static bool is(unsigned int value, uint32_t set)
{
	return value < 32 && set >> value & 1;
}

static struct verdict healthy(enum healthy why)
{
	return (struct verdict){ .healthy = why, .who = WHO_NOBODY, .what = -1 };
}

static struct verdict blame(enum cause_id cause, int who, int what)
{
	return (struct verdict){ .cause = cause, .who = who, .what = what };
}

static struct verdict inferred(struct verdict v)
{
	v.inferred = true;
	return v;
}

static struct verdict guess(enum cause_id cause, int who, int what)
{
	return inferred(blame(cause, who, what));
}

int chain_end(const struct chain *c)
{
	int end = c->hops - 1;

	while (end > 0 && c->hop[end].relation == RELATION_kernel)
		end--;
	return end;
}

int chain_tcp(const struct chain *c)
{
	int end = chain_end(c);

	for (int h = 0; h <= end; h++) {
		const struct hop *hop = &c->hop[h];

		if (hop->object != OBJECT_tcp || !is(hop->state, MESSAGES))
			continue;
		/* A worker of one's own, reached by TCP, is no network. */
		if (h == end || c->hop[h + 1].relation == RELATION_foreign)
			return h;
	}
	return -1;
}

/* ---- what was waited for, along the way ---- */

/* Does it wait for requests, or for a stranger of whom nobody knows what he owes? */
static bool serves(const struct chain *c, int end)
{
	for (int h = 0; h <= end; h++) {
		if (c->hop[h].object == OBJECT_tcp_server)
			return true;
		if (h < end && is(c->hop[h].state, MESSAGES) &&
		    c->hop[h + 1].relation == RELATION_foreign)
			return true;
	}
	return false;
}

/*
 * Packets sent again explain a wait that a packet ended. They do not explain one that ended when the
 * peer, which is on this host and was seen to work or sleep, sent something.
 */
static struct verdict network(const struct chain *c, int h, int end, const struct around *around)
{
	const struct hop *peer = h < end ? &c->hop[h + 1] : NULL;
	bool lost = around->resent && (!peer || is(peer->state, MESSAGES));

	for (int i = 0; i <= end; i++)
		lost |= c->hop[i].flags & STOP_PACKET_LOSS;
	if (lost)
		return blame(CAUSE_network_retransmit, WHO_NOBODY, h);
	return blame(CAUSE_network_peer, h < end ? h + 1 : WHO_NOBODY, h);
}

/* The driver's own way to wait, with threads of its own at most. */
static bool driver_waits(const struct chain *c, int end, enum op_class place)
{
	if (place == CLASS_GAP || !is(c->hop[end].state, DRIVER_WAITS))
		return false;
	for (int h = 1; h <= end; h++)
		if (c->hop[h].relation != RELATION_self)
			return false;
	return true;
}

/* The file that somebody waited for while another process served it, or held it. */
static int served_file(const struct chain *c, int end)
{
	for (int h = 0; h < end; h++)
		if (is(c->hop[h].state, FILES_) && !is(c->hop[end].state, FILES_ | NOT_RUNNING))
			return h;
	return -1;
}

/* It is about the file of hop h; who is the one to ask for it sooner, or to serve it sooner. */
static struct verdict file_of(const struct chain *c, int h, int who)
{
	bool writes = c->hop[h].state == STATE_WRITE || c->hop[h].state == STATE_FSYNC;

	return blame(writes ? CAUSE_disk_write : CAUSE_disk_read, who, h);
}

/* ---- what the last hop did ---- */

/* The main thread of a process that was reached by a message, behind the one that sends for it. */
static bool feeds_sender(const struct chain *c, int end)
{
	const struct hop *last = &c->hop[end], *link = last - 1;

	return end >= 2 && is(link[-1].state, MESSAGES) && link[-1].pid != link->pid &&
	       link->pid == last->pid && link->tid != link->pid && last->tid == last->pid;
}

/* A worker whose threads share its interpreter is slow by its own Python work. */
static struct verdict held_gil(const struct chain *c, int who, int what)
{
	bool own = c->hop[what].relation == RELATION_self;

	return blame(own ? CAUSE_gil : CAUSE_data_loader, who, own ? what : -1);
}

/* It worked, or slept, by itself: what it was reached through says what it owed. */
static struct verdict own_work(const struct chain *c, int end)
{
	static const enum cause_id by_link[STATE_COUNT] = {
		[STATE_FUTEX] = CAUSE_lock,         [STATE_PIPE] = CAUSE_data_loader,
		[STATE_SOCKET] = CAUSE_data_loader, [STATE_POLL] = CAUSE_data_loader,
		[STATE_CHILD] = CAUSE_data_loader,  [STATE_MMAP] = CAUSE_lock,
		[STATE_FAULT] = CAUSE_page_fault,   [STATE_RECLAIM_WAIT] = CAUSE_memory_reclaim,
	};
	const struct hop *link = &c->hop[end - 1];
	enum cause_id cause = by_link[link->state];

	if (link->object == OBJECT_gil)
		return held_gil(c, end, end - 1);
	if (link->state == STATE_GPU)
		return healthy(HEALTHY_gpu);
	/* Memory of one's own is given by the kernel; a stranger has files that are mapped. */
	if (link->state == STATE_FAULT && c->hop[end].relation == RELATION_foreign)
		return guess(CAUSE_disk_read, end, end - 1);
	if (link->state == STATE_SLEEP && end == 1)
		return blame(CAUSE_self_sleep, 0, -1);
	if (cause == CAUSE_lock && link->state == STATE_FUTEX && feeds_sender(c, end))
		return blame(CAUSE_data_loader, end, -1);
	if (cause == CAUSE_none)
		return guess(CAUSE_unknown, end, end - 1);
	return blame(cause, end, end - 1);
}

/* It waited for something else, and a timer ended that: as good as a sleep. */
static struct verdict timed_out(const struct chain *c, int end)
{
	return end ? own_work(c, end) : guess(CAUSE_self_sleep, 0, 0);
}

static bool is_terminal(const struct hop *h)
{
	unsigned int major = (unsigned int)(h->obj >> 20) & 0xfff;

	return major == 4 || major == 5 || (major >= 136 && major <= 143);
}

/* Blocked on something that nobody followed sent or released. */
static struct verdict left_waiting(const struct chain *c, int end)
{
	const struct hop *last = &c->hop[end];

	if (last->object == OBJECT_gil)
		return held_gil(c, end, end);
	if (last->by == WAKER_timer)
		return timed_out(c, end);
	if (end == 0 && is(last->state, MESSAGES) && last->by != WAKER_task)
		return healthy(HEALTHY_idle); /* from outside, and it did not ask for it */
	return guess(CAUSE_unknown, end, end);
}

static struct verdict by_state(const struct chain *c, int end, const struct around *around)
{
	const struct hop *last = &c->hop[end];

	switch (last->state) {
	case STATE_PREEMPTED:
	case STATE_WAKE:
		return last->cpu_pid ? blame(CAUSE_cpu_contention, WHO_CPU, -1)
				     : healthy(HEALTHY_small);
	case STATE_THROTTLED:
		return blame(CAUSE_cpu_quota, WHO_NOBODY, -1);
	case STATE_RECLAIM:
	case STATE_RECLAIM_WAIT:
		return blame(CAUSE_memory_reclaim, WHO_NOBODY, -1);
	case STATE_GC:
		return blame(CAUSE_python_gc, end, -1);
	case STATE_FAULT:
		if (around->swapping)
			return guess(CAUSE_swap, WHO_NOBODY, -1);
		if (last->by == WAKER_block)
			return guess(CAUSE_disk_read, end, end);
		return guess(CAUSE_page_fault, end, -1);
	case STATE_READ:
	case STATE_PATH:
	case STATE_WRITE:
	case STATE_FSYNC:
		return file_of(c, end, end);
	case STATE_URING:
	case STATE_MMAP:
	case STATE_SYSCALL:
		if (last->flags & STOP_IOWAIT || last->by == WAKER_block)
			return guess(CAUSE_disk_read, end, end);
		return last->state == STATE_MMAP ? healthy(HEALTHY_small)
						 : guess(CAUSE_unknown, end, end);
	case STATE_GPU:
		return healthy(HEALTHY_gpu);
	case STATE_DEVICE:
		return is_terminal(last) ? healthy(HEALTHY_idle) : guess(CAUSE_unknown, end, end);
	case STATE_SLEEP:
		return end ? own_work(c, end) : blame(CAUSE_self_sleep, 0, -1);
	case STATE_RUN:
	case STATE_IRQ:
	case STATE_STEAL:
		return end ? own_work(c, end) : healthy(HEALTHY_small);
	case STATE_FUTEX:
	case STATE_PIPE:
	case STATE_SOCKET:
	case STATE_POLL:
		return left_waiting(c, end);
	default:
		if (end && c->hop[end - 1].object == OBJECT_gil)
			return inferred(
				held_gil(c, end, end - 1)); /* his line is known, not more */
		return guess(CAUSE_unknown, end ? end : WHO_NOBODY, end);
	}
}

/* What a process that was just killed left behind: whoever waited for it waited for memory. */
static bool by_the_kill(const struct chain *c, int end, enum cause_id cause)
{
	static const bool can_be[CAUSE_COUNT] = {
		[CAUSE_data_loader] = true,    [CAUSE_unknown] = true,    [CAUSE_lock] = true,
		[CAUSE_memory_reclaim] = true, [CAUSE_page_fault] = true, [CAUSE_disk_read] = true,
	};
	bool waits = is(c->hop[0].state, MESSAGES | BIT(STATE_CHILD));

	return can_be[cause] && waits && (end == 0 || c->hop[end].relation == RELATION_child);
}

struct verdict turn_of(const struct chain *c, int feeder)
{
	struct verdict v = healthy(HEALTHY_turn);

	v.worked = c->hops == feeder + 1 && c->hop[feeder].state == STATE_RUN;
	return v;
}

struct verdict classify(const struct chain *c, enum op_class place, const struct around *around)
{
	struct verdict v;
	int end, h;

	if (c->hops < 1)
		return guess(CAUSE_unknown, WHO_NOBODY, -1);
	if (around->feeder)
		return turn_of(c, around->feeder);
	end = chain_end(c);
	if (is(place, COLD_CALLS) && !is(c->hop[end].state, NOT_RUNNING))
		return healthy(HEALTHY_small); /* cold-start counts all of it */
	h = chain_tcp(c);
	if (h >= 0)
		return network(c, h, end, around);
	if (serves(c, end))
		return healthy(HEALTHY_idle);
	if (driver_waits(c, end, place))
		return healthy(is(place, GPU_CALLS) ? HEALTHY_gpu : HEALTHY_small);
	h = served_file(c, end);
	v = h >= 0 ? file_of(c, h, end) : by_state(c, end, around);
	if (around->killed && by_the_kill(c, end, v.cause))
		return blame(CAUSE_oom, WHO_NOBODY, -1);
	return v;
}
