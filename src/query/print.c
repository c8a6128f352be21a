// SPDX-License-Identifier: Apache-2.0
/* The answer as a table, CSV or JSON. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "base/util.h"
#include "query/query.h"

#define LOOK_ROWS 500 /* of a table, whose widths are those of the columns */
#define WIDTH_MAX 72 /* what is longer sticks out */
#define BLOB_SHOWN 32

struct printing {
	FILE *out;
	struct json j;
	int n;
	int *width;
	char **kept; /* cells of a table until the widths are known, row after row */
	int kept_rows;
	bool flowing; /* they are known */
};

/* ---- one value ---- */

static void write_hex(FILE *out, const struct query_value *v, size_t max)
{
	const unsigned char *byte = v->blob;

	for (size_t i = 0; i < v->len && i < max; i++)
		fprintf(out, "%02x", byte[i]);
	if (v->len > max)
		fputs("...", out);
}

/* People read few digits, programs all of them. */
static void write_real(FILE *out, double real, bool short_form)
{
	if (isnan(real))
		return;
	if (short_form && fabs(real) >= 1e6 && fabs(real) < 1e15)
		fprintf(out, "%.1f", real);
	else
		fprintf(out, short_form ? "%.6g" : "%.15g", real);
}

/* ---- table ---- */

static char *table_cell(const struct query_value *v)
{
	char *text = NULL, *safe;
	size_t len = 0;
	FILE *out;

	if (v->type == QUERY_TEXT) {
		safe = xcalloc(4 * v->len + 1, 1);
		return text_safe(safe, 4 * v->len + 1, v->text);
	}
	out = open_memstream(&text, &len);
	if (!out)
		return xstrdup("?");
	if (v->type == QUERY_INT)
		fprintf(out, "%" PRId64, v->i);
	else if (v->type == QUERY_REAL)
		write_real(out, v->real, true);
	else if (v->type == QUERY_BLOB)
		write_hex(out, v, BLOB_SHOWN);
	(void)fclose(out); /* in memory */
	return text;
}

/* Characters, not bytes: what text_safe() let through is UTF-8. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void write_line(const struct printing *p, char *const *cell)
{
	for (int i = 0; i < p->n; i++) {
		fputs(cell[i], p->out);
		if (i + 1 < p->n)
			fprintf(p->out, "%*s",
				2 + (p->width[i] > width_of(cell[i])
					     ? p->width[i] - width_of(cell[i])
					     : 0),
				"");
	}
	putc('\n', p->out);
}

/* The first row kept holds the names. */
static void flow(struct printing *p)
{
	if (p->flowing)
		return;
	p->flowing = true;
	for (int r = 0; r < p->kept_rows; r++) {
		for (int i = 0; i < p->n; i++) {
			int width = width_of(p->kept[r * p->n + i]);

			width = width > WIDTH_MAX && r ? WIDTH_MAX : width;
			p->width[i] = width > p->width[i] ? width : p->width[i];
		}
	}
	for (int r = 0; r < p->kept_rows; r++) {
		write_line(p, &p->kept[(size_t)r * (size_t)p->n]);
		for (int i = 0; !r && i < p->n; i++) {
			for (int k = 0; k < p->width[i]; k++)
				putc('-', p->out);
			fputs(i + 1 < p->n ? "  " : "\n", p->out);
		}
	}
}

static void keep(struct printing *p, char **cell)
{
	p->kept = xrealloc(p->kept, (size_t)(p->kept_rows + 1) * (size_t)p->n, sizeof(*p->kept));
	memcpy(&p->kept[(size_t)p->kept_rows++ * (size_t)p->n], cell, (size_t)p->n * sizeof(*cell));
	if (p->kept_rows > LOOK_ROWS)
		flow(p);
}

static int table_columns(const char *const *name, int n, void *arg)
{
	struct printing *p = arg;
	char **cell = xcalloc((size_t)n, sizeof(*cell));

	p->n = n;
	p->width = xcalloc((size_t)n, sizeof(*p->width));
	for (int i = 0; i < n; i++) {
		cell[i] = xcalloc(4 * strlen(name[i]) + 1, 1);
		text_safe(cell[i], 4 * strlen(name[i]) + 1, name[i]);
	}
	keep(p, cell);
	free(cell);
	return 0;
}

static int table_row(const struct query_value *v, int n, void *arg)
{
	struct printing *p = arg;
	char **cell = xcalloc((size_t)n, sizeof(*cell));

	for (int i = 0; i < n; i++)
		cell[i] = table_cell(&v[i]);
	if (!p->flowing) {
		keep(p, cell);
	} else {
		write_line(p, cell);
		for (int i = 0; i < n; i++)
			free(cell[i]);
	}
	free(cell);
	return ferror(p->out) ? fail(-EIO, "cannot write the answer") : 0;
}

/* ---- CSV, as RFC 4180 has it ---- */

