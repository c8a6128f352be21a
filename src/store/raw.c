// SPDX-License-Identifier: Apache-2.0
/* Whole tables: the database itself, with the views of this program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
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
	char *ret = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&ret, &len);

	if (!out)
		return NULL;
	for (const char *next; (next = strstr(sql, MADE)); sql = next + strlen(MADE)) {
		fwrite(sql, 1, (size_t)(next - sql), out);
		fputs(MADE_HERE, out);
	}
	fputs(sql, out);
	(void)fclose(out); /* in memory */
	return ret;
}

int store_own_views(struct store *s)
{
	char *sql = temporary(store_views);
	int err = sql ? store_exec(s, sql) : fail(-ENOMEM, "no memory");

	free(sql);
	return err;
}
