// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_unknown.c: what could not be followed, and what need not be. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

TEST(unknown_says_what_is_missing)
{
	struct chain c = CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_UNKNOWN, WAKER_nobody));
	struct finding f;

	scene_init(&scene);
	c.complete = false;
	scene_stalls(&scene, c, 400 * MS);
	CHECK_ONLY(&scene, "unknown");
	CHECK(scene_judge(&scene, rule_unknown, &f));
	CHECK(strstr(f.basis, "what loader (pid 4900) did meanwhile"));
	CHECK(f.culprits == 0); /* nobody is blamed for what was not seen */
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK_U64(f.lost_ns, 1600 * MS);
	return 0;
}

TEST(unknown_of_a_wait_that_no_thread_ended)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_URING, WAKER_other)), 400 * MS);
	CHECK_ONLY(&scene, "unknown");
	CHECK(scene_judge(&scene, rule_unknown, &f));
	CHECK(strstr(f.basis, "waiting on an io_uring"));
	return 0;
}

TEST(unknown_is_silent_below_a_tenth_and_on_single_waits)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_SYSCALL, WAKER_other)), 99 * MS);
	CHECK_NONE(&scene);
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_SYSCALL, WAKER_other)), 400 * MS);
	for (int i = 2; i < 6; i++)
		scene.second[0][i].wait[0].count = 1; /* of 60 steps */
	CHECK(!scene_judge(&scene, rule_unknown, &f));
	return 0;
}

TEST(unknown_is_what_a_chain_that_is_gone_is_called)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_PIPE, WAKER_task)), 400 * MS);
	scene.chain[0].chain.hops = 0;
	CHECK_ONLY(&scene, "unknown");
	CHECK(scene_judge(&scene, rule_unknown, &f));
	CHECK(strstr(f.basis, "not in the trace"));
	return 0;
}
