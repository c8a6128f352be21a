// SPDX-License-Identifier: Apache-2.0
/* Files that are checked, by inode. */
#include "agent/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/hasher.h"
#include "agent/syncs.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "store/checkpoint.h"

#define FILES_MAX 4096
#define EVENTS_MAX 4096 /* stored, of each */
#define HASH_DELAY_NS 300000000ull /* after a close: it may be opened again at once */
#define HASH_RETRY_NS 2000000000ull
#define HASH_RATE (64ull << 20) /* bytes a second */

struct entry {
	struct follow *follow;
	char *path; /* NULL: not known yet */
	struct tag_file folder; /* ino 0: not known */
	int64_t row; /* 0: none yet */
	struct checked_event *event; /* not stored yet */
	size_t events, stored;
	uint64_t hash_at; /* 0: not due */
	uint64_t closed_at; /* the last close; its writes may be told later */
	uint64_t taken_since, taken_to; /* of the stretch that was looked at before it was told */
	uint32_t taken_count;
	bool changed, no_hash;
};

struct checks {
	struct tags *tags;
	struct hasher *hasher;
	struct syncs *syncs; /* that go on */
	struct hash *files; /* struct tag_file -> struct entry */
	struct hash *folders; /* struct tag_file -> when it was last fsynced */
	struct tag_file hashing; /* ino 0: none */
	int hashing_fd;
	uint64_t now; /* while looking for what is due */
	struct checked_event all; /* while telling all of them */
	struct tag_file due;
	bool any_due;
	struct store *store; /* while storing */
	int err;
};

struct checks *checks_new(struct tags *tags)
{
	struct checks *c = xcalloc(1, sizeof(*c));

	c->tags = tags;
	c->hashing_fd = -1;
	c->syncs = syncs_new();
	c->files = hash_new(sizeof(struct tag_file), sizeof(struct entry));
	c->folders = hash_new(sizeof(struct tag_file), sizeof(uint64_t));
	return c;
}

static void entry_clear(struct entry *e)
{
	follow_free(e->follow);
	free(e->path);
	free(e->event);
}

static bool drop_entry(const void *key, void *value, void *arg)
{
	(void)key;
	(void)arg;
	entry_clear(value);
	return true;
}

void checks_free(struct checks *c)
{
	if (!c)
		return;
	hasher_free(c->hasher);
	syncs_free(c->syncs);
	if (c->hashing_fd >= 0)
		close(c->hashing_fd);
	hash_each(c->files, drop_entry, NULL);
	hash_free(c->files);
	hash_free(c->folders);
	free(c);
}

int checks_fd(const struct checks *c)
{
	return c->hasher ? hasher_fd(c->hasher) : -1;
}

bool checks_knows(const struct checks *c, const struct tag_file *file)
{
	return hash_get(c->files, file) != NULL;
}

/* ---- which file ---- */

/* Finished ones make room: their rows are written. */
static bool drop_finished(const void *key, void *value, void *arg)
{
	struct entry *e = value;
	struct checks *c = arg;
	bool going = follow_checkpoint(e->follow)->hashed_ns && !e->changed &&
		     memcmp(key, &c->hashing, sizeof(c->hashing)) != 0;

	if (going)
		entry_clear(e);
	return going;
}

static struct entry *entry_of(struct checks *c, const struct tag_file *file, uint32_t generation)
{
	struct tag_file key = { .dev = file->dev, .ino = file->ino };
	struct entry *e = hash_get(c->files, &key);
	const struct checkpoint *seen = e ? follow_checkpoint(e->follow) : NULL;

	if (seen && generation && seen->generation && seen->generation != generation) {
		entry_clear(e); /* another file with the same number */
		hash_drop(c->files, &key);
		e = NULL;
	}
	if (e)
		return e;
	if (hash_count(c->files) >= FILES_MAX)
		hash_each(c->files, drop_finished, c);
	if (hash_count(c->files) >= FILES_MAX)
		return NULL;
	e = hash_put(c->files, &key);
	e->follow = follow_new(&key, generation);
	follow_checkpoint(e->follow)->unseen = tags_missing(c->tags)[0] != '\0';
	return e;
}

