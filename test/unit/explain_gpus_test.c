// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/gpus.c and print_gpu.c: what GPUs said, from rows to lines. */
#include <stdlib.h>

#include "gpu/gpu.h"
#include "test/unit/explain_trace.h"
#include "test/unit/json_check.h"

#define SEC 1000000000ull

static void set(struct gpu_values *v, enum gpu_value id, uint64_t value)
{
	v->value[id] = value;
	v->known |= 1ull << id;
}

/* Four seconds of one GPU, the last two of them throttled; a process makes the trace long enough. */
static int fill(bool in_full)
{
	struct gpu_row row = { 0, "NVIDIA H200", "GPU-1", "00000000:1B:00.0" };
	struct op_delta d = { .op = &op_table[0], .calls = 1, .done = 1 };
	int64_t gpu = 0;

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4821, "python3", 1, &thread));
	CHECK(!store_op_second(store, thread, 5 * SEC, &d));
	CHECK(!store_gpu(store, 1, &row, &gpu));
	for (uint64_t i = 1; i <= 4; i++) {
		struct gpu_values v = { 0 };

		set(&v, GPU_util_pct, 20000 + 1000 * (i % 2));
		set(&v, GPU_sm_mhz, i > 2 ? 990 : 1980);
		set(&v, GPU_temp_c, 80 + i);
		set(&v, GPU_pcie_replays, 100 + i);
		if (in_full) {
			set(&v, GPU_reasons, i > 2 ? GPU_REASON_SW_THERMAL : 0);
			set(&v, GPU_sm_max_mhz, 1980);
			set(&v, GPU_sm_active_pct, 8500);
			set(&v, GPU_tensor_pct, 150);
			set(&v, GPU_dram_pct, 600);
			set(&v, GPU_mem_used, 2ull << 30);
			set(&v, GPU_mem_total, 140ull << 30);
			set(&v, GPU_power_w, 119600);
			set(&v, GPU_power_limit_w, 700000);
		}
		CHECK(!store_gpu_second(store, gpu, i * SEC, &v));
	}
	CHECK(!store_gpu_process(store, gpu, 4821, SEC, 4 * SEC, 7));
	CHECK(!store_commit(store));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	return 0;
}

static char *text_of(bool json)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (json)
		explain_json(store, &answer, out);
	else
		explain_text(&answer, out);
	fclose(out);
	return text;
}

static int check_has(bool json, const char *want)
{
	char *text = text_of(json);
	bool found = strstr(text, want) != NULL && (!json || json_valid(text));

	if (!found)
		test_fail(__FILE__, __LINE__, "\"%s\" is not in\n%s", want, text);
	free(text);
	return !found;
}

EXPLAIN_TEST(explain_tells_how_a_gpu_was)
{
	if (fill(true))
		return 1;
	CHECK(answer.gpus == 1);
	CHECK(answer.gpu[0].processes == 1);
	return check_has(false, "GPU 0 NVIDIA H200: utilisation 20 %, SMs active 8.5 %, "
				"tensor cores 0.1 %, DRAM 0.6 %\n"
				"  2 GiB of 140 GiB used, 1,485 of 1,980 MHz, 120 of 700 W, 84 C, "
				"throttled 50 % of the time: too hot (software slowdown), "
				"3 PCIe replays\n") ||
	       check_has(true, "\"util_pct\":20.5,") || check_has(true, "\"throttled_pct\":50,") ||
	       check_has(true, "\"uuid\":\"GPU-1\"");
}

EXPLAIN_TEST(explain_says_what_a_gpu_did_not_tell)
{
	if (fill(false))
		return 1;
	return check_has(false, "SMs active not known, tensor cores not known, DRAM not known\n"
				"  memory not known, 1,485 MHz, 84 C, throttling not known") ||
	       check_has(true, "\"sm_active_pct\":null") ||
	       check_has(true, "\"throttled_pct\":null");
}

EXPLAIN_TEST(explain_tells_of_gpu_errors_and_finds_those_of_a_process)
{
	struct gpu_error_row row = { .bus_id = "0000:1b:00",
				     .comm = "python3",
				     .text = "MMU Fault",
				     .code = 31,
				     .pid = 4821,
				     .at_ns = 2 * SEC };

	CHECK(!trace_run(store));
	CHECK(!store_gpu_error(store, &row));
	row.code = 63;
	row.pid = 0;
	CHECK(!store_gpu_error(store, &row));
	if (fill(true))
		return 1;
	CHECK(answer.gpu_errors == 2);
	CHECK(answer.findings >= 1);
	return check_has(false, "Xid 31 on 0000:1b:00: a kernel touched memory that is not mapped, "
				"pid 4821 python3\n") ||
	       check_has(false, "Xid 63 on 0000:1b:00: a row of the GPU's memory was noted") ||
	       check_has(false, "[HIGH] GPU error: Xid 31") ||
	       check_has(true, "\"cause\":\"gpu-error\"") ||
	       check_has(true, "\"object\":{\"gpu\":\"0000:1b:00: Xid 31\"}") ||
	       check_has(true, "\"xid\":63,");
}

EXPLAIN_TEST(explain_without_a_word_of_the_gpu_says_so)
{
	struct op_delta d = { .op = &op_table[0], .calls = 1, .done = 1 };

	CHECK(!trace_run(store)); /* on a host with an H200 */
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4821, "python3", 1, &thread));
	CHECK(!store_op_second(store, thread, 5 * SEC, &d));
	CHECK(!explain(store, (struct window){ 0, 0 }, &answer));
	return check_has(false, "GPU: nothing is known of its clocks and its load");
}
