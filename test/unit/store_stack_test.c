// SPDX-License-Identifier: Apache-2.0
/* Tests of store/write_stack.c and store/read_stack.c: stacks, and who had them. */
#include <errno.h>

#include "test/unit/made_stack.h"
#include "test/unit/store_trace.h"

#define FORWARD (UINT64_MAX - 4) /* ids have all 64 bits */

/* forward() of the user's, called inside a library of Python, which is called by the user's main. */
static const struct stack *forward_stack(struct made_stack *made)
{
	*made = (struct made_stack){ 0 };
	make_frame(made, FRAME_native, "at::native::add", "/usr/lib/libtorch.so", 0);
	make_frame(made, FRAME_python, "Module.__call__", "/usr/lib/python3.11/site-packages/m.py",
		   7);
	make_frame(made, FRAME_python, "Net.forward", "/data/job/train.py", 142);
	make_frame(made, FRAME_python, "<module>", "/data/job/train.py", 200);
	made->stack.flags = PY_STACK_CUT;
	return made_stack(made, FORWARD);
}

static int same_stack(const struct stack *got, const struct stack *want)
{
	CHECK_U64(got->id, want->id);
	CHECK(got->frames == want->frames);
	CHECK(got->flags == want->flags);
	for (int i = 0; i < want->frames; i++) {
		CHECK_U64(got->frame[i]->id, want->frame[i]->id);
		CHECK(got->frame[i]->kind == want->frame[i]->kind);
		CHECK_STR(got->frame[i]->func, want->frame[i]->func);
		CHECK_STR(got->frame[i]->file, want->frame[i]->file);
		CHECK(got->frame[i]->line == want->frame[i]->line);
	}
	return 0;
}

STORE_TEST(store_keeps_a_stack_exactly)
{
	struct made_stack made;
	struct stack *got;
	int different;

	CHECK(!store_put_stack(store, forward_stack(&made)));
	CHECK(!store_find_stack(store, FORWARD, &got));
	different = same_stack(got, &made.stack);
	free(got);
	if (different)
		return 1;
	CHECK_STR(trace_ask(store, "SELECT stack, func, file, line FROM stack_line"),
		  "-5|Net.forward|/data/job/train.py|142");
	CHECK_STR(trace_ask(store, "SELECT n, kind FROM stack_frame JOIN frame ON frame.id=frame"
				   " ORDER BY n"),
		  "0|native;1|python;2|python;3|python");
	return 0;
}

STORE_TEST(store_writes_a_stack_and_its_frames_once)
{
	struct made_stack made, other = { 0 };

	for (int i = 0; i < 3; i++) {
		CHECK(!store_put_stack(store, forward_stack(&made)));
		if (i == 1)
			store_forget(store); /* as after a rollback */
	}
	make_frame(&other, FRAME_python, "Net.forward", "/data/job/train.py", 142);
	CHECK(!store_put_stack(store, made_stack(&other, 7777)));
	CHECK_STR(trace_ask(store, "SELECT (SELECT count(*) FROM stack),"
				   " (SELECT count(*) FROM frame),"
				   " (SELECT count(*) FROM stack_frame)"),
		  "2|4|5");
	return 0;
}

STORE_TEST(store_writes_a_stack_again_that_was_rolled_back)
{
	struct made_stack made;

	CHECK(!store_commit(store));
	CHECK(!store_put_stack(store, forward_stack(&made)));
	store_rollback(store);
	CHECK_STR(trace_ask(store, "SELECT count(*) FROM stack"), "0");
	CHECK(!store_put_stack(store, &made.stack));
	CHECK_STR(trace_ask(store, "SELECT (SELECT count(*) FROM stack),"
				   " (SELECT count(*) FROM frame)"),
		  "1|4");
	return 0;
}

STORE_TEST(store_keeps_a_stack_in_which_nothing_is_the_users)
{
	struct made_stack made = { 0 }, empty = { 0 };
	struct stack *got;

	make_frame(&made, FRAME_python, "wait", "/usr/lib/python3.11/threading.py", 327);
	CHECK(!store_put_stack(store, made_stack(&made, 300)));
	CHECK(!store_put_stack(store, made_stack(&empty, 301)));
	CHECK_STR(trace_ask(store, "SELECT id, line FROM stack ORDER BY id"), "300|-;301|-");
	CHECK(!store_find_stack(store, 301, &got));
	CHECK(got->frames == 0);
	free(got);
	return 0;
}

STORE_TEST(store_find_stack_of_none_says_so)
{
	struct stack *got = NULL;

	CHECK(store_find_stack(store, FORWARD, &got) == -ENOENT);
	CHECK(!got);
	return 0;
}

