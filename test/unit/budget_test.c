// SPDX-License-Identifier: Apache-2.0
/* Tests of capture/budget.c: a host that launches, and pays for what is looked at. */
#include "capture/budget.h"

#include "test/test.h"

#define MS 1000000ull
#define S 1000000000ull

/* What it would cost if all of it were looked at, and what was paid in the end. */
struct host {
	struct budget b;
	struct budget_plan plan;
	double launches, returns, calls, stacks, detail, agent;
	uint64_t late_ns; /* so long after a window launches are still paid for */
	uint64_t now_ns, on_ns; /* on_ns: launches were seen */
	double paid; /* share times ns */
	int changes; /* of what is shed */
	uint64_t seed;
};

static void host_init(struct host *h, double limit)
{
	*h = (struct host){ .seed = 7 };
	budget_init(&h->b, limit);
}

static void spend(struct host *h, uint64_t ns, bool seen, uint64_t late_ns)
{
	struct budget_sample s = { .ns = ns,
				   .sighted_ns = seen ? ns : 0,
				   .launches = seen ? h->launches
						    : h->launches * (double)late_ns / (double)ns,
				   .returns = seen && !h->plan.shed[SHED_returns] ? h->returns : 0,
				   .calls = h->calls,
				   .stacks = h->plan.shed[SHED_stacks] ? 0 : h->stacks,
				   .detail = h->plan.shed[SHED_detail] ? 0 : h->detail,
				   .host = h->agent };
	struct budget_plan before = h->plan;

	h->paid += (s.launches + s.returns + s.calls + s.stacks + s.detail) * (double)ns;
	h->now_ns += ns;
	h->on_ns += s.sighted_ns;
	budget_step(&h->b, &s, &h->plan);
	for (int i = 0; i < SHED_COUNT; i++)
		h->changes += before.shed[i] != h->plan.shed[i];
}

/* As capture/throttle.c does it. Returns the mean share that was paid. */
static double run(struct host *h, uint64_t ns)
{
	uint64_t end = h->now_ns + ns, from = h->now_ns, late;
	double before = h->paid;

	while (h->now_ns < end) {
		if (!h->plan.shed[SHED_launches]) {
			spend(h, BUDGET_TICK_NS, true, 0);
			continue;
		}
		late = h->late_ns;
		for (uint64_t left = h->plan.off_ns; left;) {
			uint64_t part = left < BUDGET_TICK_NS ? left : BUDGET_TICK_NS;

			spend(h, part, false, late < part ? late : part);
			late -= late < part ? late : part;
			left -= part;
		}
		if (h->plan.shed[SHED_launches])
			spend(h, h->plan.on_ns, true, 0);
	}
	return (h->paid - before) / (double)(h->now_ns - from);
}

TEST(budget_gives_up_nothing_below_the_limit)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = 0.005;
	h.calls = 0.003;
	h.stacks = 0.001;
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 0);
	CHECK_U64(h.on_ns, h.now_ns);
	return 0;
}

TEST(budget_off_gives_up_nothing_whatever_it_costs)
{
	struct host h;

	host_init(&h, 0);
	h.launches = 0.9;
	h.agent = 0.5;
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 0);
	CHECK_U64(h.on_ns, h.now_ns);
	return 0;
}

TEST(budget_catches_a_storm_within_two_seconds_and_keeps_the_limit_on_average)
{
	static const double storms[] = { 0.011, 0.015, 0.02, 0.04, 0.1, 0.5, 0.95 };

	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		struct host h;
		uint64_t shed_ns = 0;

		host_init(&h, 0.01);
		h.calls = 0.001;
		run(&h, 30 * S);
		h.launches = storms[i];
		for (uint64_t t = 0; t < 2 * S && !shed_ns; t += BUDGET_TICK_NS) {
			spend(&h, BUDGET_TICK_NS, true, 0);
			shed_ns = h.plan.shed[SHED_launches] ? t + BUDGET_TICK_NS : 0;
		}
		CHECK(shed_ns && shed_ns < 2 * S);
		CHECK(!h.plan.shed[SHED_stacks] && !h.plan.shed[SHED_detail]);
		CHECK(run(&h, 120 * S) <= 0.01);
		CHECK(h.on_ns > h.now_ns / 1000); /* but now and then somebody looks */
	}
	return 0;
}

TEST(budget_counts_what_is_paid_while_launches_are_being_hidden)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = 0.9;
	h.late_ns = 60 * MS;
	run(&h, 10 * S);
	CHECK(run(&h, 300 * S) <= 0.01);
	return 0;
}

/* Half of what is left is used, not a tenth of it: of one quarter of the time. */
TEST(budget_sees_as_much_as_it_may)
{
	struct host h;
	uint64_t on, from;

	host_init(&h, 0.01);
	h.launches = 0.04;
	run(&h, 10 * S);
	on = h.on_ns;
	from = h.now_ns;
	run(&h, 100 * S);
	CHECK_NEAR((double)(h.on_ns - on) / (double)(h.now_ns - from), 0.125, 0.02);
	return 0;
}

TEST(budget_takes_launches_back_when_the_storm_is_over)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = 0.4;
	run(&h, 30 * S);
	CHECK(h.plan.shed[SHED_launches]);
	h.launches = 0.002;
	run(&h, 10 * S);
	CHECK(!h.plan.shed[SHED_launches]);
	CHECK_U64((uint64_t)h.changes, 2);
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 2);
	return 0;
}

