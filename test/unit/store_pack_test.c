// SPDX-License-Identifier: Apache-2.0
/* Tests of store/pack.c, unpack.c, write_block.c and packed_table.c: what goes in comes out. */
#include <errno.h>

#include "base/fail.h"
#include "test/unit/store_trace.h"

static uint64_t seed;

static uint64_t random_u64(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 32) ^ seed << 31;
}

/* Of any size, often small, often the same as before. */
static uint64_t some_number(void)
{
	static const uint64_t liked[] = { 0, 1, 127, 128, INT64_MAX, UINT64_MAX, 1ull << 63, 4096 };
	uint64_t n = random_u64();

	return n % 3 ? liked[n / 3 % ARRAY_LEN(liked)] : random_u64() >> n / 3 % 64;
}

static struct packed_call some_call(void)
{
	struct packed_call c = {
		.op = 1 + some_number() % 5,
		.next = some_number() % 3,
		.stack = some_number() % 7,
		.start_ns = some_number(),
		.dur_ns = some_number(),
		.because = some_number(),
		.depth = some_number(),
		.bytes = some_number(),
		.stream = some_number(),
		.aux = some_number(),
		.out = some_number(),
		.usual_ns = some_number(),
		.site = some_number(),
		.ret = (int64_t)some_number(),
	};
	bool plain = random_u64() % 2;

	c.state_ns[STATE_RUN] = plain ? c.dur_ns : some_number();
	for (int i = 0; !plain && i < STATE_COUNT; i++)
		c.state_ns[i] = some_number();
	for (int i = 0; !plain && i < COUNTER_COUNT; i++)
		c.counter[i] = some_number();
	return c;
}

static int sum_up(const struct packed_kind *kind, void *arg)
{
	struct packed_kind *sum = arg;

	sum->calls += kind->calls;
	sum->ns += kind->ns;
	return 0;
}

/* Is the block made of these calls, and nothing else? */
static int holds(const struct packed_block *b, const struct packed_call *calls, uint32_t count)
{
	struct unpacker *u = unpacker_new(b->kinds, b->kinds_len, b->data, b->data_len);
	struct packed_kind sum = { 0 }, want = { 0 };
	uint64_t first = UINT64_MAX, last = 0;
	struct packed_call got;

	CHECK(u);
	CHECK_U64(b->calls, count);
	for (uint32_t i = 0; i < count; i++) {
		CHECK(unpacker_next(u, &got) == 1);
		CHECK(!memcmp(&got, &calls[i], sizeof(got)));
		first = min_u64(first, got.start_ns);
		last = max_u64(last, got.start_ns);
		want.ns += got.dur_ns;
	}
	CHECK(!unpacker_next(u, &got));
	unpacker_free(u);
	CHECK(b->first_ns == first && b->last_ns == last);
	CHECK(!packed_kinds(b->kinds, b->kinds_len, sum_up, &sum));
	CHECK_U64(sum.calls, count);
	CHECK_U64(sum.ns, want.ns);
	return 0;
}

/* Blocks one after the other out of one packer, as full as they get. */
TEST(pack_gives_back_every_bit_of_every_call)
{
	static struct packed_call calls[PACK_CALLS];
	struct packer *p = packer_new();
	struct packed_block block;

	for (int round = 0; round < 12; round++) {
		uint32_t n = 0;

		seed = (uint64_t)round;
		for (;;) {
			struct packed_call c = some_call();

			if (!packer_add(p, &c))
				break;
			CHECK(n < PACK_CALLS);
			calls[n++] = c;
		}
		packer_take(p, &block);
		CHECK(block.data_len <= PACK_BYTES + PACK_CALL_MAX);
		if (holds(&block, calls, n))
			return 1;
		packer_take(p, &block);
		CHECK(!block.calls); /* it was taken */
	}
	packer_free(p);
	return 0;
}

