// SPDX-License-Identifier: Apache-2.0
/* Names of files as the probes told them, put below the place where their file system is mounted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/util.h"
#include "lineage/lineage_int.h"

#define PATHS_MAX 8192 /* then those that nobody asked for lately are forgotten */
#define LATELY_NS (120 * 1000000000ull)
#define MOUNTS_NS 1000000000ull /* the table is read again for an unknown disk, no sooner */
#define MOUNTS_OLD_NS (30 * 1000000000ull)
#define MOUNTS_MAX 4096
#define NAME_MAX_BYTES 280

struct path_key {
	uint64_t ino;
	uint32_t dev, gen;
};

struct path {
	uint64_t asked_ns;
	uint32_t flags, magic, pad;
	char name[NAME_MAX_BYTES]; /* inside its file system, with a leading slash; printable */
};

struct paths {
	struct hash *known; /* struct path_key -> struct path */
	struct mount *mounts;
	size_t count;
	uint64_t mounts_ns;
};

struct paths *paths_new(void)
{
	struct paths *p = xcalloc(1, sizeof(*p));

	p->known = hash_new(sizeof(struct path_key), sizeof(struct path));
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	hash_free(p->known);
	free(p->mounts);
	free(p);
}

/* ---- names ---- */

static bool is_old(const void *key, void *value, void *arg)
{
	const struct path *path = value;

	(void)key;
	return path->asked_ns < *(const uint64_t *)arg;
}

static void make_room(struct paths *p, uint64_t now)
{
	uint64_t before = now > LATELY_NS ? now - LATELY_NS : 0;

	if (hash_count(p->known) < PATHS_MAX)
		return;
	hash_each(p->known, is_old, &before);
	if (hash_count(p->known) >= PATHS_MAX)
		hash_each(p->known, is_old, &(uint64_t){ UINT64_MAX });
}

/* The end of a path counts more than its beginning. */
static void join(const struct lineage_name *name, char *dst, size_t cap)
{
	char whole[sizeof(name->part) + LINEAGE_PARTS + sizeof(name->last) + 8], *at = whole;
	char safe[4 * sizeof(whole) + 1];
	size_t len;

	if (name->flags & LINEAGE_CUT)
		at = stpcpy(at, "/...");
	for (uint32_t i = name->parts; i > 0; i--) {
		*at++ = '/';
		at = stpcpy(at, name->part[i - 1]);
	}
	*at++ = '/';
	(void)stpcpy(at, name->last);
	len = strlen(text_safe(safe, sizeof(safe), whole));
	if (len < cap)
		str_copy(dst, cap, safe);
	else
		snprintf(dst, cap, "/...%s", safe + len - (cap - 5));
}

void paths_add(struct paths *p, const struct lineage_name *name)
{
	struct path_key key = { .ino = name->ino, .dev = name->fs_dev, .gen = name->gen };
	uint64_t now = clock_boot_ns();
	struct path *path;

	if (!name->last[0])
		return;
	make_room(p, now);
	path = hash_put(p->known, &key);
	path->asked_ns = now;
	path->flags = name->flags;
	path->magic = name->magic;
	join(name, path->name, sizeof(path->name));
}

/* ---- mounts ---- */

/* \040 and the like stand for what would end a field. */
static bool unescape(const char *src, size_t len, char *dst, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = src[i];

		if (c == '\\' && i + 3 < len && src[i + 1] >= '0' && src[i + 1] <= '3' &&
		    src[i + 2] >= '0' && src[i + 2] <= '7' && src[i + 3] >= '0' &&
		    src[i + 3] <= '7') {
			c = (char)((src[i + 1] - '0') << 6 | (src[i + 2] - '0') << 3 |
				   (src[i + 3] - '0'));
			i += 3;
		}
		if (n + 1 >= cap)
			return false;
		dst[n++] = c;
	}
	dst[n] = '\0';
	return true;
}

