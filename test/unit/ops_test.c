// SPDX-License-Identifier: Apache-2.0
/* Tests of wire/ops.def and the tables made of it. */
#include "wire/ops.h"

#include <ctype.h>

#include "base/util.h"
#include "test/test.h"

/* What NVIDIA calls its functions; a row in the wrong library would never be found. */
static const char *const prefix[LIB_COUNT] = {
	[LIB_CUDART] = "cuda",
	[LIB_CUDA] = "cu",
	[LIB_NCCL] = "nccl",
};

TEST(ops_rows_all_have_a_symbol_a_doc_a_library_and_a_class)
{
	for (int i = 0; i < OP_COUNT; i++) {
		const struct op *op = &op_table[i];

		CHECK(op->symbol && op->symbol[0]);
		CHECK(op->doc && op->doc[0]);
		CHECK(op->lib < LIB_COUNT);
		CHECK(op->class < CLASS_GAP);
		if (!starts_with(op->symbol, prefix[op->lib]))
			return test_fail(__FILE__, __LINE__, "%s is not in %s", op->symbol,
					 lib_names[op->lib]);
		if (op->lib == LIB_CUDA)
			CHECK(!starts_with(op->symbol, "cuda"));
		for (const char *s = op->symbol; *s; s++)
			CHECK(isalnum((unsigned char)*s) || *s == '_');
	}
	return 0;
}

TEST(ops_rows_have_docs_that_fit_a_table)
{
	for (int i = 0; i < OP_SLOTS; i++) {
		const char *doc = op_table[i].doc;

		CHECK(strlen(doc) <= 60);
		CHECK(doc[strlen(doc) - 1] != '.');
		CHECK(!strpbrk(doc, "|\n\t"));
	}
	return 0;
}

/* 6 in registers, 4 on the stack: what the probes know how to read. */
TEST(ops_rows_name_arguments_that_can_be_read)
{
	for (int i = 0; i < OP_COUNT; i++) {
		const struct op_args *a = &op_table[i].args;

		CHECK(a->size <= 10 && a->stream <= 10 && a->aux <= 10 && a->out <= 10);
	}
	return 0;
}

TEST(ops_rows_read_an_argument_for_one_purpose_only)
{
	for (int i = 0; i < OP_COUNT; i++) {
		const struct op_args *a = &op_table[i].args;
		const int all[] = { a->size, a->stream, a->aux, a->out };

		for (size_t x = 0; x < ARRAY_LEN(all); x++) {
			for (size_t y = x + 1; y < ARRAY_LEN(all); y++) {
				if (all[x] && all[x] == all[y])
					return test_fail(__FILE__, __LINE__,
							 "%s uses argument %d twice",
							 op_table[i].symbol, all[x]);
			}
		}
	}
	return 0;
}

/* A pointer that the call fills in is read when it returns: an untimed row has no return. */
TEST(ops_rows_that_are_only_counted_have_no_out_argument)
{
	int counted = 0;

	for (int i = 0; i < OP_COUNT; i++) {
		if (op_timed(op_table[i].class))
			continue;
		counted++;
		CHECK(!op_table[i].args.out);
		CHECK(op_table[i].class == CLASS_LAUNCH || op_table[i].class == CLASS_FILL ||
		      op_table[i].class == CLASS_EVENT);
	}
	CHECK(counted > 0);
	return 0;
}

TEST(ops_names_are_unique)
{
	for (int i = 0; i < OP_SLOTS; i++) {
		for (int k = i + 1; k < OP_SLOTS; k++) {
			if (streq(op_table[i].symbol, op_table[k].symbol))
				return test_fail(__FILE__, __LINE__, "%s is there twice",
						 op_table[i].symbol);
		}
	}
	return 0;
}

TEST(ops_libraries_and_classes_all_have_a_name_of_their_own)
{
	for (int i = 0; i < LIB_COUNT; i++) {
		CHECK(lib_names[i]);
		CHECK(starts_with(lib_names[i], "lib") && strstr(lib_names[i], ".so"));
	}
	for (int i = 0; i < CLASS_COUNT; i++) {
		CHECK(class_names[i] && class_names[i][0]);
		for (int k = i + 1; k < CLASS_COUNT; k++)
			CHECK(class_names[k] && !streq(class_names[i], class_names[k]));
	}
	return 0;
}

/* A class without a row is a class nobody has tested; gaps are no calls. */
TEST(ops_classes_all_have_a_row)
{
	for (int class = 0; class < CLASS_GAP; class ++) {
		int rows = 0;

		for (int i = 0; i < OP_COUNT; i++)
			rows += (int)op_table[i].class == class;
		if (!rows)
			return test_fail(__FILE__, __LINE__, "no row of class %s",
					 class_names[class]);
	}
	return 0;
}

/* The bytes of a row with a shape come from there: what both say must not differ. */
TEST(ops_shapes_fit_their_rows)
{
	int shapes = 0;

	for (int i = 0; i < OP_SLOTS; i++) {
		const struct op_shape *s = &op_shapes[i];
		const struct op *op = &op_table[i];

		if (!s->unit)
			continue;
		shapes++;
		CHECK(op->class == CLASS_COPY || op->class == CLASS_FILL ||
		      op->class == CLASS_ALLOC);
		if (s->words) {
			CHECK(s->words == 2 || s->words == 3);
			CHECK(!op->args.size && !s->factor[0]);
			CHECK(s->offset % 8 == 0 && s->offset && !(s->kind && s->source));
			CHECK(!s->source == !s->target);
			continue;
		}
		CHECK(s->factor[0] && s->factor[0] <= 13);
		CHECK(!op->args.size || op->args.size == s->factor[0]);
		CHECK(s->unit == 1 || s->unit == 2 || s->unit == 4);
	}
	CHECK(shapes > 40);
	return 0;
}

/* What programs call all the time is never a row. */
TEST(ops_never_probed_are_not_there)
{
	static const char *const never[] = {
		"cudaGetDevice",       "cuCtxGetDevice_v2",    "cuDevicePrimaryCtxGetState",
		"cudaGetLastError",    "cuCtxGetCurrent",      "cuKernelGetAttribute",
		"cuKernelGetFunction", "ncclCommGetAsyncError"
	};

	for (int i = 0; i < OP_COUNT; i++) {
		CHECK(!starts_with(op_table[i].symbol, "cuOccupancy"));
		for (size_t k = 0; k < ARRAY_LEN(never); k++)
			CHECK(!streq(op_table[i].symbol, never[k]));
	}
	return 0;
}

TEST(ops_that_are_no_library_calls_have_entries_too)
{
	CHECK(OP_GAP == OP_COUNT && OP_CALIBRATE == OP_GAP + 1 && OP_SLOTS == OP_CALIBRATE + 1);
	CHECK_STR(op_table[OP_GAP].symbol, "(between calls)");
	CHECK(op_table[OP_GAP].class == CLASS_GAP);
	CHECK_STR(op_table[OP_CALIBRATE].symbol, "(calibration)");
	for (int i = OP_GAP; i < OP_SLOTS; i++) {
		CHECK(op_table[i].doc[0]);
		CHECK(op_table[i].lib == LIB_COUNT); /* in none, so it is never searched for */
		CHECK(op_timed(op_table[i].class));
	}
	return 0;
}
