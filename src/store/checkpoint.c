// SPDX-License-Identifier: Apache-2.0
/* Rows in and out: tags, who has them, and files that are checked. */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/util.h"
#include "store/checkpoint.h"
#include "store/read_io.h"
#include "store/store_int.h"

int store_tag(struct store *s, uint64_t tag, const char *label, uint64_t at_boot_ns)
{
	struct row r = row_begin(s, STMT_TAG);

	row_bits(&r, tag);
	row_text(&r, label);
	row_time(&r, at_boot_ns);
	return row_end(&r, "insert tag");
}

static void row_known(struct row *r, bool known, uint64_t value)
{
	if (known)
		row_u64(r, value);
	else
		row_null(r);
}

int store_tag_target(struct store *s, const struct tag_target_row *row)
{
	struct row r = row_begin(s, STMT_TAG_TARGET);
	bool file = row->file.ino != 0;

	row_i64(&r, s->run);
	row_time(&r, row->at_boot_ns);
	row_bits(&r, row->tag);
	row_text(&r, row->kind);
	row_text(&r, row->source);
	row_known(&r, row->pid, row->pid);
	row_known(&r, row->tid, row->tid);
	row_told(&r, row->uid);
	row_known(&r, file, row->file.dev);
	if (file)
		row_bits(&r, row->file.ino);
	else
		row_null(&r);
	row_known(&r, file, row->generation);
	if (row->path)
		row_text(&r, row->path);
	else
		row_null(&r);
	return row_end(&r, "insert tag_target");
}

static void row_when(struct row *r, uint64_t boot_ns)
{
	if (boot_ns)
		row_time(r, boot_ns);
	else
		row_null(r);
}

static void row_written(struct row *r, const struct checkpoint *c)
{
	row_when(r, c->began_ns);
	row_when(r, c->last_ns);
	row_when(r, c->closed_ns);
	row_u64(r, c->size);
	row_u64(r, c->bytes);
	row_u64(r, c->writes);
	row_u64(r, c->stretches);
	row_u64(r, c->gaps);
	row_u64(r, c->gap_bytes);
	row_u64(r, c->overwritten);
	row_u64(r, c->shared);
	row_u64(r, c->mapped);
	row_u64(r, c->failed);
	row_u64(r, c->writers);
	row_u64(r, c->writer);
	row_i64(r, c->sync_error);
	row_i64(r, c->signal);
	row_when(r, c->synced_ns);
	row_when(r, c->renamed_ns);
	row_i64(r, c->renamed_dirty);
	row_when(r, c->name_synced_ns);
}

int store_checkpoint(struct store *s, const struct checkpoint *c, const char *path, int64_t *id)
{
	struct row r = row_begin(s, STMT_CHECKPOINT);
	bool hashed = c->digest.hex[0] != '\0';
	int err;

	if (*id)
		row_i64(&r, *id);
	else
		row_null(&r);
	row_i64(&r, s->run);
	row_u64(&r, c->file.dev);
	row_bits(&r, c->file.ino);
	row_u64(&r, c->generation);
	row_text(&r, path);
	row_bits(&r, c->tag);
	row_i64(&r, c->from_start);
	row_i64(&r, c->dense);
	row_known(&r, c->has_size, c->declared);
	row_i64(&r, c->lost);
	row_i64(&r, c->unseen);
	row_written(&r, c);
	if (hashed)
		row_text(&r, c->digest.hex);
	else
		row_null(&r);
	row_known(&r, hashed, c->digest.size);
	row_known(&r, hashed, c->digest.mtime_ns);
	row_when(&r, c->hashed_ns);
	row_when(&r, c->changed_ns);
	row_u64(&r, c->changer);
	err = row_end(&r, "insert checkpoint");
	if (!err && !*id)
		*id = sqlite3_last_insert_rowid(s->db);
	return err;
}

int store_checkpoint_event(struct store *s, int64_t checkpoint, const struct checked_event *e)
{
	static const char *const names[TAG_EVENT_COUNT] = {
		[TAG_EVENT_WRITE] = "write",       [TAG_EVENT_WRITE_FAILED] = "write_failed",
		[TAG_EVENT_MAPPED] = "mapped",     [TAG_EVENT_TRUNCATE] = "truncate",
		[TAG_EVENT_SYNC] = "sync",         [TAG_EVENT_SYNC_DIR] = "sync_dir",
		[TAG_EVENT_SYNC_ALL] = "sync_all", [TAG_EVENT_RENAME] = "rename",
		[TAG_EVENT_EXIT] = "exit",
	};
	bool sync = e->event == TAG_EVENT_SYNC;
	struct row r;

	if (e->event >= TAG_EVENT_COUNT || !names[e->event])
		return fail(-EBADMSG, "event %u of a checkpoint", e->event);
	r = row_begin(s, STMT_CHECKPOINT_EVENT);
	row_i64(&r, checkpoint);
	row_time(&r, e->at);
	row_text(&r, names[e->event]);
	row_u64(&r, e->pid);
	row_comm(&r, e->comm);
	row_i64(&r, (int64_t)e->a);
	row_u64(&r, sync ? 0 : e->b);
	row_u64(&r, e->count);
	row_when(&r, sync ? e->b : e->since);
	row_bits(&r, e->task_tag);
	return row_end(&r, "insert checkpoint_event");
}

/* ---- reading ---- */

