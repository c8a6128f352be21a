// SPDX-License-Identifier: Apache-2.0
/* Tests of base/opt.c and base/opt_help.c. */
#include "base/opt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/util.h"
#include "test/test.h"

struct dest {
	bool json, verbose, color;
	const char *db;
	uint64_t pid, window, max_size, since;
};

static const struct opt opts[] = {
	{ "db", 'd', OPT_STR, offsetof(struct dest, db), "FILE", "read this database" },
	{ "json", 'j', OPT_FLAG, offsetof(struct dest, json), NULL, "print JSON" },
	{ "verbose", 'v', OPT_FLAG, offsetof(struct dest, verbose), NULL,
	  "say more on stderr, and then say even more of it so that the line must be wrapped "
	  "somewhere" },
	{ "color", 0, OPT_FLAG, offsetof(struct dest, color), NULL, NULL },
	{ "pid", 'p', OPT_U64, offsetof(struct dest, pid), "PID", "only this process" },
	{ "window", 'w', OPT_DURATION, offsetof(struct dest, window), "TIME", "how far back" },
	{ "max-size", 0, OPT_SIZE, offsetof(struct dest, max_size), "SIZE", "of the database" },
	{ "since", 's', OPT_TIME, offsetof(struct dest, since), NULL, "from then on" },
	{ 0 },
};

/* Parses the words of a line; args keeps what argv looks like afterwards. */
static struct {
	struct dest d;
	char line[256];
	char *argv[16];
	int argc, operands;
} args;

static int parse(const char *line)
{
	char *save = NULL;

	memset(&args, 0, sizeof(args));
	str_copy(args.line, sizeof(args.line), line);
	args.argv[args.argc++] = args.line + strlen(args.line); /* the command's name */
	for (char *w = strtok_r(args.line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		args.argv[args.argc++] = w;
	return opt_parse(opts, args.argc, args.argv, &args.d, &args.operands);
}

TEST(opt_parse_takes_values_in_every_form)
{
	static const char *const lines[] = { "--db x", "--db=x", "-d x", "-dx", "-jdx", "-jd x" };

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CHECK(!parse(lines[i]));
		CHECK_STR(args.d.db, "x");
		CHECK(args.d.json == (i >= 4));
		CHECK(args.operands == args.argc);
	}
	return 0;
}

TEST(opt_parse_fills_every_type)
{
	uint64_t before = clock_wall_ns();

	CHECK(!parse("-p 42 --window 250ms --max-size=64k --since -5m -v"));
	CHECK_U64(args.d.pid, 42);
	CHECK_U64(args.d.window, 250000000);
	CHECK_U64(args.d.max_size, 65536);
	CHECK_NEAR(args.d.since, before - 300000000000ull, 5e9);
	CHECK(args.d.verbose && !args.d.json);
	return 0;
}

TEST(opt_parse_turns_flags_on_and_off)
{
	static const char *const on[] = { "--json",   "--json=true", "--json=yes",
					  "--json=1", "-vj",         "--no-json --json" };
	static const char *const off[] = { "--no-json", "--json=false", "--json=no",
					   "--json=0",  "-j --no-json", "--json --json=no" };

	for (size_t i = 0; i < ARRAY_LEN(on); i++) {
		CHECK(!parse(on[i]));
		CHECK(args.d.json);
	}
	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		CHECK(!parse(off[i]));
		CHECK(!args.d.json);
	}
	return 0;
}

TEST(opt_parse_keeps_defaults)
{
	struct dest d = { .color = true, .db = "default", .pid = 7 };
	char name[] = "stats", json[] = "--json", *argv[] = { name, json, NULL };
	int operands = 0;

	CHECK(!opt_parse(opts, 2, argv, &d, &operands));
	CHECK(d.color && d.json);
	CHECK_STR(d.db, "default");
	CHECK_U64(d.pid, 7);
	return 0;
}

TEST(opt_parse_moves_operands_last_in_their_order)
{
	CHECK(!parse("a --db x b -v - c -p 1"));
	CHECK(args.operands == 6);
	CHECK_STR(args.argv[1], "--db");
	CHECK_STR(args.argv[2], "x");
	CHECK_STR(args.argv[3], "-v");
	CHECK_STR(args.argv[4], "-p");
	CHECK_STR(args.argv[6], "a");
	CHECK_STR(args.argv[7], "b");
	CHECK_STR(args.argv[8], "-");
	CHECK_STR(args.argv[9], "c");
	return 0;
}

TEST(opt_parse_ends_options_at_two_dashes)
{
	CHECK(!parse("a -v -- --json -x b"));
	CHECK(args.d.verbose && !args.d.json);
	CHECK(args.operands == 3);
	CHECK_STR(args.argv[3], "a");
	CHECK_STR(args.argv[4], "--json");
	CHECK_STR(args.argv[5], "-x");
	CHECK_STR(args.argv[6], "b");
	CHECK(!parse("--"));
	CHECK(args.operands == args.argc);
	return 0;
}

