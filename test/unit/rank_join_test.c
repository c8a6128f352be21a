// SPDX-License-Identifier: Apache-2.0
/* Tests of rank/join.c: which wait a collective is joined with. */
#include "rank/join.h"

#include "base/util.h"
#include "test/test.h"

#define US 1000ull
#define JOB 7 /* the process */

static struct collective told[JOIN_PENDING + 8];
static size_t tolds;

static void on_told(const struct collective *c, void *arg)
{
	(void)arg;
	if (tolds < ARRAY_LEN(told))
		told[tolds++] = *c;
}

static struct joiner *begin(void)
{
	tolds = 0;
	return joiner_new(on_told, NULL);
}

/* A collective on `stream` of communicator `number`, over after a microsecond. */
static void call(struct joiner *j, uint32_t number, uint64_t seq, uint64_t stream, uint64_t at)
{
	struct collective c = { .process = JOB,
				.call = { .kind = NCCL_EVENT_CALL,
					  .op = &op_table[OP_ncclAllReduce],
					  .number = number,
					  .seq = seq,
					  .stream = stream,
					  .start_ns = at,
					  .end_ns = at + US } };

	joiner_call(j, &c);
}

static void wait_for(struct joiner *j, enum op_id op, uint64_t stream, uint64_t from, uint64_t to)
{
	struct nccl_record sync = { .kind = NCCL_EVENT_SYNC,
				    .op = &op_table[op],
				    .stream = stream,
				    .start_ns = from,
				    .end_ns = to };

	joiner_sync(j, JOB, &sync);
}

TEST(join_with_the_wait_for_its_own_stream)
{
	struct joiner *j = begin();

	call(j, 1, 1, 5, 10 * US);
	call(j, 1, 2, 5, 20 * US);
	call(j, 2, 1, 6, 30 * US);
	wait_for(j, OP_cudaStreamSynchronize, 5, 40 * US, 90 * US);
	CHECK_U64(tolds, 2);
	CHECK(told[0].join == JOIN_stream && told[0].call.seq == 1 && !told[0].last);
	CHECK(told[1].join == JOIN_stream && told[1].call.seq == 2 && told[1].last);
	CHECK_U64(told[1].sync_start_ns, 40 * US);
	CHECK_U64(told[1].sync_end_ns, 90 * US);
	CHECK(told[1].sync == &op_table[OP_cudaStreamSynchronize]);
	joiner_flush(j, UINT64_MAX);
	CHECK_U64(tolds, 3);
	CHECK(told[2].join == JOIN_other && told[2].last); /* the first wait that followed */
	joiner_free(j);
	return 0;
}

TEST(join_by_the_device_covers_every_stream_and_stream_1_is_stream_0)
{
	struct joiner *j = begin();

	call(j, 1, 1, 5, 10 * US);
	call(j, 2, 1, 6, 20 * US);
	wait_for(j, OP_cudaDeviceSynchronize, 0, 30 * US, 40 * US);
	CHECK_U64(tolds, 2);
	CHECK(told[0].join == JOIN_device && told[0].last);
	CHECK(told[1].join == JOIN_device && told[1].last);
	call(j, 1, 2, 1, 50 * US);
	wait_for(j, OP_cuStreamSynchronize, 0, 60 * US, 70 * US);
	CHECK_U64(tolds, 3);
	CHECK(told[2].join == JOIN_stream);
	joiner_free(j);
	return 0;
}

/* What is queued while somebody waits is not what he waits for. */
TEST(join_takes_no_wait_that_began_before)
{
	struct joiner *j = begin();

	call(j, 1, 1, 5, 10 * US);
	wait_for(j, OP_cudaDeviceSynchronize, 0, 10 * US + 1, 90 * US);
	CHECK_U64(tolds, 0);
	joiner_flush(j, UINT64_MAX);
	CHECK_U64(tolds, 1);
	CHECK(told[0].join == JOIN_none && !told[0].sync && !told[0].last);
	joiner_free(j);
	return 0;
}

/* PyTorch waits for the stream that computes, which waits for NCCL's. */
TEST(join_of_another_stream_stands_until_a_certain_one_comes)
{
	struct joiner *j = begin();

	call(j, 1, 1, 5, 10 * US);
	wait_for(j, OP_cudaStreamSynchronize, 9, 20 * US, 30 * US);
	wait_for(j, OP_cudaMemcpy, 0, 40 * US, 50 * US); /* not the first */
	CHECK_U64(tolds, 0);
	wait_for(j, OP_cudaStreamSynchronize, 5, 60 * US, 70 * US);
	CHECK_U64(tolds, 1);
	CHECK(told[0].join == JOIN_stream && told[0].sync_start_ns == 60 * US);
	call(j, 1, 2, 5, 100 * US);
	wait_for(j, OP_cudaEventSynchronize, 0, 120 * US, 130 * US);
	CHECK_U64(tolds, 1);
	call(j, 1, 3, 5, 200 * US); /* it goes on: that was it */
	CHECK_U64(tolds, 2);
	CHECK(told[1].join == JOIN_event && told[1].sync_start_ns == 120 * US && told[1].last);
	wait_for(j, OP_cudaMemcpy, 0, 240 * US, 250 * US);
	joiner_flush(j, UINT64_MAX);
	CHECK(tolds == 3 && told[2].join == JOIN_copy);
	joiner_free(j);
	return 0;
}

TEST(join_keeps_no_more_than_it_may_and_loses_none)
{
	struct joiner *j = begin();

	for (uint64_t i = 0; i < JOIN_PENDING + 5; i++)
		call(j, 1, i + 1, 5, i * 10 * US);
	CHECK_U64(tolds, 5);
	CHECK(told[0].call.seq == 1 && told[0].join == JOIN_none);
	joiner_flush(j, 1000 * US);
	CHECK_U64(told[tolds - 1].call.seq, 100);
	joiner_flush(j, UINT64_MAX);
	CHECK_U64(tolds, JOIN_PENDING + 5);
	joiner_free(j);
	return 0;
}

TEST(join_knows_processes_apart_and_sends_are_never_the_last)
{
	struct collective send = {
		.process = JOB + 1,
		.call = { .op = &op_table[OP_ncclSend], .number = 3, .end_ns = 5 }
	};
	struct joiner *j = begin();

	joiner_call(j, &send);
	wait_for(j, OP_cudaDeviceSynchronize, 0, 30 * US, 40 * US);
	CHECK_U64(tolds, 0);
	send.process = JOB;
	joiner_call(j, &send);
	wait_for(j, OP_cudaDeviceSynchronize, 0, 50 * US, 60 * US);
	CHECK(tolds == 1 && told[0].join == JOIN_device && !told[0].last);
	joiner_free(j);
	return 0;
}
