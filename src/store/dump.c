// SPDX-License-Identifier: Apache-2.0
/* A trace as SQL text and back: recordings are kept and reviewed as text. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "store/store_int.h"

/* Every table, parents first. */
static const char *const tables[] = {
	"node",
	"string",
	"run",
	"clock",
	"process",
	"container",
	"process_container",
	"cgroup_container",
	"disk_user_second",
	"thread",
	"op",
	"frame",
	"stack",
	"stack_frame",
	"op_second",
	"nested_second",
	"blame_second",
	"blamed",
	"sample_second",
	"call",
	"call_block",
	"call_culprit",
	"chain",
	"hop",
	"wait_second",
	"idle_second",
	"call_wait",
	"step",
	"step_second",
	"host_event",
	"system_second",
	"core_second",
	"gpu",
	"gpu_second",
	"gpu_process",
	"gpu_error",
	"incident",
	"loss",
	"account",
	"coverage",
	"communicator",
	"communicator_second",
	"collective",
	"rank_env",
	"cost_second",
	"shed",
	"kernel",
	"kernel_second",
	"memory_second",
	"tag",
	"tag_target",
	"checkpoint",
	"checkpoint_event",
	"io_second",
	"io_request",
	"pruned",
};

static void dump_text(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', out);
		putc(*text, out);
	}
	putc('\'', out);
}

static void dump_value(FILE *out, sqlite3_stmt *stmt, int i)
{
	const uint8_t *blob;
	double real;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(stmt, i));
		break;
	case SQLITE_FLOAT:
		real = sqlite3_column_double(stmt, i);
		if (isinf(real))
			fputs(real < 0 ? "-9e999" : "9e999", out);
		else
			fputs((const char *)sqlite3_column_text(stmt, i), out); /* 15 digits */
		break;
	case SQLITE_TEXT:
		dump_text(out, (const char *)sqlite3_column_text(stmt, i));
		break;
	case SQLITE_BLOB:
		blob = sqlite3_column_blob(stmt, i);
		fputs("x'", out);
		for (int k = 0; k < sqlite3_column_bytes(stmt, i); k++)
			fprintf(out, "%02x", blob[k]);
		putc('\'', out);
		break;
	default:
		fputs("NULL", out);
	}
}

static int dump_table(struct store *s, const char *table, FILE *out)
{
	sqlite3_stmt *stmt;
	char sql[64];
	int rc;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_fail(s, "dump");
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		fprintf(out, "INSERT INTO %s VALUES(", table);
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			if (i)
				putc(',', out);
			dump_value(out, stmt, i);
		}
		fputs(");\n", out);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : store_fail(s, "dump");
}

int store_dump(struct store *s, FILE *out)
{
	int err = store_pack_flush(s);

	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++)
		err = dump_table(s, tables[i], out);
	return !err && ferror(out) ? fail(-EIO, "write the recording") : err;
}

int store_load(struct store *s, const char *sql)
{
	int err = store_exec(s, "BEGIN");

	if (!err)
		err = store_exec(s, sql);
	if (!err)
		err = store_exec(s, "COMMIT");
	if (err && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* err says more */
	return err;
}
