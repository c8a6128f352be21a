// SPDX-License-Identifier: Apache-2.0
/* One input: a trace of ours, of this version or an older one, that is only read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/util.h"
#include "merge/merge_int.h"
#include "store/raw.h"

/* As a URI, so that SQLite cannot write to it: every byte that means something there is written as %XX. */
static char *uri_of(const char *path, const char *how)
{
	char *uri = xcalloc(3 * strlen(path) + strlen(how) + sizeof("file:"), 1), *to = uri + 5;

	str_copy(uri, 6, "file:");
	for (; *path; path++) {
		if (strchr("?#%&+ ", *path) || (unsigned char)*path < 32)
			to += snprintf(to, 4, "%%%02x", (unsigned char)*path);
		else
			*to++ = *path;
	}
	str_copy(to, strlen(how) + 1, how);
	return uri;
}

static int check_file(struct merging *m)
{
	struct stat st;

	if (stat(m->file, &st))
		return fail(-errno, "%s: %s", m->file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(-EMEDIUMTYPE, "%s: is no file", m->file);
	if (!st.st_size)
		return fail(-EMEDIUMTYPE, "%s: is empty", m->file);
	if (access(m->file, R_OK))
		return fail(-errno, "%s: %s", m->file, strerror(errno));
	return 0;
}

static int check_content(struct merging *m)
{
	int64_t app = 0, version = 0, own = 0, runs = 0;
	int err = merge_int(m, &app, "PRAGMA src.application_id");

	if (!err)
		err = merge_int(m, &version, "PRAGMA src.user_version");
	if (!err)
		err = merge_int(m, &own, "PRAGMA main.user_version");
	if (err)
		return err;
	if (app != STORE_APPLICATION_ID)
		return fail(-EMEDIUMTYPE, "%s: is a database, but not a culprit trace", m->file);
	if (version > own)
		return fail(
			-ENOTSUP,
			"%s: made by a newer version of culprit (%lld, this one knows %lld): use that",
			m->file, (long long)version, (long long)own);
	if (!input_has(m, "run") || !input_has(m, "process"))
		return fail(-EBADMSG, "%s: its tables are missing: this is no trace", m->file);
	err = merge_int(m, &runs, "SELECT count(*) FROM src.run");
	if (!err && !runs)
		err = fail(-ENODATA, "%s: is empty: nothing was traced", m->file);
	return err;
}

bool input_has(struct merging *m, const char *table)
{
	int64_t n = 0;

	/* A view of that name could say anything. */
	return !merge_int(m, &n,
			  "SELECT count(*) FROM src.sqlite_master WHERE type='table' AND name=%Q",
			  table) &&
	       n > 0;
}

/* To be attached is not enough: the first read shows whether it can be read. */
static int try_attach(struct merging *m, const char *how)
{
	char *uri = uri_of(m->file, how);
	int64_t n;
	int err = merge_execf(m, "ATTACH %Q AS src", uri);

	free(uri);
	return err ? err : merge_int(m, &n, "SELECT count(*) FROM src.sqlite_master");
}

/* In a folder where nothing can be written the log has no place: nobody writes to it then, either. */
static bool is_at_rest(const char *file)
{
	char wal[4200];
	struct stat st;

	snprintf(wal, sizeof(wal), "%s-wal", file);
	return stat(wal, &st) || !st.st_size;
}

int input_attach(struct merging *m)
{
	int64_t n = 0;
	int err = check_file(m);

	if (err)
		return err;
	err = try_attach(m, "?mode=ro");
	if (err && sqlite3_errcode(m->db) == SQLITE_CANTOPEN && is_at_rest(m->file)) {
		input_detach(m);
		err = try_attach(m, "?mode=ro&immutable=1");
	}
	if (!err)
		err = check_content(m);
	m->merged = !err && input_has(m, "merged_run");
	if (m->merged)
		err = merge_int(m, &n,
				"SELECT count(*) FROM src.run LEFT JOIN src.merged_run r"
				" ON r.run=run.id WHERE r.run IS NULL");
	if (n)
		err = fail(-EBADMSG, "%s: was merged, but not by culprit: %lld runs have no number",
			   m->file, (long long)n);
	return err;
}

void input_detach(struct merging *m)
{
	(void)sqlite3_exec(m->db, "DETACH src", NULL, NULL, NULL); /* it may not be there */
}