TEST(pack_block_is_full_of_calls_and_of_kinds)
{
	struct packed_call c = { .op = 1, .start_ns = 5, .because = BECAUSE_ALL };
	struct packer *p = packer_new();
	struct packed_block block;
	uint32_t n = 0;

	for (; packer_add(p, &c); n++)
		c.start_ns += 1000;
	CHECK_U64(n, PACK_CALLS);
	packer_take(p, &block);
	CHECK_U64(block.calls, PACK_CALLS);
	CHECK(block.data_len <
	      6ul * PACK_CALLS); /* the same call again: its kind, bits, start, time */
	for (n = 0; packer_add(p, &c); n++)
		c.stack++;
	CHECK_U64(n, PACK_KINDS);
	packer_take(p, &block);
	CHECK_U64(block.calls, PACK_KINDS);
	CHECK(block.kinds_len <= PACK_KINDS_MAX);
	packer_free(p);
	return 0;
}

/* A block that is cut, or in which a byte is another, ends in an error or is another block. */
TEST(pack_damage_is_found_or_harmless)
{
	struct packer *p = packer_new();
	struct packed_block block;
	struct packed_call c;
	uint8_t *copy;

	seed = 7;
	for (int i = 0; i < 40; i++) {
		c = some_call();
		CHECK(packer_add(p, &c));
	}
	packer_take(p, &block);
	for (size_t cut = 0; cut < block.data_len; cut++) {
		struct unpacker *u;
		int got, n = 0;

		copy = xcalloc(1, cut + 1); /* exact, so that a byte too far is seen */
		memcpy(copy, block.data, cut);
		u = unpacker_new(block.kinds, block.kinds_len, copy, cut);
		CHECK(u);
		while ((got = unpacker_next(u, &c)) == 1)
			n++;
		CHECK(n < 40 && (got == 0 || got == -EBADMSG));
		CHECK(!unpacker_next(u, &c));
		unpacker_free(u);
		free(copy);
	}
	CHECK(!unpacker_new(block.kinds, block.kinds_len - 1, block.data, block.data_len));
	packer_free(p);
	return 0;
}

/* ---- in a store ---- */

static struct record plain(uint64_t start, uint64_t dur)
{
	return (struct record){
		.op = &op_table[OP_cudaMemcpyAsync],
		.because = BECAUSE_ALL,
		.start_ns = start,
		.dur_ns = dur,
		.stack = UINT64_MAX - 1,
		.stream = UINT64_MAX,
		.bytes = 4096,
		.state_ns = { [STATE_RUN] = dur },
	};
}

STORE_TEST(store_packs_what_is_there_only_because_all_are)
{
	struct record rec = plain(100, 30);
	int64_t thread = 0, call = 77;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK(!call);
	rec.because = BECAUSE_ALL | BECAUSE_SLOW;
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK(call == 1);
	rec.because = BECAUSE_ALL;
	rec.who_count = 1;
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK(call == 2);
	rec.who_count = 0;
	rec.op = &op_table[OP_GAP];
	rec.next = &op_table[OP_cudaFree];
	rec.ret = -5;
	rec.state_ns[STATE_GPU] = 12;
	rec.counter[COUNTER_major] = 2;
	CHECK(!store_call(store, thread, &rec, &call));
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM every_call"), "2"); /* not written yet */
	CHECK(!store_commit(store));
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM call"), "2");
	CHECK_STR(trace_ask(store, "SELECT thread, n, last_ns - first_ns FROM call_block"),
		  "1|2|0");
	CHECK_STR(trace_ask(store,
			    "SELECT c.id, thread, o.symbol, n.symbol, start_ns, dur_ns, because,"
			    " depth, ret, bytes, stream, stack, run_ns, gpu_ns, major_faults"
			    " FROM every_call c JOIN op o ON o.id=op LEFT JOIN op n ON n.id=next_op"
			    " WHERE c.id < 0"),
		  "-4097|1|cudaMemcpyAsync|-|1700000000000000100|30|8|0|0|4096|-1|-2|30|0|0;"
		  "-4098|1|(between calls)|cudaFree|1700000000000000100|30|8|0|-5|4096|-1|-2|30|12|"
		  "2");
	CHECK(!store_commit(store));
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM every_call"), "4"); /* nothing twice */
	return 0;
}

