// SPDX-License-Identifier: Apache-2.0
/* Tests of decode/kernel.c and of how kernels are stored. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "decode/decode.h"
#include "native/native.h"
#include "store/store.h"
#include "test/test.h"
#include "test/unit/trace.h"
#include "wire/kernels.h"

static size_t record_of(char *dst, size_t cap, const char *name)
{
	struct kernel_name head = { .pid = 7,
				    .op = OP_cuLibraryGetKernel,
				    .handle = 0x5000,
				    .len = (uint32_t)strlen(name) };

	memcpy(dst, &head, sizeof(head));
	str_copy(dst + sizeof(head), cap - sizeof(head), name);
	return sizeof(head) + KERNEL_NAME_SHORT;
}

TEST(kernel_name_is_taken_from_the_ring)
{
	char bytes[sizeof(struct kernel_name) + KERNEL_NAME_LONG] = { 0 };
	size_t len = record_of(bytes, sizeof(bytes), "_ZN2at6native4reluEPfi");
	struct kernel_named named;

	CHECK(!decode_kernel_name(bytes, len, &named));
	CHECK_U64(named.pid, 7);
	CHECK_U64(named.handle, 0x5000);
	CHECK(named.op == &op_table[OP_cuLibraryGetKernel]);
	CHECK(!named.cut);
	CHECK_STR(named.name, "_ZN2at6native4reluEPfi");
	return 0;
}

TEST(kernel_name_that_makes_no_sense_is_refused)
{
	char bytes[sizeof(struct kernel_name) + KERNEL_NAME_LONG] = { 0 };
	size_t len = record_of(bytes, sizeof(bytes), "k");
	struct kernel_named named;
	struct kernel_name head;

	CHECK(decode_kernel_name(bytes, sizeof(head) - 1, &named) == -EBADMSG);
	CHECK(decode_kernel_name(bytes, sizeof(head), &named) == -EBADMSG); /* a name of no bytes */
	memcpy(&head, bytes, sizeof(head));
	head.op = OP_COUNT;
	memcpy(bytes, &head, sizeof(head));
	CHECK(decode_kernel_name(bytes, len, &named) == -EBADMSG);
	head.op = 0;
	head.len = (uint32_t)(len - sizeof(head) + 1);
	memcpy(bytes, &head, sizeof(head));
	CHECK(decode_kernel_name(bytes, len, &named) == -EBADMSG);
	head.len = UINT32_MAX;
	memcpy(bytes, &head, sizeof(head));
	CHECK(decode_kernel_name(bytes, len, &named) == -EBADMSG);
	head.len = 1;
	head.handle = 0;
	memcpy(bytes, &head, sizeof(head));
	CHECK(decode_kernel_name(bytes, len, &named) == -EBADMSG);
	return 0;
}

TEST(kernel_name_ends_at_its_first_nul)
{
	char bytes[sizeof(struct kernel_name) + KERNEL_NAME_LONG] = { 0 };
	size_t len = record_of(bytes, sizeof(bytes), "ab");
	struct kernel_named named;

	bytes[sizeof(struct kernel_name) + 1] = '\0';
	CHECK(!decode_kernel_name(bytes, len, &named));
	CHECK_STR(named.name, "a");
	return 0;
}

TEST(kernel_symbols_are_shown_as_people_write_them)
{
	char plain[64], tiny[8];

	native_demangle("_ZN2at6native4reluEPfi", plain, sizeof(plain));
	CHECK_STR(plain, "at::native::relu");
	native_demangle("triton_poi_fused", plain, sizeof(plain));
	CHECK_STR(plain, "triton_poi_fused");
	native_demangle("_ZN2at6native4reluEPfi", tiny, sizeof(tiny));
	CHECK_STR(tiny, "at::nat");
	return 0;
}

struct sums {
	int rows;
	uint64_t launches;
	char text[256];
};

static int add(const struct kernel_info *info, void *arg)
{
	struct sums *sum = arg;

	sum->rows++;
	sum->launches += info->launches;
	snprintf(sum->text, sizeof(sum->text), "%s %s %s", info->row.name, info->row.source,
		 info->row.library);
	return 0;
}

/* Launches are stored before the name is known, and have it afterwards. */
TEST(kernel_rows_are_named_later)
{
	struct kernel_row row = { .handle = 5, .name = "", .source = "", .library = "" };
	struct process_row process = {
		.pid = 7, .comm = "x", .cmdline = "", .exe = "", .cgroup = "", .python = ""
	};
	struct run_row run = { .node = "n",
			       .boot_id = "",
			       .version = "",
			       .kernel = "",
			       .gpu = "",
			       .attach_mode = "" };
	struct sums sum = { 0 };
	struct store *s;
	int64_t id;

	CHECK(!store_open(":memory:", STORE_WRITE, &s));
	CHECK(!store_run(s, &run));
	CHECK(!store_process(s, &process, &row.process));
	CHECK(!store_kernel(s, &row));
	id = row.id;
	CHECK(id);
	CHECK(!store_kernel_second(s, id, 10, 3));
	CHECK(!store_kernel_second(s, id, 10, 1)); /* told twice, it adds up */
	row.name = "relu";
	row.source = "symbol";
	row.library = "/x/libtorch_cuda.so";
	CHECK(!store_kernel(s, &row) && row.id == id);
	CHECK(!store_kernel_second(s, id, 20, 5));
	CHECK(!store_each_kernel(s, (struct window){ 0, 100 }, add, &sum));
	CHECK_U64(sum.rows, 1);
	CHECK_U64(sum.launches, 9);
	CHECK_STR(sum.text, "relu symbol /x/libtorch_cuda.so");
	sum = (struct sums){ 0 };
	CHECK(!store_each_kernel(s, (struct window){ 10, 100 }, add, &sum));
	CHECK_U64(sum.launches, 5);
	store_close(s);
	return 0;
}
