// SPDX-License-Identifier: Apache-2.0
/* The list of commands, and what they share. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "cmd/cmd.h"

const struct cmd *const cmds[] = {
	&cmd_check, &cmd_trace,         &cmd_explain,  &cmd_query,  &cmd_merge,
	&cmd_io,    &cmd_io_verify_cmd, &cmd_tag,      &cmd_export, &cmd_demo,
	&cmd_ops,   &cmd_version,       &cmd_help_cmd, NULL,
};

const struct cmd *cmd_find(const char *name)
{
	for (int i = 0; cmds[i]; i++)
		if (streq(cmds[i]->name, name))
			return cmds[i];
	return NULL;
}

volatile int cmd_stop;

static void on_signal(int sig)
{
	(void)sig;
	cmd_stop = 1;
}

void cmd_catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal }; /* no SA_RESTART: waits must end */

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int cmd_default_db(char *dst, size_t cap, int make)
{
	const char *home = getenv("HOME");
	char dir[512];

	if (geteuid() == 0)
		snprintf(dir, sizeof(dir), "/var/lib/culprit");
	else if (home && home[0] == '/')
		snprintf(dir, sizeof(dir), "%s/.culprit", home);
	else
		return fail(-ENOENT, "no HOME: say where with --db FILE");
	if (make && mkdir(dir, 0700) && errno != EEXIST)
		return fail(-errno, "%s: %s; say where with --db FILE", dir, strerror(errno));
	if ((size_t)snprintf(dst, cap, "%s/culprit.db", dir) >= cap)
		return fail(-ENAMETOOLONG, "%s is too long", dir);
	return 0;
}
