// SPDX-License-Identifier: Apache-2.0
/* The thread that tags, and what the agent's own thread takes from it. */
#include "agent/tagging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tagging_int.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"

#define IDLE_MS 1000
#define BUSY_MS 50 /* while something is written or hashed */
#define PATHS_MAX 4096 /* of earlier runs that are looked at again */

/* ---- labels and news ---- */

const char *tagging_label(const struct tagging *t, uint64_t tag)
{
	const char *label = hash_get(t->labels, &tag);

	return label ? label : "";
}

void tagging_news(struct tagging *t, const struct tag_target_row *row, const char *label)
{
	struct tag_news *n;

	if (row->tag && hash_count(t->labels) < LABELS_MAX)
		str_copy(hash_put(t->labels, &row->tag), TAG_LABEL_MAX, label);
	if (t->news_count == NEWS_MAX) {
		t->news_lost++;
		return;
	}
	n = &t->news[t->news_count++];
	*n = (struct tag_news){ .row = *row, .path = row->path ? xstrdup(row->path) : NULL };
	n->row.path = n->path;
	str_copy(n->label, sizeof(n->label), label);
}

/* ---- what the probes tell ---- */

static void on_told(struct tagging *t, const struct tag_told *told)
{
	struct tag_target_row row = { .tag = told->tag,
				      .at_boot_ns = told->at,
				      .source = told->by == 'e' ? "environment" : "call",
				      .pid = told->pid,
				      .uid = told->uid };
	char raw[TAG_LABEL_MAX], label[4 * TAG_LABEL_MAX];

	memcpy(raw, told->label, sizeof(raw));
	raw[sizeof(raw) - 1] = '\0';
	text_safe(label, sizeof(label), raw); /* whatever the program has put there */
	if (told->event == TAG_EVENT_FILE) {
		row.kind = "file";
		row.file = told->file;
		row.generation = told->generation;
		if (told->by == TAG_CHECKED)
			(void)tags_check(t->tags, true);
	} else {
		row.kind = told->by == TAG_THREAD ? "thread" : "process";
		row.tid = told->by == TAG_THREAD ? told->tid : 0;
	}
	tagging_news(t, &row, label);
}

static void on_record(const void *bytes, size_t len, void *arg)
{
	struct tagging *t = arg;
	struct checked_event event;
	struct tag_told told;
	uint32_t kind;

	if (len < sizeof(kind))
		return;
	memcpy(&kind, bytes, sizeof(kind));
	if (kind <= TAG_EVENT_FILE && len >= sizeof(told)) {
		memcpy(&told, bytes, sizeof(told));
		on_told(t, &told);
	} else if (kind > TAG_EVENT_FILE && kind < TAG_EVENT_COUNT && len >= sizeof(event)) {
		memcpy(&event, bytes, sizeof(event));
		checks_event(t->checks, &event);
	}
}

static void on_file(const struct tagwatch_event *e, void *arg)
{
	tagging_look(arg, e->fd, e->pid, e->mask);
}

/* ---- what was there before ---- */

static void tag_process(struct tagging *t, int pid)
{
	struct tag_target_row row = { .at_boot_ns = clock_boot_ns(),
				      .kind = "process",
				      .source = "environment",
				      .pid = (uint32_t)pid,
				      .uid = -1 };
	char label[TAG_LABEL_MAX];

	if (tag_env_read(pid, label))
		return;
	row.tag = tag_hash(label);
	if (!tags_set_task(t->tags, (uint32_t)pid, true, row.tag))
		tagging_news(t, &row, label);
}

static void tag_processes(struct tagging *t)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;

	while (proc && (d = readdir(proc))) {
		char *end;
		long pid = strtol(d->d_name, &end, 10);

		if (pid > 0 && !*end)
			tag_process(t, (int)pid);
	}
	if (proc)
		(void)closedir(proc);
}

static int on_path(const char *path, void *arg)
{
	tagging_look_path(arg, path, 0);
	return 0;
}

/* ---- the thread ---- */

static void turn(struct tagging *t, bool *ret_busy)
{
	struct tags_loss loss;

	/* Closes first: then who ends has closed nothing by ending. */
	if (t->watch && tagwatch_take(t->watch, tagging_wants, on_file, t))
		t->files_lost++; /* attributes: of what is followed nothing is lost */
	tags_take(t->tags, on_record, t);
	tags_losses(t->tags, &loss);
	if (loss.lost != t->loss.lost)
		checks_lost(t->checks);
	t->loss = loss;
	*ret_busy = checks_turn(t->checks, clock_boot_ns());
}

