// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_python_gc.c: collections of the thread and of a worker. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */

TEST(python_gc_counts_the_time_of_collections)
{
	struct finding f;

	scene_init(&scene);
	for (int i = 0; i < 2; i++)
		(void)scene_healthy(&scene);
	for (int i = 0; i < 4; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, 300 * MS);
		in_gap(s, STATE_GC, 300 * MS);
	}
	CHECK_ONLY(&scene, "python-gc");
	CHECK(scene_judge(&scene, rule_python_gc, &f));
	CHECK_STR(f.title, "Python's garbage collector: python3");
	CHECK_U64(f.lost_ns, 1200 * MS);
	CHECK_U64(f.culprit[0].pid, TRAINER);
	CHECK(f.evidence == EVIDENCE_PROVEN);
	CHECK(strstr(f.fix[0], "gc.freeze()"));
	return 0;
}

TEST(python_gc_of_a_worker_is_found_through_the_pipe)
{
	struct finding f;

	scene_init(&scene);
	scene_stalls(&scene, CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_GC, WAKER_nobody)),
		     300 * MS);
	CHECK_ONLY(&scene, "python-gc");
	CHECK(scene_judge(&scene, rule_python_gc, &f));
	CHECK_U64(f.culprit[0].pid, WORKER);
	CHECK_STR(f.title, "Python's garbage collector: a worker of python3");
	return 0;
}

TEST(python_gc_is_silent_below_a_twentieth)
{
	scene_init(&scene);
	for (int i = 0; i < 6; i++) {
		struct second *s = scene_second(&scene, 0);

		loop_in(s, 40 * MS);
		in_gap(s, STATE_GC, 40 * MS);
	}
	CHECK_NONE(&scene);
	return 0;
}
