// SPDX-License-Identifier: Apache-2.0
/* Tests of explain/lines.c and what is printed of it: which line of code, and why there is none. */
#include <stdlib.h>

#include "test/unit/json_check.h"
#include "test/unit/lines_trace.h"

static int ask(void)
{
	return explain(store, (struct window){ 0, 0 }, &answer);
}

enum form { TEXT, LINES, JSON };

/* Valid until the next call. */
static const char *printed(enum form form)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");

	memset(text, 0, sizeof(text));
	if (form == JSON)
		explain_json(store, &answer, out);
	else if (form == LINES)
		explain_text_lines(&answer, out);
	else
		explain_text(&answer, out);
	fclose(out);
	return text;
}

#define CHECK_HAS(text, part)                                                                      \
	do {                                                                                       \
		if (!strstr(text, part))                                                           \
			return test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", part, text);     \
	} while (0)

#define CHECK_LINE(line_, file_, func_, number)                                                    \
	do {                                                                                       \
		CHECK_STR((line_)->file, file_);                                                   \
		CHECK_STR((line_)->func, func_);                                                   \
		CHECK((line_)->line == (number));                                                  \
	} while (0)

/* ---- waits */

LINES_TEST(explain_finds_the_line_that_waited_and_the_workers_line)
{
	const struct finding *f;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_STR(f->cause, "data-loader");
	CHECK_U64(f->lost_ns, 6 * (600 * MSEC)); /* whatever the lines */
	CHECK_U64(f->count, 120);
	CHECK_LINE(&f->where, "/data/job/train.py", "train", 31);
	CHECK_NEAR(f->where.share, 100.0 * 4 / 6, 0.01);
	CHECK(f->where.why == NO_STACK_unreadable); /* of the rest */
	CHECK_U64(f->where.stack, NEXT_BATCH);
	CHECK_LINE(&f->hop_line[0], "/data/job/train.py", "train", 31);
	CHECK_LINE(&f->hop_line[1], "/data/job/images.py", "Images.decode", 142);
	CHECK_NEAR(f->hop_line[1].share, 50, 0.01);
	CHECK(f->culprit[0].pid == 4900);
	CHECK_LINE(&f->culprit[0].line, "/data/job/images.py", "Images.decode", 142);
	CHECK(f->chain.hops == 2 && f->hop_ns[1] == f->lost_ns);
	CHECK_STR(f->fix[0], "look at Images.decode() at images.py:142 first: the worker spends "
			     "that time there");
	return 0;
}

LINES_TEST(explain_shares_out_all_that_was_lost)
{
	uint64_t sum = 0;
	const struct finding *f;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	f = &answer.finding[0];
	CHECK(f->shares == 3);
	CHECK_U64(f->share[0].stack, NEXT_BATCH);
	for (int i = 0; i < f->shares; i++)
		sum += f->share[i].ns;
	CHECK_U64(sum, f->lost_ns);
	return 0;
}

LINES_TEST(explain_of_a_trace_without_stacks_says_so)
{
	struct chain c = waits_for_worker(0, 0);
	const struct finding *f;

	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++) {
		CHECK(!loop_second(i * SEC, STATE_PIPE, 600 * MSEC));
		CHECK(!put_wait(i * SEC, &c, 600 * MSEC, 20));
	}
	CHECK(!ask());
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_LINE(&f->where, "", "", 0);
	CHECK(f->shares == 1 && f->share[0].stack == 0 && f->share[0].ns == f->lost_ns);
	CHECK_HAS(printed(TEXT), "  Where:  line not known: not looked at\n");
	CHECK_HAS(printed(JSON), "\"file\":null,\"line\":null,\"func\":null,"
				 "\"line_note\":\"not looked at\"");
	CHECK(strncmp(f->fix[0], "look at", 7) != 0);
	return 0;
}

LINES_TEST(explain_says_what_is_wrong_with_the_interpreter)
{
	struct chain c = waits_for_worker(NO_STACK_unreadable, 0);

	if (begin_trace())
		return 1;
	CHECK(!store_process_python(store, process, "CPython 3.8 is not known"));
	for (uint64_t i = 1; i <= SECONDS; i++) {
		CHECK(!loop_second(i * SEC, STATE_PIPE, 600 * MSEC));
		CHECK(!put_wait(i * SEC, &c, 600 * MSEC, 20));
	}
	CHECK(!ask());
	CHECK_HAS(printed(TEXT), "  Where:  line not known: CPython 3.8 is not known\n");
	CHECK_HAS(printed(TEXT),
		  "\n  its lines of Python are not known: CPython 3.8 is not known\n");
	CHECK_HAS(printed(JSON), "\"python_note\":\"CPython 3.8 is not known\"");
	return 0;
}