/* ---- events ---- */

/* One more writing of a file whose digest was made: the row before stays. */
static void begin_again(struct entry *e)
{
	e->row = 0;
	e->stored = e->events = 0;
	follow_again(e->follow);
}

/* Take off what is known of a stretch; false: all of it is. */
static bool is_news(const struct entry *e, struct checked_event *event)
{
	if (event->event != TAG_EVENT_WRITE || !e->taken_since || event->since != e->taken_since)
		return true;
	event->a = max_u64(event->a, e->taken_to);
	event->count -= event->count > e->taken_count ? e->taken_count : 0;
	return event->a < event->b;
}

static void take_event(struct entry *e, struct checked_event *event)
{
	if (!is_news(e, event))
		return;
	if (follow_ended(e->follow, event))
		begin_again(e);
	if (!follow_event(e->follow, event))
		return;
	e->changed = true;
	if (e->stored + e->events >= EVENTS_MAX)
		return;
	if (!(e->events & (e->events - 1)))
		e->event = xrealloc(e->event, e->events ? e->events * 2 : 1, sizeof(*e->event));
	e->event[e->events++] = *event;
}

/*
 * What the probes have not told yet, because nothing came after it. It will be told again when something
 * does: `taken` says how much of it is known. A write that has begun has failed if nobody can be at it.
 */
static void take_rest(struct checks *c, struct entry *e, bool idle)
{
	const struct checkpoint *seen = follow_checkpoint(e->follow);
	struct checked_event event = { .file = seen->file, .generation = seen->generation };
	struct checked_file rest;

	if (!tags_stretch(c->tags, &seen->file, &rest))
		return;
	event.pid = rest.pid;
	event.flags = rest.flags;
	memcpy(event.comm, rest.comm, sizeof(event.comm));
	event.tag = rest.tag;
	event.task_tag = rest.task_tag;
	event.at = rest.at ? rest.at : clock_boot_ns();
	if (rest.from != rest.to) {
		event.event = TAG_EVENT_WRITE;
		event.a = rest.from;
		event.b = rest.to;
		event.count = rest.count;
		event.since = rest.since;
		take_event(e, &event);
		e->taken_since = rest.since;
		e->taken_to = rest.to;
		e->taken_count = rest.count;
	}
	if (idle && rest.pending != rest.pending_to) {
		event.event = TAG_EVENT_WRITE_FAILED;
		event.a = rest.pending;
		event.b = rest.pending_to;
		take_event(e, &event);
	}
}

static bool tell_one(const void *key, void *value, void *arg)
{
	const struct tag_file *file = key;
	struct checked_event copy;
	struct entry *e = value;
	struct checks *c = arg;

	if (c->all.event == TAG_EVENT_SYNC_ALL && file->dev != c->all.file.dev)
		return false;
	if (c->all.event == TAG_EVENT_SYNC_DIR &&
	    memcmp(&e->folder, &c->all.file, sizeof(e->folder)) != 0)
		return false;
	if (c->all.event == TAG_EVENT_EXIT && !follow_checkpoint(e->follow)->hashed_ns)
		take_rest(c, e, false);
	copy = c->all;
	take_event(e, &copy);
	return false;
}

static void on_synced(const struct checked_event *event, void *arg)
{
	checks_event(arg, event);
}

