// SPDX-License-Identifier: Apache-2.0
/* Inputs one after another into a new file, which then takes its name. */
#include "merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "merge/merge_int.h"
#include "store/raw.h"

#define LOOK_OPS 100000 /* of SQLite's machine, between two looks at the stop flag: some ms */

/* ---- SQL ---- */

int merge_fail(struct merging *m, const char *doing)
{
	int code = sqlite3_errcode(m->db);

	if (code == SQLITE_INTERRUPT)
		return fail(-EINTR, "interrupted; nothing was written");
	if (code == SQLITE_FULL)
		return fail(-ENOSPC, "%s: the disk is full", m->opts->output);
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return fail(-EBADMSG, "%s: is damaged, or no database: %s", m->file,
			    sqlite3_errmsg(m->db));
	return fail(-EIO, "%s: %.60s: %s", m->file ? m->file : m->opts->output, doing,
		    sqlite3_errmsg(m->db));
}

int merge_exec(struct merging *m, const char *sql)
{
	return sqlite3_exec(m->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : merge_fail(m, sql);
}

int merge_execf(struct merging *m, const char *fmt, ...)
{
	va_list ap;
	char *sql;
	int err;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	err = sql ? merge_exec(m, sql) : fail(-ENOMEM, "no memory");
	sqlite3_free(sql);
	return err;
}

int merge_int(struct merging *m, int64_t *ret, const char *fmt, ...)
{
	sqlite3_stmt *stmt = NULL;
	va_list ap;
	char *sql;
	int rc;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	rc = sql ? sqlite3_prepare_v2(m->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		*ret = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
		rc = SQLITE_OK;
	}
	rc = rc == SQLITE_OK ? 0 : merge_fail(m, sql ? sql : "no memory");
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return rc;
}

static void text_id(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);

	(void)argc;
	sqlite3_result_int64(to, store_text_id(text ? text : ""));
}

static int on_progress(void *arg)
{
	const struct merging *m = arg;

	return m->opts->stop && *m->opts->stop;
}

/* ---- the new file ---- */

