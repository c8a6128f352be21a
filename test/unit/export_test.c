// SPDX-License-Identifier: Apache-2.0
/* Tests of export/: flame data, to the nanosecond and to the character. */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>

#include "test/unit/json_check.h"
#include "test/unit/lines_trace.h"

/* Valid until the next call. */
static const char *exported(enum export_format format, enum export_weight weight, uint32_t pid)
{
	static char text[65536];
	struct export_opts opts = { .format = format, .weight = weight, .pid = pid };
	FILE *out = fmemopen(text, sizeof(text), "w");
	int err;

	memset(text, 0, sizeof(text));
	err = export_stacks(store, &opts, out);
	fclose(out);
	return err ? why(err) : text;
}

#define POLL "Connection.recv connection.py:250;poll libc.so.6"

LINES_TEST(export_folded_of_lost_time_is_what_the_findings_lost)
{
	if (fill_worker())
		return 1;
	CHECK_STR(exported(EXPORT_FOLDED, EXPORT_LOST, 0),
		  "python3 4821;thread 4821 python3;<module> train.py:1;train train.py:31;" POLL
		  ";[data-loader] 2400000000\n"
		  "python3 4821;thread 4821 python3;"
		  "[line not known: its frames could not be read];[data-loader] 600000000\n"
		  "python3 4821;thread 4821 python3;<module> train.py:1;train train.py:57;" POLL
		  ";[data-loader] 600000000\n");
	return 0;
}

/* Ten seconds are 10e9 ns, whatever is known of them. */
LINES_TEST(export_folded_of_wall_time_adds_up_to_all_of_it)
{
	struct sample_row look = {
		.op = &op_table[OP_GAP], .stack = BACKWARD, .samples = 1, .ns = 10 * MSEC
	};
	struct chain gpu = { .hops = 1, .complete = true };
	struct wait_row wait = { .op = &op_table[OP_cudaStreamSynchronize],
				 .ns = 160 * MSEC,
				 .count = 20 };
	unsigned long long sum = 0;
	const char *text;

	if (fill_worker())
		return 1;
	CHECK(!store_sample_second(store, thread, 7 * SEC, &look));
	gpu.hop[0] = (struct hop){ .pid = 4821, .tid = 4821, .state = STATE_GPU, .by = WAKER_irq };
	gpu.hop[0].stack = BACKWARD;
	CHECK(!store_chain(store, &gpu, &wait.chain));
	CHECK(!store_wait_second(store, thread, 7 * SEC, &wait));
	text = exported(EXPORT_FOLDED, EXPORT_WALL, 4821);
	CHECK(strstr(text, "train train.py:31;" POLL ";[waiting on a pipe] 2400000000\n"));
	CHECK(strstr(text, "train train.py:40;" POLL ";[on CPU] 10000000\n"));
	CHECK(strstr(text, "train train.py:40;" POLL
			   ";[sync call];[waiting in the GPU's driver] 160000000\n"));
	CHECK(strstr(text, "thread 4821 python3;[line not known: not looked at] 6230000000\n"));
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n'), *at = end;

		while (at > line && at[-1] != ' ')
			at--;
		sum += strtoull(at, NULL, 10);
	}
	CHECK_U64(sum, 10 * SEC);
	return 0;
}

LINES_TEST(export_speedscope_is_what_its_schema_says)
{
	const char *text;

	if (fill_worker())
		return 1;
	text = exported(EXPORT_SPEEDSCOPE, EXPORT_LOST, 0);
	CHECK(json_valid(text));
	CHECK_STR(
		text,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"exporter\":\"culprit " VERSION "\",\"name\":\"culprit\","
		"\"activeProfileIndex\":0,\"shared\":{\"frames\":["
		"{\"name\":\"python3 4821\"},{\"name\":\"thread 4821 python3\"},"
		"{\"name\":\"\\u003cmodule> train.py\",\"file\":\"/data/job/train.py\",\"line\":1},"
		"{\"name\":\"train train.py\",\"file\":\"/data/job/train.py\",\"line\":31},"
		"{\"name\":\"Connection.recv connection.py\","
		"\"file\":\"/usr/lib/python3.11/multiprocessing/connection.py\",\"line\":250},"
		"{\"name\":\"poll libc.so.6\",\"file\":\"/usr/lib/libc.so.6\"},"
		"{\"name\":\"[data-loader]\"},"
		"{\"name\":\"[line not known: its frames could not be read]\"},"
		"{\"name\":\"train train.py\",\"file\":\"/data/job/train.py\",\"line\":57}]},"
		"\"profiles\":[{\"type\":\"sampled\","
		"\"name\":\"python3 4821, thread 4821 python3\",\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"endValue\":3600000000,"
		"\"samples\":[[0,1,2,3,4,5,6],[0,1,7,6],[0,1,2,8,4,5,6]],"
		"\"weights\":[2400000000,600000000,600000000]}]}\n");
	return 0;
}

LINES_TEST(export_takes_names_that_would_break_its_format)
{
	struct chain c = waits_for_worker(700, 0);
	struct made_stack made = { 0 };
	const char *text;

	if (begin_trace())
		return 1;
	make_frame(&made, FRAME_python, "f;g \"h\"\n\\", "/data/a;b 1\n.py", 7);
	CHECK(!store_put_stack(store, made_stack(&made, 700)));
	for (uint64_t i = 1; i <= SECONDS; i++) {
		CHECK(!loop_second(i * SEC, STATE_PIPE, 600 * MSEC));
		CHECK(!put_wait(i * SEC, &c, 600 * MSEC, 20));
	}
	CHECK_STR(exported(EXPORT_FOLDED, EXPORT_LOST, 0),
		  "python3 4821;thread 4821 python3;f,g \"h\"\\x0a\\ a,b 1\\x0a.py:7;"
		  "[data-loader] 6000000000\n");
	text = exported(EXPORT_SPEEDSCOPE, EXPORT_LOST, 0);
	CHECK(json_valid(text));
	CHECK(strstr(text, "{\"name\":\"f;g \\\"h\\\"\\\\x0a\\\\ a;b 1\\\\x0a.py\","
			   "\"file\":\"/data/a;b 1\\\\x0a.py\",\"line\":7}"));
	return 0;
}

LINES_TEST(export_of_nothing_says_so_and_writes_nothing)
{
	struct export_opts opts = { .weight = EXPORT_LOST };
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(export_stacks(store, &opts, out) == -ENODATA); /* empty */
	if (begin_trace())
		return 1;
	for (uint64_t i = 1; i <= SECONDS; i++)
		CHECK(!loop_second(i * SEC, STATE_RUN, 0));
	CHECK(export_stacks(store, &opts, out) == -ENODATA); /* healthy */
	opts.weight = EXPORT_WALL;
	opts.pid = 1;
	CHECK(export_stacks(store, &opts, out) == -ENODATA); /* somebody else */
	fclose(out);
	CHECK_STR(text, "");
	return 0;
}

LINES_TEST(export_reports_what_it_could_not_write)
{
	struct export_opts opts = { .weight = EXPORT_LOST };
	FILE *full = fopen("/dev/full", "w");

	if (fill_worker())
		return 1;
	CHECK(full);
	CHECK(export_stacks(store, &opts, full) == -EIO);
	(void)fclose(full);
	return 0;
}
