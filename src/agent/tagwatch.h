/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of files by fanotify: attributes that change anywhere, and for files and folders that
 * are followed, closes by writers and new names. Nothing is held open: filesystems can be unmounted.
 */
#ifndef AGENT_TAGWATCH_H
#define AGENT_TAGWATCH_H

#include <stdbool.h>
#include <stdint.h>

struct tagwatch;

struct tagwatch_event {
	uint64_t mask; /* FAN_ATTRIB, FAN_CLOSE_WRITE, FAN_MOVED_TO, FAN_CREATE, FAN_MOVE_SELF */
	int pid;
	int fd; /* the file or folder, open to be read; closed afterwards */
};

int tagwatch_open(struct tagwatch **ret);
void tagwatch_close(struct tagwatch *w);
int tagwatch_fd(const struct tagwatch *w);
int tagwatch_mounts_fd(const struct tagwatch *w); /* POLLPRI: call tagwatch_mounts() */

/* Watch filesystems that are new here. */
void tagwatch_mounts(struct tagwatch *w);

/* Follow the file behind fd, or the files in that folder. */
int tagwatch_follow(struct tagwatch *w, int fd, bool dir);

/*
 * Take what is there, for a while; true: events were lost. `wants` is asked with an O_PATH descriptor whether
 * the file is to be opened: closing a file gives up all locks that this process has on it, of whichever
 * descriptor, so no file may be opened just to look.
 */
bool tagwatch_take(struct tagwatch *w, bool (*wants)(int fd, uint64_t mask, void *arg),
		   void (*fn)(const struct tagwatch_event *, void *), void *arg);

#endif