#define COLUMNS                                                                                    \
	"c.id, path, boot_id, coalesce(label, ''), dev, ino, generation, tag, from_start, dense,"  \
	" declared, lost, unseen, began_ns, last_ns, closed_ns, size, bytes, writes, stretches,"   \
	" gaps, gap_bytes, overwritten, shared, mapped, failed, writers, writer, sync_error,"      \
	" signal, synced_ns, renamed_ns, renamed_dirty, name_synced_ns, sha256, sha_size,"         \
	" mtime_ns, hashed_ns, changed_ns, changer"

static void column_written(sqlite3_stmt *stmt, struct checkpoint *c)
{
	uint64_t *const quantity[] = { &c->began_ns,  &c->last_ns,     &c->closed_ns, &c->size,
				       &c->bytes,     &c->writes,      &c->stretches, &c->gaps,
				       &c->gap_bytes, &c->overwritten, &c->shared,    &c->mapped,
				       &c->failed };

	for (size_t i = 0; i < ARRAY_LEN(quantity); i++)
		*quantity[i] = column_u64(stmt, 13 + (int)i);
	c->writers = column_u32(stmt, 26);
	c->writer = column_u32(stmt, 27);
	c->sync_error = sqlite3_column_int(stmt, 28);
	c->signal = sqlite3_column_int(stmt, 29);
	c->synced_ns = column_u64(stmt, 30);
	c->renamed_ns = column_u64(stmt, 31);
	c->renamed_dirty = sqlite3_column_int(stmt, 32) != 0;
	c->name_synced_ns = column_u64(stmt, 33);
}

static int checkpoint_row(sqlite3_stmt *stmt, void *arg)
{
	struct checkpoint_info info = {
		.id = sqlite3_column_int64(stmt, 0),
		.path = column_text(stmt, 1),
		.boot_id = column_text(stmt, 2),
		.label = column_text(stmt, 3),
		.seen = {
			.file = { .dev = column_u32(stmt, 4), .ino = column_bits(stmt, 5) },
			.generation = column_u32(stmt, 6),
			.tag = column_bits(stmt, 7),
			.from_start = sqlite3_column_int(stmt, 8) != 0,
			.dense = sqlite3_column_int(stmt, 9) != 0,
			.has_size = sqlite3_column_type(stmt, 10) != SQLITE_NULL,
			.declared = column_u64(stmt, 10),
			.lost = sqlite3_column_int(stmt, 11) != 0,
			.unseen = sqlite3_column_int(stmt, 12) != 0,
			.hashed_ns = column_u64(stmt, 37),
			.changed_ns = column_u64(stmt, 38),
			.changer = column_u32(stmt, 39),
			.digest = { .size = column_u64(stmt, 35), .mtime_ns = column_u64(stmt, 36) },
		},
	};
	struct to *to = arg;

	column_written(stmt, &info.seen);
	str_copy(info.seen.digest.hex, sizeof(info.seen.digest.hex), column_text(stmt, 34));
	return ((int (*)(const struct checkpoint_info *, void *))to->fn)(&info, to->arg);
}

int store_each_checkpoint(struct store *s, const char *path, const struct tag_file *file,
			  int (*fn)(const struct checkpoint_info *, void *), void *arg)
{
	struct to to = { (void *)fn, arg };
	struct window none = { 0 };
	size_t len = strlen(path);
	sqlite3_stmt *stmt;
	bool folder = len && path[len - 1] == '/';
	int err =
		store_query(s,
			    folder ? "SELECT " COLUMNS " FROM checkpoint c JOIN run ON run.id=c.run"
				     " LEFT JOIN tag ON tag.id=c.tag WHERE substr(path, 1, ?6) = ?3"
				     " AND instr(substr(path, ?6 + 1), '/') = 0 ORDER BY c.id DESC"
				   : "SELECT " COLUMNS " FROM checkpoint c JOIN run ON run.id=c.run"
				     " LEFT JOIN tag ON tag.id=c.tag WHERE path = ?3"
				     " OR (dev = ?4 AND ino = ?5) ORDER BY c.id DESC",
			    none, &stmt);

	if (err)
		return err;
	sqlite3_bind_text(stmt, 3, path, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 4, file ? (int64_t)file->dev : -1);
	sqlite3_bind_int64(stmt, 5, file ? (int64_t)file->ino : -1);
	sqlite3_bind_int64(stmt, 6, (int64_t)len);
	return store_rows(s, stmt, checkpoint_row, &to);
}

static int path_row(sqlite3_stmt *stmt, void *arg)
{
	struct to *to = arg;

	return ((int (*)(const char *, void *))to->fn)(column_text(stmt, 0), to->arg);
}

int store_each_tag_path(struct store *s, int max, int (*fn)(const char *path, void *arg), void *arg)
{
	struct to to = { (void *)fn, arg };
	struct window none = { 0 };
	sqlite3_stmt *stmt;
	int err = store_query(s,
			      "SELECT path FROM tag_target WHERE path IS NOT NULL GROUP BY path"
			      " ORDER BY max(at_ns) DESC LIMIT ?3",
			      none, &stmt);

	if (err)
		return err;
	sqlite3_bind_int(stmt, 3, max);
	return store_rows(s, stmt, path_row, &to);
}

static int tag_row(sqlite3_stmt *stmt, void *arg)
{
	struct to *to = arg;

	return ((int (*)(uint64_t, const char *, void *))to->fn)(column_bits(stmt, 0),
								 column_text(stmt, 1), to->arg);
}

int store_each_tag(struct store *s, int (*fn)(uint64_t tag, const char *label, void *arg),
		   void *arg)
{
	struct to to = { (void *)fn, arg };
	sqlite3_stmt *stmt;
	int err = store_query(s, "SELECT id, label FROM tag", (struct window){ 0, 0 }, &stmt);

	return err ? err : store_rows(s, stmt, tag_row, &to);
}