STORE_TEST(store_calls_have_the_columns_of_call)
{
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM pragma_table_info('call') a"
				   " JOIN pragma_table_info('calls') b USING(cid, name)"
				   " JOIN pragma_table_info('call_packed') c USING(cid, name)"),
		  trace_ask(store, "SELECT count(*) FROM pragma_table_info('call')"));
	return 0;
}

/* Many threads at once, more than are packed at a time; every one has its own calls, in order. */
STORE_TEST(store_packs_the_calls_of_every_thread_by_itself)
{
	enum { THREADS = 150, CALLS = 90 };
	int64_t thread[THREADS];

	if (make_thread(&thread[0]))
		return 1;
	for (int i = 1; i < THREADS; i++)
		CHECK(!store_thread(store, 1, (uint32_t)i, "t", 1, &thread[i]));
	for (uint64_t n = 0; n < CALLS; n++) {
		for (uint64_t i = 0; i < THREADS; i++) {
			struct record rec = plain(n * 1000 + i, i);

			rec.aux = n;
			CHECK(!store_call(store, thread[i], &rec, NULL));
		}
	}
	CHECK(!store_commit(store));
	CHECK_STR(trace_ask(store,
			    "SELECT count(*), min(n), max(n), sum(ok) FROM (SELECT"
			    " count(*) AS n, count(DISTINCT aux)=90 AND min(dur_ns)=thread-1"
			    " AND max(dur_ns)=thread-1 AS ok FROM every_call GROUP BY thread)"),
		  "150|90|90|150");
	CHECK_STR(trace_ask(store,
			    "SELECT count(*), min(aux), max(aux) FROM every_call WHERE thread=70"
			    " AND start_ns >= 1700000000000010000"
			    " AND start_ns < 1700000000000020000"),
		  "10|10|19");
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM every_call WHERE start_ns < 'x'"),
		  "13500");
	return 0;
}

STORE_TEST(store_rollback_forgets_the_calls_that_were_not_written)
{
	struct record rec = plain(1, 2);
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_commit(store));
	CHECK(!store_call(store, thread, &rec, NULL));
	store_rollback(store);
	CHECK(!store_commit(store));
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM every_call"), "0");
	return 0;
}

STORE_TEST(store_says_which_block_is_damaged)
{
	struct stack_counts counts;
	struct record rec = plain(1, 2);
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_call(store, thread, &rec, NULL));
	CHECK(!store_commit(store));
	CHECK(!store_exec(store, "UPDATE call_block SET data=x'ff'"));
	CHECK(store_exec(store, "SELECT sum(dur_ns) FROM every_call") < 0);
	CHECK(strstr(why(-EIO), "row 1 of call_block is damaged"));
	CHECK(!store_stack_counts(store, (struct window){ 0, 0 }, &counts));
	CHECK_U64(counts.calls, 1);
	CHECK(!store_exec(store, "UPDATE call_block SET kinds='text', data=''"));
	CHECK(store_stack_counts(store, (struct window){ 0, 0 }, &counts) == -EBADMSG);
	return 0;
}

static int add_stack(const struct call_stack_info *info, void *arg)
{
	struct call_stack_info *sum = arg;

	CHECK_STR(info->symbol, "cudaMemcpyAsync");
	CHECK(info->stack == UINT64_MAX - 1 && info->thread == 1);
	sum->calls += info->calls;
	sum->ns += info->ns;
	return 0;
}

STORE_TEST(store_call_stacks_count_packed_calls_too)
{
	struct call_stack_info sum = { 0 };
	struct stack_counts counts;
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (uint64_t i = 0; i < 100; i++) {
		struct record rec = plain(i, 5);

		rec.because |= i % 10 ? 0 : BECAUSE_SAMPLED;
		CHECK(!store_call(store, thread, &rec, NULL));
	}
	CHECK(!store_commit(store));
	CHECK(!store_each_call_stack(store, (struct window){ 0, 0 }, add_stack, &sum));
	CHECK_U64(sum.calls, 100);
	CHECK_U64(sum.ns, 500);
	CHECK(!store_stack_counts(store, (struct window){ 0, 0 }, &counts));
	CHECK_U64(counts.calls, 100);
	CHECK(!store_stack_counts(store, (struct window){ 1, 2 }, &counts));
	CHECK_U64(counts.calls, 0);
	return 0;
}
