// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/idle.c: what the GPU waited for, in words, and that it adds up. */
#include "explain/explain_int.h"
#include "test/unit/scene.h"

static struct scene scene;

TEST(idle_parts_say_what_the_thread_did_and_for_whom)
{
	struct hop thread = hop_of(TRAINER, 4822, STATE_RUN, WAKER_nobody);
	const struct {
		struct chain chain;
		const char *what;
	} row[] = {
		{ CHAIN(self(STATE_RUN, WAKER_nobody)), "on CPU in its own code" },
		{ CHAIN(self(STATE_SLEEP, WAKER_timer)), "sleeping by itself" },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_RUN, WAKER_nobody)),
		  "waiting on a pipe for loader (pid 4900)" },
		{ CHAIN(self(STATE_PIPE, WAKER_task), worker(STATE_READ, WAKER_block)),
		  "waiting on a pipe for loader (pid 4900), which was reading a file" },
		{ CHAIN(self(STATE_FUTEX, WAKER_task), thread),
		  "waiting for a lock or another thread for its thread python3 4822" },
		{ CHAIN(robbed(self(STATE_RUN, WAKER_nobody), STRANGER, "stress")),
		  "preempted, waiting for a CPU that stress (pid 7000) had" },
		{ CHAIN(robbed(self(STATE_RUN, WAKER_nobody), PID_IRQ, "interrupts")),
		  "preempted, waiting for a CPU that served interrupts" },
		{ { .hops = 0 }, "not seen" },
	};
	struct idle_part part;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		idle_part_of(&row[i].chain, &part);
		CHECK_STR(part.what, row[i].what);
	}
	return 0;
}

TEST(idle_parts_of_a_process_add_up)
{
	static struct idle_ns a[3], b[2];
	struct summary sum = { 0 };
	uint64_t ns = 0;

	scene_init(&scene);
	(void)scene_thread(&scene, TRAINER, 4822, "python3");
	for (int i = 0; i < 3; i++)
		a[i].ns = (uint64_t)(i + 1) * MS;
	a[0].chain = scene_chain(&scene, CHAIN(self(STATE_RUN, WAKER_nobody)));
	a[1].chain = scene_chain(&scene, CHAIN(self(STATE_SLEEP, WAKER_timer)));
	a[2].chain = a[0].chain;
	b[0] = (struct idle_ns){ .chain = a[1].chain, .ns = 10 * MS };
	b[1] = (struct idle_ns){ .chain = scene_chain(&scene, (struct chain){ .hops = 0 }),
				 .ns = 5 * MS };
	scene.thread[0].idle = a;
	scene.thread[0].idles = ARRAY_LEN(a);
	scene.thread[1].idle = b;
	scene.thread[1].idles = ARRAY_LEN(b);
	add_idle(&scene.f, scene.thread, 2, &sum);
	for (int i = 0; i < sum.idles; i++)
		ns += sum.idle[i].ns;
	CHECK(sum.idles == 3);
	CHECK_U64(sum.idle_ns, 21 * MS);
	CHECK_U64(ns, sum.idle_ns);
	CHECK_STR(sum.idle[0].what, "sleeping by itself");
	CHECK_U64(sum.idle[0].ns, 12 * MS);
	CHECK_U64(sum.idle[1].ns, 5 * MS);
	CHECK_U64(sum.idle[2].ns, 4 * MS);
	free(sum.idle);
	return 0;
}
