// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/rule_gpu_throttled.c: lower clocks that cost time, told from those that do not. */
#include "gpu/gpu.h"
#include "test/unit/scene.h"

static struct scene scene; /* of the test that runs */
static struct gpu_facts gpu[2];
static struct gpu_second_info sample[2][SCENE_SECONDS];
static struct gpu_process_info user[2];

static void begin(int gpus, uint32_t pid)
{
	scene_init(&scene);
	memset(gpu, 0, sizeof(gpu));
	memset(sample, 0, sizeof(sample));
	for (int i = 0; i < 2; i++) {
		gpu[i] = (struct gpu_facts){ .index = (uint32_t)i,
					     .name = "NVIDIA H200",
					     .bus_id = "00000000:1B:00.0",
					     .second = sample[i] };
		user[i] = (struct gpu_process_info){ .pid = pid };
	}
	gpu[0].user = user;
	gpu[0].users = pid != 0;
	scene.f.gpu = gpu;
	scene.f.gpus = gpus;
}

static void set(struct gpu_values *v, enum gpu_value id, uint64_t value)
{
	v->value[id] = value;
	v->known |= 1ull << id;
}

/* One more sample, in the middle of second n. */
static struct gpu_values *sampled(int which, int n, uint64_t mhz, uint64_t reasons)
{
	struct gpu_second_info *s = &gpu[which].second[gpu[which].seconds++];

	s->at_ns = AT(n) + S / 2;
	set(&s->values, GPU_sm_mhz, mhz);
	set(&s->values, GPU_sm_max_mhz, 1980);
	set(&s->values, GPU_reasons, reasons);
	set(&s->values, GPU_temp_c, reasons ? 88 : 60);
	set(&s->values, GPU_power_w, 412000);
	set(&s->values, GPU_power_limit_w, 700000);
	set(&s->values, GPU_power_default_w, 700000);
	return &s->values;
}

/* Seconds in which the GPU takes so long for its launches, and says this of itself. */
static void seconds(int n, uint64_t gpu_ns, uint64_t mhz, uint64_t reasons)
{
	for (int i = 0; i < n; i++) {
		struct second *s = scene_second(&scene, 0);

		in_gap(s, STATE_RUN, S - gpu_ns);
		in_call(s, CLASS_SYNC, STATE_RUN, gpu_ns);
		called(s, CLASS_LAUNCH, 2000);
		called(s, CLASS_SYNC, 40);
		(void)sampled(0, scene.thread[0].seconds - 1, mhz, reasons);
	}
}

TEST(gpu_throttled_names_the_gpu_the_reason_and_the_excess)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 990, GPU_REASON_HW_THERMAL | GPU_REASON_HW_SLOWDOWN);
	seconds(1, 400 * MS, 1980, 0);
	CHECK_ONLY(&scene, "gpu-throttled");
	CHECK(scene_judge(&scene, rule_gpu_throttled, &f));
	CHECK_STR(f.title, "Throttled GPU: GPU 0 (NVIDIA H200) ran at 990 of 1,980 MHz: "
			   "too hot (hardware slowdown)");
	CHECK_NEAR(f.lost_ns, 4 * (200 * MS), MS);
	CHECK_U64(f.affected_ns, 4 * S);
	CHECK_STR(f.object.name, "0 at 00000000:1B:00.0, 88 C, 412 of 700 W");
	CHECK(f.object.kind == OBJECT_gpu);
	CHECK(f.evidence == EVIDENCE_OBSERVED);
	CHECK(strstr(f.basis, "200.0 us"));
	CHECK(strstr(f.basis, "300.0 us"));
	CHECK(strstr(f.fix[0], "cool it"));
	return 0;
}

TEST(gpu_throttled_is_silent_when_no_time_was_lost)
{
	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 410 * MS, 990, GPU_REASON_SW_THERMAL); /* it waits for memory, not for clocks */
	CHECK_NONE(&scene);
	return 0;
}

/* The bit alone, with clocks as ever: then the time was lost for something else. */
TEST(gpu_throttled_is_silent_when_clocks_did_not_fall)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 1980, GPU_REASON_SW_THERMAL);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	return 0;
}

TEST(gpu_throttled_knows_that_idle_and_settings_are_no_throttling)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 345, GPU_REASON_IDLE);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 990, GPU_REASON_SETTING | GPU_REASON_SYNC_BOOST);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	return 0;
}

/* Light work at full clocks, then heavy work at the limit that it has always had. */
TEST(gpu_throttled_takes_a_usual_power_limit_for_healthy)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 900 * MS, 1400, GPU_REASON_POWER_CAP);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	for (int i = 3; i < 7; i++)
		set(&sample[0][i].values, GPU_power_limit_w, 400000); /* somebody lowered it */
	CHECK(scene_judge(&scene, rule_gpu_throttled, &f));
	CHECK(strstr(f.title, "power limit"));
	CHECK(strstr(f.fix[0], "nvidia-smi -i 0 -pl 700"));
	/* 900 of 400 ms is more than these clocks can explain. */
	CHECK_NEAR(f.lost_ns, 4 * (293 * MS), 4 * MS);
	return 0;
}

TEST(gpu_throttled_from_the_start_is_bounded_by_its_clocks)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(5, 600 * MS, 990, GPU_REASON_POWER_BRAKE | GPU_REASON_HW_SLOWDOWN);
	CHECK(scene_judge(&scene, rule_gpu_throttled, &f));
	CHECK_NEAR(f.lost_ns, 5 * (300 * MS), MS);
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(f.gain_low_pct < 0.1);
	CHECK(strstr(f.title, "power brake"));
	begin(1, TRAINER);
	seconds(5, 600 * MS, 1900, GPU_REASON_SW_THERMAL); /* hardly lower */
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	return 0;
}

TEST(gpu_throttled_blames_only_a_gpu_that_the_process_uses)
{
	struct finding f;

	begin(2, STRANGER); /* of two, neither lists us */
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 990, GPU_REASON_SW_THERMAL);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	scene.f.gpus = 1; /* the only one, which does not know us: assumed, and said */
	CHECK(scene_judge(&scene, rule_gpu_throttled, &f));
	CHECK(f.evidence == EVIDENCE_INFERRED);
	CHECK(strstr(f.basis, "assumed"));
	return 0;
}

TEST(gpu_throttled_is_silent_when_the_gpu_does_not_tell)
{
	struct finding f;

	begin(1, TRAINER);
	seconds(3, 400 * MS, 1980, 0);
	seconds(4, 600 * MS, 990, GPU_REASON_SW_THERMAL);
	for (int i = 0; i < 7; i++)
		sample[0][i].values.known &= ~(1ull << GPU_reasons);
	CHECK(!scene_judge(&scene, rule_gpu_throttled, &f));
	return 0;
}
