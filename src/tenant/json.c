// SPDX-License-Identifier: Apache-2.0
/* A scanner that steps over values; nothing is ever read behind `end`. */
#include "tenant/json.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define DEPTH_MAX 64
#define STRING_CAP 4096 /* of what is decoded; the rest of a string is cut */

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r\n", *at) && *at)
		at++;
	return at;
}

struct json_value json_text(const char *text, size_t len)
{
	return (struct json_value){ skip_space(text, text + len), text + len };
}

/* Behind the closing quote; NULL: it does not end. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* Behind a value, whatever is in it; NULL: it does not end, or is too deep. */
static const char *skip_value(const char *at, const char *end)
{
	int depth = 0;

	do {
		at = skip_space(at, end);
		if (at >= end)
			return NULL;
		if (*at == '"') {
			at = skip_string(at, end);
			if (!at)
				return NULL;
		} else if (*at == '{' || *at == '[') {
			if (++depth > DEPTH_MAX)
				return NULL;
			at++;
		} else if (*at == '}' || *at == ']') {
			if (--depth < 0)
				return NULL;
			at++;
		} else if (*at == ',' || *at == ':') {
			if (!depth)
				return NULL;
			at++;
		} else {
			const char *from = at;

			while (at < end && *at && !strchr(" \t\r\n,:{}[]\"", *at))
				at++;
			if (at == from)
				return NULL;
		}
	} while (depth);
	return at;
}

bool json_member(struct json_value v, const char *key, struct json_value *ret)
{
	const char *at = v.at, *name, *behind;
	size_t len = strlen(key);

	if (at >= v.end || *at != '{')
		return false;
	for (at++;;) {
		at = skip_space(at, v.end);
		if (at >= v.end || *at != '"')
			return false;
		name = at + 1;
		behind = skip_string(at, v.end);
		if (!behind)
			return false;
		at = skip_space(behind, v.end);
		if (at >= v.end || *at != ':')
			return false;
		at = skip_space(at + 1, v.end);
		if ((size_t)(behind - 1 - name) == len && !memcmp(name, key, len)) {
			*ret = (struct json_value){ at, v.end };
			return at < v.end;
		}
		at = skip_value(at, v.end);
		at = at ? skip_space(at, v.end) : NULL;
		if (!at || at >= v.end || *at != ',')
			return false;
		at++;
	}
}

bool json_first(struct json_value v, struct json_value *ret)
{
	const char *at = v.at;

	if (at >= v.end || *at != '[')
		return false;
	at = skip_space(at + 1, v.end);
	*ret = (struct json_value){ at, v.end };
	return at < v.end && *at != ']';
}

bool json_next(struct json_value *v)
{
	const char *at = skip_value(v->at, v->end);

	at = at ? skip_space(at, v->end) : NULL;
	if (!at || at >= v->end || *at != ',')
		return false;
	v->at = skip_space(at + 1, v->end);
	return v->at < v->end;
}

static int hex_of(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* A character of the plane that names are made of; others, and halves of pairs, become '?'. */
static size_t put_code(unsigned int code, char *dst)
{
	if (code < 0x80) {
		dst[0] = (char)(code ? code : '?');
		return 1;
	}
	if (code < 0x800) {
		dst[0] = (char)(0xc0 | code >> 6);
		dst[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code >= 0xd800 && code < 0xe000) {
		dst[0] = '?';
		return 1;
	}
	dst[0] = (char)(0xe0 | code >> 12);
	dst[1] = (char)(0x80 | (code >> 6 & 0x3f));
	dst[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* The escape at `at`, behind its backslash; *ret_len bytes go to dst. Behind it, or NULL. */
static const char *unescape(const char *at, const char *end, char *dst, size_t *ret_len)
{
	static const char from[] = "bfnrt\"\\/", to[] = "\b\f\n\r\t\"\\/";
	const char *known;
	unsigned int code = 0;

	if (at >= end || !*at)
		return NULL;
	known = strchr(from, *at);
	if (known) {
		dst[0] = to[known - from];
		*ret_len = 1;
		return at + 1;
	}
	if (*at != 'u' || end - at < 5)
		return NULL;
	for (int i = 1; i <= 4; i++) {
		int digit = hex_of(at[i]);

		if (digit < 0)
			return NULL;
		code = code << 4 | (unsigned int)digit;
	}
	*ret_len = put_code(code, dst);
	return at + 5;
}

bool json_string(struct json_value v, char *dst, size_t cap)
{
	const char *at = v.at, *behind;
	char raw[STRING_CAP];
	size_t used = 0;

	text_safe(dst, cap, "");
	behind = at < v.end && *at == '"' ? skip_string(at, v.end) : NULL;
	if (!behind)
		return false;
	for (at++; at < behind - 1 && used < sizeof(raw) - 4;) {
		size_t len = 1;

		if (*at == '\\') {
			at = unescape(at + 1, behind - 1, raw + used, &len);
			if (!at)
				return false;
		} else {
			raw[used] = '?';
			if (*at)
				raw[used] = *at;
			at++;
		}
		used += len;
	}
	raw[used] = '\0';
	text_safe(dst, cap, raw);
	return true;
}

void json_take(struct json_value from, const char *key, char *dst, size_t cap)
{
	struct json_value v;

	if (!dst[0] && json_member(from, key, &v))
		(void)json_string(v, dst, cap); /* "": it is none */
}
