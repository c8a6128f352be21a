// SPDX-License-Identifier: Apache-2.0
/* Files and folders that have attributes of ours: found, kept, forgotten. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/tagging_int.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

#define FILES_MAX 65536
#define CHILDREN_MAX 4096 /* of a folder that is tagged with files in it */

/* One look at an open file. */
struct look {
	int fd, pid; /* pid 0: not known */
	struct tag_file file;
	uint32_t generation, uid;
	bool dir;
	char path[PATH_MAX];
};

static bool look_begin(int fd, int pid, struct look *l)
{
	char link[40];
	struct stat st;
	ssize_t n;

	*l = (struct look){ .fd = fd, .pid = pid };
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, l->path, sizeof(l->path) - 1);
	if (n <= 0 || fstat(fd, &st) || tag_file_of(fd, &l->file, &l->generation))
		return false;
	l->path[n] = '\0';
	l->dir = S_ISDIR(st.st_mode);
	l->uid = st.st_uid;
	return l->dir || S_ISREG(st.st_mode);
}

/* Who is to be checked has a tag, so that his requests have a name. */
static void name_it(const struct look *l, struct tag_attr *attr)
{
	const char *slash = strrchr(l->path, '/');

	if (attr->label[0])
		return;
	snprintf(attr->label, sizeof(attr->label), "checkpoint/%.*s", TAG_LABEL_MAX - 12,
		 slash ? slash + 1 : l->path);
	if (tag_label_check(attr->label))
		str_copy(attr->label, sizeof(attr->label), "checkpoint");
}

static void tell(struct tagging *t, const struct look *l, uint64_t tag, const char *label)
{
	struct tag_target_row news = { .tag = tag,
				       .at_boot_ns = clock_boot_ns(),
				       .kind = l->dir ? "folder" : "file",
				       .source = "xattr",
				       .pid = (uint32_t)l->pid,
				       .uid = -1,
				       .file = l->file,
				       .generation = l->generation,
				       .path = l->path };

	tagging_news(t, &news, label);
}

static void mark_file(struct tagging *t, const struct look *l, const struct tag_attr *attr)
{
	struct tag_mark mark = { .tag = tag_hash(attr->label),
				 .generation = l->generation,
				 .flags = attr->checked ? MARK_CHECKED : 0 };

	if (tags_set_file(t->tags, &l->file, &mark, l->dir))
		t->files_lost++;
	if (attr->checked && !tags_check(t->tags, true) && t->watch)
		(void)tagwatch_follow(t->watch, l->fd, l->dir);
}

static bool same_attr(const struct tag_attr *a, const struct tag_attr *b)
{
	return streq(a->label, b->label) && a->checked == b->checked && a->no_hash == b->no_hash &&
	       a->dense == b->dense && a->has_size == b->has_size && a->size == b->size;
}

static void keep(struct tagging *t, const struct look *l, const struct tag_attr *attr)
{
	struct tagged *f = hash_get(t->files, &l->file);

	if (f && f->generation == l->generation && same_attr(&f->attr, attr) &&
	    streq(f->path, l->path))
		return;
	if (!f && hash_count(t->files) >= FILES_MAX) {
		t->files_lost++;
		return;
	}
	f = hash_put(t->files, &l->file);
	free(f->path);
	*f = (struct tagged){ .path = xstrdup(l->path),
			      .attr = *attr,
			      .generation = l->generation,
			      .uid = l->uid,
			      .at = clock_boot_ns(),
			      .dir = l->dir };
	mark_file(t, l, attr);
	tell(t, l, tag_hash(attr->label), attr->label);
	if (!attr->checked)
		return;
	if (l->dir)
		tagging_children(t, l->path);
	else
		checks_closed(t->checks, l->fd, l->path, attr); /* it may be finished already */
}

static void forget(struct tagging *t, const struct look *l)
{
	struct tagged *f = hash_get(t->files, &l->file);

	if (!f)
		return;
	tags_drop_file(t->tags, &l->file);
	free(f->path);
	hash_drop(t->files, &l->file);
	tell(t, l, 0, "");
}

/* What the folder of a file says; NULL: nothing. */
static const struct tagged *folder_of(struct tagging *t, const struct look *l)
{
	const struct tagged *f = NULL;
	char path[PATH_MAX], *slash;
	struct tag_file file;
	uint32_t generation;
	int fd;

	str_copy(path, sizeof(path), l->path);
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	slash[slash == path] = '\0';
	fd = tag_open(path);
	if (fd < 0)
		return NULL;
	if (!tag_file_of(fd, &file, &generation))
		f = hash_get(t->files, &file);
	close(fd);
	return f && f->dir ? f : NULL;
}

