// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_oom.c: a killed worker, and the kill of somebody else. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

static void waits_for_worker(void)
{
	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		     500 * MS);
}

TEST(oom_of_a_worker_is_charged_with_the_waits_for_it)
{
	struct finding f;

	waits_for_worker();
	for (int i = 2; i < 6; i += 2)
		scene_event(&scene, HOST_oom_kill, WORKER, 0, AT(i) + S / 2);
	CHECK_ONLY(&scene, "oom");
	CHECK(scene_judge(&scene, rule_oom, &f));
	CHECK_STR(f.title, "Out of memory: the kernel killed loader (pid 4900), a worker of "
			   "python3");
	CHECK_U64(f.lost_ns, 2 * S);
	CHECK_U64(f.count, 20);
	CHECK(f.severity == SEVERITY_HIGH);
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	return 0;
}

TEST(oom_of_the_process_itself_is_said_even_if_nothing_waited)
{
	struct finding f;

	scene_init(&scene);
	(void)scene_healthy(&scene);
	scene_event(&scene, HOST_oom_kill, TRAINER, 0, AT(1));
	CHECK(scene_judge(&scene, rule_oom, &f));
	CHECK_STR(f.title, "Out of memory: the kernel killed python3 (pid 4821)");
	CHECK_U64(f.lost_ns, 0);
	CHECK(f.severity == SEVERITY_HIGH);
	return 0;
}

TEST(oom_of_a_child_that_was_only_seen_to_be_forked)
{
	struct finding f;

	scene_init(&scene);
	(void)scene_healthy(&scene);
	scene_event(&scene, HOST_fork, TRAINER, 5000, AT(0));
	scene_event(&scene, HOST_fork, 5000, 5001, AT(0));
	scene_event(&scene, HOST_oom_kill, 5001, 0, AT(1));
	CHECK(scene_judge(&scene, rule_oom, &f)); /* its grandchild */
	return 0;
}

TEST(oom_of_somebody_else_is_none_of_ours)
{
	waits_for_worker();
	scene_event(&scene, HOST_oom_kill, STRANGER, 0, AT(4));
	CHECK_ONLY(&scene, "data-loader");
	return 0;
}
