/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand: its options as data, its help, one function. The list is in cmd/cmds.c. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdio.h>

#include "base/opt.h"

/* Exit codes: 0 fine, 1 error, 2 usage, 3 the answer is no (see each command's help). */
#define EXIT_NO 3
#define EXIT_USAGE 2

struct cmd {
	const char *name; /* one word or two */
	const char *args; /* operands, as the usage line shows them */
	const char *summary; /* one line */
	const char *more; /* paragraphs: what it does, exit codes, an example */
	const struct opt *opts;
	void *dest; /* what opts fill in */
	int operands_max;
	/* argv holds the operands only. 0, a negative errno (why() says more), or an exit code. */
	int (*run)(int argc, char **argv);
};

extern const struct cmd *const cmds[]; /* ends with NULL */

const struct cmd *cmd_find(const char *name);

/* Usage of one command, of all, and all of it as a manual page. */
void cmd_help(const struct cmd *cmd, FILE *out);
void cmd_list(FILE *out);
void cmd_man(FILE *out);

/* Where the trace is kept unless --db says otherwise; makes the folder when asked to. */
int cmd_default_db(char *dst, size_t cap, int make);

/* Set by SIGINT and SIGTERM after cmd_catch_signals(): finish and say what you have. */
extern volatile int cmd_stop;
void cmd_catch_signals(void);

extern const struct cmd cmd_check, cmd_trace, cmd_explain, cmd_query, cmd_merge, cmd_io,
	cmd_io_verify_cmd, cmd_tag, cmd_export, cmd_demo, cmd_ops, cmd_version, cmd_help_cmd;

#endif