TEST(budget_does_not_flap_about_the_limit)
{
	struct host h;

	host_init(&h, 0.01);
	for (int i = 0; i < 1000; i++) { /* up and down by a half, every second */
		h.launches = i % 2 ? 0.0065 : 0.0135;
		run(&h, S);
	}
	CHECK(h.changes <= 40);
	return 0;
}

TEST(budget_is_not_moved_by_a_single_burst)
{
	struct host h;

	host_init(&h, 0.01);
	h.calls = 0.002;
	for (int i = 0; i < 20; i++) {
		run(&h, 20 * S);
		h.launches = 0.04; /* a tenth of a second's worth */
		spend(&h, BUDGET_TICK_NS, true, 0);
		h.launches = 0;
	}
	CHECK_U64((uint64_t)h.changes, 0);
	return 0;
}

TEST(budget_stands_noise)
{
	struct host h;
	double paid;

	host_init(&h, 0.01);
	for (int i = 0; i < 400; i++) {
		h.seed = h.seed * 6364136223846793005ull + 1442695040888963407ull;
		h.launches = 0.08 * (double)(h.seed >> 40) / (double)(1 << 24); /* 4 % on average */
		run(&h, 500 * MS);
	}
	paid = h.paid / (double)h.now_ns;
	CHECK(paid <= 0.0125);
	CHECK(h.changes <= 8);
	return 0;
}

TEST(budget_gives_up_stacks_then_detail_when_launches_do_not_help)
{
	struct host h;

	host_init(&h, 0.01);
	h.calls = 0.006;
	h.stacks = 0.01;
	h.detail = 0.006;
	run(&h, 2 * S);
	CHECK(!h.plan.shed[SHED_launches] && h.plan.shed[SHED_stacks]);
	CHECK(!h.plan.shed[SHED_detail]);
	run(&h, 10 * S);
	CHECK(h.plan.shed[SHED_detail]);
	CHECK(run(&h, 10 * S) <= 0.01);
	return 0;
}

/* Nothing more can be given up; and what costs nothing is not given up for nothing. */
TEST(budget_does_not_give_up_what_gains_nothing)
{
	struct host h;

	host_init(&h, 0.01);
	h.calls = 0.05;
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 0);
	h.stacks = 0.0015; /* without lines it would be as far over the limit */
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 0);
	return 0;
}

TEST(budget_tries_stacks_again_less_and_less_often)
{
	struct host h;
	int first;

	host_init(&h, 0.01);
	h.stacks = 0.03;
	run(&h, 120 * S);
	CHECK(h.changes >= 2);
	first = h.changes;
	run(&h, 1200 * S);
	CHECK(h.changes - first <= 12);
	h.stacks = 0.001;
	run(&h, 700 * S);
	CHECK(!h.plan.shed[SHED_stacks]);
	return 0;
}

TEST(budget_takes_back_in_the_reverse_order)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = 0.1;
	h.stacks = 0.02;
	h.detail = 0.02;
	run(&h, 20 * S);
	CHECK(h.plan.shed[SHED_launches] && h.plan.shed[SHED_stacks] && h.plan.shed[SHED_detail]);
	h.launches = h.stacks = h.detail = 0.0005;
	for (int i = 0; i < 4000 && h.plan.shed[SHED_launches]; i++) {
		run(&h, 100 * MS);
		CHECK(!h.plan.shed[SHED_detail] || h.plan.shed[SHED_stacks]);
		CHECK(!h.plan.shed[SHED_stacks] || h.plan.shed[SHED_launches]);
	}
	CHECK(!h.plan.shed[SHED_launches]);
	return 0;
}

/* The start is dear; that is over before anybody has to give something up for it. */
TEST(budget_counts_the_agent_against_the_host_over_half_a_minute)
{
	struct host h;

	host_init(&h, 0.01);
	h.agent = 0.2;
	run(&h, S);
	h.agent = 0.002;
	run(&h, 60 * S);
	CHECK_U64((uint64_t)h.changes, 0);
	h.agent = 0.03;
	run(&h, 60 * S);
	CHECK(h.plan.shed[SHED_stacks] && !h.plan.shed[SHED_launches]);
	return 0;
}

TEST(budget_gives_up_times_of_launches_before_launches)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = 0.005;
	h.returns = 0.007;
	run(&h, 10 * S);
	CHECK(h.plan.shed[SHED_returns] && !h.plan.shed[SHED_launches]);
	CHECK(h.changes == 1); /* 0.005 and as much again would be over what is calm: it stays so */

	h.launches = h.returns = 0.9;
	run(&h, 2 * S);
	CHECK(h.plan.shed[SHED_returns] && h.plan.shed[SHED_launches]);

	h.launches = h.returns = 0.001;
	run(&h, 300 * S);
	CHECK(!h.plan.shed[SHED_returns] && !h.plan.shed[SHED_launches]);
	return 0;
}

TEST(budget_gives_up_both_at_once_in_a_storm)
{
	struct host h;

	host_init(&h, 0.01);
	h.launches = h.returns = 0.9;
	run(&h, 2 * S);
	CHECK(h.plan.shed[SHED_returns] && h.plan.shed[SHED_launches]);
	return 0;
}