LINES_TEST(explain_takes_a_line_of_a_library_where_nothing_is_the_users)
{
	struct chain c = waits_for_worker(LIBRARY, 999); /* 999: not stored */
	const struct finding *f;

	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++) {
		CHECK(!loop_second(i * SEC, STATE_PIPE, 600 * MSEC));
		CHECK(!put_wait(i * SEC, &c, 600 * MSEC, 20));
	}
	CHECK(!ask());
	f = &answer.finding[0];
	CHECK_LINE(&f->where, "/usr/lib/python3.11/multiprocessing/connection.py",
		   "Connection.recv", 250);
	CHECK_STR(f->hop_line[1].file, "");
	CHECK(f->hop_line[1].why == NO_STACK_lost);
	return 0;
}

/* ---- work and calls */

LINES_TEST(explain_finds_the_work_of_the_loop_by_looks_at_it)
{
	struct sample_row look = { .op = &op_table[OP_GAP], .samples = 50 };
	const struct finding *f;

	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++) {
		CHECK(!loop_second(i * SEC, STATE_RUN, i >= BAD_FIRST ? 900 * MSEC : 0));
		look.op = &op_table[OP_GAP];
		look.stack = i >= BAD_FIRST ? BACKWARD : NEXT_BATCH;
		look.ns = 500 * MSEC;
		CHECK(!store_sample_second(store, thread, i * SEC, &look));
		look.op = &op_table[OP_cudaStreamSynchronize]; /* it spins there: no work */
		look.stack = NEXT_EPOCH;
		look.ns = 600 * MSEC;
		CHECK(!store_sample_second(store, thread, i * SEC, &look));
	}
	CHECK(!ask());
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_STR(f->cause, "host-bound");
	CHECK_LINE(&f->where, "/data/job/train.py", "train", 40);
	CHECK_LINE(&f->culprit[0].line, "/data/job/train.py", "train", 40);
	CHECK_HAS(f->fix[0], "look at train() at train.py:40 first: the work is done there");
	return 0;
}

static int put_call(uint32_t op, uint64_t at, uint64_t dur, uint64_t stack)
{
	struct record rec = { .op = &op_table[op], .start_ns = at, .dur_ns = dur, .stack = stack };

	CHECK(!store_call(store, thread, &rec, NULL));
	return 0;
}

/* Each second: allocations at two lines, 3 ms and 1 ms of those that were stored. */
static int fill_churn(void)
{
	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++) {
		struct op_delta d = { .op = &op_table[OP_cudaMalloc],
				      .calls = 100,
				      .done = 100,
				      .total_ns = 300 * MSEC };

		d.state_ns[STATE_RUN] = 300 * MSEC;
		CHECK(!loop_second(i * SEC, STATE_RUN, 0));
		CHECK(!store_op_second(store, thread, i * SEC, &d));
		CHECK(!put_call(OP_cudaMalloc, i * SEC - 10, 3 * MSEC, BACKWARD));
		CHECK(!put_call(OP_cudaMalloc, i * SEC - 5, MSEC, NEXT_BATCH));
		CHECK(!put_call(OP_cudaStreamSynchronize, i * SEC - 5, 9 * MSEC, NEXT_BATCH));
	}
	return 0;
}

LINES_TEST(explain_finds_the_line_of_calls_by_the_stored_ones)
{
	const struct finding *f;

	CHECK(!fill_churn());
	CHECK(!ask());
	CHECK(answer.findings == 1);
	f = &answer.finding[0];
	CHECK_STR(f->cause, "alloc-churn");
	CHECK_LINE(&f->where, "/data/job/train.py", "train", 40);
	CHECK_NEAR(f->where.share, 75, 0.01);
	return 0;
}

LINES_TEST(explain_tells_where_memory_is_freed_that_is_allocated_again)
{
	const struct finding *f;

	CHECK(!fill_churn());
	for (uint64_t i = 1; i <= SECONDS; i++)
		CHECK(!put_call(OP_cudaFree, i * SEC - 2, MSEC, NEXT_BATCH));
	CHECK(!ask());
	f = &answer.finding[0];
	CHECK_STR(f->cause, "alloc-churn");
	CHECK(!streq(f->where.func, "train") || f->where.line != 40); /* where most time is */
	CHECK_NEAR(f->where.share, 40, 0.01); /* 1 + 1 of 5 ms */
	return 0;
}

