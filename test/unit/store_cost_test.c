// SPDX-License-Identifier: Apache-2.0
/* Tests of store/cost.c: what tracing cost, and what it did not look at. */
#include "test/unit/store_trace.h"

STORE_TEST(store_adds_up_the_cost_of_a_window)
{
	struct cost_row row = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1.5, 2 }, got;

	CHECK(!trace_run(store));
	CHECK(!store_cost(store, 10, &row));
	row.worst_pct = 0.5;
	CHECK(!store_cost(store, 20, &row));
	CHECK(!store_cost_total(store, (struct window){ 0, 0 }, &got));
	CHECK_U64(got.launch_ns, 2);
	CHECK_U64(got.related_ns, 14);
	CHECK_U64(got.cpus_ns, 20);
	CHECK_NEAR(got.worst_pct, 1.5, 0);
	CHECK_NEAR(got.budget_pct, 2, 0);
	CHECK(!store_cost_total(store, (struct window){ BOOT_NS + 10, BOOT_NS + 20 }, &got));
	CHECK_U64(got.call_ns, 2);
	CHECK(!store_cost_total(store, (struct window){ BOOT_NS + 30, BOOT_NS + 40 }, &got));
	CHECK_U64(got.agent_ns, 0);
	CHECK_NEAR(got.worst_pct, 0, 0);
	return 0;
}

static int sum_shed(const struct shed_row *row, void *arg)
{
	uint64_t *sum = arg;

	sum[0]++;
	sum[1] += row->to_ns - row->from_ns;
	sum[2] += row->calls;
	return 0;
}

STORE_TEST(store_extends_what_is_still_shed)
{
	struct shed_row row = { "launches", 100, 150, 12.5, 1000 };
	uint64_t sum[3] = { 0 };

	CHECK(!trace_run(store));
	CHECK(!store_shed(store, &row));
	row.to_ns = 200;
	row.calls = 2000;
	CHECK(!store_shed(store, &row));
	row.what = "stacks";
	CHECK(!store_shed(store, &row));
	CHECK(!store_each_shed(store, (struct window){ 0, 0 }, sum_shed, sum));
	CHECK_U64(sum[0], 2);
	CHECK_U64(sum[1], 200);
	CHECK_U64(sum[2], 4000);
	CHECK_STR(trace_ask(store, "SELECT what, calls, cost_pct FROM shed WHERE what='launches'"),
		  "launches|2000|12.5");
	memset(sum, 0, sizeof(sum));
	CHECK(!store_each_shed(store, (struct window){ BOOT_NS + 201, BOOT_NS + 300 }, sum_shed,
			       sum));
	CHECK_U64(sum[0], 0);
	return 0;
}
