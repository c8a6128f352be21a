/* SPDX-License-Identifier: Apache-2.0 */
/* Looking something up in JSON text that others wrote: no tree, no allocation, bounded depth. */
#ifndef TENANT_JSON_H
#define TENANT_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* A value: at its first byte, end behind the text that it may reach into. */
struct json_value {
	const char *at, *end;
};

/* The text as a value, past white space. */
struct json_value json_text(const char *text, size_t len);

/* The member of an object; of several the first. False: no object, no such member, or no JSON. */
bool json_member(struct json_value v, const char *key, struct json_value *ret);

/* The first element of an array, then the one behind it. False: there is none. */
bool json_first(struct json_value v, struct json_value *ret);
bool json_next(struct json_value *v);

/* A string, made safe to print and cut to fit. False, and dst "": it is none. */
bool json_string(struct json_value v, char *dst, size_t cap);

/* The string that is a member, unless dst has something already; "" where there is none. */
void json_take(struct json_value from, const char *key, char *dst, size_t cap);

#endif
