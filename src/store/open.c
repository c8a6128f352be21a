// SPDX-License-Identifier: Apache-2.0
/* Opening, committing and closing the database; what all of store/ uses. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/util.h"
#include "store/store_int.h"

#define SCHEMA_VERSION 7

void store_forget(struct store *s)
{
	memset(s->interned, 0, sizeof(s->interned));
	hash_free(s->chains);
	hash_free(s->stacks);
	s->chains = s->stacks = NULL;
}

int store_fail(struct store *s, const char *doing)
{
	int code = sqlite3_errcode(s->db);

	store_forget(s); /* the batch that wrote them may be undone */
	return fail(code == SQLITE_FULL ? -ENOSPC : -EIO, "%s: %s", doing, sqlite3_errmsg(s->db));
}

int store_exec(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
								       : store_fail(s, "database");
}

int store_ask(struct store *s, const char *sql, int64_t *ret)
{
	sqlite3_stmt *stmt;
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_fail(s, "cannot be read");
	rc = sqlite3_step(stmt);
	*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : store_fail(s, "cannot be read");
}

static int create(struct store *s)
{
	char stamp[96];
	int err;

	snprintf(stamp, sizeof(stamp), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 STORE_APPLICATION_ID, SCHEMA_VERSION);
	/* A file that is above a limit that was lowered can shrink: see prune.c. */
	err = store_exec(s, "PRAGMA auto_vacuum=INCREMENTAL; BEGIN IMMEDIATE");
	if (!err)
		err = store_exec(s, store_schema);
	if (!err)
		err = store_exec(s, store_views);
	if (!err)
		err = store_exec(s, stamp);
	return err ? err : store_exec(s, "COMMIT");
}

/* Is it ours, and of our version? An empty file becomes ours when we may write. */
static int check_schema(struct store *s, enum store_mode mode)
{
	int64_t app = 0, version = 0, tables = 0;
	int err;

	err = store_ask(s, "PRAGMA application_id", &app);
	if (!err)
		err = store_ask(s, "PRAGMA user_version", &version);
	if (!err)
		err = store_ask(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (err)
		return err;
	if (!app && !version && !tables && mode == STORE_WRITE)
		return create(s);
	if (app != STORE_APPLICATION_ID)
		return fail(-EMEDIUMTYPE, "is a database, but not a culprit trace");
	if (version > SCHEMA_VERSION)
		return fail(
			-ENOTSUP,
			"made by a newer culprit (version %lld of the tables, this one knows up "
			"to %d): use that one, or give --db another file",
			(long long)version, SCHEMA_VERSION);
	if (version < 1)
		return fail(-ENOTSUP,
			    "is a culprit trace of a version that never was (%lld): "
			    "move it aside or give --db another file",
			    (long long)version);
	if (version == SCHEMA_VERSION)
		return 0;
	return mode == STORE_READ ? store_overlay(s) : store_migrate(s, SCHEMA_VERSION);
}

/* The trace holds command lines and paths: nobody else's business. */
static int create_private(const char *path)
{
	int fd;

	if (streq(path, ":memory:"))
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fail(-errno, "%s", strerror(errno));
	close(fd);
	return 0;
}

static int move_aside(const char *path)
{
	char to[4096], wal[4096], wal_to[4100];

	snprintf(to, sizeof(to), "%s.corrupt-%ld", path, (long)time(NULL));
	snprintf(wal, sizeof(wal), "%s-wal", path);
	snprintf(wal_to, sizeof(wal_to), "%s-wal", to);
	(void)rename(wal, wal_to); /* the newest rows, if there is one */
	if (rename(path, to))
		return fail(-errno, "is corrupt and cannot be moved aside: %s", strerror(errno));
	log_warn("%s was corrupt: moved to %s, starting a new one", path, to);
	return 0;
}

static int open_once(struct store *s, const char *path, enum store_mode mode)
{
	int flags = mode == STORE_READ ? SQLITE_OPEN_READONLY
				       : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int err = mode == STORE_WRITE ? create_private(path) : 0;

	if (err)
		return err;
	if (mode == STORE_READ && access(path, R_OK))
		return fail(-errno, "%s", strerror(errno));
	if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return fail(-EIO, "%s", sqlite3_errmsg(s->db));
	sqlite3_busy_timeout(s->db, 2000);
	if (packed_table_register(s->db) != SQLITE_OK)
		return store_fail(s, "cannot be read");
	/* The file may come from anybody: its triggers and functions do not run in here. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	err = check_schema(s, mode); /* first: a foreign file is not changed */
	if (!err && mode == STORE_WRITE)
		err = store_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
				    " PRAGMA secure_delete=FAST;"
				    /* What is not committed waits in memory: see room.c. */
				    " PRAGMA cache_spill=OFF;");
	return err;
}

/*
 * Is this a trace of ours that was damaged? Only then may it be moved aside: somebody may have named
 * any file of his with --db.
 */
static bool is_damaged_trace(struct store *s, const char *path)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_OK;
	const char *name = strrchr(path, '/');
	unsigned char head[72] = { 0 };
	ssize_t n;
	int fd;

	if (code != SQLITE_NOTADB && code != SQLITE_CORRUPT)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(head)) /* too short for a header: ours by name only */
		return streq(name ? name + 1 : path, "culprit.db");
	return !memcmp(head, "SQLite format 3", 16) || !memcmp(head + 68, "CULP", 4) ||
	       streq(name ? name + 1 : path, "culprit.db");
}

int store_open(const char *path, enum store_mode mode, struct store **ret)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int err = open_once(s, path, mode);

	if (err && mode == STORE_WRITE && is_damaged_trace(s, path)) {
		/* A broken file must not keep the agent from starting, nor be lost. */
		err = move_aside(path);
		sqlite3_close(s->db); /* now: it would delete the log */
		s->db = NULL;
		if (!err)
			err = open_once(s, path, mode);
	}
	if (err) {
		fail_in(err, "%s", path);
		store_close(s);
		return err;
	}
	if (mode == STORE_WRITE && !streq(path, ":memory:"))
		s->path = xstrdup(path);
	*ret = s;
	return 0;
}

int store_reopen(struct store *s)
{
	int err = open_once(s, s->path, STORE_WRITE);

	return err ? fail_in(err, "%s", s->path) : 0;
}

void store_tidy(struct store *s)
{
	/* As far as readers allow; what is left is done at the end, or by the next writer. */
	(void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void store_rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		(void)store_exec(s, "ROLLBACK"); /* there is nothing more to be done */
	store_pack_forget(s);
	store_sweep_free(s); /* what was removed is back */
	store_forget(s);
}

int store_commit(struct store *s)
{
	int err = store_pack_flush(s);

	/* Ask SQLite: it knows when an error rolled us back. */
	return err || sqlite3_get_autocommit(s->db) ? err : store_exec(s, "COMMIT");
}

void store_shut(struct store *s)
{
	store_pack_forget(s);
	store_sweep_free(s);
	store_forget(s);
	for (int i = 0; i < STMT_COUNT; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
	s->run = 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	if (s->db)
		(void)store_commit(s); /* a caller that must know has committed before */
	store_shut(s);
	store_prune_free(s);
	free(s->path);
	free(s);
}