static void see_checked(struct tagging *t, const struct look *l, uint64_t mask,
			const struct tag_attr *attr, bool own)
{
	if (!own && mask & (FAN_MOVED_TO | FAN_CREATE)) {
		/* The probes looked it up when it was elsewhere; and it may go elsewhere. */
		if (mask & FAN_MOVED_TO)
			mark_file(t, l, attr);
		else if (t->watch)
			(void)tagwatch_follow(t->watch, l->fd, false);
	}
	if (mask & FAN_CLOSE_WRITE)
		checks_closed(t->checks, l->fd, l->path, attr);
	else if (mask & (FAN_MOVED_TO | FAN_CREATE | FAN_MOVE_SELF))
		checks_name(t->checks, l->fd, l->path, attr);
}

void tagging_look(struct tagging *t, int fd, int pid, uint64_t mask)
{
	const struct tagged *folder;
	struct tag_attr attr;
	struct look l;
	bool own;

	if (!look_begin(fd, pid, &l))
		return;
	own = !tag_attr_read(fd, &attr);
	if (own) {
		name_it(&l, &attr);
		keep(t, &l, &attr);
	} else {
		forget(t, &l);
	}
	if (l.dir)
		return;
	folder = own ? NULL : folder_of(t, &l);
	if (folder)
		attr = folder->attr;
	if ((own || folder) && attr.checked)
		see_checked(t, &l, mask, &attr, own);
	else if (checks_knows(t->checks, &l.file) && mask & FAN_CLOSE_WRITE)
		checks_closed(t->checks, fd, l.path, NULL); /* it was moved out of its folder */
	else if (checks_knows(t->checks, &l.file))
		checks_name(t->checks, fd, l.path, NULL);
}

/* The database and what SQLite keeps beside it: to close one of these is to give up our locks on it. */
static bool is_ours(const struct tagging *t, const char *path)
{
	return t->db[0] && starts_with(path, t->db);
}

bool tagging_wants(int fd, uint64_t mask, void *arg)
{
	struct tagging *t = arg;
	char link[40], path[PATH_MAX];
	struct tag_file file = { 0 };
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || fstat(fd, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return false;
	path[n] = '\0';
	if (is_ours(t, path))
		return false;
	file.dev = (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev));
	file.ino = st.st_ino;
	return mask & ~(uint64_t)(FAN_ATTRIB | FAN_ONDIR) || hash_get(t->files, &file) ||
	       getxattr(link, TAG_ATTR, NULL, 0) >= 0 ||
	       getxattr(link, TAG_ATTR_CHECKPOINT, NULL, 0) >= 0;
}

void tagging_look_path(struct tagging *t, const char *path, uint64_t mask)
{
	int fd = is_ours(t, path) ? -1 : tag_open(path);

	if (fd < 0)
		return;
	tagging_look(t, fd, 0, mask);
	close(fd);
}

/* Only what has attributes: to look at all others would say that they have lost theirs. */
static void look_if_tagged(struct tagging *t, const char *path)
{
	if (lgetxattr(path, TAG_ATTR, NULL, 0) >= 0 ||
	    lgetxattr(path, TAG_ATTR_CHECKPOINT, NULL, 0) >= 0)
		tagging_look_path(t, path, 0);
}

void tagging_met(struct tagging *t, const char *path)
{
	char folder[PATH_MAX], *slash;

	str_copy(folder, sizeof(folder), path);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	slash[slash == folder] = '\0';
	pthread_mutex_lock(&t->lock);
	look_if_tagged(t, folder);
	look_if_tagged(t, path);
	pthread_mutex_unlock(&t->lock);
}

void tagging_children(struct tagging *t, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *d;
	char child[PATH_MAX];

	for (int i = 0; dir && i < CHILDREN_MAX && (d = readdir(dir)); i++) {
		if (d->d_type != DT_REG || (size_t)snprintf(child, sizeof(child), "%s/%s", path,
							    d->d_name) >= sizeof(child))
			continue;
		tagging_look_path(t, child, FAN_CREATE | FAN_CLOSE_WRITE);
	}
	if (dir)
		(void)closedir(dir);
}
