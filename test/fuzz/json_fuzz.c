// SPDX-License-Identifier: Apache-2.0
/* A program of JSON calls with any strings: the output is one valid JSON value in UTF-8. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *check_value(const char *s, int depth);

static void need(bool cond)
{
	if (!cond)
		abort();
}

static const char *check_string(const char *s)
{
	need(*s++ == '"');
	while (*s != '"') {
		size_t len = 0;

		need((unsigned char)*s >= 0x20 && *s != '<');
		need(text_utf8((const unsigned char *)s, 4, &len));
		need(memcmp(s, "\xe2\x80\xa8", 3) != 0 && memcmp(s, "\xe2\x80\xa9", 3) != 0);
		if (*s == '\\') {
			s++;
			need(*s == '"' || *s == '\\' || *s == 'u');
			if (*s == 'u') {
				need(strspn(s + 1, "0123456789abcdef") >= 4);
				s += 4;
			}
		}
		s += len;
	}
	return s + 1;
}

static const char *check_number(const char *s)
{
	char *end;

	s += *s == '-';
	need(*s >= '0' && *s <= '9');
	need(s[0] != '0' || s[1] < '0' || s[1] > '9');
	(void)strtod(s, &end);
	need(end[-1] >= '0' && end[-1] <= '9');
	return end;
}

/* Members up to the closing bracket. */
static const char *check_members(const char *s, int depth)
{
	bool object = *s == '{';
	char close = object ? '}' : ']';

	if (*++s == close)
		return s + 1;
	for (;; s++) {
		if (object) {
			s = check_string(s);
			need(*s++ == ':');
		}
		s = check_value(s, depth + 1);
		if (*s == close)
			return s + 1;
		need(*s == ',');
	}
}

static const char *check_value(const char *s, int depth)
{
	static const char *const words[] = { "null", "true", "false" };

	need(depth < 32);
	if (*s == '{' || *s == '[')
		return check_members(s, depth);
	if (*s == '"')
		return check_string(s);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return s + strlen(words[i]);
	}
	return check_number(s);
}

/* One call: a byte for which, up to nine for its value, the rest of a line as its key. */
static void call(struct json *j, char *open, const char *line, size_t len)
{
	const char *key = open[j->depth] == '{' ? line : NULL;
	uint64_t bits = 0;
	double real;

	memcpy(&bits, line, len < sizeof(bits) ? len : sizeof(bits));
	memcpy(&real, &bits, sizeof(real));
	switch (line[0] & 7) {
	case 0:
	case 1:
		if (j->depth + 1 < (int)sizeof(j->started)) {
			char bracket = line[0] & 1 ? '{' : '[';

			json_open(j, key, bracket);
			open[j->depth] = bracket;
		}
		break;
	case 2:
		if (j->depth > 1)
			json_close(j, open[j->depth] == '{' ? '}' : ']');
		break;
	case 3:
		json_f64(j, key, real);
		break;
	case 4:
		json_i64(j, key, (int64_t)bits);
		break;
	case 5:
		json_u64(j, key, bits);
		break;
	case 6:
		json_bool(j, key, bits & 256);
		break;
	default:
		json_str(j, key, len ? line : NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char open[sizeof(((struct json *)NULL)->started)] = { 0 }, *out = NULL, *text, *line, *end;
	size_t out_len = 0;
	struct json j = JSON_TO(open_memstream(&out, &out_len));

	text = calloc(1, len + 1);
	memcpy(text, data, len);
	json_open(&j, NULL, '[');
	open[j.depth] = '[';
	for (line = text; line < text + len; line = end + 1) {
		end = strchrnul(line, '\n');
		*end = '\0';
		call(&j, open, line, (size_t)(end - line));
	}
	while (j.depth)
		json_close(&j, open[j.depth] == '{' ? '}' : ']');
	fclose(j.out);
	need(strlen(out) == out_len);
	need(*check_value(out, 0) == '\0');
	free(out);
	free(text);
	return 0;
}
