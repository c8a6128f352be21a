// SPDX-License-Identifier: Apache-2.0
/* The disk that a trace is on: whether there is room, and a new file when the old one is enough. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/store_int.h"

#define FLOOR_MIN (2ull << 20) /* a disk is never filled further than this, */
#define FLOOR_MAX (1ull << 30) /* ... or than a hundredth of it, if that is no more than this */
#define HELD_MAX (64ull << 20)

static uint64_t pending_bytes(struct store *s)
{
	int now = 0, high = 0;

	sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_USED, &now, &high, 0);
	return now < 0 ? 0 : (uint64_t)now;
}

/* Never more than what is pending: what is written is in the cache first. */
int store_room(struct store *s, uint64_t *ret_free)
{
	uint64_t pending = pending_bytes(s), all, floor;
	struct statvfs fs;

	*ret_free = 0;
	if (!s->path || statvfs(s->path, &fs))
		return 0; /* whoever writes will be told what is wrong */
	*ret_free = (uint64_t)fs.f_bavail * fs.f_frsize;
	all = (uint64_t)fs.f_blocks * fs.f_frsize;
	floor = max_u64(min_u64(all / 100, FLOOR_MAX), FLOOR_MIN);
	if (*ret_free >= floor + pending)
		return 0;
	if (pending > HELD_MAX)
		return fail(-ENOSPC,
			    "%llu MB are waiting for room on the disk, and no more are kept",
			    (unsigned long long)(pending >> 20));
	return 1;
}

/* ---- the next file ---- */

/* "x.db" of that time is "x-20261115-184700.db". */
void store_dated_name(const char *path, time_t at, int n, char *dst, size_t cap)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	size_t stem = dot && dot > (slash ? slash : path) ? (size_t)(dot - path) : strlen(path);
	char stamp[32], more[16] = "";
	struct tm tm;

	gmtime_r(&at, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	if (n)
		snprintf(more, sizeof(more), "-%d", n);
	snprintf(dst, cap, "%.*s-%s%s%s", (int)stem, path, stamp, more, path + stem);
}

static int rename_with_log(const char *from, const char *to)
{
	static const char *const with[] = { "-wal", "-shm", "" }; /* a reader may still have them */
	char old[4200], new[4200];

	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		snprintf(old, sizeof(old), "%s%s", from, with[i]);
		snprintf(new, sizeof(new), "%s%s", to, with[i]);
		if (rename(old, new) && (errno != ENOENT || !with[i][0]))
			return fail(-errno, "%s cannot be renamed: %s", old, strerror(errno));
	}
	return 0;
}

int store_roll(struct store *s, char *ret_name, size_t cap)
{
	char name[4100];
	int err = store_commit(s), again;

	if (err || !s->path)
		return err;
	for (int n = 0; n < 1000; n++) {
		store_dated_name(s->path, time(NULL), n, name, sizeof(name));
		if (access(name, F_OK))
			break;
	}
	store_shut(s);
	err = rename_with_log(s->path, name);
	again = store_reopen(s); /* a new one; or the old one, if it is still there */
	if (!err && again) {
		err = again;
		if (!rename_with_log(name, s->path)) /* better too large than none */
			again = store_reopen(s);
	}
	str_copy(ret_name, cap, name);
	return again ? again : err ? 1 : 0;
}
