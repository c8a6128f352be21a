// SPDX-License-Identifier: Apache-2.0
/* argv to a command, its result to an exit code. Only this file exits. */
#include <errno.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"
#include "cmd/cmd.h"

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && !streq(argv[i], "--"); i++)
		if (streq(argv[i], "--help") || streq(argv[i], "-h"))
			return true;
	return false;
}

static int usage_error(const struct cmd *cmd, const char *what)
{
	fprintf(stderr, "culprit %s: %s\n`culprit %s --help` lists the options.\n", cmd->name, what,
		cmd->name);
	return EXIT_USAGE;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	static const struct opt none[] = { { 0 } };
	int operands = 1, err;
	char what[128];

	if (wants_help(argc, argv)) {
		cmd_help(cmd, stdout);
		return 0;
	}
	err = opt_parse(cmd->opts ? cmd->opts : none, argc, argv, cmd->dest, &operands);
	if (err)
		return usage_error(cmd, why(err));
	if (argc - operands > cmd->operands_max) {
		snprintf(what, sizeof(what), "unexpected argument '%s'",
			 argv[operands + cmd->operands_max]);
		return usage_error(cmd, what);
	}
	err = cmd->run(argc - operands, argv + operands);
	if (err == -EINVAL) /* only options and operands end here */
		return usage_error(cmd, why(err));
	if (err < 0) {
		fprintf(stderr, "culprit %s: %s\n", cmd->name, why(err));
		return 1;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "culprit %s: cannot write the output\n", cmd->name);
		return 1;
	}
	return err;
}

/* Commands of two words are one command each: "io verify". */
static const struct cmd *find_two(int argc, char **argv)
{
	char name[64];

	if (argc < 3)
		return NULL;
	snprintf(name, sizeof(name), "%s %s", argv[1], argv[2]);
	return cmd_find(name);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;

	while (argc > 1 && (streq(argv[1], "-v") || streq(argv[1], "--verbose"))) {
		log_level++;
		argv++;
		argc--;
	}
	if (argc < 2) {
		cmd_list(stderr);
		return EXIT_USAGE;
	}
	if (streq(argv[1], "--help") || streq(argv[1], "-h")) {
		cmd_list(stdout);
		return 0;
	}
	cmd = find_two(argc, argv);
	if (cmd)
		return run(cmd, argc - 2, argv + 2);
	cmd = cmd_find(streq(argv[1], "--version") ? "version" : argv[1]);
	if (!cmd) {
		fprintf(stderr, "culprit: no command '%s'\n\n", argv[1]);
		cmd_list(stderr);
		return EXIT_USAGE;
	}
	return run(cmd, argc - 1, argv + 1);
}
