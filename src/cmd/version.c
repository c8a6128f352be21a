// SPDX-License-Identifier: Apache-2.0
/* version: which culprit this is. */
#include <stdbool.h>

#include "base/json.h"
#include "cmd/cmd.h"
#include "wire/ops.h"

static struct {
	bool json;
} args;

static const struct opt opts[] = {
	{ "json", 0, OPT_FLAG, offsetof(__typeof__(args), json), NULL, "as JSON" },
	{ 0 },
};

static int run(int argc, char **argv)
{
	struct json j = JSON_TO(stdout);

	(void)argc;
	(void)argv;
	if (!args.json) {
		printf("culprit %s, %d traced functions\n", VERSION, OP_COUNT);
		return 0;
	}
	json_open(&j, NULL, '{');
	json_str(&j, "version", VERSION);
	json_u64(&j, "ops", OP_COUNT);
	json_close(&j, '}');
	putchar('\n');
	return 0;
}

const struct cmd cmd_version = {
	.name = "version",
	.summary = "Print the version",
	.opts = opts,
	.dest = &args,
	.run = run,
};
