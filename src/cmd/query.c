// SPDX-License-Identifier: Apache-2.0
/* query: SQL on a trace. */
#include "query/query.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "cmd/cmd.h"

#define SQL_MAX 100000
#define TIMEOUT_NS 30000000000ull
#define ROWS_MAX 10000
#define MEMORY_MAX (256ull << 20)

static struct {
	const char *db, *format;
	uint64_t timeout, limit, memory;
	bool csv, json, schema;
} args = { .timeout = TIMEOUT_NS, .limit = ROWS_MAX, .memory = MEMORY_MAX };

#define AT(field) offsetof(__typeof__(args), field)

static const struct opt opts[] = {
	{ "db", 'd', OPT_STR, AT(db), "FILE", "the trace (default: where `trace` writes)" },
	{ "format", 'f', OPT_STR, AT(format), "FORMAT", "table, csv or json (default: table)" },
	{ "csv", 0, OPT_FLAG, AT(csv), NULL, "as CSV" },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "as JSON" },
	{ "limit", 0, OPT_U64, AT(limit), "N", "show N rows at most; 0: all (default: 10000)" },
	{ "timeout", 0, OPT_DURATION, AT(timeout), "TIME",
	  "give up after that; 0: never (default: 30s)" },
	{ "memory", 0, OPT_SIZE, AT(memory), "SIZE", "use no more; 0: any (default: 256m)" },
	{ "schema", 0, OPT_FLAG, AT(schema), NULL, "print the tables, views and what is in them" },
	{ 0 },
};

static int find_format(enum query_format *ret)
{
	static const char *const names[] = { "table", "csv", "json" };

	*ret = args.json ? QUERY_JSON : args.csv ? QUERY_CSV : QUERY_TABLE;
	if (args.json + args.csv + (args.format != NULL) > 1)
		return fail(-EINVAL, "--format, --csv and --json: give one");
	if (!args.format)
		return 0;
	for (int i = 0; i < (int)ARRAY_LEN(names); i++) {
		if (streq(args.format, names[i])) {
			*ret = (enum query_format)i;
			return 0;
		}
	}
	return fail(-EINVAL, "--format: '%s' is none of table, csv, json", args.format);
}

/* From standard input; a query that is too long is refused, not cut. */
static int read_sql(char **ret)
{
	char *sql = xcalloc(SQL_MAX + 2, 1);
	size_t len = fread(sql, 1, SQL_MAX + 1, stdin);

	if (ferror(stdin) || len > SQL_MAX || memchr(sql, '\0', len)) {
		free(sql);
		return fail(-EINVAL, "standard input: %s",
			    len > SQL_MAX ? "a query has 100,000 bytes at most"
					  : "this is no text");
	}
	*ret = sql;
	return 0;
}

static int answer(const char *db, const char *sql, enum query_format format)
{
	const struct query_opts limits = { .timeout_ns = args.timeout,
					   .rows_max = args.limit,
					   .memory_max = args.memory,
					   .stop = &cmd_stop };
	struct query *q = NULL;
	int err = query_open(db, &limits, &q);

	if (err)
		return err;
	cmd_catch_signals();
	signal(SIGPIPE, SIG_DFL); /* who has read enough, as head, is no error */
	err = query_print(q, sql, format, stdout, stderr);
	query_close(q);
	if (err == -EINVAL) { /* the options were fine */
		(void)fflush(stdout);
		fprintf(stderr, "culprit query: %s\n", why(err));
		return 1;
	}
	return err;
}

static int run(int argc, char **argv)
{
	enum query_format format;
	char path[600], *sql = NULL;
	int err = find_format(&format);

	if (err)
		return err;
	if (args.schema) {
		query_schema(stdout);
		return 0;
	}
	if (!argc)
		return fail(-EINVAL, "what is the question? culprit query \"SELECT ...\"");
	if (!args.db) {
		err = cmd_default_db(path, sizeof(path), 0);
		if (err)
			return err;
		args.db = path;
	}
	if (streq(argv[0], "-")) {
		err = read_sql(&sql);
		if (err)
			return err;
	}
	err = answer(args.db, sql ? sql : argv[0], format);
	free(sql);
	return err;
}

const struct cmd cmd_query = {
	.name = "query",
	.args = "SQL",
	.summary = "Ask a trace in SQL, while it is recorded or later; nothing is changed",
	.more = "One statement that reads; - reads it from standard input. events, cuda_events and\n"
		"nccl_events have a row for each event that was counted; calls has those that were\n"
		"stored one by one, which is a sample. doc/query.md has examples, --schema the tables.\n\n"
		"  culprit query \"SELECT node, source, count(*), avg(duration)/1000 AS avg_us\n"
		"                 FROM events GROUP BY node, source\"\n",
	.opts = opts,
	.dest = &args,
	.operands_max = 1,
	.run = run,
};
