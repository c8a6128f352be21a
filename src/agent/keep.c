// SPDX-License-Identifier: Apache-2.0
/*
 * What is kept, and where: the second that ends is committed, or waits in memory while the disk is full;
 * the file stays within its limits; a new one begins when the old one is enough.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_int.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/util.h"

#define PRUNE_NS 3000000ull /* at once: the ring holds far more than comes in meanwhile */
#define ROLL_AGAIN_NS 10000000000ull /* between two files, at least */
#define KEEP_NS 1000000000ull /* between two looks at the limits */

/* ---- seconds ---- */

/* Ids are void: what was introduced is introduced again when it is next seen. */
static void forget_ids(struct agent *a)
{
	roster_free(a->roster);
	tenants_forget(a->tenants);
	a->roster = roster_new(a->store, a->tenants);
	incidents_forget(a->incidents);
	ranks_forget(a->ranks);
	lines_rollback(a->lines);
	kernels_rollback(a->kernels);
	memory_rollback(a->memory);
	tagging_rollback(a->tagging);
	blamed_forget(a->blamed);
	gpus_forget(a->gpus);
	stalls_forget(a->stalls);
}

/* The database refused (full disk?). That second, and those that waited, are lost, and it is said. */
static void give_up_second(struct agent *a)
{
	store_rollback(a->store);
	forget_ids(a);
	a->unstored += 1 + a->held;
	a->unstored_untold += 1 + a->held;
	a->held = 0;
	a->store_bad = false;
}

/* Little room: let it wait, but for the last one, which cannot. */
static bool must_wait(struct agent *a)
{
	uint64_t free_bytes;
	int room = a->ending ? 0 : store_room(a->store, &free_bytes);

	if (room < 0)
		agent_stored(a, room);
	if (room != 1)
		return false;
	if (!a->held++)
		log_warn(
			"the disk of %s is full (%llu kB are left): what is recorded waits in memory",
			a->opts.db, (unsigned long long)(free_bytes >> 10));
	return true;
}

void agent_commit(struct agent *a)
{
	if (!a->store_bad && must_wait(a))
		return;
	if (!a->store_bad)
		agent_stored(a, store_commit(a->store));
	if (a->store_bad) {
		give_up_second(a);
		return;
	}
	a->unstored_untold = 0;
	if (a->held)
		log_warn("there is room again: %llu seconds that waited are stored",
			 (unsigned long long)a->held);
	a->held = 0;
}

/* ---- files that were put aside ---- */

struct aside {
	char path[4200];
	time_t at;
	uint64_t bytes;
};

struct asides {
	struct aside *at;
	size_t count;
	uint64_t bytes;
};

/* "x-20261115-184700.db" or "x-20261115-184700-1.db" of "x.db". */
static bool is_aside(const char *name, const char *of)
{
	const char *dot = strrchr(of, '.');
	size_t stem = dot ? (size_t)(dot - of) : strlen(of), len = strlen(name);
	size_t tail = strlen(of + stem);

	if (len < stem + 16 + tail || strncmp(name, of, stem) != 0 ||
	    !streq(name + len - tail, of + stem))
		return false;
	for (size_t i = 0; i < 16; i++) {
		char c = name[stem + i];

		if (i == 0 || i == 9 ? c != '-' : c < '0' || c > '9')
			return false;
	}
	return strspn(name + stem + 16, "-0123456789") >= len - stem - 16 - tail;
}

static int by_time(const void *a, const void *b)
{
	const struct aside *x = a, *y = b;

	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : strcmp(x->path, y->path);
}

static void find_asides(const char *db, struct asides *ret)
{
	const char *slash = strrchr(db, '/'), *name = slash ? slash + 1 : db;
	char folder[4096] = ".";
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	*ret = (struct asides){ 0 };
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - db + 1), db);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		struct aside *one;

		if (!is_aside(entry->d_name, name) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		ret->at = xrealloc(ret->at, ret->count + 1, sizeof(*ret->at));
		one = &ret->at[ret->count++];
		snprintf(one->path, sizeof(one->path), "%.*s%s", (int)(name - db), db,
			 entry->d_name);
		one->at = st.st_mtime;
		one->bytes = (uint64_t)st.st_size;
		ret->bytes += one->bytes;
	}
	if (dir)
		closedir(dir);
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(*ret->at), by_time);
}

/* All files together are what may be so large, and so old. */
static void drop_asides(struct agent *a)
{
	const struct retention *keep = &a->opts.keep;
	/* By the clock as it was when the run began: somebody may have set it since. */
	uint64_t now = (clock_boot_ns() + (uint64_t)a->wall_minus_boot) / 1000000000;
	uint64_t age = keep->max_age_ns / 1000000000;
	struct store_size size;
	struct asides files;

	if (store_size(a->store, &size))
		return;
	find_asides(a->opts.db, &files);
	for (size_t i = 0; i < files.count; i++) {
		const struct aside *one = &files.at[i];
		bool old = age && now > age && (uint64_t)one->at < now - age;

		if (!old && (!keep->max_bytes || size.bytes + files.bytes <= keep->max_bytes))
			break;
		if (!unlink(one->path))
			log_warn("%s removed: %s", one->path, old ? "--max-age" : "--max-db");
		files.bytes -= one->bytes;
	}
	free(files.at);
}

static bool day_is_over(const struct agent *a)
{
	time_t then = (time_t)(a->file_ns / 1000000000), now = time(NULL);
	struct tm was, is;

	localtime_r(&then, &was);
	localtime_r(&now, &is);
	return was.tm_yday != is.tm_yday || was.tm_year != is.tm_year;
}

static int roll(struct agent *a)
{
	char name[4100];
	int err;

	agent_stored(a, store_run_end(a->store, clock_boot_ns()));
	if (!a->store_bad)
		agent_stored(a, store_commit(a->store));
	if (a->store_bad) {
		give_up_second(a);
		return 0;
	}
	err = store_roll(a->store, name, sizeof(name));
	if (err < 0)
		return err;
	forget_ids(a);
	a->roll_ns = a->now + ROLL_AGAIN_NS;
	a->file_ns = clock_wall_ns();
	if (err)
		log_warn("%s cannot be put aside and grows on", a->opts.db);
	else
		log_warn("%s is now %s", a->opts.db, name);
	drop_asides(a);
	return agent_begin_run(a);
}

/* Between two seconds: nothing waits to be committed then but calls, and those are committed. */
static int roll_if_due(struct agent *a)
{
	struct store_size size;
	bool due = a->opts.roll_daily && day_is_over(a);
	int err;

	if (a->held || !a->opts.db || a->now < a->roll_ns)
		return 0;
	if (a->opts.roll_bytes) {
		err = store_size(a->store, &size);
		due = !err && size.bytes >= a->opts.roll_bytes;
	}
	return due ? roll(a) : 0;
}

int agent_keep(struct agent *a)
{
	bool look = a->now >= a->kept_ns + KEEP_NS;
	int more, err = 0;

	if (a->held || !(look || a->prune_more))
		return 0;
	if (!a->file_ns)
		a->file_ns = clock_wall_ns();
	if (look) {
		a->kept_ns = a->now;
		err = roll_if_due(a);
	}
	if (err)
		return err;
	more = store_prune(a->store, &a->opts.keep, clock_boot_ns(), PRUNE_NS);
	agent_stored(a, more < 0 ? more : 0);
	a->prune_more = more == 1;
	return 0;
}