static void *run(void *arg)
{
	struct tagging *t = arg;
	bool busy = true;

	pthread_mutex_lock(&t->lock);
	tag_processes(t);
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = t->wake[0], .events = POLLIN },
			{ .fd = tags_fd(t->tags), .events = POLLIN },
			{ .fd = t->watch ? tagwatch_fd(t->watch) : -1, .events = POLLIN },
			{ .fd = t->socket, .events = POLLIN },
			{ .fd = checks_fd(t->checks), .events = POLLIN },
			{ .fd = t->watch ? tagwatch_mounts_fd(t->watch) : -1, .events = POLLPRI },
		};

		pthread_mutex_unlock(&t->lock);
		(void)poll(fds, ARRAY_LEN(fds), busy ? BUSY_MS : IDLE_MS);
		pthread_mutex_lock(&t->lock);
		if (fds[0].revents)
			break;
		if (fds[5].revents)
			tagwatch_mounts(t->watch);
		turn(t, &busy);
		if (fds[3].revents)
			tagserve_answer(t);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void start(struct tagging *t)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
	t->runs = !pthread_create(&t->thread, NULL, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- life ---- */

struct tagging *tagging_new(struct store *s, const char *db)
{
	struct tagging *t = xcalloc(1, sizeof(*t));
	int err;

	pthread_mutex_init(&t->lock, NULL);
	t->socket = t->wake[0] = t->wake[1] = -1;
	if (!db || !realpath(db, t->db))
		t->db[0] = '\0';
	err = tags_open(&t->tags);
	if (err) {
		log_warn("nothing is tagged: %s", why(err));
		return t;
	}
	err = tagwatch_open(&t->watch);
	if (err)
		log_warn("attributes of files are not watched: %s", why(err));
	t->files = hash_new(sizeof(struct tag_file), sizeof(struct tagged));
	t->labels = hash_new(sizeof(uint64_t), TAG_LABEL_MAX);
	t->news = xcalloc(NEWS_MAX, sizeof(*t->news));
	t->checks = checks_new(t->tags);
	t->socket = tagserve_open();
	(void)store_each_tag_path(s, PATHS_MAX, on_path, t);
	if (!pipe2(t->wake, O_CLOEXEC))
		start(t);
	return t;
}

/* The kernel takes its time for each: beside what else is to be done at the end. */
static void *leave(void *arg)
{
	struct tagging *t = arg;

	tags_detach(t->tags);
	tagwatch_close(t->watch);
	t->watch = NULL;
	return NULL;
}

void tagging_stop(struct tagging *t)
{
	bool busy;

	if (!t || !t->runs)
		return;
	close(t->wake[1]);
	t->wake[1] = -1;
	pthread_join(t->thread, NULL);
	t->runs = false;
	tagserve_close(t->socket);
	t->socket = -1;
	turn(t, &busy); /* what came last */
	t->leaves = !pthread_create(&t->thread, NULL, leave, t);
}

static bool free_file(const void *key, void *value, void *arg)
{
	struct tagged *f = value;

	(void)key;
	(void)arg;
	free(f->path);
	return true;
}

void tagging_free(struct tagging *t)
{
	if (!t)
		return;
	tagging_stop(t);
	if (t->leaves)
		pthread_join(t->thread, NULL);
	if (t->tags) {
		checks_free(t->checks);
		hash_each(t->files, free_file, NULL);
		hash_free(t->files);
		hash_free(t->labels);
		for (size_t i = 0; i < t->news_count; i++)
			free(t->news[i].path);
		free(t->news);
	}
	tagwatch_close(t->watch);
	tags_close(t->tags);
	for (int i = 0; i < 2; i++)
		if (t->wake[i] >= 0)
			close(t->wake[i]);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int tagging_share(struct tagging *t, struct bpf_object *object)
{
	return t->tags ? tags_share(t->tags, object) : 0;
}

/* ---- storing ---- */

static int store_news(struct tagging *t, struct store *s)
{
	int err = 0;

	for (size_t i = 0; i < t->news_count; i++) {
		struct tag_news *n = &t->news[i];

		if (!err && n->row.tag)
			err = store_tag(s, n->row.tag, n->label, n->row.at_boot_ns);
		if (!err)
			err = store_tag_target(s, &n->row);
		free(n->path);
	}
	t->news_count = 0;
	return err;
}

static int store_losses(struct tagging *t, struct store *s, uint64_t now)
{
	struct {
		const char *reason;
		uint64_t count, *told;
	} losses[] = {
		{ "tag_records", t->loss.lost, &t->loss_told.lost },
		{ "tag_tables_full", t->loss.full, &t->loss_told.full },
		{ "tag_news", t->news_lost, &t->news_lost_told },
		{ "tag_files", t->files_lost, &t->files_lost_told },
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_LEN(losses); i++) {
		if (losses[i].count == *losses[i].told)
			continue;
		err = store_loss(s, now, losses[i].reason, losses[i].count - *losses[i].told);
		*losses[i].told = losses[i].count;
	}
	return err;
}

int tagging_store(struct tagging *t, struct store *s, uint64_t now)
{
	int err;

	if (!t->tags)
		return 0;
	pthread_mutex_lock(&t->lock);
	err = store_news(t, s);
	if (!err)
		err = checks_store(t->checks, s);
	if (!err)
		err = store_losses(t, s, now);
	pthread_mutex_unlock(&t->lock);
	return err;
}

void tagging_rollback(struct tagging *t)
{
	if (!t->tags)
		return;
	pthread_mutex_lock(&t->lock);
	checks_rollback(t->checks);
	pthread_mutex_unlock(&t->lock);
}
