// SPDX-License-Identifier: Apache-2.0
#include "agent/syncs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"

#define SYNCS_MAX 256

struct going {
	struct checked_event event;
	uint64_t user_ticks; /* of the thread when it was first looked at, + 1; 0: it was not */
};

struct syncs {
	struct going going[SYNCS_MAX];
	int count;
};

struct syncs *syncs_new(void)
{
	return xcalloc(1, sizeof(struct syncs));
}

void syncs_free(struct syncs *s)
{
	free(s);
}

static bool read_of(const struct checked_event *e, const char *what, char *dst, size_t cap)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", e->pid, e->tid, what);
	return !file_read(path, dst, cap, NULL);
}

#define UTIME 12 /* words behind the name */

/* The time that it has spent outside of the kernel, in ticks, + 1; 0: not known. */
static uint64_t user_ticks(const struct checked_event *e)
{
	char text[1024], *at;

	if (!read_of(e, "stat", text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	for (int i = 0; at && i < UTIME; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) + 1 : 0;
}

/* Has the thread come back from that system call? Its number is in `count`. */
static bool is_over(struct going *g)
{
	char text[256], *end;
	long nr;

	if (!read_of(&g->event, "syscall", text, sizeof(text)))
		return true; /* the thread is gone */
	nr = strtol(text, &end, 10);
	if (end != text)
		return nr != (long)g->event.count;
	if (!g->user_ticks) { /* it runs, here or there */
		g->user_ticks = user_ticks(&g->event);
		return false;
	}
	return user_ticks(&g->event) != g->user_ticks;
}

static void finish(struct syncs *s, int i, sync_fn fn, void *arg)
{
	struct checked_event e = s->going[i].event;

	memmove(s->going + i, s->going + i + 1, (size_t)(s->count - i - 1) * sizeof(*s->going));
	s->count--;
	e.event = e.a ? TAG_EVENT_SYNC_DIR : TAG_EVENT_SYNC;
	e.a = e.count = 0;
	e.at = e.b;
	fn(&e, arg);
}

bool syncs_begun(struct syncs *s, const struct checked_event *event, sync_fn fn, void *arg)
{
	/* Who begins one has ended the one before. */
	for (int i = s->count - 1; i >= 0; i--)
		if (s->going[i].event.tid == event->tid)
			finish(s, i, fn, arg);
	if (s->count == SYNCS_MAX)
		return false;
	s->going[s->count++] = (struct going){ .event = *event };
	return true;
}

bool syncs_turn(struct syncs *s, sync_fn fn, void *arg)
{
	for (int i = s->count - 1; i >= 0; i--)
		if (is_over(&s->going[i]))
			finish(s, i, fn, arg);
	return s->count > 0;
}