TEST(opt_parse_takes_a_comment_of_sql_for_an_operand)
{
	static const struct opt none[] = { { 0 } };
	char cmd[] = "query", sql[] = "-- why\nSELECT 1", *argv[] = { cmd, sql };
	int operands = 0;

	CHECK(!opt_parse(none, 2, argv, NULL, &operands));
	CHECK(operands == 1);
	CHECK_STR(argv[1], sql);
	return 0;
}

TEST(opt_parse_accepts_an_empty_argv)
{
	int operands = 77;

	CHECK(!opt_parse(opts, 0, args.argv, &args.d, &operands));
	CHECK(operands == 0);
	CHECK(!parse(""));
	CHECK(args.operands == 1);
	return 0;
}

TEST(opt_parse_lets_the_last_of_two_win)
{
	CHECK(!parse("--db x -d y -p1 --pid=2"));
	CHECK_STR(args.d.db, "y");
	CHECK_U64(args.d.pid, 2);
	return 0;
}

TEST(opt_parse_takes_an_empty_value_after_an_equals_sign)
{
	CHECK(!parse("--db="));
	CHECK_STR(args.d.db, "");
	CHECK(parse("--pid=") == -EINVAL);
	return 0;
}

TEST(opt_parse_says_what_is_wrong)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{ "--dbb x", "unknown option '--dbb': did you mean --db?" },
		{ "--dbb=x", "unknown option '--dbb': did you mean --db?" },
		{ "--verbos", "unknown option '--verbos': did you mean --verbose?" },
		{ "--ver", "unknown option '--ver': did you mean --verbose?" },
		{ "--josn", "unknown option '--josn': did you mean --json?" },
		{ "--no-josn", "unknown option '--no-josn': did you mean --no-json?" },
		{ "--no-db", "unknown option '--no-db': did you mean --db?" },
		{ "--completely-else", "unknown option '--completely-else'" },
		{ "--=x", "unknown option '--'" },
		{ "-z", "unknown option '-z'" },
		{ "-vz", "unknown option '-z'" },
		{ "-\xff", "unknown option '-\\xff'" },
		{ "---json", "unknown option '---json': did you mean --json?" },
		{ "--x\x1b[1m", "unknown option '--x\\x1b[1m'" },
		{ "--db", "--db: a value is missing" },
		{ "-vd", "-d, --db: a value is missing" },
		{ "--pid x", "--pid: 'x' is not a whole number" },
		{ "-px", "-p, --pid: 'x' is not a whole number" },
		{ "--json=maybe", "--json: 'maybe' is neither true nor false" },
		{ "--no-json=1", "--no-json takes no value" },
		{ "--max-size 1q", "--max-size: '1q' is not a size (try 4096, 64k or 10g)" },
		{ "-w 1q", "-w, --window: '1q' is not a duration (try 20s, 250ms, 5m or 1h)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (parse(cases[i].line) != -EINVAL)
			CHECK_STR(cases[i].line, "refused");
		CHECK_STR(why(-EINVAL), cases[i].want);
	}
	return 0;
}

TEST(opt_parse_survives_a_name_longer_than_any_buffer)
{
	char name[] = "x", *longer = xcalloc(1, 5000), *argv[] = { name, longer, NULL };
	int operands, err;

	memset(longer, 'n', 4999);
	longer[0] = longer[1] = '-';
	err = opt_parse(opts, 2, argv, &args.d, &operands);
	free(longer);
	CHECK(err == -EINVAL);
	CHECK(starts_with(why(-EINVAL), "unknown option '--nnn"));
	return 0;
}

static const char *help_of(const struct opt *table)
{
	static char text[2048];
	FILE *out = fmemopen(text, sizeof(text), "w");

	opt_help(out, table);
	fclose(out);
	return text;
}

TEST(opt_help_aligns_and_wraps)
{
	CHECK_STR(
		help_of(opts),
		"  -d, --db FILE        read this database\n"
		"  -j, --json           print JSON\n"
		"  -v, --verbose        say more on stderr, and then say even more of it so that\n"
		"                       the line must be wrapped somewhere\n"
		"  -p, --pid PID        only this process\n"
		"  -w, --window TIME    how far back\n"
		"      --max-size SIZE  of the database\n"
		"  -s, --since VALUE    from then on\n");
	return 0;
}

TEST(opt_help_puts_long_names_on_their_own_line)
{
	static const struct opt table[] = {
		{ "a-very-long-name-of-an-option", 0, OPT_STR, 0, "VALUE", "does it" },
		{ "b", 'b', OPT_FLAG, 0, NULL, "does that" },
		{ 0 },
	};

	CHECK_STR(help_of(table), "      --a-very-long-name-of-an-option VALUE\n"
				  "           does it\n"
				  "  -b, --b  does that\n");
	return 0;
}
