// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_gpu.c and store/read_gpu.c. */
#include "test/unit/store_trace.h"

#define ALL ((struct window){ 0, 0 })

static int copy_second(const struct gpu_second_info *row, void *arg)
{
	*(struct gpu_second_info *)arg = *row;
	return 0;
}

static int copy_gpu(const struct gpu_info *row, void *arg)
{
	CHECK_STR(row->name, "NVIDIA H200");
	CHECK_STR(row->uuid, "GPU-1");
	CHECK_STR(row->bus_id, "00000000:1B:00.0");
	*(int64_t *)arg = row->id;
	return 0;
}

static const struct gpu_row h200 = { 2, "NVIDIA H200", "GPU-1", "00000000:1B:00.0" };

STORE_TEST(store_keeps_what_a_gpu_says_and_not_what_it_does_not)
{
	struct gpu_values v = { .known = 1ull << GPU_util_pct | 1ull << GPU_mem_used |
					 1ull << GPU_power_w | 1ull << GPU_reasons };
	struct gpu_second_info got = { 0 };
	int64_t id = 0, again = 0;

	v.value[GPU_util_pct] = 21500;
	v.value[GPU_mem_used] = 2000000001;
	v.value[GPU_power_w] = 120345;
	CHECK(!trace_run(store));
	CHECK(!store_gpu(store, 5, &h200, &id));
	CHECK(!store_gpu_second(store, id, 10, &v));
	CHECK(!store_gpu_second(store, id, 10, &v)); /* in the same instant: once */
	if (store_each_gpu(store, ALL, copy_gpu, &again))
		return 1;
	CHECK_U64(again, id);
	CHECK(!store_each_gpu_second(store, ALL, copy_second, &got));
	CHECK_U64(got.gpu, id);
	CHECK_U64(got.at_ns, BOOT_NS + 10);
	CHECK_U64(got.values.known, v.known);
	CHECK_U64(got.values.value[GPU_util_pct], 21500);
	CHECK_U64(got.values.value[GPU_mem_used], 2000000001);
	CHECK_U64(got.values.value[GPU_power_w], 120345);
	CHECK_STR(trace_ask(store, "SELECT util_pct, temp_c IS NULL, reasons FROM gpu_second"),
		  "21.5|1|0");
	return 0;
}

STORE_TEST(store_reads_no_value_of_a_gpu_that_cannot_be)
{
	struct gpu_values v = { .known = (1ull << GPU_VALUE_COUNT) - 1 };
	struct gpu_second_info got = { 0 };
	int64_t id = 0;

	CHECK(!trace_run(store));
	CHECK(!store_gpu(store, 5, &h200, &id));
	CHECK(!store_gpu_second(store, id, 10, &v));
	CHECK(!store_commit(store));
	CHECK(!store_load(store, "UPDATE gpu_second SET util_pct=101, temp_c=-3, sm_mhz='x', "
				 "power_w=1e300"));
	CHECK(!store_each_gpu_second(store, ALL, copy_second, &got));
	CHECK(!GPU_KNOWN(&got.values, GPU_util_pct));
	CHECK(!GPU_KNOWN(&got.values, GPU_temp_c));
	CHECK(!GPU_KNOWN(&got.values, GPU_power_w));
	CHECK(GPU_KNOWN(&got.values, GPU_mem_used));
	return 0;
}

static int copy_process(const struct gpu_process_info *row, void *arg)
{
	*(struct gpu_process_info *)arg = *row;
	return 0;
}

STORE_TEST(store_extends_the_stay_of_a_process_on_a_gpu)
{
	struct gpu_process_info got = { 0 };
	int64_t id = 0;

	CHECK(!trace_run(store));
	CHECK(!store_gpu(store, 5, &h200, &id));
	CHECK(!store_gpu_process(store, id, 4821, 10, 10, 700));
	CHECK(!store_gpu_process(store, id, 4821, 10, 20, 900));
	CHECK(!store_gpu_process(store, id, 4821, 10, 30, 800));
	CHECK(!store_each_gpu_process(store, ALL, copy_process, &got));
	CHECK_U64(got.pid, 4821);
	CHECK_U64(got.first_ns, BOOT_NS + 10);
	CHECK_U64(got.last_ns, BOOT_NS + 30);
	CHECK_U64(got.mem_used, 800);
	CHECK_U64(got.mem_max, 900);
	CHECK(!store_gpu_process(store, id, 4822, 10, 10, GPU_BYTES_UNKNOWN));
	CHECK(!store_gpu_process(store, id, 4822, 10, 20, GPU_BYTES_UNKNOWN));
	CHECK(!store_each_gpu_process(store, ALL, copy_process, &got));
	CHECK(got.mem_used == GPU_BYTES_UNKNOWN && got.mem_max == GPU_BYTES_UNKNOWN);
	return 0;
}

static int check_error(const struct gpu_error_row *row, void *arg)
{
	CHECK_U64(row->at_ns, BOOT_NS + 10);
	CHECK_U64(row->code, 31);
	CHECK_U64(row->pid, 4821);
	CHECK_STR(row->bus_id, "0000:1b:00");
	CHECK_STR(row->comm, "python3");
	CHECK_STR(row->text, "MMU Fault");
	++*(int *)arg;
	return 0;
}

STORE_TEST(store_keeps_an_error_of_a_gpu)
{
	struct gpu_error_row row = { .bus_id = "0000:1b:00",
				     .comm = "python3",
				     .text = "MMU Fault",
				     .code = 31,
				     .pid = 4821,
				     .at_ns = 10 };
	int n = 0;

	CHECK(!trace_run(store));
	CHECK(!store_gpu_error(store, &row));
	if (store_each_gpu_error(store, ALL, check_error, &n))
		return 1;
	CHECK(n == 1);
	return 0;
}
