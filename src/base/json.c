// SPDX-License-Identifier: Apache-2.0
/* JSON, written as it comes; strings may hold any bytes. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/text.h"

/* '<' and U+2028/9 are legal, but not inside a <script> or an older JavaScript string. */
/* Controls too, C1 among them: JSON allows them, but people print JSON to terminals. */
static bool must_escape(unsigned int code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == '<' || code == 0x2028 ||
	       code == 0x2029;
}

static void put_str(FILE *out, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	putc('"', out);
	while (*s) {
		size_t len = 1;

		if (!text_utf8(s, 4, &len))
			fputs("\xef\xbf\xbd", out);
		else if (must_escape(text_code(s, len)))
			fprintf(out, "\\u%04x", text_code(s, len));
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fwrite(s, 1, len, out);
		s += len;
	}
	putc('"', out);
}

static void begin(struct json *j, const char *key)
{
	if (j->started[j->depth])
		putc(',', j->out);
	j->started[j->depth] = 1;
	if (key) {
		put_str(j->out, key);
		putc(':', j->out);
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	assert(bracket == '{' || bracket == '[');
	assert(j->depth + 1 < (int)sizeof(j->started));
	begin(j, key);
	putc(bracket, j->out);
	j->started[++j->depth] = 0;
}

void json_close(struct json *j, char bracket)
{
	assert(bracket == '}' || bracket == ']');
	assert(j->depth > 0);
	j->depth--;
	putc(bracket, j->out);
}

void json_str(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	put_str(j->out, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_f64(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->out, "%.6g", value);
}

void json_real(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->out, "%.15g", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->out);
}
