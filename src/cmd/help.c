// SPDX-License-Identifier: Apache-2.0
/* help: usage for people, and the manual page, from the same tables. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/cmd.h"

void cmd_list(FILE *out)
{
	fputs("culprit explains why a GPU waited: who is to blame, and what fixing it gains.\n\n"
	      "usage: culprit [-v] COMMAND [OPTIONS]\n\n",
	      out);
	for (int i = 0; cmds[i]; i++)
		fprintf(out, "  %-9s %s\n", cmds[i]->name, cmds[i]->summary);
	fputs("\n`culprit COMMAND --help` tells more. Exit codes: 0 fine, 1 error, 2 usage,\n"
	      "3 the answer is no (not ready, nothing traced).\n",
	      out);
}

void cmd_help(const struct cmd *cmd, FILE *out)
{
	fprintf(out, "usage: culprit %s%s%s%s\n\n%s.\n", cmd->name, cmd->opts ? " [OPTIONS]" : "",
		cmd->args ? " " : "", cmd->args ? cmd->args : "", cmd->summary);
	if (cmd->more)
		fprintf(out, "\n%s", cmd->more);
	if (cmd->opts) {
		fputs("\n", out);
		opt_help(out, cmd->opts);
	}
}

/* roff: a leading dot or quote would be a request, a backslash an escape, a dash a hyphen. */
static void man_text(FILE *out, const char *text)
{
	int line_start = 1;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\\\", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			putc(*text, out);
		line_start = *text == '\n';
	}
}

void cmd_man(FILE *out)
{
	fputs(".TH CULPRIT 1\n.SH NAME\nculprit \\- explain why a GPU waited\n"
	      ".SH SYNOPSIS\n.B culprit\n[\\-v] COMMAND [OPTIONS]\n.SH COMMANDS\n",
	      out);
	for (int i = 0; cmds[i]; i++) {
		const struct cmd *c = cmds[i];

		fprintf(out, ".SS culprit %s%s%s%s\n", c->name, c->opts ? " [OPTIONS]" : "",
			c->args ? " " : "", c->args ? c->args : "");
		man_text(out, c->summary);
		fputs(".\n", out);
		if (c->more) {
			fputs(".PP\n.nf\n", out);
			man_text(out, c->more);
			fputs(".fi\n", out);
		}
		for (const struct opt *o = c->opts; o && o->name; o++) {
			if (!o->help)
				continue;
			fputs(".TP\n.B \\-\\-", out);
			man_text(out, o->name);
			fprintf(out, "%s%s\n", o->arg ? " " : "", o->arg ? o->arg : "");
			man_text(out, o->help);
			putc('\n', out);
		}
	}
	fputs(".SH EXIT STATUS\n0 fine, 1 error, 2 usage, 3 the answer is no (not ready, nothing "
	      "traced).\n",
	      out);
}

static struct {
	bool man;
} args;

static const struct opt opts[] = {
	{ "man", 0, OPT_FLAG, offsetof(__typeof__(args), man), NULL,
	  "print the manual page (roff)" },
	{ 0 },
};

static int run(int argc, char **argv)
{
	const struct cmd *cmd;

	if (args.man) {
		cmd_man(stdout);
		return 0;
	}
	if (!argc) {
		cmd_list(stdout);
		return 0;
	}
	cmd = cmd_find(argv[0]);
	if (!cmd)
		return fail(-ENOENT, "no command '%s'; `culprit help` lists them", argv[0]);
	cmd_help(cmd, stdout);
	return 0;
}

const struct cmd cmd_help_cmd = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "Show what a command does and its options",
	.opts = opts,
	.dest = &args,
	.operands_max = 1,
	.run = run,
};