static void write_quoted(FILE *out, const char *text, size_t len)
{
	bool plain = len && !memchr(text, '"', len) && !memchr(text, ',', len) &&
		     !memchr(text, '\n', len) && !memchr(text, '\r', len);

	if (plain) {
		fwrite(text, 1, len, out);
		return;
	}
	putc('"', out);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			putc('"', out);
		putc(text[i], out);
	}
	putc('"', out);
}

static int csv_columns(const char *const *name, int n, void *arg)
{
	struct printing *p = arg;

	for (int i = 0; i < n; i++) {
		if (i)
			putc(',', p->out);
		write_quoted(p->out, name[i], strlen(name[i]));
	}
	fputs("\r\n", p->out);
	return 0;
}

static int csv_row(const struct query_value *v, int n, void *arg)
{
	FILE *out = ((struct printing *)arg)->out;

	for (int i = 0; i < n; i++) {
		if (i)
			putc(',', out);
		if (v[i].type == QUERY_INT)
			fprintf(out, "%" PRId64, v[i].i);
		else if (v[i].type == QUERY_REAL)
			write_real(out, v[i].real, false);
		else if (v[i].type == QUERY_TEXT)
			write_quoted(out, v[i].text, v[i].len);
		else if (v[i].type == QUERY_BLOB)
			write_hex(out, &v[i], SIZE_MAX);
	}
	fputs("\r\n", out);
	return ferror(out) ? fail(-EIO, "cannot write the answer") : 0;
}

/* ---- JSON ---- */

static int json_columns(const char *const *name, int n, void *arg)
{
	struct json *j = &((struct printing *)arg)->j;

	json_open(j, NULL, '{');
	json_open(j, "columns", '[');
	for (int i = 0; i < n; i++)
		json_str(j, NULL, name[i]);
	json_close(j, ']');
	json_open(j, "rows", '[');
	return 0;
}

static void json_blob(struct json *j, const struct query_value *v)
{
	char *hex = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&hex, &len);

	if (!out) {
		json_null(j, NULL);
		return;
	}
	write_hex(out, v, SIZE_MAX);
	(void)fclose(out); /* in memory */
	json_str(j, NULL, hex);
	free(hex);
}

static int json_row(const struct query_value *v, int n, void *arg)
{
	struct printing *p = arg;

	json_open(&p->j, NULL, '[');
	for (int i = 0; i < n; i++) {
		if (v[i].type == QUERY_INT)
			json_i64(&p->j, NULL, v[i].i);
		else if (v[i].type == QUERY_REAL)
			json_real(&p->j, NULL, v[i].real);
		else if (v[i].type == QUERY_TEXT)
			json_str(&p->j, NULL, v[i].text);
		else if (v[i].type == QUERY_BLOB)
			json_blob(&p->j, &v[i]);
		else
			json_null(&p->j, NULL);
	}
	json_close(&p->j, ']');
	return ferror(p->out) ? fail(-EIO, "cannot write the answer") : 0;
}

/* ---- all of it ---- */

static const char *const sample_note =
	"calls and steps that are stored one by one are a sample (slow, first, failed, every n-th): count(*) "
	"and avg() over them are not those of the workload; events, op_totals and the *_second tables are "
	"complete";

static void write_notes(const struct query_result *r, FILE *notes)
{
	char n[UNITS_CAP];

	if (r->cut)
		fprintf(notes,
			"note: only the first %s rows: --limit N shows more, --limit 0 all\n",
			format_count(n, sizeof(n), r->rows));
	if (r->sampled)
		fprintf(notes, "note: %s\n", sample_note);
}

static void end_json(struct json *j, const struct query_result *r, int err)
{
	json_close(j, ']');
	json_u64(j, "row_count", r->rows);
	json_bool(j, "truncated", r->cut);
	json_open(j, "notes", '[');
	if (r->sampled)
		json_str(j, NULL, sample_note);
	json_close(j, ']');
	if (err)
		json_str(j, "error", why(err));
	json_close(j, '}');
	putc('\n', j->out);
}

int query_print(struct query *q, const char *sql, enum query_format format, FILE *out, FILE *notes)
{
	struct printing p = { .out = out, .j = JSON_TO(out) };
	struct query_result r;
	const struct query_sink sinks[] = {
		[QUERY_TABLE] = { table_columns, table_row, &p },
		[QUERY_CSV] = { csv_columns, csv_row, &p },
		[QUERY_JSON] = { json_columns, json_row, &p },
	};
	int err = query_run(q, sql, &sinks[format], &r);

	if (format == QUERY_JSON && p.j.depth)
		end_json(&p.j, &r, err);
	if (format == QUERY_TABLE && (!err || p.kept_rows > 1))
		flow(&p);
	for (int i = 0; i < p.kept_rows * p.n; i++)
		free(p.kept[i]);
	free(p.kept);
	free(p.width);
	if (notes)
		write_notes(&r, notes);
	return err;
}