void checks_event(struct checks *c, const struct checked_event *event)
{
	struct checked_event copy = *event;
	struct entry *e;

	copy.file.pad = 0;
	if (event->event == TAG_EVENT_SYNC_BEGUN) {
		(void)syncs_begun(c->syncs, &copy, on_synced, c); /* else it was not seen */
		return;
	}
	if (event->event == TAG_EVENT_EXIT)
		(void)syncs_turn(c->syncs, on_synced, c); /* its own come before it */
	if (event->event == TAG_EVENT_SYNC_DIR && (int64_t)event->a >= 0)
		*(uint64_t *)hash_put(c->folders, &copy.file) = event->at;
	if (event->event == TAG_EVENT_SYNC_DIR || event->event == TAG_EVENT_SYNC_ALL ||
	    event->event == TAG_EVENT_EXIT) {
		c->all = copy;
		hash_each(c->files, tell_one, c);
		return;
	}
	e = entry_of(c, &copy.file, event->generation);
	if (e)
		take_event(e, &copy);
}

static bool mark_lost(const void *key, void *value, void *arg)
{
	struct entry *e = value;

	(void)key;
	(void)arg;
	if (!follow_checkpoint(e->follow)->hashed_ns) {
		follow_checkpoint(e->follow)->lost = true;
		e->changed = true;
	}
	return false;
}

void checks_lost(struct checks *c)
{
	hash_each(c->files, mark_lost, NULL);
}

/* ---- names and closes ---- */

static void find_folder(struct checks *c, struct entry *e)
{
	char path[PATH_MAX], *slash;
	const uint64_t *synced;
	struct tag_file folder;
	uint32_t generation;
	int fd;

	if (!str_copy(path, sizeof(path), e->path))
		return;
	slash = strrchr(path, '/');
	if (!slash)
		return;
	slash[slash == path] = '\0';
	fd = tag_open(path);
	if (fd < 0)
		return;
	if (!tag_file_of(fd, &folder, &generation))
		e->folder = folder;
	close(fd);
	synced = hash_get(c->folders, &e->folder);
	if (synced && *synced > follow_checkpoint(e->follow)->renamed_ns) {
		follow_checkpoint(e->follow)->name_synced_ns =
			*synced; /* before we knew its folder */
		e->changed = true;
	}
}

static struct entry *name_entry(struct checks *c, int fd, const char *path,
				const struct tag_attr *attr)
{
	struct checkpoint *seen;
	struct tag_file file;
	uint32_t generation;
	struct entry *e;

	if (tag_file_of(fd, &file, &generation))
		return NULL;
	e = entry_of(c, &file, generation);
	if (!e)
		return NULL;
	seen = follow_checkpoint(e->follow);
	if (attr) {
		seen->dense = attr->dense;
		seen->has_size = attr->has_size;
		seen->declared = attr->size;
		if (attr->label[0])
			seen->tag = tag_hash(attr->label);
		e->no_hash = attr->no_hash;
	}
	if (!e->path || !streq(e->path, path)) {
		free(e->path);
		e->path = xstrdup(path);
		find_folder(c, e);
	}
	e->changed = true;
	return e;
}

void checks_name(struct checks *c, int fd, const char *path, const struct tag_attr *attr)
{
	(void)name_entry(c, fd, path, attr);
}

void checks_closed(struct checks *c, int fd, const char *path, const struct tag_attr *attr)
{
	struct entry *e = name_entry(c, fd, path, attr);
	uint64_t now = clock_boot_ns();
	struct stat st;

	if (!e || fstat(fd, &st))
		return;
	take_rest(c, e, false);
	e->changed = true;
	e->closed_at = now;
	if (!follow_checkpoint(e->follow)->hashed_ns)
		follow_closed(e->follow, now, (uint64_t)st.st_size);
	e->hash_at = now + HASH_DELAY_NS;
}

/* ---- digests ---- */

static bool find_due(const void *key, void *value, void *arg)
{
	const struct entry *e = value;
	struct checks *c = arg;

	if (!e->hash_at)
		return false;
	c->any_due = true;
	if (e->hash_at <= c->now)
		c->due = *(const struct tag_file *)key;
	return false;
}