/* ---- what is printed */

LINES_TEST(explain_text_has_the_lines_of_the_chain)
{
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	text = printed(TEXT);
	CHECK_HAS(text, "  Where:  train() at train.py:31 (67 % of it)\n"
			"          /data/job/train.py\n");
	CHECK_HAS(text, "Chain:  python3 4821: 3.6 s waiting on a pipe, train() at train.py:31\n");
	CHECK_HAS(text, "<- loader 4900 (child): 3.6 s on CPU, Images.decode() at images.py:142\n");
	CHECK(!strstr(text, "  Stack:  "));
	return 0;
}

LINES_TEST(explain_full_stack_shows_native_frames_too)
{
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	answer.full_stack = true;
	text = printed(TEXT);
	CHECK_HAS(text,
		  "  Stack:  python3 4821, innermost first\n"
		  "          [native] poll in /usr/lib/libc.so.6\n"
		  "          [Python] /usr/lib/python3.11/multiprocessing/connection.py:250 in "
		  "Connection.recv()\n"
		  "          [Python] /data/job/train.py:31 in train()\n"
		  "          [Python] /data/job/train.py:1 in <module>\n");
	CHECK_HAS(text, "  Stack:  loader 4900, innermost first\n");
	text = printed(JSON);
	CHECK(json_valid(text));
	CHECK_HAS(text, "\"stack\":[{\"kind\":\"native\",\"func\":\"poll\","
			"\"file\":\"/usr/lib/libc.so.6\"},{\"kind\":\"python\"");
	return 0;
}

LINES_TEST(explain_json_has_file_line_and_func)
{
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	text = printed(JSON);
	CHECK(json_valid(text));
	CHECK_HAS(text, "\"file\":\"/data/job/train.py\",\"line\":31,\"func\":\"train\"");
	CHECK_HAS(text, "\"state\":\"run\"");
	CHECK_HAS(text, "\"file\":\"/data/job/images.py\",\"line\":142,\"func\":\"Images.decode\"");
	CHECK(!strstr(text, "\"stack\":["));
	return 0;
}

LINES_TEST(explain_by_line_adds_up_to_what_was_lost)
{
	uint64_t sum = 0;
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!ask());
	CHECK(answer.lines == 3);
	for (int i = 0; i < answer.lines; i++)
		sum += answer.line[i].ns;
	CHECK_NEAR((double)sum, 3.6e9, 3);
	text = printed(LINES);
	CHECK_HAS(text, "     2.4 s   66.7 %  data-loader         train() at train.py:31  "
			"[python3 4821]\n");
	CHECK_HAS(text, "    600 ms   16.7 %  data-loader         train() at train.py:57");
	CHECK_HAS(text, "line not known: its frames could not be read  [python3 4821]\n");
	text = printed(JSON);
	CHECK_HAS(text, "\"lines\":[{\"lost_ns\":2400000000,\"lost_pct\":66.6667,"
			"\"file\":\"/data/job/train.py\",\"line\":31,\"func\":\"train\"");
	explain_only(&answer, 1);
	CHECK(answer.lines == 0);
	CHECK_HAS(printed(LINES), "no time was lost");
	return 0;
}

LINES_TEST(explain_says_how_much_of_the_trace_has_lines)
{
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!put_call(OP_cudaMalloc, SEC, 1, BACKWARD));
	CHECK(!put_call(OP_cudaMalloc, SEC, 1, NO_STACK_over_budget));
	CHECK(!put_call(OP_cudaMalloc, SEC, 1, NO_STACK_no_python)); /* does not count */
	CHECK(!ask());
	text = printed(TEXT);
	CHECK_HAS(text,
		  "Lines of Python: known of 50.0 % of the calls stored one by one, 83.3 % of "
		  "the waiting time;\n  of most others: too many stops in a short time to look "
		  "at each.\n");
	text = printed(JSON);
	CHECK_HAS(text, "\"python\":{\"calls\":2,\"wait_ns\":3600000000,\"calls_with_line_pct\":50,"
			"\"wait_with_line_pct\":83.3333,\"calls_without\":{\"no_python\":1,"
			"\"over_budget\":1},\"wait_ns_without\":{\"unreadable\":600000000}}");
	return 0;
}
