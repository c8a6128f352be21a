// SPDX-License-Identifier: Apache-2.0
#include "agent/syncs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "test/test.h"

struct told {
	int count;
	struct checked_event last;
};

static void on_sync(const struct checked_event *event, void *arg)
{
	struct told *told = arg;

	told->count++;
	told->last = *event;
}

/* Whoever looks reads a file: that is the system call that he is in. */
static struct checked_event begun(uint32_t nr)
{
	return (struct checked_event){ .event = TAG_EVENT_SYNC_BEGUN,
				       .pid = (uint32_t)getpid(),
				       .tid = (uint32_t)syscall(SYS_gettid),
				       .count = nr,
				       .at = 7,
				       .b = 5 };
}

TEST(a_sync_is_over_when_its_thread_does_something_else)
{
	struct checked_event e = begun(SYS_fsync);
	struct syncs *s = syncs_new();
	struct told told = { 0 };

	CHECK(syncs_begun(s, &e, on_sync, &told));
	CHECK(!syncs_turn(s, on_sync, &told));
	CHECK(told.count == 1);
	CHECK(told.last.event == TAG_EVENT_SYNC && !told.last.a);
	CHECK(told.last.b == 5 && told.last.at == 5);
	e.a = 1;
	CHECK(syncs_begun(s, &e, on_sync, &told));
	CHECK(!syncs_turn(s, on_sync, &told));
	CHECK(told.last.event == TAG_EVENT_SYNC_DIR && !told.last.a);
	syncs_free(s);
	return 0;
}

TEST(a_sync_goes_on_while_its_thread_is_in_that_call)
{
	struct checked_event e = begun(SYS_read);
	struct syncs *s = syncs_new();
	struct told told = { 0 };

	CHECK(syncs_begun(s, &e, on_sync, &told));
	CHECK(syncs_turn(s, on_sync, &told));
	CHECK(told.count == 0);
	/* It begins another: the first is over. */
	CHECK(syncs_begun(s, &e, on_sync, &told));
	CHECK(told.count == 1);
	/* The thread is gone. */
	e.tid = 0x7fffffff;
	CHECK(syncs_begun(s, &e, on_sync, &told));
	CHECK(syncs_turn(s, on_sync, &told));
	CHECK(told.count == 2);
	syncs_free(s);
	return 0;
}
