/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of store/: each has an empty store in memory, closed however it ends. */
#ifndef TEST_UNIT_STORE_TRACE_H
#define TEST_UNIT_STORE_TRACE_H

#include "base/fail.h"
#include "test/unit/trace.h"

static struct store *store; /* of the test that runs */

static inline int in_memory(int (*test)(void))
{
	int failed, err = store_open(":memory:", STORE_WRITE, &store);

	if (err)
		return test_fail(__FILE__, __LINE__, "%s", why(err));
	failed = test();
	store_close(store);
	store = NULL;
	return failed;
}

#define STORE_TEST(name)                                                                           \
	static int name##_body(void);                                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		return in_memory(name##_body);                                                     \
	}                                                                                          \
	static int name##_body(void)

/* A run, a process and a thread to hang rows on. */
static inline int make_thread(int64_t *ret)
{
	int64_t process;

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4822, "trainer", 7, ret));
	return 0;
}

#endif
