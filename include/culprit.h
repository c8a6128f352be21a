/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Say what a thread, a process or a file works on, so that `culprit` can name it in its reports:
 *
 *	#include "culprit.h"
 *	culprit_tag_thread("checkpoint_write/run42/step80000/shard17");
 *	... write ...
 *	culprit_tag_thread(NULL);
 *
 * One file, C99 and C++, Linux, no library, no privileges, nothing to initialise. The calling thread calls
 * itself a few names and then what it was called before, which the agent's probes see: a few microseconds,
 * in force when the call returns, from any container. Where no agent runs nothing comes of it. Labels are
 * text of up to 127 bytes; longer ones are not taken.
 */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

#define CULPRIT_LABEL_MAX 127

static inline void culprit_say_(char letter, const char *piece, size_t len)
{
	char name[16] = { 'a', 'i', letter };

	memcpy(name + 3, piece, len < 12 ? len : 12);
	(void)prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
}

static inline void culprit_tell_(const char *label, char letter, const char *operand)
{
	char was[16] = { 0 };
	size_t len = label ? strlen(label) : 0, at = 0;

	if (len > CULPRIT_LABEL_MAX || prctl(PR_GET_NAME, (unsigned long)was, 0, 0, 0))
		return;
	do {
		culprit_say_(at ? '+' : ':', label ? label + at : "", len - at);
		at += 12;
	} while (at < len);
	culprit_say_(letter, operand, strlen(operand));
	(void)prctl(PR_SET_NAME, (unsigned long)was, 0, 0, 0);
}

/* The calling thread, and those that it starts; NULL: no longer. */
static inline void culprit_tag_thread(const char *label)
{
	culprit_tell_(label, '=', "");
}

/* The whole process, and those that it starts; NULL: no longer. A thread's own tag counts more. */
static inline void culprit_tag_process(const char *label)
{
	culprit_tell_(label, '*', "");
}

/*
 * The file or folder behind an open descriptor, of which one must be the owner: also kept as its attribute
 * user.ai.tag. 0, or -1 and errno where the filesystem keeps no attributes; the agent knows anyway.
 */
static inline int culprit_tag_file(int fd, const char *label)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "%d", fd);
	culprit_tell_(label, '@', number);
	return label ? fsetxattr(fd, "user.ai.tag", label, strlen(label), 0)
		     : fremovexattr(fd, "user.ai.tag");
}

/*
 * The same for a checkpoint: how it is written is watched, and its SHA-256 is kept once it is closed; see
 * `culprit io verify`. options: NULL, or words such as "dense size=1048576".
 */
static inline int culprit_checkpoint(int fd, const char *label, const char *options)
{
	char number[16], value[256];

	(void)snprintf(number, sizeof(number), "%d", fd);
	(void)snprintf(value, sizeof(value), "sha256:enabled%s%s", options ? " " : "",
		       options ? options : "");
	culprit_tell_(label, '!', number);
	if (fsetxattr(fd, "user.ai.checkpoint", value, strlen(value), 0))
		return -1;
	return fsetxattr(fd, "user.ai.tag", label, strlen(label), 0);
}

#endif
