/* SPDX-License-Identifier: Apache-2.0 */
/* The whole test framework. TEST() registers itself; a failed CHECK ends that test. */
#ifndef TEST_TEST_H
#define TEST_TEST_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct test {
	const char *name; /* a sentence that becomes false when the test fails */
	int (*run)(void); /* 0 = passed */
	struct test *next;
};

void test_add(struct test *t);

/* Keep the reason for the runner to print. Returns 1, so a check is `return test_fail(...)`. */
int test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define TEST(name_)                                                                                \
	static int name_(void);                                                                    \
	__attribute__((constructor)) static void add_##name_(void)                                 \
	{                                                                                          \
		static struct test t = { .name = #name_, .run = name_ };                           \
		test_add(&t);                                                                      \
	}                                                                                          \
	static int name_(void)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			return test_fail(__FILE__, __LINE__, "%s", #cond);                         \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (strcmp(got_, want_) != 0)                                                      \
			return test_fail(__FILE__, __LINE__, "%s\n  got  %s\n  want %s", #got,     \
					 got_, want_);                                             \
	} while (0)

#define CHECK_U64(got, want)                                                                       \
	do {                                                                                       \
		uint64_t got_ = (got), want_ = (want);                                             \
		if (got_ != want_)                                                                 \
			return test_fail(__FILE__, __LINE__, "%s is %llu, not %llu", #got,         \
					 (unsigned long long)got_, (unsigned long long)want_);     \
	} while (0)

/* Within tolerance, which is absolute. A NaN is near nothing. */
#define CHECK_NEAR(got, want, tolerance)                                                           \
	do {                                                                                       \
		double got_ = (double)(got), want_ = (double)(want);                               \
		if (!(fabs(got_ - want_) <= (double)(tolerance)))                                  \
			return test_fail(__FILE__, __LINE__, "%s is %g, not near %g", #got, got_,  \
					 want_);                                                   \
	} while (0)

#endif
