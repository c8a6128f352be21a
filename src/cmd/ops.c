// SPDX-License-Identifier: Apache-2.0
/* ops: every function that is traced. */
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

static const char *how(const struct op *op)
{
	if (op_timed(op->class))
		return "timed";
	return op->lib == LIB_CUDART ? "counted*" : "counted";
}

static void print_json(void)
{
	struct json j = JSON_TO(stdout);

	json_open(&j, NULL, '[');
	for (int i = 0; i < OP_COUNT; i++) {
		json_open(&j, NULL, '{');
		json_str(&j, "symbol", op_table[i].symbol);
		json_str(&j, "library", lib_names[op_table[i].lib]);
		json_str(&j, "class", class_names[op_table[i].class]);
		json_bool(&j, "timed", op_timed(op_table[i].class));
		json_str(&j, "doc", op_table[i].doc);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	putchar('\n');
}

static int run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (args.json) {
		print_json();
		return 0;
	}
	printf("%-34s %-10s %-9s %s\n", "FUNCTION", "CLASS", "PROBED", "WHAT IT DOES");
	for (int i = 0; i < OP_COUNT; i++)
		printf("%-34s %-10s %-9s %s\n", op_table[i].symbol, class_names[op_table[i].class],
		       how(&op_table[i]), op_table[i].doc);
	puts("\n* only in processes without libcuda: elsewhere the driver's own is counted");
	return 0;
}

const struct cmd cmd_ops = {
	.name = "ops",
	.summary = "List the functions that are traced",
	.opts = opts,
	.dest = &args,
	.run = run,
};
