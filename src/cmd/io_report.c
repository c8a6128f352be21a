// SPDX-License-Identifier: Apache-2.0
/* io report: what the GPUs lost to storage. */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cmd/cmd.h"
#include "cmd/io.h"
#include "cmd/io_sum.h"
#include "lineage/report.h"

static int check(const struct io_args *args, uint64_t *ret_tag)
{
	if (args->since && args->from)
		return fail(-EINVAL, "--since and --from are two ways to say the same: give one");
	if (args->from && args->to && args->from >= args->to)
		return fail(-EINVAL, "--from is not before --to");
	if (args->step && (args->since || args->from || args->to))
		return fail(-EINVAL, "--step says which time: leave out --since, --from and --to");
	return args->tag ? io_tag(args->tag, ret_tag) : 0;
}

int io_report(const struct io_args *args)
{
	struct window w = { args->since ? clock_wall_ns() - args->since : args->from, args->to };
	struct report *r = NULL;
	struct store *s = NULL;
	uint64_t tag = 0;
	char path[600];
	const char *db = args->db ? args->db : path;
	int err = check(args, &tag);

	if (!err && !args->db)
		err = cmd_default_db(path, sizeof(path), 0);
	if (!err)
		err = store_open(db, STORE_READ, &s);
	if (err)
		return err;
	if (args->step)
		err = store_step_window(s, args->step, &w);
	if (!err)
		err = report_make(s, w, tag, &r);
	if (!err && args->json)
		report_json(r, stdout);
	else if (!err)
		report_text(r, stdout);
	if (err == -ENODATA || err == -ENOENT) {
		fprintf(stderr, "culprit io: %s: %s\n", db, why(err));
		err = EXIT_NO;
	}
	report_free(r);
	store_close(s);
	return err;
}