/* Indexes are made at the end, sorted: to keep them meanwhile costs more than all the rest. */
static int set_indexes(struct merging *m, bool make)
{
	sqlite3_stmt *stmt;
	char *all = sqlite3_mprintf("");
	int err;

	if (!make)
		err = merge_exec(
			m, "CREATE TEMP TABLE indexes AS SELECT name, sql FROM main.sqlite_master"
			   " WHERE type='index' AND sql IS NOT NULL");
	else
		err = merge_exec(m, "PRAGMA main.cache_size=-32768");
	if (err ||
	    sqlite3_prepare_v2(m->db, "SELECT name, sql FROM temp.indexes", -1, &stmt, NULL)) {
		sqlite3_free(all);
		return err ? err : merge_fail(m, "indexes");
	}
	while (all && sqlite3_step(stmt) == SQLITE_ROW)
		all = make ? sqlite3_mprintf("%z%s;", all, sqlite3_column_text(stmt, 1))
			   : sqlite3_mprintf("%zDROP INDEX main.\"%w\";", all,
					     sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	err = all ? merge_exec(m, all) : fail(-ENOMEM, "no memory");
	sqlite3_free(all);
	return err;
}

/* Made as every trace, with what only merged ones have; nobody reads it before it is whole. */
static int open_result(struct merging *m, const char *path)
{
	struct store *s = NULL;
	int err = store_open(path, STORE_WRITE, &s);

	store_close(s);
	if (err)
		return err;
	if (sqlite3_open_v2(path, &m->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return fail(-EIO, "%s: %s", path, sqlite3_errmsg(m->db));
	/* The inputs may come from anybody: their triggers and functions do not run in here. */
	sqlite3_db_config(m->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(m->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(m->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_busy_timeout(m->db, 5000);
	sqlite3_create_function(m->db, "text_id", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
				text_id, NULL, NULL);
	sqlite3_progress_handler(m->db, LOOK_OPS, on_progress, m);
	err = merge_exec(
		m, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF;"
		   "PRAGMA main.locking_mode=EXCLUSIVE; PRAGMA main.cache_size=-65536;"
		   "PRAGMA secure_delete=OFF; PRAGMA cell_size_check=ON");
	if (!err)
		err = merge_exec(m, store_merged);
	return err ? err : set_indexes(m, false);
}

/* Written to the disk before it gets its name, and the name after it. */
static int take_name(const char *from, const char *to)
{
	char dir[4096];
	char *slash;
	int fd = open(from, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd)) {
		if (fd >= 0)
			close(fd);
		return fail(-errno, "%s: %s", from, strerror(errno));
	}
	close(fd);
	if (rename(from, to))
		return fail(-errno, "%s: %s", to, strerror(errno));
	str_copy(dir, sizeof(dir), to);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd); /* some file systems cannot; the rename itself is done */
		close(fd);
	}
	return 0;
}

/* ---- inputs ---- */

static int add_input(struct merging *m, const char *file)
{
	int err;

	m->file = file;
	err = input_attach(m);
	if (!err)
		err = merge_exec(m, "BEGIN");
	if (!err)
		err = runs_map(m);
	if (!err)
		err = copy_tables(m);
	if (!err)
		err = merge_exec(m, "COMMIT");
	else if (!sqlite3_get_autocommit(m->db))
		(void)sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL); /* the file goes away */
	input_detach(m);
	m->file = NULL;
	return err;
}

static uint64_t size_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : (uint64_t)st.st_size;
}

/* A result of before is the first input: it is added to, never lost. */
static int check_output(const struct merge_opts *o, bool *ret_exists)
{
	struct stat out, in;
	int err = 0;

	*ret_exists = !lstat(o->output, &out);
	if (!*ret_exists)
		return errno == ENOENT ? 0 : fail(-errno, "%s: %s", o->output, strerror(errno));
	if (!S_ISREG(out.st_mode))
		return fail(-EEXIST, "%s: exists and is no file", o->output);
	for (int i = 0; !err && i < o->inputs; i++)
		if (!stat(o->input[i], &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			err = fail(
				-EINVAL,
				"%s is an input and the output: it is added to anyway, name it once",
				o->output);
	return err;
}

/* ---- the inputs, in the order of their numbers: rows then come at the end of their tables ---- */

struct planned {
	const char *file;
	const char *force_node;
	int64_t number;
};

static int by_number(const void *x, const void *y)
{
	const struct planned *a = x, *b = y;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Every input is looked at before anything is done. */
static int plan(struct merging *m, struct planned *p, bool is_output)
{
	int err;

	m->file = p->file;
	m->force_node = p->force_node;
	err = input_attach(m);
	if (!err && is_output && !m->merged)
		err = fail(-EEXIST,
			   "%s: exists and is a trace of its own: name it as an input and give -o"
			   " another file",
			   p->file);
	if (!err)
		err = runs_number(m, &p->number);
	input_detach(m);
	m->file = NULL;
	return err;
}

static int add_planned(struct merging *m, const struct planned *p, int n)
{
	uint64_t all = 0, done = 0;
	int err = 0;

	for (int i = 0; i < n; i++)
		all += size_of(p[i].file);
	for (int i = 0; !err && i < n; i++) {
		m->before = all ? (double)done / (double)all : 0;
		m->share = all ? (double)size_of(p[i].file) / (double)all : 0;
		m->force_node = p[i].force_node;
		m->is_output = p[i].file == m->opts->output;
		done += size_of(p[i].file);
		err = add_input(m, p[i].file);
	}
	return err;
}

static int add_inputs(struct merging *m, bool exists)
{
	const struct merge_opts *o = m->opts;
	struct planned *p = xcalloc((size_t)o->inputs + 1, sizeof(*p));
	int n = 0, err = 0;

	if (exists)
		p[n++] = (struct planned){ .file = o->output };
	for (int i = 0; i < o->inputs; i++)
		p[n++] = (struct planned){ .file = o->input[i], .force_node = o->force_node };
	for (int i = 0; !err && i < n; i++)
		err = plan(m, &p[i], exists && !i);
	if (!err) {
		/* What was merged before keeps its numbers, so it comes first. */
		qsort(p + exists, (size_t)(n - exists), sizeof(*p), by_number);
		err = add_planned(m, p, n);
	}
	free(p);
	return err;
}

/* ---- what the user should know ---- */

/* A host that booted again is no two hosts; two that ran at the same time are. */
static int warn_of_twins(struct merging *m)
{
	char text[256];
	sqlite3_stmt *stmt;

	if (!m->opts->warn)
		return 0;
	if (sqlite3_prepare_v2(
		    m->db,
		    "SELECT DISTINCT n.name FROM merged_run a JOIN merged_run b ON a.node=b.node"
		    " AND a.boot_id<b.boot_id AND a.start_ns<b.seen_ns AND b.start_ns<a.seen_ns"
		    " JOIN node n ON n.id=a.node",
		    -1, &stmt, NULL))
		return merge_fail(m, "looking for twins");
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		snprintf(
			text, sizeof(text),
			"two hosts call themselves %.64s: name one of them with --force-node, alone, first",
			(const char *)sqlite3_column_text(stmt, 0));
		m->opts->warn(text, m->opts->arg);
	}
	sqlite3_finalize(stmt);
	return 0;
}

static int finish(struct merging *m, const char *path)
{
	int64_t n = 0;
	int err = set_indexes(m, true);

	if (!err)
		err = clocks_compare(m);
	if (!err)
		err = warn_of_twins(m);
	if (!err)
		err = merge_int(m, &n,
				"SELECT count(*) FROM node WHERE id IN (SELECT node FROM run)");
	m->result.nodes = (uint64_t)n;
	if (!err)
		err = merge_int(m, &n, "SELECT count(*) FROM run");
	m->result.runs = (uint64_t)n;
	if (!err)
		err = merge_exec(m, "PRAGMA main.locking_mode=NORMAL; PRAGMA journal_mode=DELETE");
	if (!err && sqlite3_close(m->db) != SQLITE_OK)
		err = merge_fail(m, "close");
	else if (!err)
		m->db = NULL;
	m->result.bytes = size_of(path);
	return err;
}

int merge_traces(const struct merge_opts *opts, struct merge_result *ret)
{
	struct merging m = { .opts = opts };
	char path[4096], journal[4200];
	bool exists = false;
	int err = check_output(opts, &exists);

	if (err)
		return err;
	if ((size_t)snprintf(path, sizeof(path), "%s.merging-%d", opts->output, (int)getpid()) >=
	    sizeof(path))
		return fail(-ENAMETOOLONG, "%s", opts->output);
	err = open_result(&m, path);
	if (!err)
		err = add_inputs(&m, exists);
	if (!err)
		err = finish(&m, path);
	sqlite3_close(m.db);
	if (!err)
		err = take_name(path, opts->output);
	if (err) {
		(void)unlink(path); /* what is not whole is not left behind */
		snprintf(journal, sizeof(journal), "%s-journal", path);
		(void)unlink(journal);
	} else {
		*ret = m.result;
	}
	return err;
}
