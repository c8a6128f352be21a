// SPDX-License-Identifier: Apache-2.0
/* Tests of decode/nccl.c and wire/nccl.def: names, sizes, and what must be refused. */
#include "decode/nccl.h"

#include <errno.h>

#include "base/util.h"
#include "test/test.h"

static struct nccl_event good(void)
{
	return (struct nccl_event){ .size = sizeof(struct nccl_event),
				    .kind = NCCL_EVENT_CALL,
				    .op = OP_ncclReduce,
				    .number = 1,
				    .rank = 2,
				    .nranks = 8,
				    .seq = 5,
				    .start_ns = 10,
				    .end_ns = 20,
				    .count = 1000,
				    .type = NCCL_TYPE_bfloat16,
				    .redop = NCCL_REDOP_avg,
				    .root = 7 };
}

TEST(decode_nccl_names_types_and_reductions_and_makes_bytes)
{
	struct nccl_event e = good();
	struct nccl_record r;

	CHECK(!decode_nccl(&e, sizeof(e), &r));
	CHECK_STR(r.type, "bfloat16");
	CHECK_STR(r.redop, "avg");
	CHECK(r.bytes_known);
	CHECK_U64(r.bytes, 2000);
	CHECK(r.root == 7 && r.rank == 2 && r.nranks == 8);
	e.type = 57;
	e.redop = -3;
	CHECK(!decode_nccl(&e, sizeof(e), &r));
	CHECK_STR(r.type, "57");
	CHECK_STR(r.redop, "-3");
	CHECK(!r.bytes_known && !r.bytes);
	e.type = NCCL_TYPE_float64;
	e.count = UINT64_MAX / 4; /* bytes that no number holds */
	CHECK(!decode_nccl(&e, sizeof(e), &r));
	CHECK(!r.bytes_known);
	e = good();
	e.op = OP_ncclAllGather;
	CHECK(!decode_nccl(&e, sizeof(e), &r));
	CHECK_STR(r.redop, "");
	CHECK(r.root == -1);
	return 0;
}

TEST(decode_nccl_takes_no_rank_that_cannot_be)
{
	static const struct {
		int32_t rank, nranks, want_rank, want_nranks;
	} cases[] = { { 0, 1, 0, 1 },        { 7, 8, 7, 8 },         { 8, 8, -1, 8 },
		      { -2, 4, -1, 4 },      { 3, -1, 3, -1 },       { 3, 0, 3, -1 },
		      { 1, 1 << 30, 1, -1 }, { 1 << 30, -5, -1, -1 } };
	struct nccl_record r;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct nccl_event e = good();

		e.rank = cases[i].rank;
		e.nranks = cases[i].nranks;
		CHECK(!decode_nccl(&e, sizeof(e), &r));
		CHECK(r.rank == cases[i].want_rank && r.nranks == cases[i].want_nranks);
	}
	return 0;
}

TEST(decode_nccl_refuses_what_does_not_fit)
{
	struct nccl_event e = good();
	struct nccl_record r;

	CHECK(decode_nccl(&e, sizeof(e) - 1, &r) == -EBADMSG);
	e.size--;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	e = good();
	e.kind = NCCL_EVENT_KINDS;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	e = good();
	e.op = OP_cudaMalloc;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	e.kind = NCCL_EVENT_SYNC;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	e.op = OP_cudaStreamSynchronize;
	CHECK(!decode_nccl(&e, sizeof(e), &r));
	e.op = OP_SLOTS;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	e.kind = NCCL_EVENT_GONE; /* one that nobody saw made */
	CHECK(!decode_nccl(&e, sizeof(e), &r) && !r.op);
	e = good();
	e.start_ns = 21;
	CHECK(decode_nccl(&e, sizeof(e), &r) == -EBADMSG);
	return 0;
}

/* Every function of NCCL has a row of its own, and it fits to that of ops.def. */
TEST(nccl_rows_are_complete)
{
	for (int i = 0; i < OP_COUNT; i++) {
		const struct nccl_args *a = &nccl_args[i];
		const struct op *op = &op_table[i];

		if (op->lib != LIB_NCCL) {
			CHECK(a->kind == NCCL_NONE);
			continue;
		}
		CHECK(a->kind != NCCL_NONE);
		if (a->kind == NCCL_COLL) {
			CHECK(op->class == CLASS_COLL || op->class == CLASS_P2P);
			CHECK(op->args.size && op->args.stream == op->args.aux + 1);
			CHECK(a->type == op->args.size + 1);
			CHECK(!a->root || a->root == op->args.aux - 1);
			CHECK(!a->redop || a->redop == a->type + 1);
		}
		if (a->kind == NCCL_COMM)
			CHECK(op->args.out && op->class == CLASS_INIT);
		if (a->kind == NCCL_LEAVE)
			CHECK(op->args.aux == 1);
	}
	return 0;
}
