/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of explain/ that go through the store: each has an empty one and an answer. */
#ifndef TEST_UNIT_EXPLAIN_TRACE_H
#define TEST_UNIT_EXPLAIN_TRACE_H

#include "base/fail.h"
#include "explain/explain.h"
#include "test/unit/trace.h"

static struct store *store; /* of the test that runs */
static struct explanation answer;
static int64_t process __attribute__((unused)), thread __attribute__((unused));

static inline int with_store(int (*test)(void))
{
	int failed, err = store_open(":memory:", STORE_WRITE, &store);

	if (err)
		return test_fail(__FILE__, __LINE__, "%s", why(err));
	answer = (struct explanation){ 0 };
	failed = test();
	explain_free(&answer);
	store_close(store);
	store = NULL;
	return failed;
}

/* Both are closed however it ends. */
#define EXPLAIN_TEST(name)                                                                         \
	static int name##_body(void);                                                              \
	TEST(name)                                                                                 \
	{                                                                                          \
		return with_store(name##_body);                                                    \
	}                                                                                          \
	static int name##_body(void)

#endif
