// SPDX-License-Identifier: Apache-2.0
/* Whole tables: the database itself, with the views of this program. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "store/store_int.h"

#define MADE "\nCREATE VIEW "
#define MADE_HERE "\nCREATE TEMP VIEW "

sqlite3 *store_db(struct store *s)
{
	return s->db;
}

/* The same with TEMP: such a view hides the file's of that name, and goes with the connection. */
static char *temporary(const char *sql)
{
	size_t n = 0, at = 0;
	char *ret;

	for (const char *p = sql; (p = strstr(p, MADE)); p++)
		n++;
	ret = xcalloc(strlen(sql) + n * (strlen(MADE_HERE) - strlen(MADE)) + 1, 1);
	while (*sql) {
		const char *next = strstr(sql, MADE);
		size_t len = next ? (size_t)(next - sql) : strlen(sql);

		memcpy(ret + at, sql, len);
		at += len;
		sql += len;
		if (!next)
			break;
		memcpy(ret + at, MADE_HERE, strlen(MADE_HERE));
		at += strlen(MADE_HERE);
		sql += strlen(MADE);
	}
	return ret;
}

int store_own_views(struct store *s)
{
	char *sql = temporary(store_views);
	int err = store_exec(s, sql);

	free(sql);
	return err;
}
