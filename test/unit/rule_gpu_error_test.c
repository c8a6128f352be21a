// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_gpu_error.c: whose error it is, and what it cost. */
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */
static struct gpu_error error[4];
static struct gpu_facts gpu;
static struct gpu_process_info user;

static void begin(void)
{
	scene_init(&scene);
	user = (struct gpu_process_info){ .pid = TRAINER };
	gpu = (struct gpu_facts){ .bus_id = "00000000:1B:00.0", .user = &user, .users = 1 };
	scene.f.gpu = &gpu;
	scene.f.gpus = 1;
	scene.f.gpu_error = error;
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
}

static void reported(uint32_t code, uint32_t pid, const char *bus_id)
{
	struct gpu_error *e = &error[scene.f.gpu_errors++];

	*e = (struct gpu_error){ .at_ns = AT(3), .code = code, .pid = pid };
	str_copy(e->bus_id, sizeof(e->bus_id), bus_id);
	str_copy(e->text, sizeof(e->text), "MMU Fault: ENGINE GRAPHICS");
}

/* The thread goes on for some seconds without giving the GPU work. */
static void seconds_without_work(int n)
{
	for (int i = 0; i < n; i++)
		in_gap(scene_second(&scene, 0), STATE_SLEEP, S);
}

TEST(gpu_error_names_the_error_and_counts_what_follows_as_lost)
{
	struct finding f;

	begin();
	seconds_without_work(4);
	reported(31, TRAINER, "0000:1b:00");
	reported(31, TRAINER, "0000:1b:00");
	CHECK(scene_judge(&scene, rule_gpu_error, &f));
	CHECK_STR(f.cause, "gpu-error");
	CHECK_STR(f.title,
		  "GPU error: Xid 31 on 0000:1b:00 of python3: a kernel touched memory that "
		  "is not mapped");
	CHECK_U64(f.lost_ns, 4 * S);
	CHECK_U64(f.count, 2);
	CHECK(f.severity == SEVERITY_HIGH);
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	CHECK(strstr(f.basis, "MMU Fault"));
	CHECK(strstr(f.fix[0], "compute-sanitizer"));
	CHECK_STR(f.object.name, "0000:1b:00: Xid 31");
	return 0;
}

TEST(gpu_error_of_a_process_that_goes_on_costs_nobody_knows_what)
{
	struct finding f;

	begin();
	for (int i = 0; i < 3; i++)
		(void)scene_healthy(&scene);
	reported(94, 0, "0000:1b:00");
	CHECK(scene_judge(&scene, rule_gpu_error, &f));
	CHECK_U64(f.lost_ns, 0);
	return 0;
}

TEST(gpu_error_of_another_process_or_gpu_is_not_ours)
{
	struct finding f;

	begin();
	reported(31, STRANGER, "0000:1b:00");
	CHECK(!scene_judge(&scene, rule_gpu_error, &f));
	begin();
	reported(79, 0, "0000:5e:00");
	CHECK(!scene_judge(&scene, rule_gpu_error, &f));
	reported(79, 0, "0000:1b:00");
	CHECK(scene_judge(&scene, rule_gpu_error, &f));
	CHECK_U64(f.count, 1);
	return 0;
}

/* A program that was killed, and a row that will be replaced: told, but no finding. */
TEST(gpu_error_is_silent_about_what_only_follows)
{
	struct finding f;

	begin();
	reported(45, TRAINER, "0000:1b:00");
	reported(63, 0, "0000:1b:00");
	CHECK(!scene_judge(&scene, rule_gpu_error, &f));
	return 0;
}

TEST(gpu_error_with_an_unknown_code_says_so)
{
	struct finding f;

	begin();
	reported(4711, TRAINER, "0000:1b:00");
	CHECK(scene_judge(&scene, rule_gpu_error, &f));
	CHECK(strstr(f.title, "Xid 4711"));
	CHECK(strstr(f.title, "not in our table"));
	return 0;
}