/* The field that begins at *at, which moves to the next; its length, 0 at the end of the line. */
static size_t next_field(const char **at, const char **ret)
{
	size_t len;

	*at += strspn(*at, " ");
	*ret = *at;
	len = strcspn(*at, " \n");
	*at += len;
	return len;
}

/* "98:0", as the kernel numbers it. */
static int parse_dev(const char *field, uint32_t *ret)
{
	char *colon, *end;
	unsigned long major = strtoul(field, &colon, 10), minor;

	if (colon == field || *colon != ':')
		return -EINVAL;
	minor = strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || major >= 1ul << 12 || minor >= 1ul << 20)
		return -EINVAL;
	*ret = (uint32_t)(major << 20 | minor);
	return 0;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw" */
int mount_parse(const char *line, struct mount *ret)
{
	const char *field[5];
	size_t len[5];

	for (int i = 0; i < 5; i++) {
		len[i] = next_field(&line, &field[i]);
		if (!len[i])
			return -EINVAL;
	}
	if (parse_dev(field[2], &ret->dev))
		return -EINVAL;
	if (!unescape(field[3], len[3], ret->root, sizeof(ret->root)) ||
	    !unescape(field[4], len[4], ret->at, sizeof(ret->at)))
		return -ENAMETOOLONG;
	return 0;
}

static void read_mounts(struct paths *p, uint64_t now)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096];
	size_t cap = 0;

	p->count = 0;
	p->mounts_ns = now;
	while (f && p->count < MOUNTS_MAX && fgets(line, sizeof(line), f)) {
		if (p->count == cap || !p->mounts) {
			cap = cap ? 2 * cap : 64;
			p->mounts = xrealloc(p->mounts, cap, sizeof(*p->mounts));
		}
		if (!mount_parse(line, &p->mounts[p->count]))
			p->count++;
	}
	if (f)
		(void)fclose(f);
}

/* How much of the name lies above what is mounted there; -1: it is elsewhere. */
static int root_length(const struct mount *m, const char *name)
{
	size_t len = strlen(m->root);

	if (streq(m->root, "/"))
		return 0;
	return strncmp(m->root, name, len) == 0 && name[len] == '/' ? (int)len : -1;
}

static const struct mount *find_mount(const struct paths *p, uint32_t dev, const char *name,
				      int *ret_skip)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < p->count; i++) {
		int skip = p->mounts[i].dev == dev ? root_length(&p->mounts[i], name) : -1;

		if (skip >= 0 && (!best || skip < *ret_skip)) {
			best = &p->mounts[i];
			*ret_skip = skip;
		}
	}
	return best;
}

bool paths_find(struct paths *p, const struct lineage_key *key, char *dst, size_t cap)
{
	struct path_key find = { .ino = key->ino, .dev = key->fs_dev, .gen = key->gen };
	struct path *path = hash_get(p->known, &find);
	uint64_t now = clock_boot_ns();
	const struct mount *m;
	char at[4 * sizeof(m->at) + 1];
	int skip = 0;

	if (cap)
		dst[0] = '\0';
	if (!path)
		return false;
	path->asked_ns = now;
	m = find_mount(p, key->fs_dev, path->name, &skip);
	if (!p->mounts_ns || now > p->mounts_ns + (m ? MOUNTS_OLD_NS : MOUNTS_NS)) {
		read_mounts(p, now);
		m = find_mount(p, key->fs_dev, path->name, &skip);
	}
	text_safe(at, sizeof(at), m ? m->at : "...");
	snprintf(dst, cap, "%s%s%s", streq(at, "/") ? "" : at, path->name + skip,
		 path->flags & LINEAGE_DELETED ? " (deleted)" : "");
	return true;
}

uint32_t paths_magic(const struct paths *p, const struct lineage_key *key)
{
	struct path_key find = { .ino = key->ino, .dev = key->fs_dev, .gen = key->gen };
	const struct path *path = hash_get(p->known, &find);

	return path ? path->magic : 0;
}