STORE_TEST(store_find_stack_makes_foreign_names_harmless)
{
	struct made_stack made = { 0 };
	struct stack *got;
	char longer[5000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	make_frame(&made, FRAME_python, "f\n\x1b[2J", longer, 1);
	CHECK(!store_put_stack(store, made_stack(&made, 300)));
	CHECK(!store_exec(store, "UPDATE frame SET line=-5, kind='odd'"));
	CHECK(!store_find_stack(store, 300, &got));
	CHECK_STR(got->frame[0]->func, "f\\x0a\\x1b[2J");
	CHECK(strlen(got->frame[0]->file) == 1023);
	CHECK(got->frame[0]->line == 0);
	free(got);
	/* Frames that are not there, and more of them than any stack has. */
	CHECK(!store_exec(store,
			  "WITH RECURSIVE more(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM more"
			  " WHERE k < 2000) INSERT INTO stack_frame SELECT 300, k,"
			  " (SELECT id FROM frame) + k % 2 FROM more"));
	CHECK(!store_find_stack(store, 300, &got));
	CHECK(got->frames == 512);
	free(got);
	return 0;
}

static int keep_sample(const struct sample_info *row, void *arg)
{
	char *text = arg;
	size_t at = strlen(text);

	snprintf(text + at, 512 - at, "%lld %s %s %llu %lld %llu %llu;", (long long)row->thread,
		 row->symbol, row->class, (unsigned long long)(row->at_ns - (uint64_t)BOOT_NS),
		 (long long)row->stack, (unsigned long long)row->samples,
		 (unsigned long long)row->ns);
	return 0;
}

STORE_TEST(store_keeps_where_a_thread_ran)
{
	struct sample_row row = { &op_table[OP_GAP], FORWARD, 2, 20, STATE_RUN };
	struct window w = { (uint64_t)BOOT_NS + 1, (uint64_t)BOOT_NS + 3 };
	char got[512] = "";
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	CHECK(!store_sample_second(store, thread, 1, &row)); /* before the window */
	CHECK(!store_sample_second(store, thread, 2, &row));
	CHECK(!store_sample_second(store, thread, 2, &row)); /* told twice, it adds up */
	row.op = &op_table[OP_cudaFree];
	row.stack = NO_STACK_no_frames;
	CHECK(!store_sample_second(store, thread, 3, &row));
	row.op = NULL;
	CHECK(!store_sample_second(store, thread, 3, &row));
	CHECK(!store_each_sample(store, w, keep_sample, got));
	CHECK_STR(got, "1 (between calls) gap 2 -5 4 40;1 cudaFree free 3 3 2 20;");
	return 0;
}

static int keep_call(const struct call_stack_info *row, void *arg)
{
	char *text = arg;
	size_t at = strlen(text);

	snprintf(text + at, 512 - at, "%s %s %llu %lld %llu %llu %llu;", row->symbol, row->class,
		 (unsigned long long)(row->first_ns - (uint64_t)BOOT_NS), (long long)row->stack,
		 (unsigned long long)row->calls, (unsigned long long)row->ns,
		 (unsigned long long)row->fair);
	return 0;
}

STORE_TEST(store_sums_calls_by_stack_and_second)
{
	struct record rec = { .op = &op_table[OP_cudaFree],
			      .stack = FORWARD,
			      .dur_ns = 10,
			      .because = BECAUSE_SAMPLED };
	struct window w = { 0, 0 };
	char got[512] = "";
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (uint64_t i = 0; i < 4; i++) {
		rec.start_ns = i * SEC / 2;
		CHECK(!store_call(store, thread, &rec, NULL));
	}
	rec.stack = NO_STACK_lost;
	rec.because = BECAUSE_SLOW;
	CHECK(!store_call(store, thread, &rec, NULL));
	CHECK(!store_each_call_stack(store, w, keep_call, got));
	CHECK_STR(got, "cudaFree free 0 -5 2 20 2;cudaFree free 1000000000 -5 2 20 2;"
		       "cudaFree free 1500000000 6 1 10 0;");
	return 0;
}

STORE_TEST(store_counts_what_has_a_stack_and_why_the_rest_has_none)
{
	struct record rec = { .op = &op_table[OP_cudaFree], .start_ns = 5 };
	static const uint64_t stacks[] = { FORWARD, 256, NO_STACK_no_python, 255, 0 };
	struct wait_row wait = { .op = &op_table[OP_GAP], .ns = 100, .count = 1 };
	struct window w = { 0, 0 };
	struct stack_counts got;
	int64_t thread = 0;

	if (make_thread(&thread))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(stacks); i++) {
		struct chain chain = { .hops = 2, .complete = true };

		rec.stack = stacks[i];
		CHECK(!store_call(store, thread, &rec, NULL));
		chain.hop[0].stack = stacks[i];
		chain.hop[1].stack = FORWARD; /* of somebody else */
		CHECK(!store_chain(store, &chain, &wait.chain));
		CHECK(!store_wait_second(store, thread, 5, &wait));
	}
	CHECK(!store_stack_counts(store, w, &got));
	CHECK_U64(got.calls, 2);
	CHECK_U64(got.no_calls[NO_STACK_no_python], 1);
	CHECK_U64(got.no_calls[NO_STACK_not_looked], 2); /* and what no version knows */
	CHECK_U64(got.wait_ns, 200);
	CHECK_U64(got.no_wait_ns[NO_STACK_no_python], 100);
	CHECK_U64(got.no_wait_ns[NO_STACK_not_looked], 200);
	return 0;
}

static int keep_note(const struct thread_info *info, void *arg)
{
	str_copy(arg, 64, info->python_note);
	return 0;
}

STORE_TEST(store_keeps_why_lines_cannot_be_read)
{
	struct window w = { 0, 0 };
	char note[64] = "?";
	int64_t thread = 0, process = 0;

	CHECK(!trace_run(store));
	CHECK(!trace_process(store, 4821, "python3", &process));
	CHECK(!store_thread(store, process, 4822, "trainer", 7, &thread));
	CHECK(!store_each_thread(store, w, keep_note, note));
	CHECK_STR(note, "");
	CHECK(!store_process_python(store, process, "CPython 3.8 is not known"));
	CHECK(!store_each_thread(store, w, keep_note, note));
	CHECK_STR(note, "CPython 3.8 is not known");
	return 0;
}
