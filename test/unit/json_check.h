/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON back in tests: is it valid, and what does it say at a path? No spaces between tokens. */
#ifndef TEST_UNIT_JSON_CHECK_H
#define TEST_UNIT_JSON_CHECK_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Each of these returns where the thing at s ends, or NULL if it is none. */
static const char *json_end(const char *s, int depth);

static inline const char *json_string_end(const char *s)
{
	size_t len = 0;

	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s += len) {
		if ((unsigned char)*s < 0x20 || !text_utf8((const unsigned char *)s, 4, &len))
			return NULL;
		if (*s != '\\')
			continue;
		len = s[1] == 'u' ? 6 : 2;
		if (!s[1] || !strchr("\"\\/bfnrtu", s[1]) ||
		    (s[1] == 'u' && strspn(s + 2, "0123456789abcdefABCDEF") < 4))
			return NULL;
	}
	return s + 1;
}

static inline const char *json_number_end(const char *s)
{
	const char *digits = s + (*s == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return NULL;
	if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
		return NULL;
	(void)strtod(digits, &end);
	if (end != digits + strspn(digits, "0123456789.eE+-")) /* 0x10 and the like */
		return NULL;
	return end[-1] >= '0' && end[-1] <= '9' ? end : NULL;
}

static inline const char *json_members_end(const char *s, int depth)
{
	bool object = *s == '{';
	char close = object ? '}' : ']';

	if (s[1] == close)
		return s + 2;
	do {
		s++;
		if (object) {
			s = json_string_end(s);
			if (!s || *s++ != ':')
				return NULL;
		}
		s = json_end(s, depth + 1);
	} while (s && *s == ',');
	return s && *s == close ? s + 1 : NULL;
}

static const char *json_end(const char *s, int depth)
{
	static const char *const words[] = { "null", "true", "false" };

	if (depth > 32)
		return NULL;
	if (*s == '{' || *s == '[')
		return json_members_end(s, depth);
	if (*s == '"')
		return json_string_end(s);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return s + strlen(words[i]);
	}
	return json_number_end(s);
}

/* One value and a newline. */
static inline bool json_valid(const char *text)
{
	const char *end = json_end(text, 0);

	return end && strcmp(end, "\n") == 0;
}

/* The member of an object or array that s begins with, or NULL. */
static inline const char *json_member(const char *s, const char *name, size_t len)
{
	bool object = *s == '{';

	if ((!object && *s != '[') || s[1] == '}' || s[1] == ']')
		return NULL;
	for (unsigned long i = 0;; i++) {
		const char *key = ++s;
		bool hit = !object && i == strtoul(name, NULL, 10);

		if (object) {
			s = json_string_end(key) + 1;
			hit = (size_t)(s - key) == len + 3 && strncmp(key + 1, name, len) == 0;
		}
		if (hit)
			return s;
		s = json_end(s, 0);
		if (!s || *s != ',')
			return NULL;
	}
}

/* The text that begins with the value at "findings/0/where/pid", or NULL. text is valid. */
static inline const char *json_at(const char *text, const char *path)
{
	while (text && *path) {
		size_t len = strcspn(path, "/");

		text = json_member(text, path, len);
		path += len + (path[len] == '/');
	}
	return text;
}

/* Is the value at path written exactly like this? */
static inline bool json_is(const char *text, const char *path, const char *want)
{
	const char *value = json_at(text, path), *end = value ? json_end(value, 0) : NULL;

	return end && (size_t)(end - value) == strlen(want) &&
	       strncmp(value, want, strlen(want)) == 0;
}

#endif