/* A lease is refused while somebody has it open to write. */
static bool has_writer(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

static void start_hash(struct checks *c, struct entry *e)
{
	struct tag_file file;
	uint32_t generation;
	struct stat st;
	int fd;

	e->hash_at = 0;
	if (!e->path)
		return;
	if (!e->no_hash && !c->hasher && hasher_new(HASH_RATE, &c->hasher)) {
		log_warn("checkpoints have no digests: %s", why(-ECHILD));
		return;
	}
	fd = tag_open(e->path);
	if (fd < 0)
		return;
	if (tag_file_of(fd, &file, &generation) || memcmp(&file, &c->due, sizeof(file)) != 0) {
		close(fd); /* another file has that name now */
		return;
	}
	if (has_writer(fd)) {
		close(fd); /* its close will be told */
		return;
	}
	take_rest(c, e, true);
	if (follow_checkpoint(e->follow)->hashed_ns) {
		close(fd); /* nothing new, or a change of what was finished */
		return;
	}
	if (!follow_checkpoint(e->follow)->closed_ns && !fstat(fd, &st))
		follow_closed(e->follow, e->closed_at, (uint64_t)st.st_size);
	if (e->no_hash || hasher_start(c->hasher, fd)) {
		close(fd);
		if (e->no_hash)
			return;
		e->hash_at = c->now + HASH_RETRY_NS;
		return;
	}
	c->hashing = c->due;
	c->hashing_fd = fd;
}

static void finish_hash(struct checks *c, int err, const struct digest *digest)
{
	struct entry *e = hash_get(c->files, &c->hashing);
	char text[DIGEST_TEXT];

	if (e && err == -EAGAIN) {
		e->hash_at = clock_boot_ns() + HASH_RETRY_NS;
	} else if (e && !err) {
		struct checkpoint *seen = follow_checkpoint(e->follow);

		seen->digest = *digest;
		seen->size = digest->size;
		seen->hashed_ns = clock_boot_ns();
		e->changed = true;
		digest_format(text, digest);
		if (fsetxattr(c->hashing_fd, DIGEST_ATTR, text, strlen(text), 0))
			log_debug("%s: no %s: %s", e->path, DIGEST_ATTR, strerror(errno));
	}
	close(c->hashing_fd);
	c->hashing_fd = -1;
	c->hashing = (struct tag_file){ 0 };
}

bool checks_turn(struct checks *c, uint64_t now)
{
	struct digest digest;
	int done, err = 0;

	if (c->hashing.ino) {
		done = hasher_done(c->hasher, &err, &digest);
		if (done)
			finish_hash(c, done < 0 ? -EAGAIN : err, &digest);
		if (done < 0) {
			hasher_free(c->hasher); /* a new one is started when it is needed */
			c->hasher = NULL;
		}
	}
	c->now = now;
	c->due = (struct tag_file){ 0 };
	c->any_due = false;
	hash_each(c->files, find_due, c);
	if (syncs_turn(c->syncs, on_synced, c))
		c->any_due = true;
	if (c->due.ino && !c->hashing.ino)
		start_hash(c, hash_get(c->files, &c->due));
	return c->any_due;
}

/* ---- storing ---- */

static bool store_one(const void *key, void *value, void *arg)
{
	struct entry *e = value;
	struct checks *c = arg;

	(void)key;
	if (c->err || !e->changed)
		return false;
	follow_gaps(e->follow);
	c->err = store_checkpoint(c->store, follow_checkpoint(e->follow), e->path ? e->path : "",
				  &e->row);
	for (size_t i = 0; !c->err && i < e->events; i++)
		c->err = store_checkpoint_event(c->store, e->row, &e->event[i]);
	e->stored += e->events;
	e->events = 0;
	e->changed = false;
	return false;
}

int checks_store(struct checks *c, struct store *s)
{
	c->store = s;
	c->err = 0;
	hash_each(c->files, store_one, c);
	return c->err;
}

static bool undo(const void *key, void *value, void *arg)
{
	struct entry *e = value;

	(void)key;
	(void)arg;
	e->row = 0;
	e->stored = 0;
	e->changed = true;
	return false;
}

void checks_rollback(struct checks *c)
{
	hash_each(c->files, undo, NULL);
}
